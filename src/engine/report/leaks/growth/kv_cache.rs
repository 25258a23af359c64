//! Growth of KV caches. In inference, the keys and values of all tokens stay live, so the caches of all layers grow in
//! each step. This is not a leak. It is reported in one statement.

use super::SiteGrowth;
use crate::open::OpenFile;
use crate::report::frame_roles::FrameRoles;
use crate::report::frame_words::has_frame_with;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Snapshot, StackId};

/// Words in the names of functions and files that store keys and values.
const CACHE_WORDS: [&str; 14] = [
    "kv_cache",
    "kvcache",
    "cache_utils.py",
    "key_cache",
    "value_cache",
    "k_cache",
    "v_cache",
    "key_value",
    "dynamiccache",
    "dynamiclayer",
    "update_cache",
    "append_kv",
    "update_kv",
    "past_kv",
];
const ATTENTION_WORDS: [&str; 2] = ["attention", "attn"];

/// Growing call sites of KV caches.
pub(super) struct KvCache {
    /// Groups of the call sites, most growth first.
    pub(super) groups: Vec<u32>,
    /// Growth of all of these call sites together.
    pub(super) growth: SiteGrowth,
    /// True if no name in the stacks says so: tensors of the model are replaced by larger ones.
    pub(super) is_inferred: bool,
}

impl KvCache {
    /// Finds the KV caches among growing call sites, most growth first. `None` if there are none, or if the trace has a
    /// backward pass.
    pub(super) fn find(file: &OpenFile, history: &DeviceHistory, growing: &[(u32, &SiteGrowth)]) -> Option<KvCache> {
        if !file.backward.is_empty() {
            return None;
        }
        let snapshot = &file.snapshot;
        let stack = |site: &SiteGrowth| file.stack(history, AllocationId(site.newest));
        let select = |is_cache: &mut dyn FnMut(&SiteGrowth) -> bool| -> Vec<(u32, &SiteGrowth)> {
            growing.iter().copied().filter(|(_, site)| is_cache(site)).collect()
        };
        let named = select(&mut |site| has_frame_with(snapshot, stack(site), &CACHE_WORDS));
        let is_inferred = named.is_empty();
        let mut roles = FrameRoles::default();
        let sites = match is_inferred {
            true => select(&mut |site| !site.has_more_allocations() && is_of_model(snapshot, &mut roles, stack(site))),
            false => named,
        };
        let mut all = sites.iter();
        let mut growth = all.next()?.1.clone();
        all.for_each(|(_, site)| growth.add(site));
        // There is a key and a value. The output of the model may grow as well, but is one tensor.
        (!is_inferred || growth.live_count() > 1).then(|| KvCache {
            groups: sites.iter().map(|(group, _)| *group).collect(),
            growth,
            is_inferred,
        })
    }
}

/// Returns whether a stack is in the model: in a `forward` or in attention.
fn is_of_model(snapshot: &Snapshot, roles: &mut FrameRoles, stack: StackId) -> bool {
    let frames = roles.python_frames(snapshot, stack);
    (!frames.is_empty() && roles.is_inside(snapshot, &frames)) || has_frame_with(snapshot, stack, &ATTENTION_WORDS)
}
