//! Byte buffer between two layers of compression.

/// Maximum number of bytes that one call returns. Decoding them takes well under a millisecond.
pub const MAX_PIECE_BYTES: usize = 64 << 10;

/// Byte buffer whose first `consumed` bytes are already consumed.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    consumed: usize,
}

base::heap_bytes!(Buffer: bytes);

impl Buffer {
    /// Returns the bytes that are not consumed yet.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.consumed..).unwrap_or_default()
    }

    /// Marks the next `bytes` bytes as consumed.
    pub(super) fn consume(&mut self, bytes: usize) {
        self.consumed = self.consumed.saturating_add(bytes).min(self.bytes.len());
    }

    /// Consumes and returns up to [`MAX_PIECE_BYTES`] bytes.
    pub(super) fn consume_piece(&mut self) -> &[u8] {
        let from = self.consumed;
        self.consume(MAX_PIECE_BYTES);
        self.bytes.get(from..self.consumed).unwrap_or_default()
    }

    /// Adds a chunk. The chunk is copied only if earlier bytes are not consumed yet.
    pub(super) fn add(&mut self, chunk: Vec<u8>) {
        if self.rest().is_empty() {
            *self = Buffer { bytes: chunk, consumed: 0 };
        } else {
            self.bytes.extend_from_slice(&chunk);
        }
    }

    /// Drops the consumed bytes and returns the vector for appending. Its capacity is at least [`MAX_PIECE_BYTES`] and
    /// must not be exceeded.
    pub(super) fn spare(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.consumed);
        self.consumed = 0;
        if self.bytes.capacity() < MAX_PIECE_BYTES {
            self.bytes.reserve_exact(MAX_PIECE_BYTES - self.bytes.len());
        }
        &mut self.bytes
    }
}
