//! What the settings of PyTorch's caching allocator do, and their default values.

/// A setting as a snapshot names it.
pub(super) struct Known {
    key: &'static str,
    /// Its default value.
    default: &'static str,
    pub(super) words: &'static str,
}

/// A row of [`KNOWN`].
const fn known(key: &'static str, default: &'static str, words: &'static str) -> Known {
    Known { key, default, words }
}

/// The prefix of the settings of rounding, one a size.
pub(super) const DIVISIONS: &str = "roundup_power2_divisions";

const KNOWN: [Known; 14] = [
    known("PYTORCH_CUDA_ALLOC_CONF", "", "The environment variable that configures the allocator."),
    known("PYTORCH_ALLOC_CONF", "", "The environment variable that configures the allocator."),
    known("backend", "native", "The allocator: PyTorch's own (native), or CUDA's (cudaMallocAsync)."),
    known(
        "max_split_size",
        "-1",
        "Blocks larger than this many bytes are not split, so that they stay available for large requests; −1: no limit.",
    ),
    known(
        "garbage_collection_threshold",
        "0",
        "Above this share of the memory limit, the segments that have been unused the longest are released; needs torch.cuda.set_per_process_memory_fraction; 0: never.",
    ),
    known(
        "expandable_segments",
        "False",
        "Segments grow by mapping more memory, so that free memory is not stranded in many segments of fixed size.",
    ),
    known("max_non_split_rounding_size", "20971520", "How many bytes larger than the request an unsplit block may be."),
    known("per_process_memory_fraction", "1", "The share of the device's memory that the process may reserve."),
    known(
        "release_lock_on_cudamalloc",
        "False",
        "Releases the allocator's lock during cudaMalloc, so that other threads can allocate.",
    ),
    known("pinned_num_register_threads", "1", "Number of threads that register pinned host memory."),
    known("pinned_use_cuda_host_register", "False", "Pins host memory with cudaHostRegister instead of cudaHostAlloc."),
    known("pinned_use_background_threads", "False", "Processes events of pinned host memory on a background thread."),
    known(
        "graph_capture_record_stream_reuse",
        "False",
        "During graph capture, reuses blocks that other streams used once their work is known to be done.",
    ),
    known(
        DIVISIONS,
        "0",
        "Number of steps between two powers of two that requests are rounded up to, so that blocks fit more requests; 0: multiples of 512 bytes.",
    ),
];

/// The description of a setting.
pub(super) fn of(key: &str) -> Option<&'static Known> {
    let key = key.split_once('.').map_or(key, |(prefix, _)| if prefix == DIVISIONS { prefix } else { key });
    KNOWN.iter().find(|known| known.key == key)
}

impl Known {
    /// Whether a value is the default.
    pub(super) fn is_default(&self, value: &str) -> bool {
        let number = |text: &str| text.parse::<f64>().ok();
        value.eq_ignore_ascii_case(self.default)
            || number(value).is_some_and(|value| Some(value) == number(self.default))
    }
}

#[cfg(test)]
#[path = "../../../../tests/units/engine/report/settings/known.rs"]
mod tests;
