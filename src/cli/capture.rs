//! Captures the output of commands that run inside another command, such as `ask` or `mcp`.

use std::cell::RefCell;
use std::io::{self, Write};

/// Captured output: the bytes written to standard output, and the lines written to standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapturedOutput {
    pub(crate) text: Vec<u8>,
    pub(crate) messages: Vec<String>,
}

thread_local! {
    static CAPTURED: RefCell<Option<CapturedOutput>> = const { RefCell::new(None) };
}

/// Runs a command and captures its output. Returns the command's result and the output.
pub(crate) fn capture<R>(run: impl FnOnce() -> R) -> (R, CapturedOutput) {
    CAPTURED.set(Some(CapturedOutput::default()));
    let result = run();
    (result, CAPTURED.take().unwrap_or_default())
}

/// Returns true if the output of this thread is captured.
pub(crate) fn is_captured() -> bool {
    CAPTURED.with_borrow(Option::is_some)
}

/// Captures a line written to standard error. Returns false, without calling `line`, if output is not captured.
pub(super) fn capture_message(line: impl FnOnce() -> String) -> bool {
    CAPTURED.with_borrow_mut(|caught| caught.as_mut().map(|caught| caught.messages.push(line())).is_some())
}

/// A writer that appends to the captured standard output.
pub(super) struct CaptureWriter;

impl Write for CaptureWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CAPTURED.with_borrow_mut(|caught| caught.iter_mut().for_each(|caught| caught.text.extend_from_slice(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
