//! Which frames are one, and which are left out: every frame of a snapshot has a class.

use crate::device::Open;
use crate::protocol::{Arrangement, Internal, Merge};
use analysis::{IdSet, InternalRules, Verdicts};
use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::snapshot::{Frame, FrameId, Snapshot, Stacks};

/// The class of a frame that is left out.
pub(super) const LEFT_OUT: u32 = u32::MAX;

/// The classes of frames.
#[derive(Default)]
pub(super) struct Classes {
    of_frame: Vec<u32>,
    /// What frames of one class have in common, word by word: a class is a node of it.
    words: Stacks,
    /// By class: the first frame of it.
    first: Vec<FrameId>,
    /// Of files and names, while frames are looked at.
    verdicts: Verdicts,
    /// By class: the group of the call site that covers most of those it has, 0 where it has none.
    sites: Vec<u32>,
    /// Frames that are left out and name a stack of which nothing else is shown, with their classes.
    naming: HashMap<FrameId, u32, foldhash::fast::RandomState>,
}

impl Classes {
    /// Looks at frames.
    pub(super) fn step(
        &mut self,
        open: Open<'_>,
        arrangement: Arrangement,
        rules: &InternalRules,
        slice: &mut Slice,
    ) -> Sliced {
        let snapshot = open.snapshot;
        let count = snapshot.frames.len();
        let mut next = self.of_frame.len();
        // The rules may look at kilobytes of each.
        while let Some(part) = slice.part(&mut next, count, 128)? {
            for id in part {
                let frame = snapshot.frames.frame(FrameId(id as u32));
                let is_left_out =
                    arrangement.internal == Internal::Hidden && rules.is_internal(snapshot, frame, &mut self.verdicts);
                let class = if is_left_out { Some(LEFT_OUT) } else { self.class(snapshot, arrangement.merge, frame) };
                let class = class.unwrap_or(LEFT_OUT);
                self.of_frame.push(class);
                self.begin(class, FrameId(id as u32));
            }
        }
        self.verdicts = Verdicts::default();
        if self.sites.len() < self.first.len() {
            self.sites = vec![0; self.first.len()];
            for (&site, group) in open.groups.call_sites().iter().zip(1..) {
                let class = self.of(site) as usize;
                self.sites.get_mut(class).filter(|known| **known == 0).into_iter().for_each(|known| *known = group);
            }
        }
        Ok(())
    }

    /// The group of the call site that a class is; `None` where it is none.
    pub(super) fn site(&self, class: u32) -> Option<u32> {
        self.sites.get(class as usize).copied().filter(|&group| group != 0)
    }

    fn class(&mut self, snapshot: &Snapshot, merge: Merge, frame: &Frame) -> Option<u32> {
        let file = self.words.child(0, frame.filename.0)?;
        if merge == Merge::File && !is_no_file(snapshot.strings.bytes(frame.filename)) {
            return Some(file);
        }
        let function = self.words.child(file, frame.name.0)?;
        if merge != Merge::Line {
            return Some(function);
        }
        // How many words follow comes first, so that no class is on the way to another.
        let mut rest = frame.line.cast_unsigned();
        let words = (u128::BITS - rest.leading_zeros()).div_ceil(u32::BITS);
        let mut class = self.words.child(function, words)?;
        for _ in 0..words {
            class = self.words.child(class, rest as u32)?;
            rest >>= u32::BITS;
        }
        Some(class)
    }

    /// A class has been met, with a frame of it.
    fn begin(&mut self, class: u32, frame: FrameId) {
        if class != LEFT_OUT && self.first.len() <= class as usize {
            // Nodes on the way to a class get its frame too; no frame has them.
            self.first.resize(class as usize + 1, frame);
        }
    }

    /// The class of a frame that is left out, where it names a stack of which nothing else is shown; `site`: its group as a call site,
    /// 0 where it is none.
    pub(super) fn naming(&mut self, snapshot: &Snapshot, merge: Merge, id: FrameId, site: u32) -> Option<u32> {
        let class = match self.naming.get(&id) {
            Some(&known) => known,
            None => {
                let class = self.class(snapshot, merge, snapshot.frames.frame(id))?;
                self.begin(class, id);
                self.naming.insert(id, class);
                class
            }
        };
        if self.sites.len() < self.first.len() {
            self.sites.resize(self.first.len(), 0);
        }
        self.sites.get_mut(class as usize).filter(|known| **known == 0).into_iter().for_each(|known| *known = site);
        Some(class)
    }

    /// The classes of those of some frames that name stacks.
    pub(super) fn named<'a>(&'a self, frames: &'a IdSet) -> impl Iterator<Item = u32> + 'a {
        self.naming.iter().filter(|(frame, _)| frames.contains(frame.0)).map(|(_, &class)| class)
    }

    /// The class of a frame.
    pub(super) fn of(&self, frame: FrameId) -> u32 {
        self.of_frame.get(frame.0 as usize).copied().unwrap_or(LEFT_OUT)
    }

    /// A frame of this class, the first in the file.
    pub(super) fn example(&self, class: u32) -> Option<FrameId> {
        self.first.get(class as usize).copied()
    }

    /// How many numbers of classes there are.
    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        (self.of_frame.capacity() + self.first.capacity() + self.sites.capacity()) * size_of::<u32>()
            + self.words.heap_bytes()
            + self.naming.allocation_size()
    }
}

/// What stands where there is no file.
pub(super) fn is_no_file(file: &[u8]) -> bool {
    matches!(file, b"" | b"??" | b"none")
}

/// Whether the frames of a class are those of a whole file.
pub(super) fn is_file(snapshot: &Snapshot, merge: Merge, frame: &Frame) -> bool {
    merge == Merge::File && !is_no_file(snapshot.strings.bytes(frame.filename))
}
