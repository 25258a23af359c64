//! Results of category rules for each frame and stack of a file, computed once, in time slices.

use analysis::category::compiled::{Compiled, MODEL_EARLIER, MODEL_LATER, OfFrame, OfStack, PYTHON};
use analysis::{IdSet, Sites, Whose};
use base::column::Column;
use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::snapshot::{FrameId, Snapshot, StackId, StringId};

/// Number of bytes of a function or file name that are examined. Real names are shorter.
const LONGEST: usize = 4096;
/// Sentinel: no call site.
const NO_SITE: u32 = u32::MAX;

/// Name of the function that runs a model.
const MODEL: &[u8] = b"forward";

/// Rule results of frames and stacks.
#[derive(Default)]
pub(super) struct Stacks {
    frames: Column<OfFrame>,
    /// Next pattern to test on the current frame, and the results of the patterns before it.
    pattern: usize,
    frame: OfFrame,
    /// Frames of the user's own code.
    users: IdSet,
    /// Frames that run a model, and stacks that lead to one.
    models: IdSet,
    leading: IdSet,
    /// Number of stacks examined for leading to a model, starting with the last.
    asked: Option<usize>,
    /// By name and file: the first line of a function that leads to a model.
    calls: HashMap<(StringId, StringId), i128, foldhash::fast::RandomState>,
    placed: usize,
    stacks: Column<OfStack>,
    /// By stack: the call site, as a frame number.
    sites: Column<u32>,
    is_done: bool,
}

impl Stacks {
    /// Examines the remaining frames and stacks.
    pub(super) fn step(&mut self, set: &Compiled, snapshot: &Snapshot, slice: &mut Slice) -> Sliced {
        if self.is_done {
            return Ok(());
        }
        self.look_at_frames(set, snapshot, slice)?;
        if set.asks_of_the_model() {
            self.look_for_models(snapshot, slice)?;
        }
        self.look_at_stacks(set, snapshot, slice)?;
        self.is_done = true;
        Ok(())
    }

    fn look_at_frames(&mut self, set: &Compiled, snapshot: &Snapshot, slice: &mut Slice) -> Sliced {
        let frames = &snapshot.frames;
        if self.frames.is_empty() {
            (self.users, self.models) = (IdSet::below(frames.len()), IdSet::below(frames.len()));
        }
        while self.frames.len() < frames.len() {
            let id = self.frames.len() as u32;
            let frame = frames.frame(FrameId(id));
            let text = |string: StringId| {
                let bytes = snapshot.strings.bytes(string);
                String::from_utf8_lossy(bytes.get(..LONGEST).unwrap_or(bytes))
            };
            let (name, mut file) = (text(frame.name), text(frame.filename));
            if file.contains('\\') {
                file = file.replace('\\', "/").into();
            }
            while self.pattern < set.patterns() {
                // A regular expression may be slow.
                slice.spend((4 + name.len() + file.len()) as u32 / 4)?;
                set.look(self.pattern, &name, &file, &mut self.frame);
                self.pattern += 1;
            }
            let whose = Sites::whose(snapshot, frame);
            if whose == Whose::User {
                self.users.insert(id);
            }
            if snapshot.strings.bytes(frame.name) == MODEL {
                self.models.insert(id);
            }
            let python = if whose == Whose::Native { 0 } else { PYTHON };
            self.frames.push(std::mem::take(&mut self.frame).with(python));
            self.pattern = 0;
            slice.spend(8)?;
        }
        Ok(())
    }

    /// Finds the functions that lead to a model. Callers have lower ids than their callees, so this starts with the
    /// last stack.
    fn look_for_models(&mut self, snapshot: &Snapshot, slice: &mut Slice) -> Sliced {
        let stacks = &snapshot.stacks;
        if self.asked.is_none() {
            self.leading = IdSet::below(stacks.len());
        }
        let asked = self.asked.get_or_insert(0);
        while let Some(part) = slice.part(asked, stacks.len(), 1)? {
            for id in part.map(|asked| (stacks.len() - 1 - asked) as u32) {
                let Some((callers, frame)) = stacks.innermost(StackId(id)) else { continue };
                let is_model = self.models.contains(frame.0);
                let leads = self.leading.contains(id);
                if is_model || leads {
                    self.leading.insert(callers.0);
                }
                if leads && !is_model && self.users.contains(frame.0) {
                    let frame = snapshot.frames.frame(frame);
                    let line = self.calls.entry((frame.name, frame.filename)).or_insert(frame.line);
                    *line = frame.line.min(*line);
                }
            }
        }
        while let Some(part) = slice.part(&mut self.placed, self.frames.len(), 1)? {
            for id in part {
                let frame = snapshot.frames.frame(FrameId(id as u32));
                let Some(&call) = self.calls.get(&(frame.name, frame.filename)) else { continue };
                let place = if frame.line < call { MODEL_LATER } else { MODEL_EARLIER };
                self.frames.set(id, self.frames.at(id).with(place));
            }
        }
        Ok(())
    }

    fn look_at_stacks(&mut self, set: &Compiled, snapshot: &Snapshot, slice: &mut Slice) -> Sliced {
        let stacks = &snapshot.stacks;
        let mut next = self.stacks.len();
        while let Some(part) = slice.part(&mut next, stacks.len(), 1)? {
            for id in part.map(|id| id as u32) {
                let Some((callers, frame)) = stacks.innermost(StackId(id)) else {
                    self.stacks.push(OfStack::default());
                    self.sites.push(NO_SITE);
                    continue;
                };
                let is_users = self.users.contains(frame.0);
                let site = if is_users { frame.0 } else { self.site(callers) };
                let of = |frame: u32| self.frames.get(frame as usize).unwrap_or_default();
                self.stacks.push(set.stack(of(frame.0), self.of(callers), of(site)));
                self.sites.push(site);
            }
        }
        // These are no longer needed.
        (self.frames, self.leading, self.users, self.models) = Default::default();
        Ok(())
    }

    /// Returns the classification of a stack, empty for an unknown stack.
    pub(super) fn of(&self, stack: StackId) -> OfStack {
        self.stacks.get(stack.0 as usize).unwrap_or_default()
    }

    /// Returns the call site of a stack as a frame number, `u32::MAX` if it has none.
    pub(super) fn site(&self, stack: StackId) -> u32 {
        self.sites.get(stack.0 as usize).unwrap_or(NO_SITE)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.stacks.heap_bytes() + self.sites.heap_bytes() + self.frames.heap_bytes()
    }
}
