//! Capture of a command's output, for parts of this program that run commands, such as `ask` and `mcp`.

use std::cell::RefCell;
use std::io::{self, Write};

/// Captured output: the bytes of standard output, and the lines for standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caught {
    pub(crate) text: Vec<u8>,
    pub(crate) said: Vec<String>,
}

thread_local! {
    static CAUGHT: RefCell<Option<Caught>> = const { RefCell::new(None) };
}

/// Runs a command with its output captured. Returns the result and the output.
pub(crate) fn caught<R>(run: impl FnOnce() -> R) -> (R, Caught) {
    CAUGHT.set(Some(Caught::default()));
    let result = run();
    (result, CAUGHT.take().unwrap_or_default())
}

/// Returns true if the output of this thread is captured.
pub(crate) fn is_caught() -> bool {
    CAUGHT.with_borrow(Option::is_some)
}

/// Captures a line for standard error. Returns whether output is captured.
pub(super) fn say(line: impl FnOnce() -> String) -> bool {
    CAUGHT.with_borrow_mut(|caught| caught.as_mut().map(|caught| caught.said.push(line())).is_some())
}

/// A writer that appends to the captured standard output.
pub(super) struct Catching;

impl Write for Catching {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CAUGHT.with_borrow_mut(|caught| caught.iter_mut().for_each(|caught| caught.text.extend_from_slice(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
