//! Descriptions and default values of the settings of PyTorch's caching allocator.

/// A setting of PyTorch's caching allocator. `key` is its key in snapshots.
pub(super) struct KnownSetting {
    key: &'static str,
    default: &'static str,
    pub(super) description: &'static str,
}

/// Creates an item of [`KNOWN_SETTINGS`].
const fn known_setting(key: &'static str, default: &'static str, description: &'static str) -> KnownSetting {
    KnownSetting { key, default, description }
}

/// Prefix of the keys that set the rounding. There is one key for each range of sizes.
pub(super) const DIVISIONS_KEY: &str = "roundup_power2_divisions";

/// Default of settings that limit a size. It is `SIZE_MAX`, which means no limit. Some snapshots have -1 instead.
const UNLIMITED: &str = "18446744073709551615";

const KNOWN_SETTINGS: [KnownSetting; 22] = [
    known_setting("PYTORCH_CUDA_ALLOC_CONF", "", "The environment variable that configures the allocator."),
    known_setting("PYTORCH_ALLOC_CONF", "", "The environment variable that configures the allocator."),
    known_setting("backend", "native", "The allocator: PyTorch's own (native), or CUDA's (cudaMallocAsync)."),
    known_setting(
        "max_split_size",
        "-1",
        "Blocks larger than this many bytes are not split, so that they stay available for large requests; −1: no limit.",
    ),
    known_setting(
        "garbage_collection_threshold",
        "0",
        "Above this share of the memory limit, the segments that have been unused the longest are released; needs torch.cuda.set_per_process_memory_fraction; 0: never.",
    ),
    known_setting(
        "expandable_segments",
        "False",
        "Segments grow by mapping more memory, so that free memory is not stranded in many segments of fixed size.",
    ),
    known_setting(
        "max_non_split_rounding_size",
        "20971520",
        "How many bytes larger than the request an unsplit block may be.",
    ),
    known_setting("per_process_memory_fraction", "1", "The share of the device's memory that the process may reserve."),
    known_setting(
        "throw_on_cudamalloc_oom",
        "False",
        "Requests that per_process_memory_fraction leaves no room for fail before the driver is asked.",
    ),
    known_setting(
        "expandable_segments_reserve",
        "",
        "Virtual addresses set aside for each expandable segment, as a share of the device's memory or in GiB; they take no memory, and a larger request fails.",
    ),
    known_setting(
        "expandable_segments_reserve_by_class",
        "",
        "The same for streams of a class, such as those that capture graphs.",
    ),
    known_setting("max_split_size_mb", "-1", "max_split_size in MiB."),
    known_setting(
        "max_round_threshold",
        UNLIMITED,
        "Requests for pinned host memory above this size are not rounded up.",
    ),
    known_setting("max_cached_size", UNLIMITED, "Blocks of pinned host memory above this size are not cached."),
    known_setting(
        "pinned_reserve_segment_size_mb",
        "0",
        "Pinned host memory reserved up front and suballocated, in MiB.",
    ),
    known_setting("pinned_free_catch_all", "False", "Errors while pinned host memory is freed are suppressed."),
    known_setting(
        "release_lock_on_cudamalloc",
        "False",
        "Releases the allocator's lock during cudaMalloc, so that other threads can allocate.",
    ),
    known_setting("pinned_num_register_threads", "1", "Number of threads that register pinned host memory."),
    known_setting(
        "pinned_use_cuda_host_register",
        "False",
        "Pins host memory with cudaHostRegister instead of cudaHostAlloc.",
    ),
    known_setting(
        "pinned_use_background_threads",
        "False",
        "Processes events of pinned host memory on a background thread.",
    ),
    known_setting(
        "graph_capture_record_stream_reuse",
        "False",
        "During graph capture, reuses blocks that other streams used once their work is known to be done.",
    ),
    known_setting(
        DIVISIONS_KEY,
        "0",
        "Number of steps between two powers of two that requests are rounded up to, so that blocks fit more requests; 0: multiples of 512 bytes.",
    ),
];

/// Parses the text of the environment variable, such as `max_split_size_mb:128,roundup_power2_divisions:[256:1,512:2]`,
/// into keys and values.
pub(in crate::report) fn parse_conf(conf: &str) -> Vec<(&str, &str)> {
    let mut settings = Vec::new();
    let (mut depth, mut from) = (0i32, 0);
    for (index, letter) in conf.char_indices().chain([(conf.len(), ',')]) {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        if letter == ',' && depth <= 0 {
            let setting = conf.get(from..index).unwrap_or_default().split_once(':');
            settings.extend(setting.map(|(key, value)| (key.trim(), value.trim())));
            from = index + 1;
        }
    }
    settings
}

/// Returns the known setting with this key. `None` if the key is unknown.
pub(super) fn find_known(key: &str) -> Option<&'static KnownSetting> {
    let key = key.split_once('.').map_or(key, |(prefix, _)| if prefix == DIVISIONS_KEY { prefix } else { key });
    KNOWN_SETTINGS.iter().find(|known| known.key == key)
}

impl KnownSetting {
    /// Returns whether a value is the default of this setting.
    pub(super) fn is_default(&self, value: &str) -> bool {
        let number = |text: &str| text.parse::<f64>().ok();
        value.eq_ignore_ascii_case(self.default)
            || (self.default == UNLIMITED && value == "-1")
            || number(value).is_some_and(|value| Some(value) == number(self.default))
    }
}

#[cfg(test)]
#[path = "../../../../tests/units/engine/report/settings/known.rs"]
mod tests;
