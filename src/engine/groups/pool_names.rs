//! Collects names of private pools from metadata and from the code that created the pools.

use analysis::IdSet;
use history::snapshot::{Frame, Snapshot, StackId, StringId};

/// Code that creates pools: a substring of the file or function name, and the name given to the pools.
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

/// Pool names that were collected so far.
#[derive(Default)]
pub(super) struct PoolNames {
    /// Names found for each pool, starting with pool group 1.
    pub(super) known: Vec<KnownNames>,
    /// Number of labels examined so far.
    pub(super) labels: usize,
    /// Stacks that were searched without finding code that creates pools.
    pub(super) stacks: IdSet,
    /// Index of the device being examined. `next` is the index of its next allocation or event.
    pub(super) device: usize,
    pub(super) next: usize,
    /// True if `next` is an index of an event, false if of an allocation.
    pub(super) is_in_events: bool,
    /// True if metadata names a pool in an event that does not record its pool.
    pub(super) has_unassigned_names: bool,
    pub(super) is_done: bool,
}

impl PoolNames {
    /// Adds a name that metadata gives to the pool with the group `number`.
    pub(super) fn add_name(&mut self, number: u32, name: String) {
        let Some(known) = number.checked_sub(1).and_then(|index| self.known.get_mut(index as usize)) else { return };
        known.from_metadata = Some(match known.from_metadata.take() {
            Some(Ok(before)) if before != name => Err(()),
            Some(Err(())) => Err(()),
            _ => Ok(name),
        });
    }

    /// Searches the stack of an allocation in a pool for the code that created the pool.
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
