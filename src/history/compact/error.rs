//! Errors of reading and writing files of compact columns.

/// Error while reading a file of compact columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompactError {
    /// The file was written by a later version of memscape.
    #[error(
        "columns version {0} is not supported (this memscape reads version 1): open the file with the memscape that wrote it"
    )]
    Version(u8),
    /// A section has a wrong checksum or inconsistent contents.
    #[error("the columns are damaged between bytes {from} and {to}")]
    Damaged {
        /// Offset of the section's first byte in the file.
        from: u64,
        /// Offset of the section's end in the file.
        to: u64,
    },
    /// The end marker is missing. Holds the number of bytes read.
    #[error("unexpected end of the columns after {0} bytes")]
    Truncated(u64),
}

/// Error while writing a snapshot as compact columns.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Part of the snapshot cannot be represented in this format.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The output could not be written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}
