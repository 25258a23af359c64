//! Compact encoding of nested values as bytes, in depth-first order. Reading invalid bytes is safe.

/// Maximum total size of all values in bytes. 200,000 tensors take about 40 MB.
const MAX_BYTES: usize = 64 << 20;

const END: u8 = 0;
const NONE: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const INT: u8 = 4;
const FLOAT: u8 = 5;
const TEXT: u8 = 6;
const LIST: u8 = 7;
const DICT: u8 = 8;

/// Scalar value, or start or end of a container. Inside a dict, each key is a text token, followed by its value.
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

/// Encoded values, which are read by [`ValueTree::tokens`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueTree {
    bytes: Vec<u8>,
}

base::heap_bytes!(ValueTree: bytes);

impl ValueTree {
    /// Returns whether there is room for more values. The end of a container can be added even without room.
    pub fn has_room(&self) -> bool {
        self.bytes.len() < MAX_BYTES
    }

    /// Appends a token. A text that does not fit becomes [`Token::None`].
    pub fn put(&mut self, token: Token<'_>) {
        let tag = match token {
            Token::End => END,
            Token::Bool(false) => FALSE,
            Token::Bool(true) => TRUE,
            Token::Int(_) => INT,
            Token::Float(_) => FLOAT,
            Token::Text(text) if text.len() <= MAX_BYTES.saturating_sub(self.bytes.len()) => TEXT,
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

    /// Returns the encoded values.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends encoded values. Returns `false`, and appends nothing, if they do not fit.
    pub fn extend(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= (MAX_BYTES + MAX_BYTES / 2).saturating_sub(self.bytes.len());
        if fits {
            self.bytes.extend_from_slice(bytes);
        }
        fits
    }

    /// Returns a reader that starts at a byte position.
    pub fn tokens(&self, position: u32) -> Tokens<'_> {
        Tokens { bytes: &self.bytes, at: position as usize }
    }

    /// Returns the text at a byte position, or an empty one if another token is there.
    pub fn text(&self, position: u32) -> &[u8] {
        match self.tokens(position).next() {
            Some(Token::Text(text)) => text,
            _ => &[],
        }
    }
}

/// Iterator over tokens, which ends at invalid bytes.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    /// Returns the byte position of the next token.
    pub fn offset(&self) -> u32 {
        self.at as u32
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        self.at = taken.map_or(self.bytes.len(), |_| self.at + count);
        taken
    }

    fn take_8(&mut self) -> Option<[u8; 8]> {
        self.take(8)?.try_into().ok()
    }

    /// Skips the rest of a container whose start token was read.
    pub fn skip_rest(&mut self) {
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

    /// Skips the rest of a value whose first token is `token`.
    pub fn skip_value(&mut self, token: Token<'_>) {
        if matches!(token, Token::List | Token::Dict) {
            self.skip_rest();
        }
    }

    /// Returns the next key of a dict and the first token of its value, or `None` at the end of the dict.
    pub fn next_pair(&mut self) -> Option<(&'a [u8], Token<'a>)> {
        match self.next()? {
            Token::Text(key) => Some((key, self.next().filter(|value| *value != Token::End)?)),
            _ => None,
        }
    }

    /// Returns the first token of the next element of a list, or `None` at the end of the list.
    pub fn next_item(&mut self) -> Option<Token<'a>> {
        self.next().filter(|item| *item != Token::End)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let &[tag] = self.take(1)? else { return None };
        Some(match tag {
            END => Token::End,
            NONE => Token::None,
            FALSE | TRUE => Token::Bool(tag == TRUE),
            INT => Token::Int(i64::from_le_bytes(self.take_8()?)),
            FLOAT => Token::Float(f64::from_le_bytes(self.take_8()?)),
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
