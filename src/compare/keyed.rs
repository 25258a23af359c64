//! Assigns ids to keys, shared by both files: equal keys get equal ids. The key of a stack is a chain, which consists
//! of the id of its callers and its innermost frame. Therefore the ids of all stacks are computed in one pass.

use crate::chains::{Chains, NO_KEY, OF_FREE, UNEXPLAINED};
use crate::key::Key;
use analysis::{CodeOrigin, RuleCache, Sites, site};
use base::heap::HeapBytes;
use base::slice::{SliceResult, TimeSlice};
use engine::{ModuleSearch, Side};
use hashbrown::HashMap;
use history::replay::AllocationId;
use history::snapshot::{Frame, FrameId, StackId};
use protocol::Grouping;

/// Maximum length in bytes of a path or name that is compared.
const LONGEST: usize = 4096;

/// Maximum number of modules in a path.
const MAX_PATH: usize = 64;

type Map<K> = HashMap<K, u32, foldhash::fast::RandomState>;

/// Ids of texts and of chains of texts, shared by both files.
#[derive(Default)]
pub(crate) struct SharedTexts {
    texts: Map<String>,
    /// True for texts of internal frames only. Indexed by text.
    internal: Vec<bool>,
    pub(crate) chains: Chains,
    /// Path prefixes and their replacements, applied before paths are compared.
    pub(crate) prefixes: Vec<(String, String)>,
}

impl SharedTexts {
    fn intern_text(&mut self, text: &str, is_internal: bool) -> u32 {
        let next = self.texts.len() as u32;
        let id = *self.texts.entry_ref(text).or_insert(next);
        match self.internal.get_mut(id as usize) {
            None => self.internal.push(is_internal),
            // Frames of the user and of a package may have the same text if folders are ignored.
            Some(known) => *known &= is_internal,
        }
        id
    }

    /// Returns true if all frames with this text are internal.
    pub(crate) fn is_internal(&self, text: u32) -> bool {
        self.internal.get(text as usize).copied().unwrap_or(false)
    }

    /// Returns the texts with these ids, which must be in ascending order.
    pub(crate) fn texts_of(&self, numbers: &[u32]) -> Vec<&str> {
        let mut texts = vec![""; numbers.len()];
        for (text, number) in &self.texts {
            let place = numbers.binary_search(number).ok().and_then(|index| texts.get_mut(index));
            place.into_iter().for_each(|known| *known = text);
        }
        texts
    }
}

impl HeapBytes for SharedTexts {
    fn heap_bytes(&self) -> usize {
        let texts: usize = self.texts.keys().map(String::len).sum();
        self.texts.heap_bytes() + self.internal.heap_bytes() + texts + self.chains.heap_bytes()
    }
}

/// Key ids of the stacks, modules or groups of one file, for one kind of key.
pub(crate) struct KeyNumbers {
    key: Key,
    /// Key id of each stack, module or group.
    numbers: Vec<u32>,
    /// Id of each frame's text plus one, 0 if not computed yet, or [`SKIPPED`] if the key ignores the frame.
    frames: Vec<u32>,
    modules: ModuleSearch,
    internal: RuleCache,
    next: usize,
}

base::heap_bytes!(KeyNumbers: numbers, frames);

/// Sentinel: the key ignores this frame, because it is not a Python frame.
const SKIPPED: u32 = u32::MAX;

impl KeyNumbers {
    pub(crate) fn new(key: Key) -> KeyNumbers {
        let (numbers, frames, modules, internal, next) = Default::default();
        KeyNumbers { key, numbers, frames, modules, internal, next }
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    fn grouping(&self) -> Option<Grouping> {
        match self.key {
            Key::Category => Some(Grouping::Category),
            Key::Annotation => Some(Grouping::Annotation),
            Key::Pool => Some(Grouping::Pool),
            _ => None,
        }
    }

    /// Continues assigning key ids to all stacks, modules or groups of a file.
    pub(crate) fn step(
        &mut self,
        side: &Side,
        sites: &mut Sites,
        common: &mut SharedTexts,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if let Some(by) = self.grouping() {
            let count = side.group_count(by) as usize;
            while let Some(part) = slice.next_range(&mut self.next, count, 64)? {
                for group in part {
                    // Group 0 contains allocations without a group, and the last category is "unknown".
                    let is_none = group == 0 || (by == Grouping::Category && group + 1 == count);
                    let text = common.intern_text(&side.group_label(by, group as u32), false);
                    self.numbers.push(if is_none { NO_KEY } else { common.chains.intern(NO_KEY, text) });
                }
            }
            return Ok(());
        }
        if self.key == Key::Module {
            self.modules.step(side, slice)?;
            while let Some(part) = slice.next_range(&mut self.next, self.modules.count() as usize, 64)? {
                for module in part {
                    let number = self.modules.parent_and_name(side, module as u32).map_or(NO_KEY, |(parent, name)| {
                        let parent = self.numbers.get(parent as usize).copied().unwrap_or(NO_KEY);
                        let text = common.intern_text(&name, false);
                        common.chains.intern(parent, text)
                    });
                    self.numbers.push(number);
                }
            }
            return Ok(());
        }
        let snapshot = side.snapshot();
        if self.frames.is_empty() {
            self.frames = vec![0; snapshot.frames.len()];
            self.numbers = Vec::with_capacity(snapshot.stacks.len());
        }
        while let Some(part) = slice.next_range(&mut self.next, snapshot.stacks.len(), 16)? {
            for stack in part {
                let number = self.number(side, sites, common, StackId(stack as u32));
                self.numbers.push(number);
            }
        }
        if self.key == Key::Stack || self.key.is_by_call_site() {
            return Ok(());
        }
        // Stacks without Python frames are identified by their operator or backward node.
        while let Some(part) = slice.next_range(&mut self.next, 2 * snapshot.stacks.len(), 16)? {
            for stack in part {
                let stack = stack - snapshot.stacks.len();
                if let Some(number @ &mut NO_KEY) = self.numbers.get_mut(stack)
                    && let Some(frame) = sites.call_site(snapshot, StackId(stack as u32))
                {
                    let text = common.intern_text(&site::short_truncated(snapshot, frame), false);
                    *number = common.chains.intern(NO_KEY, text);
                }
            }
        }
        Ok(())
    }

    fn number(&mut self, side: &Side, sites: &mut Sites, common: &mut SharedTexts, stack: StackId) -> u32 {
        let snapshot = side.snapshot();
        let (callers, frame) = match self.key {
            key if key.is_by_call_site() => (NO_KEY, sites.call_site(snapshot, stack)),
            _ => match snapshot.stacks.innermost(stack) {
                Some((callers, frame)) => {
                    (self.numbers.get(callers.0 as usize).copied().unwrap_or(NO_KEY), Some(frame))
                }
                None => (NO_KEY, None),
            },
        };
        let Some(frame) = frame else { return NO_KEY };
        match self.frame(side, common, frame) {
            SKIPPED => callers,
            text => common.chains.intern(callers, text),
        }
    }

    fn frame(&mut self, side: &Side, common: &mut SharedTexts, id: FrameId) -> u32 {
        let Some(known) = self.frames.get_mut(id.0 as usize) else { return SKIPPED };
        match *known {
            0 => {}
            SKIPPED => return SKIPPED,
            text => return text - 1,
        }
        let snapshot = side.snapshot();
        let frame = snapshot.frames.frame(id);
        let is_python = Sites::code_origin(snapshot, frame) != CodeOrigin::Native;
        if self.key != Key::Stack && !self.key.is_by_call_site() && !is_python {
            *known = SKIPPED;
            return SKIPPED;
        }
        let is_internal = side.internal_rules().is_internal(snapshot, frame, &mut self.internal);
        let words = frame_text(self.key, side, frame, &common.prefixes);
        let text = common.intern_text(&words, is_internal);
        *known = text + 1;
        text
    }

    /// Returns the names of the module of a stack and of the modules around it, innermost first. Empty for code outside
    /// of modules.
    pub(crate) fn module_path(&self, side: &Side, stack: StackId) -> Vec<String> {
        let (mut path, mut module) = (Vec::new(), self.modules.module_of(stack));
        while let Some((parent, name)) = self.modules.parent_and_name(side, module).filter(|_| path.len() < MAX_PATH) {
            path.push(name);
            module = parent;
        }
        path
    }

    /// Returns the key id of an allocation.
    pub(crate) fn number_of(&self, side: &Side, id: AllocationId) -> u32 {
        if side.history.allocations.is_unexplained(id) {
            return UNEXPLAINED;
        }
        let number = |index: u32| self.numbers.get(index as usize).copied().unwrap_or(NO_KEY);
        if let Some(by) = self.grouping() {
            return number(side.group(by, id));
        }
        let stack = side.stack(id);
        if stack == StackId::NONE {
            return NO_KEY;
        }
        let known = if self.key == Key::Module { number(self.modules.module_of(stack)) } else { number(stack.0) };
        if known != NO_KEY && side.is_of_free(id, stack) { known | OF_FREE } else { known }
    }
}

/// Returns the text that a frame is compared by, which depends on the key.
fn frame_text(key: Key, side: &Side, frame: &Frame, prefixes: &[(String, String)]) -> String {
    let snapshot = side.snapshot();
    let text = |id| {
        let bytes = snapshot.strings.bytes(id);
        String::from_utf8_lossy(bytes.get(..LONGEST).unwrap_or(bytes)).into_owned()
    };
    let (mut file, name) = (text(frame.filename), text(frame.name));
    if let Some((rest, new)) = prefixes.iter().find_map(|(old, new)| Some((file.strip_prefix(&**old)?, new))) {
        file = [new, rest].concat();
    }
    match key {
        Key::CallSite => site::short(snapshot, frame),
        Key::Function => site::function(snapshot, frame),
        Key::File => site::file(snapshot, frame),
        Key::NoLines => [&file, "\n", &name].concat(),
        Key::NoFolders => [file.rsplit(['/', '\\']).next().unwrap_or(&file), "\n", &name].concat(),
        _ => [&file, "\n", &name, "\n", &frame.line.to_string()].concat(),
    }
}
