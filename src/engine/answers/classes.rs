//! Classes of frames: frames that a tree shows as one node share a class.

use crate::device::Open;
use crate::protocol::{Arrangement, Internal, Merge};
use analysis::{IdSet, InternalRules, Verdicts};
use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::snapshot::{Frame, FrameId, Snapshot, Stacks};

/// Class of hidden frames.
pub(super) const LEFT_OUT: u32 = u32::MAX;

/// Assignment of frames to classes, for one [`Arrangement`].
#[derive(Default)]
pub(super) struct Classes {
    of_frame: Vec<u32>,
    /// Trie over the fields that define a class: file, function, line. A class is a node of this trie.
    words: Stacks,
    /// By class: its first frame.
    first: Vec<FrameId>,
    /// Cache of rule results by file and function name, used while frames are classified.
    verdicts: Verdicts,
    /// By class: the group of its highest-ranked call site, 0 if it has none.
    sites: Vec<u32>,
    /// Hidden frames that stand for a stack whose frames are all hidden, with their classes.
    naming: HashMap<FrameId, u32, foldhash::fast::RandomState>,
}

impl Classes {
    /// Classifies the remaining frames.
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
        // The rules may inspect kilobytes per frame.
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

    /// Returns the call site group of a class. `None` if no frame of the class is a call site.
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
        // The number of words comes first, so that no class is a prefix of another.
        let mut rest = frame.line.cast_unsigned();
        let words = (u128::BITS - rest.leading_zeros()).div_ceil(u32::BITS);
        let mut class = self.words.child(function, words)?;
        for _ in 0..words {
            class = self.words.child(class, rest as u32)?;
            rest >>= u32::BITS;
        }
        Some(class)
    }

    /// Records `frame` as the first frame of a class, unless it has one.
    fn begin(&mut self, class: u32, frame: FrameId) {
        if class != LEFT_OUT && self.first.len() <= class as usize {
            // Trie nodes between two classes get this frame too, but no frame has them as its class.
            self.first.resize(class as usize + 1, frame);
        }
    }

    /// Returns the class of a hidden frame that stands for a stack whose frames are all hidden. `site` is the call site
    /// group of the frame, 0 if it is no call site.
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

    /// Returns the classes of those `frames` that stand for all-hidden stacks.
    pub(super) fn named<'a>(&'a self, frames: &'a IdSet) -> impl Iterator<Item = u32> + 'a {
        self.naming.iter().filter(|(frame, _)| frames.contains(frame.0)).map(|(_, &class)| class)
    }

    /// Returns the class of a frame, [`LEFT_OUT`] if the frame is hidden.
    pub(super) fn of(&self, frame: FrameId) -> u32 {
        self.of_frame.get(frame.0 as usize).copied().unwrap_or(LEFT_OUT)
    }

    /// Returns the first frame of a class.
    pub(super) fn example(&self, class: u32) -> Option<FrameId> {
        self.first.get(class as usize).copied()
    }

    /// Returns the number of classes. Class numbers are below it.
    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        (self.of_frame.capacity() + self.first.capacity() + self.sites.capacity()) * size_of::<u32>()
            + self.words.heap_bytes()
            + self.naming.allocation_size()
    }
}

/// Returns whether a file name is a placeholder for an unknown file.
pub(super) fn is_no_file(file: &[u8]) -> bool {
    matches!(file, b"" | b"??" | b"none")
}

/// Returns whether the class of `frame` stands for a whole file.
pub(super) fn is_file(snapshot: &Snapshot, merge: Merge, frame: &Frame) -> bool {
    merge == Merge::File && !is_no_file(snapshot.strings.bytes(frame.filename))
}
