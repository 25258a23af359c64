//! Strings and numbers that instructions push.

use super::Unpickler;
use super::operands::{Halt, not_a_number};
use crate::pickle::builder::Builder;
use crate::pickle::lines::Integer;
use crate::pickle::{lines, opcode};

impl<B: Builder> Unpickler<B> {
    pub(super) fn text(&mut self, code: u8, bytes: &[u8]) -> Result<(), Halt<B::Error>> {
        match code {
            opcode::SHORT_BINBYTES | opcode::BINBYTES | opcode::BINBYTES8 | opcode::BYTEARRAY8 => {
                self.stack.push_built(|builder| builder.bytes(bytes))?;
            }
            _ => self.stack.push_built(|builder| builder.string(bytes))?,
        }
        Ok(())
    }

    /// Handles LONG1 and LONG4. `bytes` contains the integer in two's complement, least significant byte first, and may
    /// be longer than needed.
    pub(super) fn integer(&mut self, bytes: &[u8]) -> Result<(), Halt<B::Error>> {
        let sign = if bytes.last().is_some_and(|&top| top >= 0x80) { 0xff } else { 0 };
        let (low, high) = bytes.split_at(bytes.len().min(8));
        let mut word = [sign; 8];
        word.iter_mut().zip(low).for_each(|(to, from)| *to = *from);
        let value = i64::from_le_bytes(word);
        let is_in_the_word = high.iter().all(|&byte| byte == sign) && (value < 0) == (sign != 0);
        self.stack.push_built(|builder| if is_in_the_word { builder.int(value) } else { builder.big_int(bytes) })?;
        Ok(())
    }

    /// Handles INT, LONG and FLOAT.
    pub(super) fn number(&mut self, code: u8, line: &[u8]) -> Result<(), Halt<B::Error>> {
        let stack = &mut self.stack;
        let integer = match code {
            opcode::FLOAT => {
                let value = lines::parse(line).ok_or_else(|| not_a_number(line))?;
                return Ok(stack.push_built(|builder| builder.float(value))?);
            }
            opcode::INT => lines::parse_int(line),
            _ => lines::parse_long(line),
        };
        let integer = integer.ok_or_else(|| not_a_number(line))?;
        stack.push_built(|builder| match integer {
            Integer::Bool(value) => builder.bool(value),
            Integer::Small(value) => builder.int(value),
            Integer::Big(value) => builder.big_int(&value.to_le_bytes()),
        })?;
        Ok(())
    }
}
