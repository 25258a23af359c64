//! Interface of the decompressors of all formats.

/// Reason why a layer cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Damaged,
    /// The input ends too soon.
    Truncated,
    /// The layer needs a feature that is not supported.
    Unsupported(&'static str),
    /// The layer does not contain a snapshot. Holds the name of its format.
    NotASnapshot(&'static str),
}

/// Snapshot in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub bytes: u64,
}

/// Incremental decompressor of one format.
pub(super) trait Unpacker {
    /// Unpacks `input` into the spare capacity of `output`, without growing it. Returns the number of bytes consumed,
    /// which is less than the input only if the output is full. With empty input, writes bytes that are still buffered.
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault>;

    /// Checks that the stream is complete. Called when input and output are exhausted.
    fn finish(&self) -> Result<(), Fault>;

    /// Returns whether nonzero bytes after the end were ignored.
    fn has_trailing_bytes(&self) -> bool {
        false
    }

    /// Returns the snapshots found so far, if the format is an archive.
    fn members(&self) -> &[Member] {
        &[]
    }
}
