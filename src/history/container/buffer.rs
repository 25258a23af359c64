//! Bytes on their way from one layer to the next.

/// How many bytes are handed out at a time, at most: well under a millisecond of decoding.
pub const PIECE: usize = 64 << 10;

/// Bytes of which the first were taken already.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    taken: usize,
}

impl Buffer {
    /// What nobody has taken yet.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.taken..).unwrap_or_default()
    }

    /// The first of these bytes were taken.
    pub(super) fn take(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes).min(self.bytes.len());
    }

    /// Takes up to [`PIECE`] bytes.
    pub(super) fn take_piece(&mut self) -> &[u8] {
        let from = self.taken;
        self.take(PIECE);
        self.bytes.get(from..self.taken).unwrap_or_default()
    }

    /// Adds a chunk; it is copied only where the last one is not used up.
    pub(super) fn add(&mut self, chunk: Vec<u8>) {
        if self.rest().is_empty() {
            *self = Buffer { bytes: chunk, taken: 0 };
        } else {
            self.bytes.extend_from_slice(&chunk);
        }
    }

    /// Room for a layer to write into: as much as the vector's capacity leaves, about [`PIECE`] bytes behind the rest.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        if self.bytes.capacity() < PIECE {
            self.bytes.reserve_exact(PIECE - self.bytes.len());
        }
        &mut self.bytes
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}
