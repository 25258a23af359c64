//! Result of comparing two snapshots, as plain data for the page and the command line.

use protocol::Backend;
use serde::{Deserialize, Serialize};

/// A value for each side: in A and in B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerSide {
    pub a: u64,
    pub b: u64,
}

impl PerSide {
    /// Returns B − A.
    pub fn delta(self) -> i128 {
        i128::from(self.b) - i128::from(self.a)
    }

    /// Returns B − A, clamped to the range of `i64`.
    pub fn clamped_delta(self) -> i64 {
        i64::try_from(self.delta()).unwrap_or(if self.b > self.a { i64::MAX } else { i64::MIN })
    }

    /// Adds the values of each side. Sums that exceed 64 bits are clamped.
    pub(crate) fn plus(self, other: PerSide) -> PerSide {
        PerSide { a: self.a.saturating_add(other.a), b: self.b.saturating_add(other.b) }
    }
}

/// File, device and totals of one side at the compared moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideFacts {
    pub file: String,
    pub device: i64,
    pub backend: Backend,
    pub events: u32,
    pub moment: u32,
    pub live_bytes: u64,
    pub reserved_bytes: i64,
}

/// Title of the pair of moments with the most reserved bytes.
pub(crate) const PEAK_RESERVED: &str = "peak reserved";

/// Title of the pair of moments at the ends of the traces.
pub(crate) const END: &str = "end";

/// Two moments that are compared, one in each trace, with their live and reserved bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentPair {
    /// Label of the pair, such as `peak with peak`.
    pub title: String,
    pub moments: (u32, u32),
    pub live: PerSide,
    /// Part of the live bytes that is awaiting free.
    pub awaiting_free: PerSide,
    pub reserved: Option<PerSide>,
}

/// Live bytes of a group of allocations on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the group. A group of allocations with the same stack is named by its call site.
    pub label: String,
    /// Callers of the call site, innermost first. Empty if groups are not formed by stack.
    pub callers: Vec<String>,
    pub bytes: PerSide,
    pub count: PerSide,
    /// True if allocations of this group occur in both files at any moment.
    pub in_both: bool,
}

impl Row {
    /// Describes the change from A to B, such as `×1.79` or `only in B`.
    pub fn relation(&self) -> String {
        relation(self.bytes, self.in_both)
    }
}

/// Live bytes of a node of the call tree on both sides, including callees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRow {
    /// Depth below the outermost listed nodes.
    pub depth: u32,
    /// Innermost frame of the row. A row stands for a chain of frames that have the same bytes.
    pub label: String,
    /// Other frames of the row, innermost first.
    pub frames: Vec<String>,
    pub bytes: PerSide,
    pub count: PerSide,
}

/// Describes the change from A to B, such as `×1.79` or `only in B`. `in_both` is true if the group occurs in both
/// files.
pub(crate) fn relation(bytes: PerSide, in_both: bool) -> String {
    let words = match (bytes.a, bytes.b, in_both) {
        (0, 0, _) => "–",
        (0, _, false) => "only in B",
        (_, 0, false) => "only in A",
        (0, _, true) => "not live in A",
        (_, 0, true) => "not live in B",
        _ => return factor_of(bytes),
    };
    words.to_owned()
}

/// Formats the ratio B / A, such as `×1.79` or `×0.14`.
pub fn factor_of(two: PerSide) -> String {
    factor(two.b as f64 / (two.a as f64).max(1.0))
}

/// Formats a ratio: without decimals if it is almost an integer, with more decimals if it is near 1 or small.
pub fn factor(ratio: f64) -> String {
    let whole = ratio.round();
    match ratio {
        _ if (0.0005..0.005).contains(&(ratio - 1.0).abs()) => format!("×{ratio:.3}"),
        _ if whole >= 1.0 && (ratio - whole).abs() < 0.005 * whole => format!("×{whole}"),
        10.0.. => format!("×{ratio:.1}"),
        0.095.. => format!("×{ratio:.2}"),
        _ => format!("×{ratio:.4}"),
    }
}

/// Live bytes of allocations whose key (such as the call stack) also occurs in the other file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matched {
    /// Bytes of allocations whose key also occurs in the other file.
    pub bytes: PerSide,
    /// Bytes of allocations with a known key. If the key is derived from the stack, excludes allocations without a
    /// stack.
    pub known: PerSide,
    pub total: PerSide,
}

/// Call sites whose paired allocations grew or shrank by the same factor from A to B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorGroup {
    /// Size of the paired allocations in B, divided by their size in A.
    pub factor: f64,
    pub sites: u32,
    pub pairs: u64,
    pub bytes: PerSide,
    /// Call sites with the most bytes.
    pub rows: Vec<SiteFactor>,
}

/// A call site, and the factor that applies to most of its paired bytes: size in B divided by size in A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteFactor {
    pub site: String,
    pub factor: f64,
    /// Bytes of the pairs with this factor, and bytes of all pairs of the call site. Each is the larger value of A and
    /// B.
    pub share: (u64, u64),
    pub pairs: u64,
    pub bytes: PerSide,
}

base::listed! {
    /// Result of comparing an allocation with its partner in the other trace.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Outcome {
        Same = "same", "same size and lifetime";
        Resized = "resized", "resized";
        LongerInB = "longer_in_b", "longer lifetime in B";
        LongerInA = "longer_in_a", "longer lifetime in A";
        OnlyInA = "only_in_a", "only in A";
        OnlyInB = "only_in_b", "only in B";
    }
}

/// Totals of all allocations with the same [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeTotals {
    pub outcome: Outcome,
    pub allocations: u64,
    pub bytes: PerSide,
    /// Call sites with the most bytes.
    pub sites: Vec<SiteLifetimes>,
}

/// Totals of the allocations of one call site with the same [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteLifetimes {
    pub site: String,
    pub allocations: u64,
    pub bytes: PerSide,
    /// Average difference of the lifetimes, B − A, in events of B.
    pub longer_events: i64,
    /// Average difference of the lifetimes, B − A, in steps of B. 0 if moments are not aligned by steps.
    pub longer_steps: i64,
}

/// A step that occurs in both traces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRow {
    /// Name of the step's annotation in A, or the index of the step if it has no annotation.
    pub name: String,
    /// Moments of A and of B at the start of the step.
    pub begins: (u32, u32),
    /// Peak of live bytes during the step.
    pub peak: PerSide,
    /// Number of allocations during the step.
    pub allocations: PerSide,
}

/// An allocation that is live at the compared moment, and its partner in the other trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationRow {
    /// Call site.
    pub site: String,
    /// Ids in A and in B. `None` for a missing partner.
    pub ids: (Option<u32>, Option<u32>),
    /// Live bytes at the compared moments.
    pub bytes: PerSide,
}

impl AllocationRow {
    /// Describes the change from A to B, such as `×1.79` or `only in B`.
    pub fn relation(&self) -> String {
        relation(self.bytes, self.ids.0.is_some() && self.ids.1.is_some())
    }
}

/// Allocations whose live bytes differ between the compared moments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationDifferences {
    /// Rows with the largest differences first, at most [`MAX_ALLOCATIONS`].
    pub rows: Vec<AllocationRow>,
    /// Number of differing allocations, including those not listed.
    pub count: u64,
    /// Live bytes of allocations whose partners have the same live bytes.
    pub equal: PerSide,
    /// Live bytes of allocations from before recording, which have no partners.
    pub early: PerSide,
}

/// Maximum number of differing allocations that are listed.
pub const MAX_ALLOCATIONS: usize = 1000;

/// Result of comparing two devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub a: SideFacts,
    pub b: SideFacts,
    /// Name of the method that aligned the moments.
    pub alignment: String,
    /// One sentence that describes the alignment.
    pub alignment_detail: String,
    pub key: String,
    pub key_title: String,
    pub matched: Matched,
    /// Name of the only side that runs compiled code, `A` or `B`, if the key was chosen because of that. Otherwise
    /// empty.
    pub only_compiled: String,
    /// Name of each key that was tried, with the bytes that it matched.
    pub tried: Vec<(String, Matched)>,
    pub moments: Vec<MomentPair>,
    /// Groups of allocations, largest difference first.
    pub rows: Vec<Row>,
    /// Nodes of the call tree (frames or modules) whose bytes differ. Each node precedes its callees, which are sorted
    /// by difference, largest first.
    pub tree: Vec<TreeRow>,
    /// Nodes of the call tree with large live bytes in A or B, in the same order as `tree`.
    pub flame: Vec<TreeRow>,
    /// Name of the key that the nodes of `tree` and `flame` are matched by.
    pub tree_title: String,
    /// Steps that occur in both traces, in order. Empty if moments are not aligned by steps.
    pub steps: Vec<StepRow>,
    pub allocations: AllocationDifferences,
    pub pools: Vec<Row>,
    /// Settings that differ. Contains the name, the value in A and the value in B.
    pub settings: Vec<(String, Option<String>, Option<String>)>,
    pub out_of_memory: PerSide,
    pub scaling: Vec<FactorGroup>,
    pub lifetimes: Vec<OutcomeTotals>,
    pub warnings: Vec<String>,
    pub verdict: Vec<String>,
}
