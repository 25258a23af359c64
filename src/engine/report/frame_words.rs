//! Recognizes stacks by words in their frames.

use analysis::frame_line;
use history::snapshot::{Snapshot, StackId};

/// Returns whether a frame of the stack contains one of the words in its file or function. The words must be in lower
/// case. The case of the frame is ignored.
pub(super) fn has_frame_with(snapshot: &Snapshot, stack: StackId, words: &[&str]) -> bool {
    let mut line = String::new();
    snapshot.stacks.frames(stack).any(|frame| {
        frame_line::write(&mut line, snapshot, snapshot.frames.frame(frame));
        line.make_ascii_lowercase();
        words.iter().any(|word| line.contains(word))
    })
}
