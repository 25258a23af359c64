//! Why columns can't be read, and why a snapshot can't be written as columns.

/// Why columns can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompactError {
    /// Written by a later memscape.
    #[error(
        "columns version {0} is not supported (this memscape reads version 1): open the file with the memscape that wrote it"
    )]
    Version(u8),
    /// Its sum is another, or what is in it contradicts itself.
    #[error("the columns are damaged between bytes {from} and {to}")]
    Damaged {
        /// Where the section begins.
        from: u64,
        /// Where it ends.
        to: u64,
    },
    /// There is no end.
    #[error("unexpected end of the columns after {0} bytes")]
    Cut(u64),
}

/// Why a snapshot can't be written as columns.
#[derive(Debug, thiserror::Error)]
pub enum Unwritable {
    /// The columns have no room for it, so the file has to stay as it is.
    #[error("{0}")]
    Unfit(&'static str),
    /// The system's.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}
