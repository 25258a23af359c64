//! Classes of frames. Frames that are shown as one node of a tree have the same class.

use crate::device::DeviceData;
use analysis::{IdSet, InternalRules, RuleCache};
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::snapshot::{Frame, FrameId, Snapshot, Stacks};
use protocol::{Arrangement, Internal, Merge};

/// Class of frames that are hidden.
pub(super) const HIDDEN: u32 = u32::MAX;

/// The class of each frame in one [`Arrangement`].
#[derive(Default)]
pub(super) struct FrameClasses {
    by_frame: Vec<u32>,
    /// Trie over the fields that define a class: file, function and line. Each class is the index of a node in this
    /// trie.
    trie: Stacks,
    /// First frame of each class, which represents the class.
    first_frames: Vec<FrameId>,
    /// Cached results of the rules for internal frames, by file and function name. Only needed until all frames are
    /// classified.
    verdicts: RuleCache,
    /// Call site group of each class. If a class has several call sites, the group of the one with the largest area. 0
    /// if it has none.
    call_site_groups: Vec<u32>,
    /// Classes of hidden frames that are nevertheless shown, because all frames of a stack are hidden.
    stand_ins: HashMap<FrameId, u32, foldhash::fast::RandomState>,
}

base::heap_bytes!(FrameClasses: by_frame, first_frames, call_site_groups, trie, stand_ins);

impl FrameClasses {
    /// Continues classifying frames until all are classified or the time slice is used up.
    pub(super) fn step(
        &mut self,
        data: DeviceData<'_>,
        arrangement: Arrangement,
        rules: &InternalRules,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let snapshot = data.snapshot;
        let count = snapshot.frames.len();
        let mut next = self.by_frame.len();
        // The rules may inspect kilobytes per frame.
        while let Some(part) = slice.next_range(&mut next, count, 128)? {
            for id in part {
                let frame = snapshot.frames.frame(FrameId(id as u32));
                let is_hidden =
                    arrangement.internal == Internal::Hidden && rules.is_internal(snapshot, frame, &mut self.verdicts);
                let class = if is_hidden { Some(HIDDEN) } else { self.class(snapshot, arrangement.merge, frame) };
                let class = class.unwrap_or(HIDDEN);
                self.by_frame.push(class);
                self.record_first_frame(class, FrameId(id as u32));
            }
        }
        self.verdicts = RuleCache::default();
        if self.call_site_groups.len() < self.first_frames.len() {
            self.call_site_groups = vec![0; self.first_frames.len()];
            for (&site, group) in data.groups.call_sites().iter().zip(1..) {
                let class = self.class_of(site) as usize;
                self.call_site_groups
                    .get_mut(class)
                    .filter(|known| **known == 0)
                    .into_iter()
                    .for_each(|known| *known = group);
            }
        }
        Ok(())
    }

    /// Returns the call site group of a class. `None` if no frame in the class is a call site.
    pub(super) fn call_site_group(&self, class: u32) -> Option<u32> {
        self.call_site_groups.get(class as usize).copied().filter(|&group| group != 0)
    }

    fn class(&mut self, snapshot: &Snapshot, merge: Merge, frame: &Frame) -> Option<u32> {
        let file = self.trie.child(0, frame.filename.0)?;
        if merge == Merge::File && !is_unknown_file(snapshot.strings.bytes(frame.filename)) {
            return Some(file);
        }
        let function = self.trie.child(file, frame.name.0)?;
        if merge != Merge::Line {
            return Some(function);
        }
        // The number of words comes first, so that no class is a prefix of another.
        let mut rest = frame.line.cast_unsigned();
        let words = (u128::BITS - rest.leading_zeros()).div_ceil(u32::BITS);
        let mut class = self.trie.child(function, words)?;
        for _ in 0..words {
            class = self.trie.child(class, rest as u32)?;
            rest >>= u32::BITS;
        }
        Some(class)
    }

    /// Sets `frame` as the first frame of a class, unless the class already has one.
    fn record_first_frame(&mut self, class: u32, frame: FrameId) {
        if class != HIDDEN && self.first_frames.len() <= class as usize {
            // Trie nodes between two classes get this frame too, but no frame has them as its class.
            self.first_frames.resize(class as usize + 1, frame);
        }
    }

    /// Returns the class of a hidden frame that is shown because all frames of a stack are hidden. `site` is the
    /// frame's call site group, or 0 if the frame is not a call site.
    pub(super) fn stand_in_class(&mut self, snapshot: &Snapshot, merge: Merge, id: FrameId, site: u32) -> Option<u32> {
        let class = match self.stand_ins.get(&id) {
            Some(&known) => known,
            None => {
                let class = self.class(snapshot, merge, snapshot.frames.frame(id))?;
                self.record_first_frame(class, id);
                self.stand_ins.insert(id, class);
                class
            }
        };
        if self.call_site_groups.len() < self.first_frames.len() {
            self.call_site_groups.resize(self.first_frames.len(), 0);
        }
        self.call_site_groups
            .get_mut(class as usize)
            .filter(|known| **known == 0)
            .into_iter()
            .for_each(|known| *known = site);
        Some(class)
    }

    /// Returns the classes of those frames that are hidden but shown for stacks with only hidden frames.
    pub(super) fn stand_in_classes<'a>(&'a self, frames: &'a IdSet) -> impl Iterator<Item = u32> + 'a {
        self.stand_ins.iter().filter(|(frame, _)| frames.contains(frame.0)).map(|(_, &class)| class)
    }

    /// Returns the class of a frame. [`HIDDEN`] if the frame is hidden.
    pub(super) fn class_of(&self, frame: FrameId) -> u32 {
        self.by_frame.get(frame.0 as usize).copied().unwrap_or(HIDDEN)
    }

    /// Returns the first frame of a class, which represents the class.
    pub(super) fn first_frame(&self, class: u32) -> Option<FrameId> {
        self.first_frames.get(class as usize).copied()
    }

    /// Returns the upper bound (exclusive) of the classes.
    pub(super) fn len(&self) -> usize {
        self.first_frames.len()
    }
}

/// Returns whether a file name is a placeholder for an unknown file.
pub(super) fn is_unknown_file(file: &[u8]) -> bool {
    matches!(file, b"" | b"??" | b"none")
}

/// Returns whether the class of `frame` represents a whole file.
pub(super) fn is_whole_file(snapshot: &Snapshot, merge: Merge, frame: &Frame) -> bool {
    merge == Merge::File && !is_unknown_file(snapshot.strings.bytes(frame.filename))
}
