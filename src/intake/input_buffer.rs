//! Input buffer: the most recent chunk, its position in the file, and the position of the bytes needed next.

use protocol::NeededBytes;

/// Result of a request for more input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Supply {
    /// More bytes were passed on, or the end of the input was reported.
    Supplied,
    /// More bytes have to be fed first.
    NeedsBytes,
    Ended,
}

/// Input buffer for the bytes of a file.
pub(super) struct InputBuffer {
    chunk: Vec<u8>,
    /// Number of bytes at the start of `chunk` that are already consumed.
    used: usize,
    /// Offset of `chunk` in the file.
    offset: u64,
    next_read: NeededBytes,
    ended: bool,
}

base::heap_bytes!(InputBuffer: chunk);

impl Default for InputBuffer {
    fn default() -> InputBuffer {
        InputBuffer { chunk: Vec::new(), used: 0, offset: 0, next_read: NeededBytes::Next, ended: false }
    }
}

impl InputBuffer {
    /// Replaces the chunk with bytes from the position that [`InputBuffer::wants`] returned.
    pub(super) fn feed(&mut self, chunk: Vec<u8>) {
        self.offset = match self.next_read {
            NeededBytes::At(offset) => offset,
            NeededBytes::Next | NeededBytes::WholeFile => self.offset + self.chunk.len() as u64,
        };
        self.next_read = NeededBytes::Next;
        self.chunk = chunk;
        self.used = 0;
    }

    /// Marks the current chunk as the last one of the file.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns the position of the bytes that are needed next. `None` while unconsumed bytes are left, and at the end
    /// of the file.
    pub(super) fn wants(&self) -> Option<NeededBytes> {
        (self.used >= self.chunk.len() && !self.ended).then_some(self.next_read)
    }

    /// Returns the bytes of the chunk that are not consumed yet.
    pub(super) fn remaining(&self) -> &[u8] {
        self.chunk.get(self.used..).unwrap_or_default()
    }

    /// Marks the next `bytes` bytes as consumed.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.used = self.chunk.len().min(self.used.saturating_add(bytes));
    }

    /// Returns the remaining bytes and marks them as consumed.
    pub(super) fn take(&mut self) -> Vec<u8> {
        if self.used == 0 {
            self.offset += self.chunk.len() as u64;
            return std::mem::take(&mut self.chunk);
        }
        let rest = self.remaining().to_vec();
        self.used = self.chunk.len();
        rest
    }

    /// Moves the read position to an offset of the file. Bytes within the current chunk need not be fed again.
    pub(super) fn seek(&mut self, offset: u64) {
        let position = offset.checked_sub(self.offset).and_then(|position| usize::try_from(position).ok());
        match position.filter(|&position| position <= self.chunk.len()) {
            Some(position) => self.used = position,
            None => {
                self.used = self.chunk.len();
                self.next_read = NeededBytes::At(offset);
            }
        }
    }

    /// Requests the bytes of the whole file.
    pub(super) fn want_whole(&mut self) {
        self.used = self.chunk.len();
        self.next_read = NeededBytes::WholeFile;
    }
}
