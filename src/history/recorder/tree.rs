//! Values as bytes, in the order in which they are read: small, kept as they are, and safe to read whatever the bytes are.

/// Bytes of all values together: 200,000 tensors take about 40 MB.
const MOST_BYTES: usize = 64 << 20;

const END: u8 = 0;
const NONE: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const INT: u8 = 4;
const FLOAT: u8 = 5;
const TEXT: u8 = 6;
const LIST: u8 = 7;
const DICT: u8 = 8;

/// A value, or the beginning or the end of a container. In a dict, keys are texts and stand before their values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    End,
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a [u8]),
    List,
    Dict,
}

/// Values on their way in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    bytes: Vec<u8>,
}

impl Tree {
    /// Whether there is room for more; what is begun may be ended in any case.
    pub fn has_room(&self) -> bool {
        self.bytes.len() < MOST_BYTES
    }

    /// Appends a token. A text that is too long becomes `None`.
    pub fn put(&mut self, token: Token<'_>) {
        let tag = match token {
            Token::End => END,
            Token::Bool(false) => FALSE,
            Token::Bool(true) => TRUE,
            Token::Int(_) => INT,
            Token::Float(_) => FLOAT,
            Token::Text(text) if text.len() <= MOST_BYTES.saturating_sub(self.bytes.len()) => TEXT,
            Token::List => LIST,
            Token::Dict => DICT,
            Token::None | Token::Text(_) => NONE,
        };
        self.bytes.push(tag);
        match (tag, token) {
            (_, Token::Int(number)) => self.bytes.extend_from_slice(&number.to_le_bytes()),
            (_, Token::Float(number)) => self.bytes.extend_from_slice(&number.to_le_bytes()),
            (TEXT, Token::Text(text)) => {
                self.bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
                self.bytes.extend_from_slice(text);
            }
            _ => {}
        }
    }

    /// The values as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends bytes of values; `false` where they are too many.
    pub fn extend(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= (MOST_BYTES + MOST_BYTES / 2).saturating_sub(self.bytes.len());
        if fits {
            self.bytes.extend_from_slice(bytes);
        }
        fits
    }

    /// Reads from this place on.
    pub fn tokens(&self, at: u32) -> Tokens<'_> {
        Tokens { bytes: &self.bytes, at: at as usize }
    }

    /// The text at this place; nothing where there is none.
    pub fn text(&self, at: u32) -> &[u8] {
        match self.tokens(at).next() {
            Some(Token::Text(text)) => text,
            _ => &[],
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

/// Tokens one after another; there are none behind bytes that make no sense.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    /// Where the next one begins.
    pub fn at(&self) -> u32 {
        self.at as u32
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        self.at = taken.map_or(self.bytes.len(), |_| self.at + count);
        taken
    }

    fn eight(&mut self) -> Option<[u8; 8]> {
        self.take(8)?.try_into().ok()
    }

    /// Goes behind the end of a container whose beginning was read.
    #[inline(never)]
    pub fn leave(&mut self) {
        let mut depth = 1u32;
        while depth > 0 {
            match self.next() {
                Some(Token::List | Token::Dict) => depth += 1,
                Some(Token::End) => depth -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }

    /// Goes behind a value that begins with this token.
    #[inline(never)]
    pub fn pass(&mut self, token: Token<'_>) {
        if matches!(token, Token::List | Token::Dict) {
            self.leave();
        }
    }

    /// The next key and the first token of its value, in a dict whose beginning was read; `None` at its end.
    #[inline(never)]
    pub fn pair(&mut self) -> Option<(&'a [u8], Token<'a>)> {
        match self.next()? {
            Token::Text(key) => Some((key, self.next().filter(|value| *value != Token::End)?)),
            _ => None,
        }
    }

    /// The first token of the next element, in a list whose beginning was read; `None` at its end.
    #[inline(never)]
    pub fn item(&mut self) -> Option<Token<'a>> {
        self.next().filter(|item| *item != Token::End)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    #[inline(never)]
    fn next(&mut self) -> Option<Token<'a>> {
        let &[tag] = self.take(1)? else { return None };
        Some(match tag {
            END => Token::End,
            NONE => Token::None,
            FALSE | TRUE => Token::Bool(tag == TRUE),
            INT => Token::Int(i64::from_le_bytes(self.eight()?)),
            FLOAT => Token::Float(f64::from_le_bytes(self.eight()?)),
            TEXT => {
                let length = self.take(4)?.try_into().ok().map(u32::from_le_bytes)?;
                Token::Text(self.take(length as usize)?)
            }
            LIST => Token::List,
            DICT => Token::Dict,
            _ => {
                self.at = self.bytes.len();
                return None;
            }
        })
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/recorder/tree.rs"]
mod tests;
