//! Input buffer: the chunk fed last, its position in the file, and the position of the bytes needed next.

use super::protocol::Want;

/// Result of asking for more input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    /// More bytes were passed on, or the end of the input was signalled.
    Given,
    /// The wanted bytes have to be fed first.
    Hungry,
    Over,
}

/// Input buffer of a file.
pub(super) struct Feed {
    chunk: Vec<u8>,
    /// Number of bytes of `chunk` that are used up.
    used: usize,
    /// Offset of `chunk` in the file.
    begins: u64,
    next: Want,
    ended: bool,
}

impl Default for Feed {
    fn default() -> Feed {
        Feed { chunk: Vec::new(), used: 0, begins: 0, next: Want::Next, ended: false }
    }
}

impl Feed {
    /// Takes the bytes that were wanted.
    pub(super) fn feed(&mut self, chunk: Vec<u8>) {
        self.begins = match self.next {
            Want::At(offset) => offset,
            Want::Next | Want::Whole => self.begins + self.chunk.len() as u64,
        };
        self.next = Want::Next;
        self.chunk = chunk;
        self.used = 0;
    }

    /// Marks the bytes fed last as the end of the file.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns which bytes are needed next. `None` while some are left, and at the end of the file.
    pub(super) fn wants(&self) -> Option<Want> {
        (self.used >= self.chunk.len() && !self.ended).then_some(self.next)
    }

    /// Returns the bytes that are not used up.
    pub(super) fn rest(&self) -> &[u8] {
        self.chunk.get(self.used..).unwrap_or_default()
    }

    /// Marks bytes as used up.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.used = self.chunk.len().min(self.used.saturating_add(bytes));
    }

    /// Returns the remaining bytes and marks them as used up.
    pub(super) fn take(&mut self) -> Vec<u8> {
        if self.used == 0 {
            self.begins += self.chunk.len() as u64;
            return std::mem::take(&mut self.chunk);
        }
        let rest = self.rest().to_vec();
        self.used = self.chunk.len();
        rest
    }

    /// Continues at an offset of the file. Bytes within the current chunk need not be fed again.
    pub(super) fn seek(&mut self, offset: u64) {
        let inside = offset.checked_sub(self.begins).and_then(|inside| usize::try_from(inside).ok());
        match inside.filter(|&inside| inside <= self.chunk.len()) {
            Some(inside) => self.used = inside,
            None => {
                self.used = self.chunk.len();
                self.next = Want::At(offset);
            }
        }
    }

    /// Requests the whole file.
    pub(super) fn want_whole(&mut self) {
        self.used = self.chunk.len();
        self.next = Want::Whole;
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.chunk.capacity()
    }
}
