//! Allocator settings, and their text form in `PYTORCH_CUDA_ALLOC_CONF`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes per MiB.
pub const MIB: u64 = 1 << 20;
/// Size of segments for small blocks, granularity of large segments, and page size of expandable segments for small
/// blocks (PyTorch's `kSmallBuffer`).
pub(crate) const SMALL_SEGMENT: u64 = 2 * MIB;
/// Maximum rounded size of a small block (PyTorch's `kSmallSize`).
pub(crate) const SMALL: u64 = MIB;
/// Minimum size of a request that gets its own segment (PyTorch's `kMinLargeAlloc`).
pub(crate) const OWN_SEGMENT: u64 = 10 * MIB;
/// Granularity of block sizes (PyTorch's `kMinBlockSize`).
pub(crate) const GRAIN: u64 = 512;
/// Default of `large_segment_size_mb`, in bytes (PyTorch's `kLargeBuffer`).
pub(crate) const LARGE_SEGMENT: u64 = 20 * MIB;

/// Number of size intervals in `roundup_power2_divisions`. The first one starts at 1 MiB, and each one starts at twice
/// the size of the previous one.
pub const INTERVALS: usize = 16;

/// Settings of `PYTORCH_CUDA_ALLOC_CONF` that the simulation implements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub expandable: bool,
    /// `max_split_size_mb`, in bytes.
    pub max_split: Option<u64>,
    /// `max_non_split_rounding_mb`, in bytes.
    pub non_split: u64,
    /// `roundup_power2_divisions` of each size interval. 0 and 1 disable rounding.
    pub divisions: [u32; INTERVALS],
    /// `garbage_collection_threshold`. [`Share::NOTHING`] disables it.
    pub collect_above: Share,
    /// `large_segment_size_mb`, in bytes.
    pub large_segment: u64,
    /// `per_process_memory_fraction`. [`Share::ALL`] disables it.
    pub fraction: Share,
    /// `throw_on_cudamalloc_oom`: a request that exceeds the memory fraction fails immediately, without releasing
    /// cached memory. Added to PyTorch in 2026.
    pub throws: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            expandable: false,
            max_split: None,
            non_split: LARGE_SEGMENT,
            divisions: [0; INTERVALS],
            collect_above: Share::NOTHING,
            large_segment: LARGE_SEGMENT,
            fraction: Share::ALL,
            throws: false,
        }
    }
}

/// Properties of a device's allocator that do not depend on settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backend {
    /// Bytes added to each request before rounding: 32 in torch_npu.
    pub added: u64,
    /// Alignment, in bytes, of large blocks in expandable segments: 16 KiB in torch_npu. 0 if blocks are not aligned.
    pub aligned: u64,
    pub order: BlockOrder,
}

/// Order of free blocks that have the same stream and size. A request gets the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockOrder {
    /// By address: PyTorch up to 2.11 (`BlockComparatorSize`).
    #[default]
    Address,
    /// By the age number of the block: PyTorch 2.12 (`BlockComparatorRegistrationCounter`).
    Block,
    /// By the age number of the segment, then by address: PyTorch 2.13 and later (`BlockComparatorSizeCounterAddress`).
    Segment,
}

/// Bytes that torch_npu adds to each request.
pub const NPU_ADDED: u64 = 32;
/// Block alignment of torch_npu (`base_addr_aligned_kb`), in bytes.
pub const NPU_ALIGNED: u64 = 16 << 10;

/// Fraction between 0 and 1, stored in millionths. Parsing and printing use no floating-point code, which keeps the
/// WebAssembly file small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Share(u32);

impl Share {
    /// The fraction 0.
    pub const NOTHING: Share = Share(0);
    /// The fraction 1.
    pub const ALL: Share = Share(1_000_000);

    /// Creates a fraction of `count` millionths. Larger counts than a million are reduced to 1.
    pub fn millionths(count: u32) -> Share {
        Share(count.min(Share::ALL.0))
    }

    /// Parses text such as `0.8`. Digits beyond the sixth are ignored.
    pub fn parse(text: &str) -> Option<Share> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let whole = if whole.is_empty() { "0" } else { whole };
        let all = whole.bytes().chain(part.bytes());
        if text.is_empty() || text == "." || !all.clone().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let digits = part.bytes().chain(std::iter::repeat(b'0')).take(6);
        let part = digits.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
        let millionths = whole.parse::<u32>().ok()?.checked_mul(Share::ALL.0)?.checked_add(part)?;
        Some(Share(millionths)).filter(|share| *share <= Share::ALL)
    }

    /// Returns this fraction of `bytes`, computed with floating-point arithmetic like in PyTorch.
    pub fn of(self, bytes: u64) -> u64 {
        (f64::from(self.0) / f64::from(Share::ALL.0) * bytes as f64) as u64
    }

    /// Inverse of [`Share::of`]: returns a total such that `bytes` is this fraction of the total. The result is off by
    /// at most one byte.
    pub(crate) fn inverse(self, bytes: u64) -> u64 {
        (bytes as f64 * f64::from(Share::ALL.0) / f64::from(self.0.max(1))) as u64
    }
}

impl fmt::Display for Share {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / Share::ALL.0, self.0 % Share::ALL.0);
        let digits = format!("{part:06}");
        write!(out, "{whole}.{}", if part == 0 { "0" } else { digits.trim_end_matches('0') })
    }
}

/// Memory limits of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that the driver can provide. `None` is unlimited.
    pub capacity: Option<u64>,
    /// Bytes that the process may reserve, as set by `set_per_process_memory_fraction`. `None` is unlimited.
    pub allowed: Option<u64>,
    /// Reserved bytes above which garbage is collected. `None` if it is never collected.
    pub collect_above: Option<u64>,
}

impl Limits {
    /// Returns the limits under `settings`. `capacity` is the memory that the driver can provide. `total` is the memory
    /// of the device, to which a memory fraction refers. It includes memory used by the CUDA context.
    pub fn new(capacity: Option<u64>, total: Option<u64>, settings: &Settings) -> Limits {
        let allowed = total.filter(|_| settings.fraction < Share::ALL).map(|total| settings.fraction.of(total));
        Limits { capacity, ..Limits::allowing(allowed, settings) }
    }

    /// Returns the limits of a process that may reserve `allowed` bytes.
    pub(crate) fn allowing(allowed: Option<u64>, settings: &Settings) -> Limits {
        let collect_above = allowed.filter(|_| settings.collects()).map(|allowed| settings.collect_above.of(allowed));
        Limits { capacity: None, allowed, collect_above }
    }
}

impl Settings {
    /// Returns true if `roundup_power2_divisions` is enabled.
    pub fn rounds_up(&self) -> bool {
        self.divisions.iter().any(|&divisions| divisions > 1)
    }

    /// Returns true if `garbage_collection_threshold` is set. Garbage is collected only with a memory fraction.
    pub fn collects(&self) -> bool {
        self.collect_above > Share::NOTHING
    }
}

/// Text of the default settings.
pub const DEFAULTS: &str = "expandable_segments:False";

/// Writes a value for `PYTORCH_CUDA_ALLOC_CONF`. If all settings have their defaults, it is [`DEFAULTS`].
impl fmt::Display for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let normal = Settings::default();
        let mut words = Vec::new();
        let mib = |bytes: u64| bytes / MIB;
        if self.expandable {
            words.push("expandable_segments:True".to_owned());
        }
        words.extend(self.max_split.map(|bytes| format!("max_split_size_mb:{}", mib(bytes))));
        if self.large_segment != normal.large_segment {
            words.push(format!("large_segment_size_mb:{}", mib(self.large_segment)));
        }
        // It defaults to the size of large segments.
        if self.non_split != self.large_segment {
            words.push(format!("max_non_split_rounding_mb:{}", mib(self.non_split)));
        }
        if self.rounds_up() {
            words.push(format!("roundup_power2_divisions:{}", in_words(&self.divisions)));
        }
        if self.collects() {
            words.push(format!("garbage_collection_threshold:{}", self.collect_above));
        }
        if self.fraction < Share::ALL {
            words.push(format!("per_process_memory_fraction:{}", self.fraction));
        }
        if self.throws {
            words.push("throw_on_cudamalloc_oom:True".to_owned());
        }
        if words.is_empty() {
            words.push(DEFAULTS.to_owned());
        }
        out.write_str(&words.join(","))
    }
}

/// Formats `roundup_power2_divisions`: one number if all intervals have the same value, otherwise a list whose first
/// pair also applies to smaller sizes.
fn in_words(divisions: &[u32; INTERVALS]) -> String {
    let first = divisions.first().copied().unwrap_or(0);
    let same = divisions.iter().take_while(|&&other| other == first).count();
    if same == INTERVALS {
        return first.to_string();
    }
    let entry = |at: usize, value: u32| format!("{}:{}", 1u32 << at, value.max(1));
    let rest = divisions.iter().enumerate().skip(same).filter(|(_, value)| **value > 0);
    let entries: Vec<String> = std::iter::once(entry(same.saturating_sub(1), first))
        .chain(rest.map(|(at, &value)| entry(at, value)))
        .collect();
    format!("[{}]", entries.join(","))
}
