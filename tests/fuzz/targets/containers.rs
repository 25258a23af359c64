//! Any bytes at all, through the whole way in: a view or one sentence, and the same one however the bytes arrive.

use super::questions;
/// Runs the target on one input.
pub(crate) fn run(file: &[u8]) {
    let whole = questions::open(file, usize::MAX, 1000);
    let cut = questions::open(file, 1 + file.len() % 13, 1);
    match (whole, cut) {
        (Ok(mut whole), Ok(cut)) => {
            assert_eq!(whole.summary, cut.summary);
            whole.ask_everything(file);
        }
        // How far a decompressor has read when it notices damage is its own affair.
        (Err(whole), Err(cut)) => assert!(whole == cut || file.first() != Some(&0x80), "{whole:?} or {cut:?}"),
        (whole, cut) => panic!("{:?} in one piece, {:?} in chunks", whole.map(drop), cut.map(drop)),
    }
}
