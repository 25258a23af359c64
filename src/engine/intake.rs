//! Where the container's bytes come from: the file as it is, or a member of the archive that the file turns out to be.

use super::archive::Archive;
use super::archive_error::ArchiveError;
use super::decoder::Layout;
use super::feed::{Feed, More};
use super::protocol::{Access, Member, Want};
use history::container::{Container, zip};

/// Where the container's bytes come from.
pub(super) struct Intake {
    feed: Feed,
    total_bytes: Option<u64>,
    access: Access,
    member: Option<u32>,
    route: Route,
}

enum Route {
    /// The first bytes of the file, too few to tell an archive.
    Unknown(Vec<u8>),
    File,
    Archive(Box<Archive>),
    Over,
}

/// Bytes that tell an archive.
const HEAD: usize = 4;

impl Intake {
    /// A file at its beginning.
    pub(super) fn new(total_bytes: Option<u64>, access: Access, member: Option<u32>) -> Intake {
        Intake { feed: Feed::default(), total_bytes, access, member, route: Route::Unknown(Vec::new()) }
    }

    /// Takes the bytes that were wanted.
    pub(super) fn feed(&mut self, chunk: Vec<u8>) {
        self.feed.feed(chunk);
    }

    /// There are no more bytes after those that were fed last.
    pub(super) fn end(&mut self) {
        self.feed.end();
    }

    /// Which bytes are needed next.
    pub(super) fn wants(&self) -> Option<Want> {
        self.feed.wants()
    }

    /// How many bytes the container will get, where known.
    pub(super) fn total_bytes(&self) -> Option<u64> {
        match &self.route {
            Route::Archive(archive) => archive.packed_bytes(),
            _ => self.total_bytes,
        }
    }

    /// The snapshots of an archive that has several, once.
    pub(super) fn take_members(&mut self) -> Option<Vec<Member>> {
        if let Route::Archive(archive) = &mut self.route { archive.take_members() } else { None }
    }

    /// Which of several snapshots it is.
    pub(super) fn member_name(&self) -> Option<&str> {
        if let Route::Archive(archive) = &self.route { archive.member_name() } else { None }
    }

    /// What the members of the file are to each other.
    pub(super) fn layout(&self) -> Layout {
        if let Route::Archive(archive) = &self.route { archive.layout() } else { Layout::Snapshot }
    }

    /// The container has had everything of the first of two members: the second one comes.
    pub(super) fn next_member(&mut self) {
        if let Route::Archive(archive) = &mut self.route {
            archive.next_member(&mut self.feed);
        }
    }

    /// Gives the container more bytes.
    pub(super) fn give(&mut self, container: &mut Container) -> Result<More, ArchiveError> {
        match &mut self.route {
            Route::Unknown(head) => {
                head.extend_from_slice(&self.feed.take());
                if head.len() < HEAD && !self.feed.has_ended() {
                    return Ok(More::Hungry);
                }
                let head = std::mem::take(head);
                self.route = match (zip::is_zip(&head), self.access, self.total_bytes) {
                    (true, Access::Anywhere, Some(length)) => {
                        Route::Archive(Box::new(Archive::new(length, self.member, &mut self.feed)))
                    }
                    (true, ..) => {
                        self.feed.want_whole();
                        return Ok(More::Hungry);
                    }
                    (false, ..) => {
                        container.feed(head);
                        Route::File
                    }
                };
                Ok(More::Given)
            }
            Route::File if self.feed.rest().is_empty() && !self.feed.has_ended() => Ok(More::Hungry),
            Route::File if self.feed.rest().is_empty() => {
                container.end();
                self.route = Route::Over;
                Ok(More::Given)
            }
            Route::File => {
                container.feed(self.feed.take());
                Ok(More::Given)
            }
            Route::Archive(archive) => archive.give(&mut self.feed, container),
            Route::Over => Ok(More::Over),
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.feed.heap_bytes()
    }
}
