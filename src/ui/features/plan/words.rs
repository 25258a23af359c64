//! Texts about plans, for the page and the command line.

use crate::features::what_if::words as what_if;
use crate::text::amount::change;
use base::units::{Bytes, group_digits, moment_text};
use protocol::{PlanPage, Preset, WhatIf, WhatIfGrade, WhatIfRun};

/// Caveat shown with the capacity and the largest batch.
pub const CAPACITY_CAVEAT: &str =
    "Capacity and largest batch are of live bytes: leave room for fragmentation, the CUDA context and NCCL.";

const UNKNOWN_FIT: &str = "it cannot be known whether this fits; compare with a recording of another sequence length";

/// Suffix of the largest batch if the trace has a forward pass, but no backward pass.
const NO_BACKWARD: &str = "; the backward pass was not recorded: training needs ≥ the planned peak";

/// Suffix of the headroom if the estimate's error is too large to decide whether the plan fits.
const DOUBTFUL_FIT: &str = ", but an estimate may be 20 % off: this may or may not fit";

/// Condition of a bound of the largest batch: the memory that a plan scales only in one of the bounds.
const IF_PARAMETER_SIZED: &str = " if memory with the size of a parameter, or half of it,";

/// Caveat of the sequence preset if the growth was measured in the open comparison.
pub(super) const MEASURED_CAVEAT: &str = "Sequence: each allocation grows as the open comparison measured; without a measurement, what grows with the batch grows in proportion.";

/// Largest known error of an estimated peak, in percent of the recorded peak: above the worst case
/// of 37 recordings with the batch size doubled (14 %), because other programs may differ more.
const MAX_ERROR_PERCENT: u128 = 20;

/// Origin of a plan's factors, which determines the error of the planned peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanBasis {
    /// Factors that the user gave for groups.
    #[default]
    Given,
    /// Growth with the batch size, or growth of call sites measured between two snapshots.
    Estimated,
    /// Growth that is assumed to be proportional to the sequence length.
    AssumedSequence,
}

impl PlanBasis {
    /// Returns the basis of a plan with these presets. `is_measured` is true if a comparison replaces the growth that
    /// the sequence preset assumes.
    pub fn from_presets(presets: impl IntoIterator<Item = Preset>, is_measured: bool) -> PlanBasis {
        let basis = |preset| match preset {
            Preset::Sequence if !is_measured => PlanBasis::AssumedSequence,
            Preset::Sequence | Preset::Batch | Preset::Checkpoint => PlanBasis::Estimated,
            _ => PlanBasis::Given,
        };
        let least = if is_measured { PlanBasis::Estimated } else { PlanBasis::Given };
        presets.into_iter().map(basis).fold(least, PlanBasis::max)
    }

    /// Returns true if `planned` live bytes fit into `capacity`. `None` if the estimate is too inaccurate to decide.
    pub fn fits(self, planned: u64, capacity: u64) -> Option<bool> {
        let (planned, capacity) = (u128::from(planned) * 100, u128::from(capacity) * 100);
        let error = match self {
            PlanBasis::Given => 0,
            PlanBasis::Estimated => MAX_ERROR_PERCENT,
            PlanBasis::AssumedSequence => return None,
        };
        let [low, high] = [planned * 100 / (100 + error), planned * (100 + error) / 100];
        if high <= capacity { Some(true) } else { (low > capacity).then_some(false) }
    }
}

/// Returns the short description of a preset.
pub fn preset_title(preset: Preset) -> &'static str {
    match preset {
        Preset::Batch => "Batch size ×",
        Preset::Sequence => "Sequence length ×",
        Preset::Zero1 => "ZeRO-1: optimizer state ÷ devices",
        Preset::Zero2 => "ZeRO-2: gradients as well ÷ devices",
        Preset::Zero3 => "ZeRO-3: parameters as well ÷ devices",
        Preset::Fsdp => "FSDP: all states ÷ devices",
        Preset::Bf16Weights => "bf16 weights and gradients",
        Preset::EightBitOptimizer => "8-bit optimizer",
        Preset::OffloadOptimizer => "Optimizer state on the CPU",
        Preset::Checkpoint => "Activation checkpointing by block",
    }
}

/// Returns the facts about a plan as labels and values: peaks, headroom and the largest batch.
pub fn facts(page: &PlanPage, capacity: Option<u64>, basis: PlanBasis) -> Vec<(&'static str, String)> {
    let peak = |(bytes, moment): (u64, u32)| [&Bytes(bytes).to_string(), " ", &moment_text(moment)].concat();
    let (old, new) = (page.recorded.0, page.planned.0);
    let changed = if old == new { "unchanged".to_owned() } else { change(old, new) };
    let mut facts = vec![
        ("Recorded peak", peak(page.recorded)),
        ("Planned peak", [&peak(page.planned), " (", &changed, ")"].concat()),
    ];
    if let Some(capacity) = capacity {
        // Paused memory is live, but not on the GPU.
        let new = page.on_gpu.unwrap_or(new);
        let left = match capacity.checked_sub(new) {
            _ if basis == PlanBasis::AssumedSequence => UNKNOWN_FIT.to_owned(),
            Some(left) => Bytes(left).to_string() + " left",
            None => Bytes(new - capacity).to_string() + " too little",
        };
        let doubt =
            if basis == PlanBasis::Estimated && basis.fits(new, capacity).is_none() { DOUBTFUL_FIT } else { "" };
        let paused = page.on_gpu.map_or_else(String::new, |bytes| {
            ["; without paused memory the peak is ≤ ", &Bytes(bytes).to_string()].concat()
        });
        facts.push(("Capacity", [&Bytes(capacity).to_string(), ": ", &left, doubt, &paused].concat()));
        if basis != PlanBasis::AssumedSequence {
            let is_bound = page.lacks_backward && page.max_batch.is_some_and(|(factor, _)| factor > 0);
            let largest = match (page.min_batch.filter(|_| !is_bound), page.max_batch) {
                (Some((0, _)), Some((most, _))) => {
                    ["≤ ", &times(most), "; none fits", IF_PARAMETER_SIZED, " grows"].concat()
                }
                // What does not grow in any case is too much.
                (none @ Some((0, _)), None) => largest_batch(none),
                (Some(min), most) => ["≥ ", &largest_batch(Some(min)), &upper_bound(most)].concat(),
                (None, most) => largest_batch(most),
            };
            let [bound, note] = if is_bound { ["≤ ", NO_BACKWARD] } else { [""; 2] };
            facts.push(("Largest batch", [bound, &largest, note].concat()));
        }
    }
    facts
}

/// Describes the simulated reserved bytes of a plan, under the recorded allocator settings.
pub fn reserved_text(simulated: &WhatIf) -> String {
    let run = match (simulated.runs.first(), &simulated.proof.refused) {
        (Some(run), None) => run,
        (_, refused) => {
            return ["not predicted: ", refused.as_deref().unwrap_or("the plan cannot be simulated")].concat();
        }
    };
    let WhatIfRun { peak_reserved, band, oom_event, avoided_oom, grade, .. } = run;
    let mut text = match (oom_event, simulated.capacity) {
        (Some(_), Some(capacity)) => {
            ["out of memory with ", &Bytes(capacity).to_string(), ": ", &what_if::oom(run)].concat()
        }
        _ => Bytes(*peak_reserved).to_string(),
    };
    text += " with the recorded settings";
    let spread = what_if::spread(run);
    // A range that reads like the peak adds nothing.
    let has_range = band[0] < band[1] && oom_event.is_none() && !text.starts_with(&spread);
    if has_range {
        let cause = match grade {
            WhatIfGrade::DependsOnStart => grade.title(),
            _ => "the addresses of segments and the memory limit are only partly known",
        };
        text += &[" (range ", &spread, ": ", cause, ")"].concat();
    }
    // The sizes are estimates, even if the simulator is exact.
    let confidence = match grade {
        WhatIfGrade::DependsOnStart if has_range => "",
        WhatIfGrade::Proved => "the simulator reproduces this recording exactly, the sizes are those of the plan",
        grade => grade.title(),
    };
    text += if confidence.is_empty() { "" } else { "; " };
    text += confidence;
    if avoided_oom.is_some() {
        text += "; the recorded OOM is avoided, and what would come after it is not recorded";
    }
    text
}

/// Suffix of a lower bound of the largest batch: the upper bound.
fn upper_bound(fits: Option<(u64, u32)>) -> String {
    let bound = fits.map_or_else(|| "larger".to_owned(), |(most, _)| ["≤ ", &times(most)].concat());
    ["; ", &bound, IF_PARAMETER_SIZED, " does not grow"].concat()
}

/// Returns a factor in thousandths, such as `× 2.500`.
fn times(thousandths: u64) -> String {
    let part = (1000 + thousandths % 1000).to_string();
    ["× ", &group_digits(thousandths / 1000), ".", part.get(1..).unwrap_or_default()].concat()
}

fn largest_batch(fits: Option<(u64, u32)>) -> String {
    match fits {
        Some((0, moment)) => {
            ["none fits: too much is live ", &moment_text(moment), " whatever the batch size"].concat()
        }
        Some((thousandths, moment)) => {
            [&times(thousandths), " of the recorded one, limited by what is live ", &moment_text(moment)].concat()
        }
        None => "unknown: no activations, temporaries or inputs in this trace".to_owned(),
    }
}
