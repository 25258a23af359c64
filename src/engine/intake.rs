//! Source of the container's bytes: the file itself, or a member if the file is an archive.

use super::archive::Archive;
use super::archive_error::ArchiveError;
use super::decoder::Layout;
use super::feed::{Feed, More};
use super::protocol::{Access, Member, Want};
use history::container::{Container, zip};

/// Source of the container's bytes.
pub(super) struct Intake {
    feed: Feed,
    total_bytes: Option<u64>,
    access: Access,
    member: Option<u32>,
    route: Route,
}

enum Route {
    /// First bytes of the file, too few to recognize an archive.
    Unknown(Vec<u8>),
    File,
    Archive(Box<Archive>),
    Over,
}

/// Number of bytes needed to recognize an archive.
const HEAD: usize = 4;

impl Intake {
    /// Creates the source for a file, at its beginning.
    pub(super) fn new(total_bytes: Option<u64>, access: Access, member: Option<u32>) -> Intake {
        Intake { feed: Feed::default(), total_bytes, access, member, route: Route::Unknown(Vec::new()) }
    }

    /// Takes the bytes that were wanted.
    pub(super) fn feed(&mut self, chunk: Vec<u8>) {
        self.feed.feed(chunk);
    }

    /// Marks the bytes fed last as the end of the file.
    pub(super) fn end(&mut self) {
        self.feed.end();
    }

    /// Returns which bytes are needed next.
    pub(super) fn wants(&self) -> Option<Want> {
        self.feed.wants()
    }

    /// Returns the number of bytes that the container will get, if known.
    pub(super) fn total_bytes(&self) -> Option<u64> {
        match &self.route {
            Route::Archive(archive) => archive.packed_bytes(),
            _ => self.total_bytes,
        }
    }

    /// Returns the snapshots of an archive, once, if it has several.
    pub(super) fn take_members(&mut self) -> Option<Vec<Member>> {
        if let Route::Archive(archive) = &mut self.route { archive.take_members() } else { None }
    }

    /// Returns the name of the opened member if the archive has several snapshots.
    pub(super) fn member_name(&self) -> Option<&str> {
        if let Route::Archive(archive) = &self.route { archive.member_name() } else { None }
    }

    pub(super) fn layout(&self) -> Layout {
        if let Route::Archive(archive) = &self.route { archive.layout() } else { Layout::Snapshot }
    }

    /// Continues with the second of two members. The container must have received all of the first.
    pub(super) fn next_member(&mut self) {
        if let Route::Archive(archive) = &mut self.route {
            archive.next_member(&mut self.feed);
        }
    }

    /// Passes more bytes to the container.
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

    pub(super) fn heap_bytes(&self) -> usize {
        self.feed.heap_bytes()
    }
}
