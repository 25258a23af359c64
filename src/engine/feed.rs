//! The bytes at hand: the chunk that was fed last, where in the file it stands, and which bytes are needed next.

use super::protocol::Want;

/// What a container that has handed out all it has can hope for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    /// It has got more, or knows that there are no more.
    Given,
    /// Not before the driver has fed what is wanted.
    Hungry,
    Over,
}

/// The bytes at hand.
pub(super) struct Feed {
    chunk: Vec<u8>,
    /// How much of it is used up.
    used: usize,
    /// Where in the file it begins.
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

    /// There are no more bytes after those that were fed last.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Whether that was said.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Which bytes are needed before there is anything to use up.
    pub(super) fn wants(&self) -> Option<Want> {
        (self.used >= self.chunk.len() && !self.ended).then_some(self.next)
    }

    /// The bytes that are not used up.
    pub(super) fn rest(&self) -> &[u8] {
        self.chunk.get(self.used..).unwrap_or_default()
    }

    /// Uses up some of them.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.used = self.chunk.len().min(self.used.saturating_add(bytes));
    }

    /// Uses up all of them, as a chunk of its own.
    pub(super) fn take(&mut self) -> Vec<u8> {
        if self.used == 0 {
            self.begins += self.chunk.len() as u64;
            return std::mem::take(&mut self.chunk);
        }
        let rest = self.rest().to_vec();
        self.used = self.chunk.len();
        rest
    }

    /// Goes on at this offset of the file; what lies in the chunk need not be fed again.
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

    /// Only the whole file will do.
    pub(super) fn want_whole(&mut self) {
        self.used = self.chunk.len();
        self.next = Want::Whole;
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.chunk.capacity()
    }
}
