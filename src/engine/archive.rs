//! Reading of zip archives: the directory, the members that are snapshots, and the bytes of the opened one.

use super::archive_error::ArchiveError;
use super::decoder::Layout;
use super::feed::{Feed, More};
use super::glimpse::{GLIMPSE, LAST_RESORT, likelihood};
use super::protocol::Member;
use super::survey::{Survey, Surveyed};
use base::sorted::sorted_by_key;
use history::container::Container;
use history::container::zip::{self, Directory, Entry};

/// A zip archive being read.
pub(super) struct Archive {
    /// Length of the file in bytes.
    length: u64,
    member: Option<u32>,
    step: Step,
    part: Part,
    members: Option<Vec<Member>>,
    opened: Option<Entry>,
    /// Member with the elements of a SnapViewer drawing. It is read after the drawing.
    elements: Option<Entry>,
    layout: Layout,
    is_one_of_several: bool,
}

/// Step of reading an archive, named by the part of the file that is gathered.
enum Step {
    Tail,
    Zip64,
    Directory(Directory),
    /// No part is gathered. The directory is complete and is processed in time slices.
    Survey(Box<Survey>),
    /// Local header of a member that is probed.
    GlimpseHeader(Glimpses),
    /// First compressed bytes of that member.
    Glimpse(Glimpses),
    /// Local header of the member that is opened.
    Header,
    /// Compressed data of that member, with the number of bytes still missing.
    Member(u64),
    Ended,
    Over,
}

/// A part of the file that is gathered before it is parsed.
#[derive(Default)]
struct Part {
    offset: u64,
    length: u64,
    bytes: Vec<u8>,
}

impl Part {
    /// Starts gathering `length` bytes at `offset`.
    fn new(offset: u64, length: u64, feed: &mut Feed) -> Part {
        feed.seek(offset);
        Part { offset, length, bytes: Vec::new() }
    }

    /// Takes the available bytes it needs. Returns true once the part is complete.
    fn gather(&mut self, feed: &mut Feed) -> Result<bool, ArchiveError> {
        let missing = self.length - self.bytes.len() as u64;
        let rest = feed.rest();
        let took = usize::try_from(missing).map_or(rest.len(), |missing| rest.len().min(missing));
        self.bytes.extend_from_slice(rest.get(..took).unwrap_or_default());
        feed.advance(took);
        if self.bytes.len() as u64 == self.length {
            Ok(true)
        } else if feed.has_ended() {
            Err(ArchiveError::Cut(self.offset + self.bytes.len() as u64))
        } else {
            Ok(false)
        }
    }
}

/// State of probing the members.
struct Glimpses {
    waiting: Vec<Entry>,
    current: Entry,
    /// Possible snapshots in directory order, each with its rank. Rank 0 is the likeliest.
    found: Vec<(u8, Entry)>,
    /// Descriptions of the members that are not snapshots.
    others: Vec<String>,
}

impl Archive {
    /// Starts reading an archive of `length` bytes. `member` is an index into its snapshots.
    pub(super) fn new(length: u64, member: Option<u32>, feed: &mut Feed) -> Archive {
        let tail = length.min(zip::TAIL);
        let part = Part::new(length - tail, tail, feed);
        Archive {
            length,
            member,
            step: Step::Tail,
            part,
            members: None,
            opened: None,
            elements: None,
            layout: Layout::Snapshot,
            is_one_of_several: false,
        }
    }

    /// Returns the compressed size of the opened member, in bytes.
    pub(super) fn packed_bytes(&self) -> Option<u64> {
        self.opened.as_ref().map(|entry| entry.packed)
    }

    /// Returns the snapshots, once, if there are several.
    pub(super) fn take_members(&mut self) -> Option<Vec<Member>> {
        self.members.take()
    }

    /// Returns the name of the opened member if there are several snapshots.
    pub(super) fn member_name(&self) -> Option<&str> {
        self.opened.as_ref().filter(|_| self.is_one_of_several).map(|entry| entry.name.as_str())
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// Continues with the elements of a SnapViewer drawing.
    pub(super) fn next_member(&mut self, feed: &mut Feed) {
        if let Some(entry) = self.elements.take() {
            self.open(entry, feed);
        }
    }

    fn open(&mut self, entry: Entry, feed: &mut Feed) {
        self.part = Part::new(entry.offset, zip::HEADER as u64, feed);
        self.step = Step::Header;
        self.opened = Some(entry);
    }

    /// Passes more bytes of the member to the container. Locates the member first.
    pub(super) fn give(&mut self, feed: &mut Feed, container: &mut Container) -> Result<More, ArchiveError> {
        match &mut self.step {
            Step::Member(0) => {
                container.end();
                self.step = Step::Ended;
                return Ok(More::Given);
            }
            Step::Member(left) => {
                if feed.rest().is_empty() && feed.has_ended() {
                    return Err(ArchiveError::Cut(self.part.offset));
                }
                if feed.rest().is_empty() {
                    return Ok(More::Hungry);
                }
                let mut bytes = feed.take();
                bytes.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= bytes.len() as u64;
                self.part.offset += bytes.len() as u64;
                container.feed(bytes);
                return Ok(More::Given);
            }
            Step::Ended | Step::Over => return Ok(More::Over),
            _ => {}
        }
        if !self.part.gather(feed)? {
            return Ok(More::Hungry);
        }
        let Part { offset, bytes, .. } = std::mem::take(&mut self.part);
        match std::mem::replace(&mut self.step, Step::Over) {
            Step::Tail => match zip::end(&bytes, offset)? {
                zip::End::Directory(directory) => self.read_directory(directory, feed),
                zip::End::Zip64(record) => {
                    self.step = Step::Zip64;
                    self.part = Part::new(record, zip::ZIP64 as u64, feed);
                }
            },
            Step::Zip64 => self.read_directory(zip::zip64(&bytes, offset)?, feed),
            Step::Directory(directory) => self.step = Step::Survey(Box::new(Survey::new(directory, bytes))),
            Step::Survey(survey) => match survey.step()? {
                Surveyed::Unsure(survey) => self.step = Step::Survey(Box::new(survey)),
                Surveyed::SnapViewer(drawing, elements) => {
                    (self.layout, self.elements) = (Layout::SnapViewer, Some(elements));
                    self.open(drawing, feed);
                }
                Surveyed::Members(members) => self.look_into(members, feed)?,
            },
            Step::GlimpseHeader(glimpses) => {
                let begin = glimpses.current.begin(&bytes, self.length)?;
                self.part = Part::new(begin, glimpses.current.packed.min(GLIMPSE), feed);
                self.step = Step::Glimpse(glimpses);
            }
            Step::Glimpse(glimpses) => self.look(glimpses, bytes, feed)?,
            Step::Header => {
                if let Some(entry) = &self.opened {
                    let begin = entry.begin(&bytes, self.length)?;
                    *container = Container::of_member(entry)?;
                    feed.seek(begin);
                    self.part.offset = begin;
                    self.step = Step::Member(entry.packed);
                }
            }
            Step::Member(_) | Step::Ended | Step::Over => {}
        }
        Ok(More::Given)
    }

    fn read_directory(&mut self, directory: Directory, feed: &mut Feed) {
        self.part = Part::new(directory.offset, directory.bytes, feed);
        self.step = Step::Directory(directory);
    }

    /// Starts probing the members.
    fn look_into(&mut self, mut waiting: Vec<Entry>, feed: &mut Feed) -> Result<(), ArchiveError> {
        waiting.reverse();
        let others = Vec::new();
        match waiting.pop() {
            Some(current) => self.next_glimpse(Glimpses { waiting, current, found: Vec::new(), others }, feed),
            None => return Err(ArchiveError::NoSnapshot("it is empty".into())),
        }
        Ok(())
    }

    fn next_glimpse(&mut self, glimpses: Glimpses, feed: &mut Feed) {
        self.part = Part::new(glimpses.current.offset, zip::HEADER as u64, feed);
        self.step = Step::GlimpseHeader(glimpses);
    }

    /// Probes a member by its first bytes, then continues with the next one.
    fn look(&mut self, mut glimpses: Glimpses, bytes: Vec<u8>, feed: &mut Feed) -> Result<(), ArchiveError> {
        match likelihood(&glimpses.current, bytes) {
            Ok(rank) => glimpses.found.push((rank, glimpses.current.clone())),
            Err(why) => glimpses.others.push(why),
        }
        let Some(next) = glimpses.waiting.pop() else { return self.choose(glimpses, feed) };
        glimpses.current = next;
        self.next_glimpse(glimpses, feed);
        Ok(())
    }

    /// Opens the requested member, or else the likeliest one.
    fn choose(&mut self, glimpses: Glimpses, feed: &mut Feed) -> Result<(), ArchiveError> {
        let Glimpses { found, mut others, .. } = glimpses;
        if found.is_empty() {
            let more = others.len().saturating_sub(1);
            let first = if others.is_empty() { String::new() } else { others.swap_remove(0) };
            let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
            return Err(ArchiveError::NoSnapshot(first + &more));
        }
        let mut found = sorted_by_key(found, |&(rank, _)| rank.into());
        let likeliest = found.first().map_or(0, |&(rank, _)| rank);
        found.retain(|&(rank, _)| rank < LAST_RESORT || likeliest == LAST_RESORT);
        if found.len() > 1 {
            self.is_one_of_several = true;
            let member = |(_, entry): &(u8, Entry)| Member { name: entry.name.clone(), bytes: entry.unpacked };
            self.members = Some(found.iter().map(member).collect());
        }
        let place = self.member.unwrap_or(0);
        let (_, entry) = found.into_iter().nth(place as usize).ok_or(ArchiveError::NoSuchMember(place))?;
        self.open(entry, feed);
        Ok(())
    }
}
