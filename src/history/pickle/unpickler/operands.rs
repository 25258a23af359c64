//! Operands of instructions, and errors of instructions that cannot run.

use crate::pickle::cursor::{Cursor, Incomplete};
use crate::pickle::error::ErrorKind;
use crate::pickle::fault::{Fault, TOP, fault};
use crate::pickle::opcode;
use crate::pickle::opcode::Support;

// Names of the resources limited by `Limits::string_bytes` and `Limits::integer_bytes`.
pub(super) const STRING: &str = "bytes in one string";
pub(super) const INTEGER: &str = "bytes in one integer";
pub(super) const NAME: &str = "bytes in one name";

/// Reason why an instruction did not run.
pub(super) enum Halt<E> {
    Short,
    Fault(Box<Fault<E>>),
}

impl<E> From<Incomplete> for Halt<E> {
    fn from(_: Incomplete) -> Self {
        Halt::Short
    }
}

impl<E> From<Box<Fault<E>>> for Halt<E> {
    fn from(fault: Box<Fault<E>>) -> Self {
        Halt::Fault(fault)
    }
}

/// Converts a length to `usize`. Saturates, because a length above `usize::MAX` exceeds every limit anyway.
pub(super) fn saturating_length(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

#[inline]
pub(super) fn read_counted<'a, E>(
    cursor: &mut Cursor<'a>,
    length: usize,
    max: usize,
    what: &'static str,
) -> Result<&'a [u8], Halt<E>> {
    if length > max {
        return Err(fault(ErrorKind::Limit { what, max }, TOP).into());
    }
    Ok(cursor.bytes(length)?)
}

/// Reads the rest of a line, which may have at most `max` bytes. `what` is the plural noun in the error for longer
/// lines.
pub(super) fn read_line<'a, E>(cursor: &mut Cursor<'a>, max: usize, what: &'static str) -> Result<&'a [u8], Halt<E>> {
    let left = cursor.bytes_left();
    let line = cursor.line();
    if line.as_ref().map_or(left, |line| line.len()) > max {
        return Err(fault(ErrorKind::Limit { what, max }, TOP).into());
    }
    Ok(line?)
}

#[cold]
pub(super) fn not_a_number<E>(line: &[u8]) -> Box<Fault<E>> {
    fault(ErrorKind::NotANumber(String::from_utf8_lossy(line).into_owned()), TOP)
}

#[cold]
pub(super) fn unsupported<E>(byte: u8) -> Box<Fault<E>> {
    match opcode::opcode(byte).map(|known| known.support) {
        Some(Support::Unsupported(why)) => fault(ErrorKind::Unsupported(why), TOP),
        // Supported opcodes are handled by `instruction`. tests/pickle.rs checks all 256 bytes.
        Some(Support::Supported(_)) | None => fault(ErrorKind::UnknownOpcode(byte), TOP),
    }
}
