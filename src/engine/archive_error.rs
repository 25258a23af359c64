//! Errors of opening an archive.

use history::container::zip::ZipError;

/// Error of opening an archive.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    /// The structure of the zip archive is invalid.
    #[error("{0}")]
    Zip(#[from] ZipError),
    /// A `torch.save` checkpoint, which is a zip archive as well.
    #[error("this is a torch.save checkpoint, not a PyTorch memory snapshot")]
    Checkpoint,
    /// No member is a snapshot.
    #[error("no PyTorch memory snapshot in the zip archive: {0}")]
    NoSnapshot(String),
    /// The requested snapshot does not exist.
    #[error("the zip archive has no snapshot {0}. Has the file changed?")]
    NoSuchMember(u32),
    /// The file is shorter than it was when it was opened.
    #[error("unexpected end of file at byte {0}, inside the zip archive. Has the file changed?")]
    Truncated(u64),
}
