//! Source of the container's bytes: the file itself, or one of its members if the file is an archive.

use super::archive::Archive;
use super::archive_error::ArchiveError;
use super::decoder::Layout;
use super::input_buffer::{InputBuffer, Supply};
use history::container::{Container, zip};
use protocol::{Access, Member, NeededBytes};

/// Source of the container's bytes: a whole file, or a member of an archive.
pub(super) struct ContainerInput {
    feed: InputBuffer,
    total_bytes: Option<u64>,
    access: Access,
    member: Option<u32>,
    route: Route,
}

base::heap_bytes!(ContainerInput: feed);

enum Route {
    /// First bytes of the file, too few to recognize an archive.
    Unknown(Vec<u8>),
    File,
    Archive(Box<Archive>),
    Ended,
}

/// Number of bytes needed to recognize an archive.
const MAGIC_BYTES: usize = 4;

impl ContainerInput {
    /// Creates the source for a file of `total_bytes`, if known. `member` is the index of the snapshot to open in an
    /// archive.
    pub(super) fn new(total_bytes: Option<u64>, access: Access, member: Option<u32>) -> ContainerInput {
        ContainerInput { feed: InputBuffer::default(), total_bytes, access, member, route: Route::Unknown(Vec::new()) }
    }

    /// Feeds bytes from the position that [`ContainerInput::wants`] returned.
    pub(super) fn feed(&mut self, chunk: Vec<u8>) {
        self.feed.feed(chunk);
    }

    /// Marks the bytes fed so far as the complete file.
    pub(super) fn end(&mut self) {
        self.feed.end();
    }

    /// Returns the position of the bytes that are needed next. `None` if no bytes are needed now.
    pub(super) fn wants(&self) -> Option<NeededBytes> {
        self.feed.wants()
    }

    /// Returns the total number of bytes to read, if known: the compressed size of the archive member, or the size of
    /// the file.
    pub(super) fn total_bytes(&self) -> Option<u64> {
        match &self.route {
            Route::Archive(archive) => archive.packed_bytes(),
            _ => self.total_bytes,
        }
    }

    /// Returns the list of snapshots if the file is an archive with several snapshots. Later calls return `None`.
    pub(super) fn take_members(&mut self) -> Option<Vec<Member>> {
        if let Route::Archive(archive) = &mut self.route { archive.take_members() } else { None }
    }

    /// Returns the name of the opened member if the archive has several snapshots.
    pub(super) fn member_name(&self) -> Option<&str> {
        if let Route::Archive(archive) = &self.route { archive.member_name() } else { None }
    }

    /// Returns whether `torch.save` wrote the file as a zip archive.
    pub(super) fn is_torch_save(&self) -> bool {
        if let Route::Archive(archive) = &self.route { archive.is_torch_save() } else { false }
    }

    /// Returns the index of the snapshot to open among those in one pickle, JSON or tar file.
    pub(super) fn inner_member(&self) -> u32 {
        match &self.route {
            Route::Archive(archive) if !archive.is_torch_save() => 0,
            _ => self.member.unwrap_or(0),
        }
    }

    pub(super) fn layout(&self) -> Layout {
        if let Route::Archive(archive) = &self.route { archive.layout() } else { Layout::Snapshot }
    }

    /// Continues with the second of two members. The container must have received the whole first member.
    pub(super) fn next_member(&mut self) {
        if let Route::Archive(archive) = &mut self.route {
            archive.next_member(&mut self.feed);
        }
    }

    /// Passes more bytes to the container. Returns whether more bytes have to be fed first.
    pub(super) fn feed_container(&mut self, container: &mut Container) -> Result<Supply, ArchiveError> {
        match &mut self.route {
            Route::Unknown(head) => {
                head.extend_from_slice(&self.feed.take());
                if head.len() < MAGIC_BYTES && !self.feed.has_ended() {
                    return Ok(Supply::NeedsBytes);
                }
                let head = std::mem::take(head);
                self.route = match (zip::is_zip(&head), self.access, self.total_bytes) {
                    (true, Access::Random, Some(length)) => {
                        Route::Archive(Box::new(Archive::new(length, self.member, &mut self.feed)))
                    }
                    (true, ..) => {
                        self.feed.want_whole();
                        return Ok(Supply::NeedsBytes);
                    }
                    (false, ..) => {
                        container.set_member(self.member.unwrap_or(0));
                        container.feed(head);
                        Route::File
                    }
                };
                Ok(Supply::Supplied)
            }
            Route::File if self.feed.remaining().is_empty() && !self.feed.has_ended() => Ok(Supply::NeedsBytes),
            Route::File if self.feed.remaining().is_empty() => {
                container.finish_input();
                self.route = Route::Ended;
                Ok(Supply::Supplied)
            }
            Route::File => {
                container.feed(self.feed.take());
                Ok(Supply::Supplied)
            }
            Route::Archive(archive) => archive.feed_container(&mut self.feed, container),
            Route::Ended => Ok(Supply::Ended),
        }
    }
}
