//! Checks that chunk boundaries affect neither the values nor the errors of the JSON reader.

use super::digest;
use memscape::json::Limits;

/// Runs the target on a text. The last byte selects chunk size and limits.
pub(crate) fn run(text: &[u8]) {
    let Some(&choice) = text.last() else { return };
    let limits = match choice & 0x80 {
        0 => Limits::default(),
        _ => Limits { string_bytes: 40, atom_bytes: 12, nesting: 5 },
    };
    let whole = digest::read_json(text, limits, usize::MAX);
    for chunk in [1, usize::from(choice % 29) + 2] {
        assert_eq!(digest::read_json(text, limits, chunk), whole, "in chunks of {chunk} bytes");
    }
}
