//! What rules say of every frame and then of every stack of a file, each looked at once, in slices.

use analysis::category::compiled::{Compiled, MODEL_EARLIER, MODEL_LATER, OfFrame, OfStack, PYTHON};
use analysis::{IdSet, Sites, Whose};
use base::column::Column;
use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::snapshot::{FrameId, Snapshot, StackId, StringId};

/// Bytes of a function or file that are looked at: no real one is longer.
const LONGEST: usize = 4096;
/// In place of a call site: none.
const NO_SITE: u32 = u32::MAX;

/// The function that is the call of a model.
const MODEL: &[u8] = b"forward";

/// What is known of the stacks.
#[derive(Default)]
pub(super) struct Stacks {
    frames: Column<OfFrame>,
    /// The pattern that the next frame is held against, and what was said so far.
    pattern: usize,
    frame: OfFrame,
    users: IdSet,
    /// The call of a model, and stacks that lead to one.
    models: IdSet,
    leading: IdSet,
    /// How many stacks were asked whether they lead to a model, from the last on.
    asked: Option<usize>,
    /// The first line of a function, by name and file, that leads to one.
    calls: HashMap<(StringId, StringId), i128, foldhash::fast::RandomState>,
    placed: usize,
    stacks: Column<OfStack>,
    /// By stack: the innermost frame of the user's own code.
    sites: Column<u32>,
    is_done: bool,
}

impl Stacks {
    /// Looks at more of them.
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
                // An expression may take long.
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

    /// Callers have lower ids than those they call: so from the last stack to the first.
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
        // Needed no more.
        (self.frames, self.leading, self.users, self.models) = Default::default();
        Ok(())
    }

    /// How a stack is classified; an unknown stack has no classification.
    pub(super) fn of(&self, stack: StackId) -> OfStack {
        self.stacks.get(stack.0 as usize).unwrap_or_default()
    }

    /// The innermost frame of the user's own code, by its number; `u32::MAX` where there is none.
    pub(super) fn site(&self, stack: StackId) -> u32 {
        self.sites.get(stack.0 as usize).unwrap_or(NO_SITE)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.stacks.heap_bytes() + self.sites.heap_bytes() + self.frames.heap_bytes()
    }
}
