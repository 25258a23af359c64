//! Opens damaged pickles that look like snapshots, and asks all questions about them.

use super::{questions, structured};
use arbitrary::Unstructured;

/// Runs the target on one input.
pub(crate) fn run(input: &[u8]) {
    let mut chance = Unstructured::new(input);
    let Ok(file) = structured::file(&mut chance) else { return };
    let chunk = chance.int_in_range(1..=200).unwrap_or(200);
    if let Ok(mut opened) = questions::open(&file, chunk, 2) {
        opened.check_all(input);
    }
}
