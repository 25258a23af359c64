//! Results of the category rules for each frame and stack of a file. They are computed once, in time slices.

use analysis::category::compiled::{CompiledSet, FrameResult, MODEL_EARLIER, MODEL_LATER, PYTHON, StackResult};
use analysis::{CodeOrigin, IdSet, Sites};
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::snapshot::{FrameId, Snapshot, StackId, StringId};

/// Maximum number of bytes of a function or file name that are matched against rules. Real names are shorter.
const MAX_NAME_BYTES: usize = 4096;
/// Sentinel: no call site.
const NO_SITE: u32 = u32::MAX;

/// Name of the default set of rules.
pub(super) const DEFAULT_SET: &str = "default";
/// Name of the function that runs a model.
const MODEL_FUNCTION: &[u8] = b"forward";

/// Results of category rules for each frame and stack.
#[derive(Default)]
pub(super) struct StackResults {
    frames: Column<FrameResult>,
    /// Index of the next pattern to test on the current frame. `current_frame` has the results of the earlier patterns.
    next_pattern: usize,
    current_frame: FrameResult,
    /// Frames of the user's own code.
    user_frames: IdSet,
    /// Frames that run a model. `leads_to_model` has the stacks that call these frames.
    model_frames: IdSet,
    leads_to_model: IdSet,
    /// Number of stacks already searched for callers of a model, from the last stack backwards. `None` before the
    /// search.
    searched: Option<usize>,
    /// First line at which a function calls a model. The key is the function's name and file.
    model_call_lines: HashMap<(StringId, StringId), i128, foldhash::fast::RandomState>,
    placed_frames: usize,
    stacks: Column<StackResult>,
    /// Call site of each stack, as a frame id.
    sites: Column<u32>,
    /// Bits of rules that a stack with a frame `zero_grad` matches.
    pub(super) zero_grad: u64,
    is_done: bool,
}

base::heap_bytes!(StackResults: stacks, sites, frames);

impl StackResults {
    /// Continues examining frames and stacks until all are examined or the time slice is used up.
    pub(super) fn step(&mut self, set: &CompiledSet, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        if self.is_done {
            return Ok(());
        }
        self.classify_frames(set, snapshot, slice)?;
        let mut frame = FrameResult::default();
        (0..set.patterns()).for_each(|pattern| set.match_pattern(pattern, "zero_grad", "", &mut frame));
        self.zero_grad = set.stack(frame, StackResult::default(), FrameResult::default()).bits;
        if set.uses_model_call() {
            self.find_model_callers(snapshot, slice)?;
        }
        self.classify_stacks(set, snapshot, slice)?;
        self.is_done = true;
        Ok(())
    }

    fn classify_frames(&mut self, set: &CompiledSet, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        let frames = &snapshot.frames;
        if self.frames.is_empty() {
            (self.user_frames, self.model_frames) = (IdSet::with_bound(frames.len()), IdSet::with_bound(frames.len()));
        }
        while self.frames.len() < frames.len() {
            let id = self.frames.len() as u32;
            let frame = frames.frame(FrameId(id));
            let text = |string: StringId| {
                let bytes = snapshot.strings.bytes(string);
                String::from_utf8_lossy(bytes.get(..MAX_NAME_BYTES).unwrap_or(bytes))
            };
            let (name, mut file) = (text(frame.name), text(frame.filename));
            if file.contains('\\') {
                file = file.replace('\\', "/").into();
            }
            let origin = Sites::code_origin(snapshot, frame);
            // Since Python 3.11, names may be qualified: the default rules match the name of the function, too.
            let function = match origin {
                CodeOrigin::Native => None,
                _ if set.name() != DEFAULT_SET => None,
                _ => name.rsplit_once('.').map(|(_, function)| function),
            };
            while self.next_pattern < set.patterns() {
                // A regular expression may be slow.
                slice.spend((4 + name.len() + file.len()) as u32 / 4)?;
                for name in [Some(&*name), function].into_iter().flatten() {
                    set.match_pattern(self.next_pattern, name, &file, &mut self.current_frame);
                }
                self.next_pattern += 1;
            }
            if origin == CodeOrigin::User {
                self.user_frames.insert(id);
            }
            if function.unwrap_or(&name).as_bytes() == MODEL_FUNCTION {
                self.model_frames.insert(id);
            }
            let python = if origin == CodeOrigin::Native { 0 } else { PYTHON };
            self.frames.push(std::mem::take(&mut self.current_frame).with(python));
            self.next_pattern = 0;
            slice.spend(8)?;
        }
        Ok(())
    }

    /// Continues searching for functions that call a model. Callers have lower ids than their callees, so the search
    /// starts with the last stack.
    fn find_model_callers(&mut self, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        let stacks = &snapshot.stacks;
        if self.searched.is_none() {
            self.leads_to_model = IdSet::with_bound(stacks.len());
        }
        let searched = self.searched.get_or_insert(0);
        while let Some(part) = slice.next_range(searched, stacks.len(), 1)? {
            for id in part.map(|index| (stacks.len() - 1 - index) as u32) {
                let Some((callers, frame)) = stacks.innermost(StackId(id)) else { continue };
                let is_model = self.model_frames.contains(frame.0);
                let leads = self.leads_to_model.contains(id);
                if is_model || leads {
                    self.leads_to_model.insert(callers.0);
                }
                if leads && !is_model && self.user_frames.contains(frame.0) {
                    let frame = snapshot.frames.frame(frame);
                    let line = self.model_call_lines.entry((frame.name, frame.filename)).or_insert(frame.line);
                    *line = frame.line.min(*line);
                }
            }
        }
        while let Some(part) = slice.next_range(&mut self.placed_frames, self.frames.len(), 1)? {
            for id in part {
                let frame = snapshot.frames.frame(FrameId(id as u32));
                let Some(&call) = self.model_call_lines.get(&(frame.name, frame.filename)) else { continue };
                let bit = if frame.line < call { MODEL_LATER } else { MODEL_EARLIER };
                self.frames.set(id, self.frames.at(id).with(bit));
            }
        }
        Ok(())
    }

    fn classify_stacks(&mut self, set: &CompiledSet, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        let stacks = &snapshot.stacks;
        let mut next = self.stacks.len();
        while let Some(part) = slice.next_range(&mut next, stacks.len(), 1)? {
            for id in part.map(|id| id as u32) {
                let Some((callers, frame)) = stacks.innermost(StackId(id)) else {
                    self.stacks.push(StackResult::default());
                    self.sites.push(NO_SITE);
                    continue;
                };
                let is_user_code = self.user_frames.contains(frame.0);
                let site = if is_user_code { frame.0 } else { self.site(callers) };
                let frame_result = |frame: u32| self.frames.get(frame as usize).unwrap_or_default();
                self.stacks.push(set.stack(frame_result(frame.0), self.result(callers), frame_result(site)));
                self.sites.push(site);
            }
        }
        // These are no longer needed.
        (self.frames, self.leads_to_model, self.user_frames, self.model_frames) = Default::default();
        Ok(())
    }

    /// Returns the rule results of a stack. They are empty if the stack is unknown.
    pub(super) fn result(&self, stack: StackId) -> StackResult {
        self.stacks.get(stack.0 as usize).unwrap_or_default()
    }

    /// Returns the call site of a stack as a frame id, or `u32::MAX` if the stack has none.
    pub(super) fn site(&self, stack: StackId) -> u32 {
        self.sites.get(stack.0 as usize).unwrap_or(NO_SITE)
    }
}
