//! Queries about memory plans and their results. A plan multiplies the sizes of groups of allocations by factors and
//! computes the resulting peak of live bytes.

use super::Arrangement;
pub use analysis::{Factor, Ratio};
use picture::timeline::View;
use serde::{Deserialize, Serialize};

/// A memory plan to evaluate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanQuestion {
    /// Groups and their factors. If an allocation is in several groups, their factors are multiplied.
    pub groups: Vec<(PlanGroup, Factor)>,
    /// Additional factor for all allocations that grow with the batch size.
    pub batch: Factor,
    /// Size of available memory in bytes, if known.
    pub capacity: Option<u64>,
}

/// Group of allocations whose sizes a memory plan changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanGroup {
    /// A category in singular or plural, or a query in the syntax of [`Query::parse`](super::Query::parse). The plan is
    /// invalid if the group has no allocations.
    Named(String),
    /// Like [`PlanGroup::Named`], but the group may have no allocations.
    NamedIfAny(String),
    /// Activations inside the repeating blocks of a model. The output of each block is left out, because the next block
    /// needs it. The factor is divided by the number of blocks.
    Blocks,
    /// All allocations. For each one, the factor is raised to the exponent that the open comparison has measured for
    /// the call site. The comparison replaces this group with groups of measured factors. The value is the id of the
    /// comparison.
    Measured(u32),
    /// Allocations with this stack id. See [`Details::stack`](super::Details::stack).
    Stack(u32),
    /// Allocations whose stacks are at or below a node of a tree.
    Node(Arrangement, u32),
    /// A set of allocations, as a bit set of ids. If `growing` is true, only those that grow with the
    /// batch are changed. Serde skips this variant, so it must be the last one.
    #[serde(skip)]
    Allocations { name: String, numbers: Vec<u64>, growing: bool },
}

impl PlanGroup {
    /// Returns the display name of the group.
    pub fn name(&self) -> &str {
        match self {
            PlanGroup::Named(name) | PlanGroup::NamedIfAny(name) | PlanGroup::Allocations { name, .. } => name,
            PlanGroup::Measured(_) => "measured call sites",
            PlanGroup::Blocks => "activations inside of blocks",
            PlanGroup::Stack(_) => "call stack",
            PlanGroup::Node(..) => "selected node",
        }
    }

    /// Parses a group and its factor, such as `activations=2x`.
    ///
    /// # Errors
    /// Returns an error message that describes the expected syntax.
    pub fn parse(text: &str) -> Result<(PlanGroup, Factor), String> {
        // A query may contain the sign as well: `>=10MiB=2x`.
        let (group, by) = text.rsplit_once('=').ok_or("expected GROUP=FACTOR, such as activations=2x")?;
        match group.trim() {
            "" => Err("the group is missing: expected GROUP=FACTOR, such as activations=2x".to_owned()),
            group => Ok((PlanGroup::Named(group.to_owned()), read_factor(by)?)),
        }
    }
}

/// Parses a factor, such as `2x`, `0.5`, `/8` or `fp32->bf16`.
///
/// # Errors
/// Returns an error message that describes the expected syntax.
pub fn read_factor(text: &str) -> Result<Factor, String> {
    Factor::parse(text).ok_or_else(|| "expected a factor such as 2x, 0.5, /8 or fp32->bf16".to_owned())
}

base::listed! {
    /// A predefined memory plan for a common change of a training setup.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Preset {
        Batch = "batch",
        Sequence = "sequence",
        Zero1 = "zero1",
        Zero2 = "zero2",
        Zero3 = "zero3",
        Fsdp = "fsdp",
        Bf16Weights = "bf16-weights",
        EightBitOptimizer = "8bit-optimizer",
        OffloadOptimizer = "offload-optimizer",
        Checkpoint = "checkpoint",
    }
}

impl Preset {
    /// Parses a preset and its number, such as `fsdp=8`, or only a preset that takes no number, such as `checkpoint`.
    ///
    /// # Errors
    /// Returns an error message that names the unknown, missing or invalid part.
    pub fn parse(text: &str) -> Result<(Preset, Factor), String> {
        let (name, number) = text.split_once('=').map_or((text, None), |(name, number)| (name, Some(number)));
        let Some(preset) = Preset::from_name(name) else {
            let names: Vec<&str> = Preset::ALL.into_iter().map(Preset::name).collect();
            return Err(["no preset ", name, "; available: ", &names.join(", ")].concat());
        };
        let number = number.map(read_factor).transpose()?;
        match (preset.has_number(), number) {
            (true, None) => Err(["expected a number, such as ", name, "=2"].concat()),
            (false, Some(_)) => Err([name, " has no number"].concat()),
            (true, Some(Factor::ZERO)) => Err([name, "=0 leaves nothing"].concat()),
            (_, number) => Ok((preset, number.unwrap_or_default())),
        }
    }

    /// Returns whether the preset takes a number, which is a factor or a number of GPUs.
    pub fn has_number(self) -> bool {
        let without = [Preset::Bf16Weights, Preset::EightBitOptimizer, Preset::OffloadOptimizer, Preset::Checkpoint];
        !without.contains(&self)
    }

    /// Returns a sentence that explains the limits of the estimate.
    pub fn caveat(self) -> &'static str {
        match self {
            Preset::Batch => {
                "Batch: activations, inputs, KV caches, and temporary or unknown memory grow in proportion; cuBLAS workspaces and memory of the size of a parameter do not. At twice the batch size, the peaks of 37 recordings were off by 2 % (median), at worst 14 % too high or 3 % too low."
            }
            Preset::Sequence => {
                "Sequence: grows like the batch; attention that is not fused grows with the square. At twice the length, the peaks of 18 recordings were off by 17 % (median), at worst 49 % too low."
            }
            Preset::Zero1 => "ZeRO-1: buffers of collectives are not counted.",
            Preset::Zero2 => "ZeRO-2: buckets of gradients that are being reduced are not counted.",
            Preset::Zero3 | Preset::Fsdp => "FSDP and ZeRO-3: the gathered parameters of one block are not counted.",
            Preset::Bf16Weights => {
                "bf16 weights: assumes 32-bit parameters and gradients, and no 32-bit copy in the optimizer."
            }
            Preset::EightBitOptimizer => "8-bit optimizer: assumes 32-bit states; scales, about 2 %, are not counted.",
            Preset::OffloadOptimizer => "Offload: buffers of copies are not counted.",
            Preset::Checkpoint => {
                "Checkpointing: an estimate. Blocks are stacks of activations that repeat at the peak; the last allocation of each stays as the \
                 input of the next, and one block is computed again at a time."
            }
        }
    }

    /// Adds the preset to a plan. `number` is ignored if the preset takes none. Returns false if the resulting factors
    /// are out of range.
    pub fn add_to(self, plan: &mut PlanQuestion, number: Factor) -> bool {
        let (times, by) = number.parts();
        let Some(shards) = Factor::new(by.into(), times.into()) else { return false };
        let [half, quarter] = [2, 4].map(|by| Factor::new(1, by).unwrap_or_default());
        let factors: &[(&str, Factor)] = match self {
            Preset::Batch | Preset::Sequence => match plan.batch.product(number) {
                Some(batch) => {
                    plan.batch = batch;
                    &[]
                }
                None => return false,
            },
            Preset::Zero1 => &[("optimizer state", shards)],
            Preset::Zero2 => &[("optimizer state", shards), ("gradient", shards)],
            Preset::Zero3 | Preset::Fsdp => &[("optimizer state", shards), ("gradient", shards), ("parameter", shards)],
            Preset::Bf16Weights => &[("parameter", half), ("gradient", half)],
            Preset::EightBitOptimizer => &[("optimizer state", quarter)],
            Preset::OffloadOptimizer => &[("optimizer state", Factor::ZERO)],
            Preset::Checkpoint => {
                plan.groups.push((PlanGroup::Blocks, Factor::ONE));
                &[]
            }
        };
        plan.groups.extend(factors.iter().map(|&(name, factor)| (PlanGroup::NamedIfAny(name.to_owned()), factor)));
        true
    }
}

base::listed! {
    /// A plan that the report on out-of-memory errors evaluates. Plans that cost less come first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OomPlan {
        EightBitOptimizer = "8-bit optimizer state",
        EightBitKvCache = "the KV cache in 8 bits",
        Checkpoint = "activation checkpointing",
        OffloadedOptimizer = "optimizer state on the CPU",
        HalfBatch = "half the batch size",
        Sharded = "sharding over 8 devices (FSDP)",
    }
}

impl OomPlan {
    /// Returns the memory plan.
    pub fn question(self) -> PlanQuestion {
        let mut plan = PlanQuestion { batch: Factor::ONE, ..PlanQuestion::default() };
        let number = |times, by| Factor::new(times, by).unwrap_or_default();
        let (preset, number) = match self {
            OomPlan::EightBitKvCache => {
                plan.groups.push((PlanGroup::NamedIfAny("KV cache".to_owned()), number(1, 2)));
                return plan;
            }
            OomPlan::EightBitOptimizer => (Preset::EightBitOptimizer, Factor::ONE),
            OomPlan::OffloadedOptimizer => (Preset::OffloadOptimizer, Factor::ONE),
            OomPlan::HalfBatch => (Preset::Batch, number(1, 2)),
            OomPlan::Checkpoint => (Preset::Checkpoint, Factor::ONE),
            OomPlan::Sharded => (Preset::Fsdp, number(8, 1)),
        };
        preset.add_to(&mut plan, number);
        plan
    }
}

/// Result of evaluating a plan. All byte counts are requested bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanPage {
    /// Error message for the user. Empty if the plan is valid. If it is set, all other fields are empty.
    pub error: String,
    /// Peak of the recorded trace: bytes, and first moment with this value.
    pub recorded: (u64, u32),
    /// Peak under the plan: bytes, and first moment with this value.
    pub planned: (u64, u32),
    pub groups: Vec<PlanRow>,
    /// Bytes at the recorded peak that grow with the batch size.
    pub batch_at_peak: u64,
    /// Maximum batch factor that fits into the capacity, in thousandths (rounded down), and the moment that limits it.
    /// `None` if no capacity is given, or if nothing grows with the batch.
    pub max_batch: Option<(u64, u32)>,
    /// Lower bound of the factor: the same if all allocations grow that are excluded only by their size. `None` if it
    /// equals `max_batch`.
    pub min_batch: Option<(u64, u32)>,
    /// True if a capacity is given, and the trace has a forward pass, but no backward pass. Training then needs more
    /// than the planned peak, and its largest batch is smaller.
    pub lacks_backward: bool,
    /// Upper bound of the peak under the plan without memory that is paused, and so not on the GPU. `None` if none is.
    pub on_gpu: Option<u64>,
}

/// Exact maximum bytes per pixel column of a window, for a plan or a simulated run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanCurve {
    /// Window that is divided into columns.
    pub view: Option<View>,
    /// Edges of the columns in pixels of the window: column `c` covers `edge_px[c]..edge_px[c + 1]`.
    pub edge_px: Vec<i32>,
    /// Live bytes of a plan, or reserved bytes of a simulated run. Columns after the end of the run are left out.
    pub bytes: Vec<u64>,
    /// Allocated (rounded) bytes of a simulated run. Empty for a plan.
    pub allocated: Vec<u64>,
}

/// Result for one group of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanRow {
    pub name: String,
    pub factor: Factor,
    /// Number of allocations of the group in the whole trace.
    pub count: u64,
    /// Bytes of the group at the recorded peak.
    pub at_peak: u64,
}
