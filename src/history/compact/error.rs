//! Errors while reading and writing columns.

/// Error while reading columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompactError {
    /// The columns come from a later version of memscape.
    #[error(
        "columns version {0} is not supported (this memscape reads version 1): open the file with the memscape that wrote it"
    )]
    Version(u8),
    /// A section has a wrong checksum or contradicts itself.
    #[error("the columns are damaged between bytes {from} and {to}")]
    Damaged {
        /// First byte of the section in the file.
        from: u64,
        /// End of the section in the file.
        to: u64,
    },
    /// The end marker is missing. Holds the number of bytes read.
    #[error("unexpected end of the columns after {0} bytes")]
    Truncated(u64),
}

/// Error while writing a snapshot as columns.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Columns cannot represent part of the snapshot.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The output could not be written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}
