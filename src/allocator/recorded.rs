//! Parsing of a file's `allocator_settings`, and detection of `no_split` pools from its blocks.

use super::conf::parse_leniently;
use super::settings::{INTERVALS, MIB, SMALL, Settings, Share};
use history::snapshot::Snapshot;

/// Converts `allocator_settings` into settings. Settings that are not listed are parsed from the listed value of the
/// environment variable.
pub(crate) fn settings(listed: &[(String, String)]) -> Option<Settings> {
    if listed.is_empty() {
        return None;
    }
    let value = |key: &str| listed.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    let line = value("PYTORCH_CUDA_ALLOC_CONF").or_else(|| value("PYTORCH_ALLOC_CONF")).unwrap_or_default();
    let of_line = parse_leniently(line);
    let mut divisions = [0; INTERVALS];
    for (at, entry) in divisions.iter_mut().enumerate() {
        let key = format!("roundup_power2_divisions.{}", 1u32 << at);
        *entry = value(&key).and_then(|value| value.parse().ok()).unwrap_or(0);
    }
    Some(Settings {
        expandable: value("expandable_segments").is_some_and(|value| value.eq_ignore_ascii_case("true")),
        max_split: value("max_split_size")
            .and_then(|value| value.parse().ok())
            .filter(|&bytes: &u64| bytes > 0 && bytes < 1 << 62),
        divisions,
        collect_above: value("garbage_collection_threshold").and_then(Share::parse).unwrap_or(Share::NOTHING),
        ..of_line
    })
}

/// Returns the indices of private pools created by `MemPool(no_split=True)`. They are recognized by live blocks whose
/// free rest PyTorch would otherwise have split off. No segment of such a pool is split.
pub(crate) fn no_split(snapshot: &Snapshot, device: i64, pools: &[(u64, u64)]) -> Vec<u32> {
    let mut seen = vec![[false; 2]; pools.len()];
    for segment in snapshot.segments.iter().filter(|segment| segment.device == device && !segment.expandable) {
        let id = segment.pool.unwrap_or_default();
        let Some(at) = pools.iter().position(|pool| *pool == id && id != (0, 0)) else { continue };
        let range = segment.blocks.start as usize..segment.blocks.end as usize;
        let blocks = snapshot.blocks.get(range).unwrap_or_default();
        // Rounding at most doubles a request.
        let is_left = |requested: u64, size: u64| {
            if segment.small { size > SMALL } else { requested.saturating_mul(2).saturating_add(MIB) < size }
        };
        let is_unsplit = matches!(blocks, [block] if block.state.is_live() && block.requested > 0 && is_left(block.requested, block.size));
        if let Some(seen) = seen.get_mut(at) {
            *seen = [seen[0] || blocks.len() > 1, seen[1] || is_unsplit];
        }
    }
    (0..).zip(seen).filter(|(_, seen)| *seen == [false, true]).map(|(at, _)| at).collect()
}

#[cfg(test)]
#[path = "../../tests/units/allocator/recorded.rs"]
mod tests;
