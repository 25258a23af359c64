//! Error type for opening an archive.

use history::container::zip::ZipError;

/// Error that occurs when an archive is opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    /// The structure of the zip archive is invalid.
    #[error("{0}")]
    Zip(#[from] ZipError),
    /// No member is a snapshot. Holds the reason.
    #[error("no PyTorch memory snapshot in the zip archive: {0}")]
    NoSnapshot(String),
    /// The requested snapshot does not exist. Holds its index.
    #[error("the zip archive has no snapshot {0}. Has the file changed?")]
    NoSuchMember(u32),
    /// The file became shorter after it was opened.
    #[error("unexpected end of file at byte {0}, inside the zip archive. Has the file changed?")]
    Truncated(u64),
}
