//! Why an archive can't be opened.

use history::container::zip::ZipError;

/// Why an archive can't be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    /// As a zip.
    #[error("{0}")]
    Zip(#[from] ZipError),
    /// `torch.save` writes zip archives as well.
    #[error("this is a checkpoint of torch.save, not a PyTorch memory snapshot")]
    Checkpoint,
    /// Nothing in it is a snapshot.
    #[error("no member of the zip archive is a PyTorch memory snapshot: {0}")]
    NoSnapshot(String),
    /// The page and the archive disagree.
    #[error("the zip archive has no snapshot number {0}: was it changed meanwhile?")]
    NoSuchMember(u32),
    /// The file is shorter than it was when it was opened.
    #[error("the file ends at byte {0}, inside its zip archive: was it changed meanwhile?")]
    Cut(u64),
}
