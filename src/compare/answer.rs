//! What a comparison answers. Plain data, as the page and the command line take it.

use serde::{Deserialize, Serialize};

/// Two numbers of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Two {
    pub a: u64,
    pub b: u64,
}

impl Two {
    /// B − A.
    pub fn delta(self) -> i128 {
        i128::from(self.b) - i128::from(self.a)
    }

    /// Both, added to both of the other.
    pub(crate) fn plus(self, other: Two) -> Two {
        Two { a: self.a.saturating_add(other.a), b: self.b.saturating_add(other.b) }
    }
}

/// One side, at the moment that is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideFacts {
    pub file: String,
    pub device: i64,
    pub events: u32,
    pub moment: u32,
    pub live_bytes: u64,
    pub reserved_bytes: i64,
}

/// Two moments, and what is live then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentPair {
    /// `peak with peak`.
    pub title: String,
    pub moments: (u32, u32),
    pub live: Two,
    pub reserved: Option<Two>,
}

/// What is live by one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What the group is called; groups by stack by their call site.
    pub label: String,
    /// Its callers, innermost first; empty where the key is no stack.
    pub callers: Vec<String>,
    pub bytes: Two,
    pub count: Two,
    /// Whether both files allocate by this key, at whatever moment.
    pub in_both: bool,
}

impl Row {
    /// How B stands to A: a factor, or that one of them has nothing.
    pub fn relation(&self) -> String {
        relation(self.bytes, self.in_both)
    }
}

/// What is live below one node of the call tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRow {
    /// How far below the outermost frame that is listed.
    pub depth: u32,
    /// The innermost frame of the chain that the row stands for.
    pub label: String,
    /// The other frames of the chain, innermost first.
    pub frames: Vec<String>,
    pub bytes: Two,
    pub count: Two,
}

/// How B stands to A: a factor, or that one of them has nothing.
pub(crate) fn relation(bytes: Two, in_both: bool) -> String {
    let words = match (bytes.a, bytes.b, in_both) {
        (0, 0, _) => "–",
        (0, _, false) => "only in B",
        (_, 0, false) => "only in A",
        (0, _, true) => "not live in A",
        (_, 0, true) => "not live in B",
        _ => return times(bytes),
    };
    words.to_owned()
}

/// `×1.79`, or `×16`.
pub fn times(two: Two) -> String {
    factor(two.b as f64 / (two.a as f64).max(1.0))
}

/// A factor for people: whole where it nearly is.
pub fn factor(ratio: f64) -> String {
    let whole = ratio.round();
    match ratio {
        _ if whole >= 1.0 && (ratio - whole).abs() < 0.005 * whole => format!("×{whole}"),
        10.0.. => format!("×{ratio:.1}"),
        0.095.. => format!("×{ratio:.2}"),
        _ => format!("×{ratio:.4}"),
    }
}

/// How much of what is live has a partner by a key: the other file allocates by it, at whatever moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matched {
    /// Bytes with a partner.
    pub bytes: Two,
    /// Bytes that can have one: by code, those without a stack can't.
    pub known: Two,
    pub total: Two,
}

/// Call sites whose paired allocations have become larger or smaller by the same factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorGroup {
    /// Bytes in B for each byte in A.
    pub factor: f64,
    pub sites: u32,
    pub pairs: u64,
    pub bytes: Two,
    /// The largest of them.
    pub rows: Vec<SiteFactor>,
}

/// A call site and the factor that most bytes of its pairs have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteFactor {
    pub site: String,
    pub factor: f64,
    /// Bytes of its pairs that have this factor, of all bytes of its pairs, in B.
    pub share: (u64, u64),
    pub pairs: u64,
    pub bytes: Two,
}

/// What became of an allocation.
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
    /// All of them.
    pub const ALL: [Outcome; 6] =
        [Outcome::Same, Outcome::Resized, Outcome::LongerInB, Outcome::LongerInA, Outcome::OnlyInA, Outcome::OnlyInB];

    /// For people.
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

    /// As JSON has it.
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

/// How many allocations came to an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifetimes {
    pub outcome: Outcome,
    pub allocations: u64,
    pub bytes: Two,
    /// The call sites with the most bytes.
    pub sites: Vec<SiteLifetimes>,
}

/// The allocations of a call site that came to one outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteLifetimes {
    pub site: String,
    pub allocations: u64,
    pub bytes: Two,
    /// Events of B that they live longer (or shorter, if negative), on average.
    pub longer_events: i64,
    /// Steps of B, likewise; 0 where moments are not aligned by steps.
    pub longer_steps: i64,
}

/// A step that both have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRow {
    /// What its annotation says in A, else its number.
    pub name: String,
    /// The moments of A and B where it begins.
    pub begins: (u32, u32),
    /// The most live bytes in it.
    pub peak: Two,
    /// How many allocations it makes.
    pub allocations: Two,
}

/// An allocation that is live at one of the compared moments, and the one that it is paired with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationRow {
    /// Its call site.
    pub site: String,
    /// Their ids: `None` where it has no partner.
    pub ids: (Option<u32>, Option<u32>),
    /// Bytes that are live at the compared moments.
    pub bytes: Two,
}

impl AllocationRow {
    /// How B stands to A: a factor, or that one of them has nothing.
    pub fn relation(&self) -> String {
        relation(self.bytes, self.ids.0.is_some() && self.ids.1.is_some())
    }
}

/// Allocations whose live bytes differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocations {
    /// The largest differences first; no more than [`MOST_ALLOCATIONS`].
    pub rows: Vec<AllocationRow>,
    /// How many differ, those that are not listed included.
    pub count: u64,
    /// All whose live bytes do not differ.
    pub equal: Two,
    /// Those that were allocated before recording, which are not paired.
    pub early: Two,
}

/// Allocations that are listed.
pub const MOST_ALLOCATIONS: usize = 1000;

/// A comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub a: SideFacts,
    pub b: SideFacts,
    /// How moments are aligned: its name, and a sentence.
    pub alignment: String,
    pub alignment_detail: String,
    pub key: String,
    pub key_title: String,
    pub matched: Matched,
    /// What each key that was tried has partners for.
    pub tried: Vec<(String, Matched)>,
    pub moments: Vec<MomentPair>,
    /// The largest difference first.
    pub rows: Vec<Row>,
    /// The call tree where it differs, by frames or modules: each node before its callees, the largest difference first.
    pub tree: Vec<TreeRow>,
    /// The call tree where anything large is live in A or B, in the same order.
    pub flame: Vec<TreeRow>,
    /// What both are by.
    pub tree_title: String,
    /// Steps that both have, in their order; none where moments are not aligned by steps.
    pub steps: Vec<StepRow>,
    pub allocations: Allocations,
    pub pools: Vec<Row>,
    /// Settings that differ: name, value in A, value in B.
    pub settings: Vec<(String, Option<String>, Option<String>)>,
    pub out_of_memory: Two,
    pub scaling: Vec<FactorGroup>,
    pub lifetimes: Vec<Lifetimes>,
    pub warnings: Vec<String>,
    pub verdict: Vec<String>,
}
