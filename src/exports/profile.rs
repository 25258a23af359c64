//! Bytes and number of allocations by stack, used by all profile formats.

use crate::frames::{Frame, Stack, outermost_first};
use engine::Side;
use hashbrown::HashMap;
use protocol::{Grouping, Scope};
use std::hash::Hash;

/// Requested bytes, and number of allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    pub bytes: u64,
    pub count: u64,
}

impl Total {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.count += 1;
    }

    /// Sums the allocations in a scope of a device.
    pub fn of(side: Side<'_>, scope: Scope) -> Total {
        let mut total = Total::default();
        side.for_each_in_scope(scope, &mut |_, bytes| total.add(bytes));
        total
    }
}

/// A stack with its total. `K` separates allocations that have the same stack but differ in other properties.
pub(crate) struct Sample<K> {
    /// Frames, outermost first.
    pub(crate) frames: Vec<Frame>,
    pub(crate) key: K,
    pub(crate) total: Total,
}

/// Stacks of a scope, sorted like the call tree, so that adjacent stacks share callers.
pub(crate) struct Profile<'a, K = ()> {
    pub(crate) side: Side<'a>,
    pub(crate) samples: Vec<Sample<K>>,
    pub(crate) total: Total,
}

/// Properties of allocations that are exported as labels, so that allocations with the same stack are separate samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Labels {
    pub(crate) category: u32,
    pub(crate) pool: Option<(u64, u64)>,
    pub(crate) stream: Option<u64>,
    /// Group of [`Grouping::Metadata`]. 0 if no user metadata is set.
    pub(crate) metadata: u32,
    pub(crate) size: u64,
}

impl<'a> Profile<'a> {
    pub(crate) fn new(side: Side<'a>, scope: Scope) -> Profile<'a> {
        Profile::by(side, scope, |_, _| ())
    }
}

impl<'a> Profile<'a, Labels> {
    pub(crate) fn labelled(side: Side<'a>, scope: Scope) -> Profile<'a, Labels> {
        Profile::by(side, scope, |id, size| Labels {
            category: side.group(Grouping::Category, id),
            pool: side.pool(id),
            stream: side.stream(id),
            metadata: side.group(Grouping::Metadata, id),
            size,
        })
    }
}

impl<'a, K: Copy + Ord + Hash> Profile<'a, K> {
    fn by(side: Side<'a>, scope: Scope, key: impl Fn(history::replay::AllocationId, u64) -> K) -> Profile<'a, K> {
        let mut sums = HashMap::<(Stack, K), Total, foldhash::fast::RandomState>::default();
        let mut total = Total::default();
        side.for_each_in_scope(scope, &mut |id, bytes| {
            total.add(bytes);
            sums.entry((Stack::of_allocation(side, id), key(id, bytes))).or_default().add(bytes);
        });
        let mut samples: Vec<Sample<K>> = sums
            .into_iter()
            .map(|((stack, key), total)| Sample { frames: outermost_first(side, stack), key, total })
            .collect();
        samples.sort_unstable_by(|a, b| (&a.frames, a.key).cmp(&(&b.frames, b.key)));
        Profile { side, samples, total }
    }
}
