//! Incremental JSON parser: chunks of bytes become tokens, and tokens become values.

use super::error::{ErrorKind, FoundByte, JsonError};
use super::limits::Limits;
use super::number::{Number, parse_number};
use super::scan::{Stop, skip_blanks, string_end};
use super::text::unescape;
use crate::pickle::Builder;
use base::heap::HeapBytes;

/// Maximum capacity in bytes of a buffer that is kept for reuse. A larger buffer, needed for a long string, is freed.
const MAX_KEPT_CARRY: usize = 64 << 10;

/// Length of a path in bytes after which deeper levels are omitted. Only malicious files are nested that deeply.
const MAX_PATH: usize = 120;

/// Maximum length of an invalid value in an error message, in bytes. Longer values are cut.
const MAX_QUOTED: usize = 40;

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

    /// Parses a string from `carry` and `bytes`. The search for its end starts at `bytes[from]`.
    #[inline]
    fn string<'a>(&mut self, bytes: &'a [u8], from: usize) -> Rest<'a, B> {
        let (end, next, control) = match string_end(bytes, from) {
            Stop::Quote(end) => (end, None, None),
            Stop::EndOfInput(next) => (bytes.len(), Some(next), None),
            Stop::Control(index, byte) => (index, None, Some(byte)),
        };
        // The carried part and the opening quote came with earlier chunks.
        let left = bytes.len() + self.carry.len() + 1;
        if self.carry.len() + end > self.limits.string_bytes {
            let kind = ErrorKind::Limit { what: "bytes in one string", max: self.limits.string_bytes };
            return Err(self.error(kind, left));
        }
        if let Some(byte) = control {
            return Err(self.error(ErrorKind::ControlCharacter(byte), bytes.len() - end));
        }
        let (raw, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        if let Some(next) = next {
            self.carry.extend_from_slice(raw);
            self.cut = SplitToken::String(next);
            return Ok(rest);
        }
        if self.cut == SplitToken::None {
            self.end_string(raw, left)?;
        } else {
            let mut carry = std::mem::take(&mut self.carry);
            carry.extend_from_slice(raw);
            self.end_string(&carry, left)?;
            self.reuse_carry(carry);
        }
        Ok(rest.get(1..).unwrap_or_default())
    }

    #[inline]
    fn end_string(&mut self, raw: &[u8], left: usize) -> Result<(), JsonError<B::Error>> {
        if !raw.contains(&b'\\') {
            let value = self.builder.string(raw);
            return self.accept(value, left);
        }
        self.scratch.clear();
        if unescape(raw, &mut self.scratch).is_none() {
            return Err(self.error(ErrorKind::Escape, left));
        }
        let value = self.builder.string(&self.scratch);
        self.scratch.shrink_to(MAX_KEPT_CARRY);
        self.accept(value, left)
    }

    /// Parses a number or literal from `carry` and the start of `bytes`.
    #[inline]
    fn atom<'a>(&mut self, bytes: &'a [u8]) -> Rest<'a, B> {
        let length = bytes.iter().take_while(|&&byte| is_atom_byte(byte)).count();
        let (raw, rest) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
        if self.carry.len() + length > self.limits.atom_bytes {
            let kind = ErrorKind::Limit { what: "characters in one number", max: self.limits.atom_bytes };
            return Err(self.error(kind, bytes.len() + self.carry.len()));
        }
        if rest.is_empty() {
            self.carry.extend_from_slice(raw);
            self.cut = SplitToken::Atom;
        } else {
            self.end_atom(raw, bytes.len())?;
        }
        Ok(rest)
    }

    #[inline]
    fn end_atom(&mut self, raw: &[u8], left: usize) -> Result<(), JsonError<B::Error>> {
        if self.cut == SplitToken::None {
            return self.word(raw, left);
        }
        let mut carry = std::mem::take(&mut self.carry);
        let carried = carry.len();
        carry.extend_from_slice(raw);
        self.word(&carry, left + carried)?;
        self.reuse_carry(carry);
        Ok(())
    }

    /// Keeps the buffer of a completed split token for reuse.
    fn reuse_carry(&mut self, mut carry: Vec<u8>) {
        carry.clear();
        carry.shrink_to(MAX_KEPT_CARRY);
        (self.carry, self.cut) = (carry, SplitToken::None);
    }

    #[inline]
    fn word(&mut self, text: &[u8], left: usize) -> Result<(), JsonError<B::Error>> {
        let value = match text {
            b"null" => self.builder.none(),
            b"true" => self.builder.bool(true),
            b"false" => self.builder.bool(false),
            b"NaN" => self.builder.float(f64::NAN),
            b"Infinity" => self.builder.float(f64::INFINITY),
            b"-Infinity" => self.builder.float(f64::NEG_INFINITY),
            _ => match parse_number(text) {
                Some(Number::Int(value)) => self.builder.int(value),
                Some(Number::Big(bytes)) => self.builder.big_int(&bytes),
                Some(Number::Float(value)) => self.builder.float(value),
                None => {
                    let quoted = text.get(..MAX_QUOTED).unwrap_or(text);
                    let kind = ErrorKind::InvalidValue(String::from_utf8_lossy(quoted).into_owned());
                    return Err(self.error(kind, left));
                }
            },
        };
        self.accept(value, left)
    }

    /// Returns a description of the expected token for an error message.
    fn expected_token(&self) -> &'static str {
        match (self.expected, self.innermost()) {
            (Expected::Value, _) => "a value",
            (Expected::ValueOrEnd, _) => "a value or ']'",
            (Expected::Key, _) => "a key in quotes",
            (Expected::KeyOrEnd, _) => "a key in quotes or '}'",
            (Expected::Colon, _) => "':'",
            (Expected::CommaOrEnd, Some(Kind::Dict)) => "',' or '}'",
            (Expected::CommaOrEnd, _) => "',' or ']'",
            (Expected::Nothing, _) => "the end of the file",
        }
    }

    /// Creates an error at the position `left` bytes before the end of the bytes fed so far.
    #[cold]
    fn error(&self, kind: ErrorKind<B::Error>, left: usize) -> JsonError<B::Error> {
        JsonError { offset: self.fed.saturating_sub(left as u64), path: self.path(), kind }
    }

    /// Returns the path of the next value in the data.
    fn path(&self) -> String {
        let mut path = String::new();
        for (slot, level) in (0u32..).zip(&self.levels) {
            if path.len() > MAX_PATH {
                path.push('…');
                break;
            }
            match (level.kind, level.key) {
                (Kind::List, _) => path.push_str(&format!("[{}]", self.builder.open_len(slot))),
                (Kind::Dict, None) => {}
                (Kind::Dict, Some(key)) => {
                    let dot = if path.is_empty() { "" } else { "." };
                    path.push_str(&format!("{dot}{}", self.builder.key_text(key).as_deref().unwrap_or("?")));
                }
            }
        }
        path
    }
}

/// Returns whether a number or literal can contain this byte.
#[inline]
fn is_atom_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_')
}
