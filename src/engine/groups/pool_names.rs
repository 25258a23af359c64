//! Names of private pools, collected from metadata and from the code that created them.

use analysis::IdSet;
use history::snapshot::{Frame, Snapshot, StackId, StringId};

/// Code that creates pools: a part of the file or function name, and the name of the pools that the code creates.
const CREATORS: [(&str, &str); 4] = [
    ("cudagraph_trees", "CUDA graph trees"),
    ("_symmetric_memory", "symmetric memory"),
    ("symm_mem", "symmetric memory"),
    ("SymmetricMemory", "symmetric memory"),
];

/// Number of innermost frames of a stack that are examined.
const MAX_FRAMES: usize = 200;

/// Names found for one pool.
#[derive(Clone, Default)]
pub(super) struct KnownNames {
    /// Name from metadata. `Err` if entries contradict each other.
    pub(super) from_metadata: Option<Result<String, ()>>,
    /// Name derived from the code that created the pool.
    pub(super) from_code: Option<&'static str>,
}

/// Names of pools that were collected so far.
#[derive(Default)]
pub(super) struct PoolNames {
    /// Names of each pool, by pool group from 1 on.
    pub(super) known: Vec<KnownNames>,
    /// Number of labels read so far.
    pub(super) labels: usize,
    /// Stacks without a known creator.
    pub(super) stacks: IdSet,
    /// Index of the current device. `next` is its next allocation or event to examine.
    pub(super) device: usize,
    pub(super) next: usize,
    /// Set while `next` counts events instead of allocations.
    pub(super) is_in_events: bool,
    /// Set if metadata names a pool in an event that does not record its pool.
    pub(super) has_unassigned_names: bool,
    pub(super) is_done: bool,
}

impl PoolNames {
    /// Adds a pool name from metadata.
    pub(super) fn add_name(&mut self, number: u32, name: String) {
        let Some(known) = number.checked_sub(1).and_then(|index| self.known.get_mut(index as usize)) else { return };
        known.from_metadata = Some(match known.from_metadata.take() {
            Some(Ok(before)) if before != name => Err(()),
            Some(Err(())) => Err(()),
            _ => Ok(name),
        });
    }

    /// Searches a stack that allocated memory of a pool for the code that created the pool.
    pub(super) fn examine_stack(&mut self, snapshot: &Snapshot, number: u32, stack: StackId) {
        let Some(known) = number.checked_sub(1).and_then(|index| self.known.get_mut(index as usize)) else { return };
        if known.from_code.is_some() || matches!(stack, StackId::NONE) || self.stacks.contains(stack.0) {
            return;
        }
        let mut frames = snapshot.stacks.frames(stack).take(MAX_FRAMES).map(|frame| snapshot.frames.frame(frame));
        known.from_code = frames.find_map(|frame| creator_name(snapshot, frame));
        if known.from_code.is_none() {
            self.stacks.insert(stack.0);
        }
    }
}

fn creator_name(snapshot: &Snapshot, frame: &Frame) -> Option<&'static str> {
    let contains = |string: StringId, part: &str| {
        let text = snapshot.strings.bytes(string);
        text.len() < 4096 && text.windows(part.len()).any(|window| window == part.as_bytes())
    };
    let is_creator = |(part, _): &&(&str, &str)| contains(frame.filename, part) || contains(frame.name, part);
    CREATORS.iter().find(is_creator).map(|(_, name)| *name)
}
