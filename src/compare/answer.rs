//! Result of a comparison, as plain data for the page and the command line.

use serde::{Deserialize, Serialize};

/// A value in A and in B.
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

    /// Adds two values side by side, saturating.
    pub(crate) fn plus(self, other: PerSide) -> PerSide {
        PerSide { a: self.a.saturating_add(other.a), b: self.b.saturating_add(other.b) }
    }
}

/// File, device and totals of one side at its compared moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideFacts {
    pub file: String,
    pub device: i64,
    pub events: u32,
    pub moment: u32,
    pub live_bytes: u64,
    pub reserved_bytes: i64,
}

/// A pair of compared moments, with their live and reserved bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentPair {
    /// Title, such as `peak with peak`.
    pub title: String,
    pub moments: (u32, u32),
    pub live: PerSide,
    pub reserved: Option<PerSide>,
}

/// Live bytes of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the group. Groups by stack are named by their call site.
    pub label: String,
    /// Callers, innermost first. Empty if the key is not a stack.
    pub callers: Vec<String>,
    pub bytes: PerSide,
    pub count: PerSide,
    /// True if both files have an allocation with this key at any moment.
    pub in_both: bool,
}

impl Row {
    /// Returns the relation of B to A as text, such as `×1.79` or `only in B`.
    pub fn relation(&self) -> String {
        relation(self.bytes, self.in_both)
    }
}

/// Live bytes below a node of the call tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRow {
    /// Depth below the outermost listed frame.
    pub depth: u32,
    /// Innermost frame of the chain that the row stands for.
    pub label: String,
    /// Other frames of the chain, innermost first.
    pub frames: Vec<String>,
    pub bytes: PerSide,
    pub count: PerSide,
}

/// Returns the relation of B to A as text, such as `×1.79` or `only in B`.
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

/// Returns the factor B / A as text, such as `×1.79` or `×16`.
pub fn factor_of(two: PerSide) -> String {
    factor(two.b as f64 / (two.a as f64).max(1.0))
}

/// Formats a factor, without decimals if it is almost an integer.
pub fn factor(ratio: f64) -> String {
    let whole = ratio.round();
    match ratio {
        _ if whole >= 1.0 && (ratio - whole).abs() < 0.005 * whole => format!("×{whole}"),
        10.0.. => format!("×{ratio:.1}"),
        0.095.. => format!("×{ratio:.2}"),
        _ => format!("×{ratio:.4}"),
    }
}

/// Live bytes whose key also occurs in the other file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matched {
    /// Bytes whose key occurs in the other file.
    pub bytes: PerSide,
    /// Bytes whose key is known. Excludes allocations without a stack if the key is taken from the stack.
    pub known: PerSide,
    pub total: PerSide,
}

/// Call sites whose paired allocations grew or shrank by the same factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorGroup {
    /// Bytes in B per byte in A.
    pub factor: f64,
    pub sites: u32,
    pub pairs: u64,
    pub bytes: PerSide,
    /// Largest call sites.
    pub rows: Vec<SiteFactor>,
}

/// A call site and the factor of most of its paired bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteFactor {
    pub site: String,
    pub factor: f64,
    /// Bytes of the site's pairs with this factor, and of all its pairs. Each is the larger of A and B.
    pub share: (u64, u64),
    pub pairs: u64,
    pub bytes: PerSide,
}

/// Result of comparing an allocation with its partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Same,
    Resized,
    LongerInB,
    LongerInA,
    OnlyInA,
    OnlyInB,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Outcome; 6] =
        [Outcome::Same, Outcome::Resized, Outcome::LongerInB, Outcome::LongerInA, Outcome::OnlyInA, Outcome::OnlyInB];

    /// Returns the label shown to users.
    pub fn title(self) -> &'static str {
        match self {
            Outcome::Same => "same size and lifetime",
            Outcome::Resized => "resized",
            Outcome::LongerInB => "longer lifetime in B",
            Outcome::LongerInA => "longer lifetime in A",
            Outcome::OnlyInA => "only in A",
            Outcome::OnlyInB => "only in B",
        }
    }

    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Same => "same",
            Outcome::Resized => "resized",
            Outcome::LongerInB => "longer_in_b",
            Outcome::LongerInA => "longer_in_a",
            Outcome::OnlyInA => "only_in_a",
            Outcome::OnlyInB => "only_in_b",
        }
    }
}

/// Allocations with the same outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifetimes {
    pub outcome: Outcome,
    pub allocations: u64,
    pub bytes: PerSide,
    /// Call sites with the most bytes.
    pub sites: Vec<SiteLifetimes>,
}

/// Allocations of one call site with the same outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteLifetimes {
    pub site: String,
    pub allocations: u64,
    pub bytes: PerSide,
    /// Average difference in lifetime, B − A, in events of B.
    pub longer_events: i64,
    /// Average difference in lifetime, B − A, in steps of B. 0 if moments are not aligned by steps.
    pub longer_steps: i64,
}

/// A step that occurs in both traces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRow {
    /// Name of its annotation in A, otherwise its number.
    pub name: String,
    /// Start of the step: moment of A and moment of B.
    pub begins: (u32, u32),
    /// Peak of the live bytes during the step.
    pub peak: PerSide,
    /// Number of allocations made during the step.
    pub allocations: PerSide,
}

/// An allocation that is live at a compared moment, and its partner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationRow {
    /// Call site.
    pub site: String,
    /// Ids in A and B. `None` for the side without a partner.
    pub ids: (Option<u32>, Option<u32>),
    /// Live bytes at the compared moments.
    pub bytes: PerSide,
}

impl AllocationRow {
    /// Returns the relation of B to A as text, such as `×1.79` or `only in B`.
    pub fn relation(&self) -> String {
        relation(self.bytes, self.ids.0.is_some() && self.ids.1.is_some())
    }
}

/// Allocations whose live bytes differ between the compared moments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationDifferences {
    /// Rows with the largest differences, largest first, at most [`MAX_ALLOCATIONS`].
    pub rows: Vec<AllocationRow>,
    /// Number of allocations that differ, including those not listed.
    pub count: u64,
    /// Live bytes of allocations that do not differ.
    pub equal: PerSide,
    /// Live bytes of allocations from before recording, which are not paired.
    pub early: PerSide,
}

/// Maximum number of listed allocations.
pub const MAX_ALLOCATIONS: usize = 1000;

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub a: SideFacts,
    pub b: SideFacts,
    /// Name of the alignment method.
    pub alignment: String,
    /// Description of the alignment, as a sentence.
    pub alignment_detail: String,
    pub key: String,
    pub key_title: String,
    pub matched: Matched,
    /// Matched bytes of each key that was tried.
    pub tried: Vec<(String, Matched)>,
    pub moments: Vec<MomentPair>,
    /// Groups of allocations, the largest difference first.
    pub rows: Vec<Row>,
    /// Nodes of the call tree that differ, by frame or module. Each node precedes its callees. Callees are sorted by
    /// difference, largest first.
    pub tree: Vec<TreeRow>,
    /// Nodes of the call tree with large live bytes in A or B, in the same order.
    pub flame: Vec<TreeRow>,
    /// Title of the key of `tree` and `flame`.
    pub tree_title: String,
    /// Steps that occur in both traces, in order. Empty if moments are not aligned by steps.
    pub steps: Vec<StepRow>,
    pub allocations: AllocationDifferences,
    pub pools: Vec<Row>,
    /// Settings that differ: name, value in A, value in B.
    pub settings: Vec<(String, Option<String>, Option<String>)>,
    pub out_of_memory: PerSide,
    pub scaling: Vec<FactorGroup>,
    pub lifetimes: Vec<Lifetimes>,
    pub warnings: Vec<String>,
    pub verdict: Vec<String>,
}
