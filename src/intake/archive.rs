//! Reads zip archives: their directory, the members that are snapshots, and the bytes of the opened member.

use super::archive_error::ArchiveError;
use super::decoder::Layout;
use super::input_buffer::{InputBuffer, Supply};
use super::probe::{FALLBACK_RANK, PROBE_BYTES, snapshot_rank};
use super::survey::{Survey, SurveyStep};
use base::sorted::sorted_by_key;
use history::container::Container;
use history::container::zip::{self, Directory, Entry};
use protocol::Member;

/// Incremental reader of a zip archive.
pub(super) struct Archive {
    /// Length of the file in bytes.
    length: u64,
    member: Option<u32>,
    step: Step,
    part: Part,
    members: Option<Vec<Member>>,
    opened: Option<Entry>,
    /// Member `elements.json` of a SnapViewer archive. It is read after `allocations.json`.
    elements: Option<Entry>,
    layout: Layout,
    is_one_of_several: bool,
    is_torch_save: bool,
}

/// Current step of reading an archive. Most steps are named after the part of the file that is being buffered.
enum Step {
    Tail,
    Zip64,
    Directory(Directory),
    /// Scan of the complete directory for members to probe, in time slices. No part of the file is buffered.
    Survey(Box<Survey>),
    /// Local header of the member being probed.
    ProbeHeader(Probes),
    /// First compressed bytes of the member being probed.
    Probe(Probes),
    /// Local header of the member being opened.
    Header,
    /// Compressed data of the opened member. Holds the number of bytes that the container has not received yet.
    Member(u64),
    Ended,
    Done,
}

/// A part of the file that is being buffered. It is parsed once all of its bytes have arrived.
#[derive(Default)]
struct Part {
    offset: u64,
    length: u64,
    bytes: Vec<u8>,
}

impl Part {
    /// Starts buffering `length` bytes at `offset`.
    fn new(offset: u64, length: u64, feed: &mut InputBuffer) -> Part {
        feed.seek(offset);
        Part { offset, length, bytes: Vec::new() }
    }

    /// Moves missing bytes from `feed` into the buffer. Returns true once the part is complete.
    fn gather(&mut self, feed: &mut InputBuffer) -> Result<bool, ArchiveError> {
        let missing = self.length - self.bytes.len() as u64;
        let rest = feed.remaining();
        let took = usize::try_from(missing).map_or(rest.len(), |missing| rest.len().min(missing));
        self.bytes.extend_from_slice(rest.get(..took).unwrap_or_default());
        feed.advance(took);
        if self.bytes.len() as u64 == self.length {
            Ok(true)
        } else if feed.has_ended() {
            Err(ArchiveError::Truncated(self.offset + self.bytes.len() as u64))
        } else {
            Ok(false)
        }
    }
}

/// Progress of probing: each member's first bytes are read to find out if the member is a snapshot.
struct Probes {
    remaining: Vec<Entry>,
    current: Entry,
    /// Possible snapshots in directory order, each with a score. 0 is the most likely.
    candidates: Vec<(u8, Entry)>,
    /// Descriptions of the members that are not snapshots.
    rejected: Vec<String>,
}

impl Archive {
    /// Starts reading an archive of `length` bytes. `member` is the index of the snapshot to open.
    pub(super) fn new(length: u64, member: Option<u32>, feed: &mut InputBuffer) -> Archive {
        let tail = length.min(zip::TAIL_BYTES);
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
            is_torch_save: false,
        }
    }

    /// Returns the compressed size of the opened member in bytes. `None` if no member is open yet.
    pub(super) fn packed_bytes(&self) -> Option<u64> {
        self.opened.as_ref().map(|entry| entry.packed)
    }

    /// Returns the list of snapshots if there are several. Later calls return `None`.
    pub(super) fn take_members(&mut self) -> Option<Vec<Member>> {
        self.members.take()
    }

    /// Returns the name of the opened member if the archive has several snapshots.
    pub(super) fn member_name(&self) -> Option<&str> {
        self.opened.as_ref().filter(|_| self.is_one_of_several).map(|entry| entry.name.as_str())
    }

    /// Returns whether `torch.save` wrote the archive.
    pub(super) fn is_torch_save(&self) -> bool {
        self.is_torch_save
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// Opens `elements.json` of a SnapViewer archive, after `allocations.json` was read.
    pub(super) fn next_member(&mut self, feed: &mut InputBuffer) {
        if let Some(entry) = self.elements.take() {
            self.open(entry, feed);
        }
    }

    fn open(&mut self, entry: Entry, feed: &mut InputBuffer) {
        self.part = Part::new(entry.offset, zip::HEADER_BYTES as u64, feed);
        self.step = Step::Header;
        self.opened = Some(entry);
    }

    /// Passes more bytes of the opened member to the container. First finds and opens the member if necessary.
    pub(super) fn feed_container(
        &mut self,
        feed: &mut InputBuffer,
        container: &mut Container,
    ) -> Result<Supply, ArchiveError> {
        match &mut self.step {
            Step::Member(0) => {
                container.finish_input();
                self.step = Step::Ended;
                return Ok(Supply::Supplied);
            }
            Step::Member(left) => {
                if feed.remaining().is_empty() && feed.has_ended() {
                    return Err(ArchiveError::Truncated(self.part.offset));
                }
                if feed.remaining().is_empty() {
                    return Ok(Supply::NeedsBytes);
                }
                let mut bytes = feed.take();
                bytes.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= bytes.len() as u64;
                self.part.offset += bytes.len() as u64;
                container.feed(bytes);
                return Ok(Supply::Supplied);
            }
            Step::Ended | Step::Done => return Ok(Supply::Ended),
            _ => {}
        }
        if !self.part.gather(feed)? {
            return Ok(Supply::NeedsBytes);
        }
        let Part { offset, bytes, .. } = std::mem::take(&mut self.part);
        match std::mem::replace(&mut self.step, Step::Done) {
            Step::Tail => match zip::find_end_record(&bytes, offset)? {
                zip::End::Directory(directory) => self.read_directory(directory, feed),
                zip::End::Zip64(record) => {
                    self.step = Step::Zip64;
                    self.part = Part::new(record, zip::ZIP64_RECORD_BYTES as u64, feed);
                }
            },
            Step::Zip64 => self.read_directory(zip::parse_zip64_record(&bytes, offset)?, feed),
            Step::Directory(directory) => self.step = Step::Survey(Box::new(Survey::new(directory, bytes))),
            Step::Survey(survey) => match survey.step()? {
                SurveyStep::Unfinished(survey) => self.step = Step::Survey(Box::new(survey)),
                SurveyStep::SnapViewer(drawing, elements) => {
                    (self.layout, self.elements) = (Layout::SnapViewer, Some(elements));
                    self.open(drawing, feed);
                }
                SurveyStep::TorchSave(object) => {
                    self.is_torch_save = true;
                    self.open(object, feed);
                }
                SurveyStep::Members(members) => self.start_probing(members, feed)?,
            },
            Step::ProbeHeader(probes) => {
                let begin = probes.current.data_offset(&bytes, self.length)?;
                self.part = Part::new(begin, probes.current.packed.min(PROBE_BYTES), feed);
                self.step = Step::Probe(probes);
            }
            Step::Probe(probes) => self.probe_member(probes, bytes, feed)?,
            Step::Header => {
                if let Some(entry) = &self.opened {
                    let begin = entry.data_offset(&bytes, self.length)?;
                    *container = Container::from_zip_member(entry)?;
                    feed.seek(begin);
                    self.part.offset = begin;
                    self.step = Step::Member(entry.packed);
                }
            }
            Step::Member(_) | Step::Ended | Step::Done => {}
        }
        Ok(Supply::Supplied)
    }

    fn read_directory(&mut self, directory: Directory, feed: &mut InputBuffer) {
        self.part = Part::new(directory.offset, directory.bytes, feed);
        self.step = Step::Directory(directory);
    }

    /// Starts probing the members. Fails if the archive has none.
    fn start_probing(&mut self, mut remaining: Vec<Entry>, feed: &mut InputBuffer) -> Result<(), ArchiveError> {
        remaining.reverse();
        let rejected = Vec::new();
        match remaining.pop() {
            Some(current) => {
                self.probe_next(Probes { remaining, current, candidates: Vec::new(), rejected }, feed);
            }
            None => return Err(ArchiveError::NoSnapshot("it is empty".into())),
        }
        Ok(())
    }

    fn probe_next(&mut self, probes: Probes, feed: &mut InputBuffer) {
        self.part = Part::new(probes.current.offset, zip::HEADER_BYTES as u64, feed);
        self.step = Step::ProbeHeader(probes);
    }

    /// Decides from its first bytes whether a member is a snapshot, then continues with the next member.
    fn probe_member(&mut self, mut probes: Probes, bytes: Vec<u8>, feed: &mut InputBuffer) -> Result<(), ArchiveError> {
        match snapshot_rank(&probes.current, bytes) {
            Ok(rank) => probes.candidates.push((rank, probes.current.clone())),
            Err(why) => probes.rejected.push(why),
        }
        let Some(next) = probes.remaining.pop() else { return self.open_likeliest(probes, feed) };
        probes.current = next;
        self.probe_next(probes, feed);
        Ok(())
    }

    /// Opens the requested snapshot. If none was requested, opens the most likely one.
    fn open_likeliest(&mut self, probes: Probes, feed: &mut InputBuffer) -> Result<(), ArchiveError> {
        let Probes { candidates, rejected: mut others, .. } = probes;
        if candidates.is_empty() {
            let more = others.len().saturating_sub(1);
            let first = if others.is_empty() { String::new() } else { others.swap_remove(0) };
            let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
            return Err(ArchiveError::NoSnapshot(first + &more));
        }
        let mut found = sorted_by_key(candidates, |&(rank, _)| rank.into());
        let likeliest = found.first().map_or(0, |&(rank, _)| rank);
        found.retain(|&(rank, _)| rank < FALLBACK_RANK || likeliest == FALLBACK_RANK);
        if found.len() > 1 {
            self.is_one_of_several = true;
            let member = |(_, entry): &(u8, Entry)| Member { name: entry.name.clone(), bytes: entry.unpacked };
            self.members = Some(found.iter().map(member).collect());
        }
        let index = self.member.unwrap_or(0);
        let (_, entry) = found.into_iter().nth(index as usize).ok_or(ArchiveError::NoSuchMember(index))?;
        self.open(entry, feed);
        Ok(())
    }
}
