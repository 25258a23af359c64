//! Interface of all unpackers.

/// Reason why a layer fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Damaged,
    /// The input ends too soon.
    Truncated,
    /// The layer needs a feature that is not supported.
    Unsupported(&'static str),
    /// The layer holds no snapshot. Names the format that it is instead.
    NotASnapshot(&'static str),
}

/// Incremental decompressor of one format.
pub(super) trait Unpacker {
    /// Unpacks `input` into the spare capacity of `output`, without growing it. Returns the number of bytes consumed,
    /// which are all unless the output is full. With empty input it writes what it still buffers.
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault>;

    /// Checks that the stream is complete. Called when input and output are exhausted.
    fn finish(&self) -> Result<(), Fault>;

    /// Returns whether nonzero bytes after the end were ignored.
    fn has_trailing_bytes(&self) -> bool {
        false
    }
}
