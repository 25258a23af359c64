//! Opens any bytes as a file. The result is a summary or a one-line error that does not depend on the chunk size.

use super::questions;
/// Runs the target on one input.
pub(crate) fn run(file: &[u8]) {
    let whole = questions::open(file, usize::MAX, 1000);
    let cut = questions::open(file, 1 + file.len() % 13, 1);
    match (whole, cut) {
        (Ok(mut whole), Ok(cut)) => {
            assert_eq!(whole.summary, cut.summary);
            whole.check_all(file);
        }
        // Decompressors may detect damage at different positions.
        (Err(whole), Err(cut)) => assert!(whole == cut || file.first() != Some(&0x80), "{whole:?} or {cut:?}"),
        (whole, cut) => panic!("{:?} in one piece, {:?} in chunks", whole.map(drop), cut.map(drop)),
    }
}
