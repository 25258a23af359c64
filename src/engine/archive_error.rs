//! Why an archive can't be opened.

use history::container::zip::ZipError;

/// Why an archive can't be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    /// As a zip.
    #[error("{0}")]
    Zip(#[from] ZipError),
    /// `torch.save` writes zip archives as well.
    #[error("this is a torch.save checkpoint, not a PyTorch memory snapshot")]
    Checkpoint,
    /// Nothing in it is a snapshot.
    #[error("no PyTorch memory snapshot in the zip archive: {0}")]
    NoSnapshot(String),
    /// The page and the archive disagree.
    #[error("the zip archive has no snapshot {0}. Has the file changed?")]
    NoSuchMember(u32),
    /// The file is shorter than it was when it was opened.
    #[error("unexpected end of file at byte {0}, inside the zip archive. Has the file changed?")]
    Cut(u64),
}
