//! The unpickler, which splits chunks of bytes into instructions and runs them.

mod operands;
mod values;

use super::builder::Builder;
use super::cursor::Cursor;
use super::error::{ErrorKind, PickleError};
use super::fault::{Fault, TOP, fault};
use super::limits::Limits;
use super::open::Kind;
use super::stack::Stack;
use super::{lines, opcode, path};
use base::heap::HeapBytes;
use operands::{Halt, INTEGER, NAME, STRING, not_a_number, read_counted, read_line, saturating_length, unsupported};

/// Highest supported pickle protocol, which Python 3.8 introduced.
const MAX_PROTOCOL: u8 = 5;

/// Maximum capacity in bytes of a buffer that is kept for the next split instruction. A larger buffer, needed for a
/// long string, is freed.
const MAX_KEPT_CARRY: usize = 64 << 10;

/// Incremental parser of one pickle, which passes its values to a [`Builder`].
///
/// The result does not depend on where the chunks are split. The work per call is proportional to the size of the
/// chunk.
pub struct Unpickler<B: Builder> {
    stack: Stack<B>,
    /// First bytes of the instruction that was split by the end of the last chunk.
    carry: Vec<u8>,
    /// Total length of all instructions run so far.
    offset: u64,
    result: Option<B::Value>,
}

impl<B: Builder> Unpickler<B> {
    /// Creates a parser at the start of a pickle.
    pub fn new(builder: B, limits: Limits) -> Self {
        Unpickler { stack: Stack::new(builder, limits), carry: Vec::new(), offset: 0, result: None }
    }

    /// Parses the next chunk of the pickle. An instruction that is split by the end of the chunk is completed by the
    /// next call. Bytes after STOP are ignored. After an error, the parser is unusable.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), PickleError<B::Error>> {
        let mut chunk = chunk;
        while !self.carry.is_empty() && !chunk.is_empty() {
            chunk = self.complete_carry(chunk)?;
        }
        let ran = self.run(chunk)?;
        if self.result.is_none() {
            self.carry.extend_from_slice(chunk.get(ran..).unwrap_or_default());
        }
        Ok(())
    }

    /// Returns whether STOP was reached.
    pub fn is_complete(&self) -> bool {
        self.result.is_some()
    }

    /// Returns the total length of the complete instructions so far, in bytes. It is constant after STOP.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the builder in its current state.
    pub fn builder(&self) -> &B {
        &self.stack.builder
    }

    /// Returns the builder in its current state, so that the caller can remove complete values.
    pub fn builder_mut(&mut self) -> &mut B {
        &mut self.stack.builder
    }

    /// Returns the heap size in bytes, without the builder. The memo is the largest part.
    pub fn heap_bytes(&self) -> usize {
        self.stack.memo.heap_bytes()
            + self.stack.slices.heap_bytes()
            + self.stack.open.heap_bytes()
            + self.stack.values.heap_bytes()
            + self.carry.capacity()
    }

    /// Returns the builder and the value at STOP, or an error if the input ended before STOP.
    pub fn finish(self) -> Result<(B, B::Value), PickleError<B::Error>> {
        match self.result {
            Some(value) => Ok((self.stack.builder, value)),
            None => {
                let offset = self.offset + self.carry.len() as u64;
                Err(PickleError { offset, opcode: None, path: String::new(), kind: ErrorKind::UnexpectedEnd })
            }
        }
    }

    /// Appends bytes of `chunk` to the split instruction, and runs it if it is complete. Returns the rest of `chunk`.
    fn complete_carry<'a>(&mut self, chunk: &'a [u8]) -> Result<&'a [u8], PickleError<B::Error>> {
        let missing = match opcode::instruction_length(&self.carry) {
            Some(extent) => extent.saturating_sub(self.carry.len()),
            None => {
                let limits = self.stack.limits;
                let is_text = self.carry.first() == Some(&opcode::UNICODE);
                let max = if is_text { limits.string_bytes } else { limits.integer_bytes };
                match chunk.iter().position(|&byte| byte == b'\n') {
                    Some(end) => end + 1,
                    // The limit applies before the line ends, and a long line is not searched repeatedly.
                    None if self.carry.len() + chunk.len() <= max + 1 => {
                        self.carry.extend_from_slice(chunk);
                        return Ok(&[]);
                    }
                    None => chunk.len(),
                }
            }
        };
        let (more, rest) = chunk.split_at(missing.min(chunk.len()));
        let mut carry = std::mem::take(&mut self.carry);
        carry.extend_from_slice(more);
        // Runs even if bytes are missing, so that an excessive length is rejected before its bytes arrive.
        if self.run(&carry)? > 0 {
            carry.clear();
            carry.shrink_to(MAX_KEPT_CARRY);
        }
        self.carry = carry;
        Ok(rest)
    }

    /// Runs the complete instructions in `bytes`. Returns their total length.
    fn run(&mut self, bytes: &[u8]) -> Result<usize, PickleError<B::Error>> {
        let mut cursor = Cursor::new(bytes);
        let mut ran = 0;
        while self.result.is_none() {
            match self.instruction(&mut cursor) {
                Ok(()) => ran = bytes.len() - cursor.bytes_left(),
                Err(Halt::Short) => break,
                Err(Halt::Fault(fault)) => return Err(self.error(*fault, ran, bytes)),
            }
        }
        self.offset += ran as u64;
        Ok(ran)
    }

    #[inline(always)]
    fn instruction(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Halt<B::Error>> {
        let stack = &mut self.stack;
        let limits = stack.limits;
        match cursor.byte()? {
            opcode::BINGET => {
                stack.get(cursor.byte()?.into())?;
                stack.get_many(cursor);
            }
            opcode::LONG_BINGET => {
                stack.get(u32::from_le_bytes(cursor.array()?))?;
                stack.get_many(cursor);
            }
            opcode::MEMOIZE => stack.memoize()?,
            opcode::BINPUT => stack.put(cursor.byte()?.into())?,
            opcode::LONG_BINPUT => stack.put(u32::from_le_bytes(cursor.array()?))?,

            opcode::BININT1 => {
                let value = cursor.byte()?.into();
                stack.push_built(|builder| builder.int(value))?;
            }
            opcode::BININT2 => {
                let value = u16::from_le_bytes(cursor.array()?).into();
                stack.push_built(|builder| builder.int(value))?;
            }
            opcode::BININT => {
                let value = i32::from_le_bytes(cursor.array()?).into();
                stack.push_built(|builder| builder.int(value))?;
            }
            opcode::LONG1 => {
                let length = usize::from(cursor.byte()?);
                self.integer(read_counted(cursor, length, limits.integer_bytes, INTEGER)?)?;
            }
            opcode::LONG4 => {
                let length = saturating_length(u32::from_le_bytes(cursor.array()?).into());
                self.integer(read_counted(cursor, length, limits.integer_bytes, INTEGER)?)?;
            }
            opcode::BINFLOAT => {
                let value = f64::from_be_bytes(cursor.array()?);
                stack.push_built(|builder| builder.float(value))?;
            }
            opcode::NONE => stack.push_built(B::none)?,
            opcode::NEWTRUE => stack.push_built(|builder| builder.bool(true))?,
            opcode::NEWFALSE => stack.push_built(|builder| builder.bool(false))?,

            code @ (opcode::SHORT_BINUNICODE | opcode::SHORT_BINSTRING | opcode::SHORT_BINBYTES) => {
                let length = cursor.byte()?.into();
                self.text(code, read_counted(cursor, length, limits.string_bytes, STRING)?)?;
            }
            code @ (opcode::BINUNICODE | opcode::BINSTRING | opcode::BINBYTES) => {
                let length = saturating_length(u32::from_le_bytes(cursor.array()?).into());
                self.text(code, read_counted(cursor, length, limits.string_bytes, STRING)?)?;
            }
            code @ (opcode::BINUNICODE8 | opcode::BINBYTES8 | opcode::BYTEARRAY8) => {
                let length = saturating_length(u64::from_le_bytes(cursor.array()?));
                self.text(code, read_counted(cursor, length, limits.string_bytes, STRING)?)?;
            }

            opcode::MARK => {
                if !stack.try_list_fast_path(cursor) {
                    stack.mark()?;
                }
            }
            opcode::EMPTY_LIST | opcode::EMPTY_SET => stack.begin_new(Kind::List)?,
            opcode::EMPTY_DICT => stack.begin_dict(cursor)?,
            opcode::APPEND => stack.pass_top(Kind::List, 1)?,
            opcode::SETITEM => stack.pass_top(Kind::Dict, 2)?,
            opcode::APPENDS | opcode::ADDITEMS => stack.pass_batch(Kind::List)?,
            opcode::SETITEMS => stack.pass_batch(Kind::Dict)?,
            opcode::TUPLE | opcode::FROZENSET => stack.tuple_batch()?,
            opcode::EMPTY_TUPLE => stack.tuple(0)?,
            opcode::TUPLE1 => stack.tuple(1)?,
            opcode::TUPLE2 => stack.tuple(2)?,
            opcode::TUPLE3 => stack.tuple(3)?,

            code @ (opcode::INT | opcode::LONG | opcode::FLOAT) => {
                let line = read_line(cursor, limits.integer_bytes, INTEGER)?;
                self.number(code, line)?;
            }
            opcode::UNICODE => {
                let line = read_line(cursor, limits.string_bytes, STRING)?;
                let text = lines::decode_unicode(line).ok_or_else(|| fault(ErrorKind::Escape, TOP))?;
                stack.push_built(|builder| builder.string(&text))?;
            }
            opcode::PUT => {
                let slot = read_line(cursor, limits.integer_bytes, INTEGER)?;
                stack.put(lines::parse(slot).ok_or_else(|| not_a_number(slot))?)?;
            }
            opcode::GET => {
                let slot = read_line(cursor, limits.integer_bytes, INTEGER)?;
                stack.get(lines::parse(slot).ok_or_else(|| not_a_number(slot))?)?;
            }
            opcode::LIST => stack.begin_at_mark(Kind::List)?,
            opcode::DICT => stack.begin_at_mark(Kind::Dict)?,

            opcode::GLOBAL => {
                let module = read_line(cursor, limits.integer_bytes, NAME)?;
                let name = read_line(cursor, limits.integer_bytes, NAME)?;
                stack.global(&String::from_utf8_lossy(module), &String::from_utf8_lossy(name))?;
            }
            opcode::STACK_GLOBAL => stack.stack_global()?,
            opcode::REDUCE | opcode::NEWOBJ => stack.construct()?,
            opcode::BUILD => stack.set_state()?,
            opcode::BINPERSID => stack.leave_out_external()?,

            opcode::PROTO => match cursor.byte()? {
                0..=MAX_PROTOCOL => {}
                newer => Err(fault(ErrorKind::Protocol(newer), TOP))?,
            },
            // A frame promises that this many bytes can be read at once. They are processed as they come.
            opcode::FRAME => {
                let length = u64::from_le_bytes(cursor.array()?);
                i64::try_from(length).map_err(|_| fault(ErrorKind::Frame(length), TOP))?;
            }
            opcode::STOP => self.result = Some(stack.stop()?),
            other => Err(unsupported(other))?,
        }
        Ok(())
    }

    #[cold]
    fn error(&self, fault: Fault<B::Error>, ran: usize, bytes: &[u8]) -> PickleError<B::Error> {
        PickleError {
            offset: self.offset + ran as u64,
            opcode: bytes.get(ran).and_then(|&code| opcode::opcode(code)).map(|known| known.name),
            path: path::path(&self.stack, fault.at, fault.index),
            kind: fault.kind,
        }
    }
}
