//! Steps of a recording up to the next request, and the inferred cause of the releases among them.

use super::operation::Operation;
use super::recording::{Place, Recording, Release, Step, What};

/// A recorded request for memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Block size in bytes.
    pub(super) size: u64,
    pub(super) place: Place,
    /// Index of the pool in `Allocator::pools`.
    pub(super) pool: u32,
    pub(super) succeeds: bool,
}

/// Result of inferring who released memory before a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Decision {
    /// Number of steps at the start of the chunk that are already processed, because the program caused them.
    pub(super) done: usize,
    /// True if the request found no free block when it was made. Only the releases and frees after that made one
    /// available.
    pub(super) misses: bool,
}

/// Segment operations and completed frees between two requests.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'a> {
    pub(super) recording: &'a Recording,
    /// Indices of the steps in [`Recording::steps`].
    pub(super) steps: &'a [u32],
}

impl<'a> Chunk<'a> {
    pub(super) fn iter(self) -> impl Iterator<Item = (u32, Step)> {
        self.steps.iter().filter_map(move |&at| Some((at, self.recording.steps.get(at as usize)?)))
    }

    pub(super) fn part(self, range: std::ops::Range<usize>) -> Chunk<'a> {
        Chunk { steps: self.steps.get(range).unwrap_or_default(), ..self }
    }

    fn release(self, what: What) -> Option<(u32, Release)> {
        let What::Release(run) = what else { return None };
        Some((run, *self.recording.releases.get(run as usize)?))
    }

    /// Returns the releases in the chunk, each with its index in [`Recording::releases`].
    pub(super) fn releases(self) -> impl Iterator<Item = (u32, Release)> {
        self.iter().filter_map(move |(_, step)| self.release(step.what))
    }

    pub(super) fn operations_of(self, release: Release) -> impl Iterator<Item = Operation> {
        let [first, end] = release.operations;
        (first..end).filter_map(move |at| self.recording.operations.get(at as usize))
    }

    pub(super) fn released(self) -> impl Iterator<Item = Operation> {
        self.releases().flat_map(move |(_, release)| self.operations_of(release))
    }

    /// Appends all segment operations of the chunk to `script`.
    pub(super) fn load(self, script: &mut Vec<Operation>) {
        for (_, step) in self.iter() {
            match step.what {
                What::Grow(at) => script.extend(self.recording.operations.get(at as usize)),
                what => {
                    script.extend(self.release(what).into_iter().flat_map(|(_, release)| self.operations_of(release)));
                }
            }
        }
    }
}
