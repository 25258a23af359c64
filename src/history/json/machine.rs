//! Chunks of bytes → tokens → values, one after the other.

use super::error::{ErrorKind, Found, JsonError};
use super::limits::Limits;
use super::number::{Number, number};
use super::scan::{Stop, skip_blanks, string_end};
use super::text::unescape;
use crate::pickle::Builder;

/// A cut token's buffer is kept for the next one up to this size; a long string's is given back.
const CARRY_KEPT: usize = 64 << 10;

/// Bytes of a path after which its deeper levels are left out: only files made to break us nest so deep.
const MOST_PATH: usize = 120;

/// Bytes of a word that is no word of JSON, in an error message.
const MOST_QUOTED: usize = 40;

/// Reads one JSON text, fed as its bytes arrive, into a [`Builder`].
///
/// Where the chunks are cut makes no difference, and memory goes with the nesting and the longest string, never with the length
/// of the text.
pub struct Machine<B: Builder> {
    builder: B,
    limits: Limits,
    /// The open containers, outermost first; the place of each is the number the builder knows it under.
    levels: Vec<Level<B::Value>>,
    expected: Expected,
    /// The token that the last chunk's end cut, and what of it came.
    cut: Cut,
    carry: Vec<u8>,
    /// Bytes fed, the chunk at hand included.
    fed: u64,
    /// A string without its escapes, on its way.
    scratch: Vec<u8>,
    result: Option<B::Value>,
}

/// An open container.
struct Level<V> {
    kind: Kind,
    /// The key of a dict's next value.
    key: Option<V>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    List,
    Dict,
}

/// What may come next, blanks apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Value,
    /// Just behind `[`.
    ValueOrEnd,
    Key,
    /// Just behind `{`.
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    None,
    /// A string; the search for its end goes on at this index of the next chunk.
    String(usize),
    /// A number or a word.
    Atom,
}

/// The rest of a chunk after a token, or why there is none.
type Rest<'a, B> = Result<&'a [u8], JsonError<<B as Builder>::Error>>;

impl<B: Builder> Machine<B> {
    /// A machine at the start of a text (without a byte order mark).
    pub fn new(builder: B, limits: Limits) -> Self {
        Machine {
            builder,
            limits,
            levels: Vec::new(),
            expected: Expected::Value,
            cut: Cut::None,
            carry: Vec::new(),
            fed: 0,
            scratch: Vec::new(),
            result: None,
        }
    }

    /// Reads all tokens complete with `chunk`, and keeps the start of one that is cut. After an error the machine is of no more
    /// use.
    ///
    /// # Errors
    /// The text is not JSON, a limit is reached, or the builder refuses a value.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), JsonError<B::Error>> {
        self.fed += chunk.len() as u64;
        let mut rest = match self.cut {
            Cut::None => chunk,
            Cut::String(from) => self.string(chunk, from)?,
            Cut::Atom => self.atom(chunk)?,
        };
        while !rest.is_empty() {
            rest = self.token(rest)?;
        }
        Ok(())
    }

    /// The builder, to look at what it has so far.
    pub fn builder(&self) -> &B {
        &self.builder
    }

    /// The builder, to work on what it has so far.
    pub fn builder_mut(&mut self) -> &mut B {
        &mut self.builder
    }

    /// Bytes on the heap, the builder's apart.
    pub fn heap_bytes(&self) -> usize {
        self.carry.capacity() + self.scratch.capacity() + self.levels.capacity() * size_of::<Level<B::Value>>()
    }

    /// The builder and the outermost value.
    ///
    /// # Errors
    /// The input ended before the value did.
    pub fn finish(mut self) -> Result<(B, B::Value), JsonError<B::Error>> {
        if self.cut == Cut::Atom && self.levels.is_empty() {
            // Only the end of the file ends a number that is the outermost value; inside a container it is cut.
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
            (b'{', Value | ValueOrEnd) => self.begin(Kind::Dict, rest)?,
            (b'[', Value | ValueOrEnd) => self.begin(Kind::List, rest)?,
            (b'}', KeyOrEnd) | (b']', ValueOrEnd) => self.end(rest)?,
            (b'}', CommaOrEnd) if self.innermost() == Some(Kind::Dict) => self.end(rest)?,
            (b']', CommaOrEnd) if self.innermost() == Some(Kind::List) => self.end(rest)?,
            (b',', CommaOrEnd) if self.innermost() == Some(Kind::Dict) => self.expected = Key,
            (b',', CommaOrEnd) => self.expected = Value,
            (b':', Colon) => self.expected = Value,
            (_, Value | ValueOrEnd) if is_of_an_atom(byte) => return self.atom(rest),
            _ => {
                let expected = self.expectation();
                return Err(self.error(ErrorKind::Unexpected { found: Found(byte), expected }, rest.len()));
            }
        }
        Ok(after)
    }

    fn innermost(&self) -> Option<Kind> {
        self.levels.last().map(|level| level.kind)
    }

    /// The number under which the builder knows the innermost container.
    fn slot(&self) -> u32 {
        // Limits::nesting keeps it small.
        self.levels.len().saturating_sub(1) as u32
    }

    fn begin(&mut self, kind: Kind, rest: &[u8]) -> Result<(), JsonError<B::Error>> {
        if self.levels.len() >= self.limits.nesting {
            let kind = ErrorKind::Limit { what: "nested containers", most: self.limits.nesting };
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

    fn end(&mut self, rest: &[u8]) -> Result<(), JsonError<B::Error>> {
        let finished = self.builder.finish(self.slot());
        self.levels.pop();
        self.accept(finished, rest.len())
    }

    /// A value is complete: it goes to the container around it. `left` bytes of the chunk are left from its last token on.
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
            // The key stays until its value is taken: the path of an error names it.
            Some(level) => self.builder.set_items(slot, &[level.key.unwrap_or(value), value]),
        };
        taken.map_err(|(_, error)| self.error(ErrorKind::Builder(error), left))?;
        if let Some(level) = self.levels.last_mut() {
            level.key = None;
        }
        self.expected = Expected::CommaOrEnd;
        Ok(())
    }

    /// A string whose bytes are those carried and then `bytes`; its end is searched from the index `from` on.
    #[inline]
    fn string<'a>(&mut self, bytes: &'a [u8], from: usize) -> Rest<'a, B> {
        let (end, next, control) = match string_end(bytes, from) {
            Stop::Quote(end) => (end, None, None),
            Stop::Cut(next) => (bytes.len(), Some(next), None),
            Stop::Control(at, byte) => (at, None, Some(byte)),
        };
        // The carried part and the quote before it came with earlier chunks.
        let left = bytes.len() + self.carry.len() + 1;
        if self.carry.len() + end > self.limits.string_bytes {
            let kind = ErrorKind::Limit { what: "bytes in one string", most: self.limits.string_bytes };
            return Err(self.error(kind, left));
        }
        if let Some(byte) = control {
            return Err(self.error(ErrorKind::Control(byte), bytes.len() - end));
        }
        let (raw, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        if let Some(next) = next {
            self.carry.extend_from_slice(raw);
            self.cut = Cut::String(next);
            return Ok(rest);
        }
        if self.cut == Cut::None {
            self.end_string(raw, left)?;
        } else {
            let mut carry = std::mem::take(&mut self.carry);
            carry.extend_from_slice(raw);
            self.end_string(&carry, left)?;
            self.keep(carry);
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
        self.scratch.shrink_to(CARRY_KEPT);
        self.accept(value, left)
    }

    /// A number or a word, whose bytes are those carried and then the first of `bytes`.
    #[inline]
    fn atom<'a>(&mut self, bytes: &'a [u8]) -> Rest<'a, B> {
        let length = bytes.iter().take_while(|&&byte| is_of_an_atom(byte)).count();
        let (raw, rest) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
        if self.carry.len() + length > self.limits.atom_bytes {
            let kind = ErrorKind::Limit { what: "characters in one number", most: self.limits.atom_bytes };
            return Err(self.error(kind, bytes.len() + self.carry.len()));
        }
        if rest.is_empty() {
            self.carry.extend_from_slice(raw);
            self.cut = Cut::Atom;
        } else {
            self.end_atom(raw, bytes.len())?;
        }
        Ok(rest)
    }

    #[inline]
    fn end_atom(&mut self, raw: &[u8], left: usize) -> Result<(), JsonError<B::Error>> {
        if self.cut == Cut::None {
            return self.word(raw, left);
        }
        let mut carry = std::mem::take(&mut self.carry);
        let begun = carry.len();
        carry.extend_from_slice(raw);
        self.word(&carry, left + begun)?;
        self.keep(carry);
        Ok(())
    }

    /// The cut token is complete; its buffer is for the next one.
    fn keep(&mut self, mut carry: Vec<u8>) {
        carry.clear();
        carry.shrink_to(CARRY_KEPT);
        (self.carry, self.cut) = (carry, Cut::None);
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
            _ => match number(text) {
                Some(Number::Int(value)) => self.builder.int(value),
                Some(Number::Big(bytes)) => self.builder.big_int(&bytes),
                Some(Number::Float(value)) => self.builder.float(value),
                None => {
                    let quoted = text.get(..MOST_QUOTED).unwrap_or(text);
                    let kind = ErrorKind::NotAValue(String::from_utf8_lossy(quoted).into_owned());
                    return Err(self.error(kind, left));
                }
            },
        };
        self.accept(value, left)
    }

    /// What could stand here, for an error message.
    fn expectation(&self) -> &'static str {
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

    /// The error at the place from which `left` bytes of what was fed are left.
    #[cold]
    fn error(&self, kind: ErrorKind<B::Error>, left: usize) -> JsonError<B::Error> {
        JsonError { offset: self.fed.saturating_sub(left as u64), path: self.path(), kind }
    }

    /// Where in the data the next value stands.
    fn path(&self) -> String {
        let mut path = String::new();
        for (slot, level) in (0u32..).zip(&self.levels) {
            if path.len() > MOST_PATH {
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

/// Whether a number or a word can hold this byte.
#[inline]
fn is_of_an_atom(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_')
}
