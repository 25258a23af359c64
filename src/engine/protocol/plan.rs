//! What fits: factors on groups of allocations, and what the peak of live bytes is then.

use super::Arrangement;
pub use analysis::{Factor, Ratio};
use picture::timeline::View;
use serde::{Deserialize, Serialize};

/// What a plan is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanQuestion {
    /// Each group with its factor; where several hold an allocation, their factors multiply.
    pub groups: Vec<(PlanGroup, Factor)>,
    /// One more factor on what grows with the batch: activations, temporaries and inputs.
    pub batch: Factor,
    /// The bytes that have to suffice.
    pub capacity: Option<u64>,
}

/// A group of allocations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanGroup {
    /// A category, in the singular or the plural, or else what [`Query::parse`](super::Query::parse) reads.
    Named(String),
    /// The same; one without any allocation is left out of the plan.
    Where(String),
    /// Activations inside of blocks that repeat; a block's output, the input of the next, is not one of them. Its factor is divided by the
    /// number of blocks.
    Blocks,
    /// All allocations, each with the power of the factor that the comparison which is open measured for its call site: whoever compares
    /// puts what he measured into its place. The number tells one comparison from another.
    Measured(u32),
    /// The allocations of a call stack, which [`Details::stack`](super::Details::stack) names.
    Stack(u32),
    /// The allocations whose stacks are at a node of a tree or below it.
    Node(Arrangement, u32),
    /// Allocations by number, a bit each, and what they are called; if only growing ones count, activations, temporaries and inputs. Never
    /// sent, so it is the last.
    #[serde(skip)]
    Allocations { name: String, numbers: Vec<u64>, growing: bool },
}

impl PlanGroup {
    /// Its name, where it has one of its own.
    pub fn name(&self) -> &str {
        match self {
            PlanGroup::Named(name) | PlanGroup::Where(name) | PlanGroup::Allocations { name, .. } => name,
            PlanGroup::Measured(_) => "measured call sites",
            PlanGroup::Blocks => "activations inside of blocks",
            PlanGroup::Stack(_) => "call stack",
            PlanGroup::Node(..) => "selected node",
        }
    }

    /// Reads a group and its factor: `activations=2x`.
    ///
    /// # Errors
    /// What is missing or wrong, as part of a sentence.
    pub fn parse(text: &str) -> Result<(PlanGroup, Factor), String> {
        // A search may hold the sign as well: `>=10MiB=2x`.
        let (group, by) = text.rsplit_once('=').ok_or("expected GROUP=FACTOR, such as activations=2x")?;
        match group.trim() {
            "" => Err("the group is missing: expected GROUP=FACTOR, such as activations=2x".to_owned()),
            group => Ok((PlanGroup::Named(group.to_owned()), read_factor(by)?)),
        }
    }
}

/// Reads a factor.
///
/// # Errors
/// What one looks like.
pub fn read_factor(text: &str) -> Result<Factor, String> {
    Factor::parse(text).ok_or_else(|| "expected a factor such as 2x, 0.5, /8 or fp32->bf16".to_owned())
}

base::listed! {
    /// A change that people often make.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Preset {
        Batch,
        Sequence,
        Zero1,
        Zero2,
        Zero3,
        Fsdp,
        Bf16Weights,
        EightBitOptimizer,
        OffloadOptimizer,
        Checkpoint,
    }
}

impl Preset {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Batch => "batch",
            Preset::Sequence => "sequence",
            Preset::Zero1 => "zero1",
            Preset::Zero2 => "zero2",
            Preset::Zero3 => "zero3",
            Preset::Fsdp => "fsdp",
            Preset::Bf16Weights => "bf16-weights",
            Preset::EightBitOptimizer => "8bit-optimizer",
            Preset::OffloadOptimizer => "offload-optimizer",
            Preset::Checkpoint => "checkpoint",
        }
    }

    /// Reads one, with its number where it has one: `fsdp=8`, `checkpoint`.
    ///
    /// # Errors
    /// What is unknown, missing or wrong, as part of a sentence.
    pub fn parse(text: &str) -> Result<(Preset, Factor), String> {
        let (name, number) = text.split_once('=').map_or((text, None), |(name, number)| (name, Some(number)));
        let Some(preset) = Preset::ALL.into_iter().find(|preset| preset.name() == name) else {
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

    /// Whether it has a number: by how much, or over how many GPUs.
    pub fn has_number(self) -> bool {
        let without = [Preset::Bf16Weights, Preset::EightBitOptimizer, Preset::OffloadOptimizer, Preset::Checkpoint];
        !without.contains(&self)
    }

    /// What the numbers of a plan with it leave out, as a sentence.
    pub fn caveat(self) -> &'static str {
        match self {
            Preset::Batch => {
                "Batch: activations, temporaries and inputs grow in proportion; some temporaries do not depend on the batch."
            }
            Preset::Sequence => {
                "Sequence: activations, temporaries and inputs grow in proportion; attention that is not fused grows with the square."
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

    /// Adds it to a plan, with its number where it has one: `false` where that cannot be.
    pub fn add_to(self, plan: &mut PlanQuestion, number: Factor) -> bool {
        let (times, by) = number.parts();
        let Some(shards) = Factor::new(by.into(), times.into()) else { return false };
        let [half, quarter] = [2, 4].map(|by| Factor::new(1, by).unwrap_or_default());
        let factors: &[(&str, Factor)] = match self {
            Preset::Batch | Preset::Sequence => match plan.batch.and(number) {
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
        plan.groups.extend(factors.iter().map(|&(name, factor)| (PlanGroup::Where(name.to_owned()), factor)));
        true
    }
}

/// What a plan comes to. All bytes are requested ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanPage {
    /// What is wrong with the plan, as a sentence; empty where nothing is. Then there are no other numbers.
    pub problem: String,
    /// The peak as it was recorded, and its first moment.
    pub recorded: (u64, u32),
    /// The peak of the plan, and its first moment.
    pub planned: (u64, u32),
    pub groups: Vec<PlanRow>,
    /// What grows with the batch: bytes at the recorded peak.
    pub batch_at_peak: u64,
    /// The largest factor on what grows with the batch that fits the capacity, in thousandths rounded down, and the moment that allows no
    /// more. `None` without a capacity, and where nothing grows.
    pub fits: Option<(u64, u32)>,
}

/// The bytes of a plan or of a simulated run over the columns of a window: the largest of each, exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanCurve {
    /// The window, and the edges of its columns in pixels of it: one more than columns.
    pub view: Option<View>,
    pub edge_px: Vec<i32>,
    /// Live bytes of a plan, reserved ones of a run. Columns after the end of a run have none.
    pub bytes: Vec<u64>,
    /// Allocated (rounded) bytes of a run; empty for a plan.
    pub allocated: Vec<u64>,
}

/// A group of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanRow {
    pub name: String,
    pub factor: Factor,
    /// Allocations in it, of the whole trace.
    pub count: u64,
    /// Its bytes at the recorded peak.
    pub at_peak: u64,
}
