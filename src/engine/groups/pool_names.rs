//! What is learnt of private pools on the way through a file: names from metadata, and the code that made them.

use analysis::IdSet;
use history::snapshot::{Frame, Snapshot, StackId, StringId};

/// Code that makes pools: a part of its file or function, and what they are called.
const MAKERS: [(&str, &str); 4] = [
    ("cudagraph_trees", "CUDA graph trees"),
    ("_symmetric_memory", "symmetric memory"),
    ("symm_mem", "symmetric memory"),
    ("SymmetricMemory", "symmetric memory"),
];

/// Frames of a stack that are looked at, the innermost ones.
const MOST_FRAMES: usize = 200;

/// What is known of one pool.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// By metadata: `Err` where several say different things.
    pub(super) named: Option<Result<String, ()>>,
    pub(super) made_by: Option<&'static str>,
}

/// The names, once all is looked at.
#[derive(Default)]
pub(super) struct PoolNames {
    /// By number of the pool, from 1 on.
    pub(super) known: Vec<Known>,
    /// Labels whose metadata were read; stacks that were looked at; the device, its allocations, its events.
    pub(super) labels: usize,
    pub(super) stacks: IdSet,
    pub(super) device: usize,
    pub(super) next: usize,
    pub(super) is_of_events: bool,
    /// Whether metadata name a pool of which the event does not say which it is.
    pub(super) has_unplaced: bool,
    pub(super) is_done: bool,
}

impl PoolNames {
    /// The metadata of something in a pool name it.
    pub(super) fn name(&mut self, number: u32, name: String) {
        let Some(known) = number.checked_sub(1).and_then(|place| self.known.get_mut(place as usize)) else { return };
        known.named = Some(match known.named.take() {
            Some(Ok(before)) if before != name => Err(()),
            Some(Err(())) => Err(()),
            _ => Ok(name),
        });
    }

    /// Something in a pool was made at a stack, which may tell whose pool it is.
    pub(super) fn look_at(&mut self, snapshot: &Snapshot, number: u32, stack: StackId) {
        let Some(known) = number.checked_sub(1).and_then(|place| self.known.get_mut(place as usize)) else { return };
        if known.made_by.is_some() || matches!(stack, StackId::NONE) || self.stacks.contains(stack.0) {
            return;
        }
        let mut frames = snapshot.stacks.frames(stack).take(MOST_FRAMES).map(|frame| snapshot.frames.frame(frame));
        known.made_by = frames.find_map(|frame| maker(snapshot, frame));
        if known.made_by.is_none() {
            self.stacks.insert(stack.0);
        }
    }
}

fn maker(snapshot: &Snapshot, frame: &Frame) -> Option<&'static str> {
    let holds = |string: StringId, part: &str| {
        let text = snapshot.strings.bytes(string);
        text.len() < 4096 && text.windows(part.len()).any(|window| window == part.as_bytes())
    };
    let made_it = |(part, _): &&(&str, &str)| holds(frame.filename, part) || holds(frame.name, part);
    MAKERS.iter().find(made_it).map(|(_, name)| *name)
}
