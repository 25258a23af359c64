//! Incremental JSON parser: chunks of bytes become tokens, and tokens become values.

mod errors;
mod tokens;

use super::error::{ErrorKind, FoundByte, JsonError};
use super::limits::Limits;
use super::scan::{is_atom_byte, skip_blanks};
use crate::pickle::Builder;
use base::heap::HeapBytes;

/// Incremental parser of one JSON text, which passes its values to a [`Builder`].
///
/// The result does not depend on where the chunks are split. Memory grows with the nesting depth and the longest
/// string, not with the length of the text.
pub struct Parser<B: Builder> {
    builder: B,
    limits: Limits,
    /// Open containers, outermost first. The builder identifies each one by its index.
    levels: Vec<Level<B::Value>>,
    expected: Expected,
    /// Token that was split by the end of the last chunk.
    cut: SplitToken,
    /// First bytes of the split token.
    carry: Vec<u8>,
    /// Number of bytes fed so far, including the current chunk.
    fed: u64,
    /// Buffer for a string with its escapes resolved.
    scratch: Vec<u8>,
    result: Option<B::Value>,
}

/// List or dict whose end has not been reached.
struct Level<V> {
    kind: Kind,
    /// Key of the dict's next value, if the key is complete.
    key: Option<V>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    List,
    Dict,
}

/// Token that may come next, apart from whitespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Value,
    /// Directly after `[`.
    ValueOrEnd,
    Key,
    /// Directly after `{`.
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitToken {
    None,
    /// Inside a string. The search for its end continues at this index of the next chunk.
    String(usize),
    /// Inside a number or literal.
    Atom,
}

/// Rest of the chunk after a token, or an error.
type Rest<'a, B> = Result<&'a [u8], JsonError<<B as Builder>::Error>>;

impl<B: Builder> Parser<B> {
    /// Creates a parser of a text, which must not have a byte order mark.
    pub fn new(builder: B, limits: Limits) -> Self {
        Parser {
            builder,
            limits,
            levels: Vec::new(),
            expected: Expected::Value,
            cut: SplitToken::None,
            carry: Vec::new(),
            fed: 0,
            scratch: Vec::new(),
            result: None,
        }
    }

    /// Parses the next chunk of the text. A token that is split by the end of the chunk is completed by the next call.
    /// After an error, the parser is unusable.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, a limit is exceeded, or the builder rejects a value.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), JsonError<B::Error>> {
        self.fed += chunk.len() as u64;
        let mut rest = match self.cut {
            SplitToken::None => chunk,
            SplitToken::String(from) => self.string(chunk, from)?,
            SplitToken::Atom => self.atom(chunk)?,
        };
        while !rest.is_empty() {
            rest = self.token(rest)?;
        }
        Ok(())
    }

    /// Returns the builder in its current state.
    pub fn builder(&self) -> &B {
        &self.builder
    }

    /// Returns the builder in its current state, for modification.
    pub fn builder_mut(&mut self) -> &mut B {
        &mut self.builder
    }

    /// Returns the heap size in bytes, without the builder.
    pub fn heap_bytes(&self) -> usize {
        self.carry.capacity() + self.scratch.capacity() + self.levels.heap_bytes()
    }

    /// Returns the builder and the outermost value.
    ///
    /// # Errors
    /// Returns an error if the input ended before the value was complete.
    pub fn finish(mut self) -> Result<(B, B::Value), JsonError<B::Error>> {
        if self.cut == SplitToken::Atom && self.levels.is_empty() {
            // A number as the outermost value is complete only at the end of the file. Inside a container that is an
            // error.
            self.end_atom(&[], 0)?;
        }
        match self.result {
            Some(value) => Ok((self.builder, value)),
            None => Err(JsonError { offset: self.fed, path: String::new(), kind: ErrorKind::UnexpectedEnd }),
        }
    }

    #[inline]
    fn token<'a>(&mut self, bytes: &'a [u8]) -> Rest<'a, B> {
        let rest = skip_blanks(bytes);
        let Some((&byte, after)) = rest.split_first() else { return Ok(rest) };
        use Expected::{Colon, CommaOrEnd, Key, KeyOrEnd, Value, ValueOrEnd};
        match (byte, self.expected) {
            (b'"', Value | ValueOrEnd | Key | KeyOrEnd) => return self.string(after, 0),
            (b'{', Value | ValueOrEnd) => self.open_container(Kind::Dict, rest)?,
            (b'[', Value | ValueOrEnd) => self.open_container(Kind::List, rest)?,
            (b'}', KeyOrEnd) | (b']', ValueOrEnd) => self.close_container(rest)?,
            (b'}', CommaOrEnd) if self.innermost() == Some(Kind::Dict) => self.close_container(rest)?,
            (b']', CommaOrEnd) if self.innermost() == Some(Kind::List) => self.close_container(rest)?,
            (b',', CommaOrEnd) if self.innermost() == Some(Kind::Dict) => self.expected = Key,
            (b',', CommaOrEnd) => self.expected = Value,
            (b':', Colon) => self.expected = Value,
            (_, Value | ValueOrEnd) if is_atom_byte(byte) => return self.atom(rest),
            _ => {
                let expected = self.expected_token();
                return Err(self.error(ErrorKind::Unexpected { found: FoundByte(byte), expected }, rest.len()));
            }
        }
        Ok(after)
    }

    fn innermost(&self) -> Option<Kind> {
        self.levels.last().map(|level| level.kind)
    }

    /// Returns the slot of the innermost open container, which identifies it to the builder.
    fn slot(&self) -> u32 {
        // `Limits::nesting` keeps it below 2^32.
        self.levels.len().saturating_sub(1) as u32
    }

    fn open_container(&mut self, kind: Kind, rest: &[u8]) -> Result<(), JsonError<B::Error>> {
        if self.levels.len() >= self.limits.nesting {
            let kind = ErrorKind::Limit { what: "nested containers", max: self.limits.nesting };
            return Err(self.error(kind, rest.len()));
        }
        self.levels.push(Level { kind, key: None });
        let slot = self.slot();
        match kind {
            Kind::List => self.builder.open_list(slot),
            Kind::Dict => self.builder.open_dict(slot),
        }
        self.expected = match kind {
            Kind::List => Expected::ValueOrEnd,
            Kind::Dict => Expected::KeyOrEnd,
        };
        Ok(())
    }

    fn close_container(&mut self, rest: &[u8]) -> Result<(), JsonError<B::Error>> {
        let finished = self.builder.finish(self.slot());
        self.levels.pop();
        self.accept(finished, rest.len())
    }

    /// Passes a complete value to the enclosing container. `left` is the number of bytes from the value's last token to
    /// the end of the chunk. It determines the offset in an error.
    #[inline]
    fn accept(&mut self, value: Result<B::Value, B::Error>, left: usize) -> Result<(), JsonError<B::Error>> {
        let value = value.map_err(|error| self.error(ErrorKind::Builder(error), left))?;
        let slot = self.slot();
        let taken = match self.levels.last_mut() {
            None => {
                (self.result, self.expected) = (Some(value), Expected::Nothing);
                return Ok(());
            }
            Some(Level { kind: Kind::List, .. }) => self.builder.append(slot, &[value]),
            Some(level) if level.key.is_none() => {
                (level.key, self.expected) = (Some(value), Expected::Colon);
                return Ok(());
            }
            // The key is kept until its value is accepted, because the path in an error names it.
            Some(level) => self.builder.set_items(slot, &[level.key.unwrap_or(value), value]),
        };
        taken.map_err(|(_, error)| self.error(ErrorKind::Builder(error), left))?;
        if let Some(level) = self.levels.last_mut() {
            level.key = None;
        }
        self.expected = Expected::CommaOrEnd;
        Ok(())
    }
}
