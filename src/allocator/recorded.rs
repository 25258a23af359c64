//! `allocator_settings` of a file → settings.

use super::conf::parse_leniently;
use super::settings::{INTERVALS, Settings, Share};

/// `allocator_settings`: what it lists, and what stands only in the line that was given.
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
