//! Warnings about differences between the recordings that make their comparison misleading.

use base::units::{Bytes, Moment, group_digits, pluralize};
use engine::Side;
use history::replay::AllocationId;

/// Minimum percentage of the peak that is live before the first event, if recording started after the model was set up.
const STARTS_AFTER: u64 = 20;
/// Maximum percentage of the peak that is live before the first event, if recording started before the model was set
/// up.
const STARTS_BEFORE: u64 = 5;
/// Ratio between the numbers of allocations above which the traces are considered to cover different amounts of work.
const FAR_MORE: usize = 10;
/// Maximum number of allocations whose pool is checked.
const MAX_SAMPLES: usize = 4096;

/// Returns one sentence for each warning.
pub(crate) fn warnings(sides: [&Side; 2], is_exact: bool) -> Vec<String> {
    let mut found = Vec::new();
    let names = ["A", "B"];
    let base = sides.map(|side| u64::try_from(side.history.drawn_at(Moment::START)).unwrap_or(0));
    let share = |side: usize| {
        let peak = sides.get(side).map_or(0, |side| side.history.numbers.drawn_peak);
        base.get(side).map_or(0, |&base| (u128::from(base) * 100 / u128::from(peak.max(1))) as u64)
    };
    for (one, other) in [(0, 1), (1, 0)] {
        if let (Some(early), Some(late)) = (names.get(one), names.get(other))
            && share(one) <= STARTS_BEFORE
            && share(other) >= STARTS_AFTER
        {
            let live = Bytes(base.get(other).copied().unwrap_or(0));
            found.push(format!(
                "{early}'s recording starts with almost nothing live, {late}'s with {live}: {late}'s baseline has no call stacks of its own."
            ));
        }
    }
    for (name, side) in names.iter().zip(sides) {
        let numbers = &side.history.numbers;
        let other_frees = sides.iter().map(|side| side.history.numbers.unmatched_frees).min().unwrap_or(0);
        if numbers.unmatched_frees * 100 > numbers.allocations && other_frees * 100 <= numbers.unmatched_frees {
            found.push(format!(
                "{name} frees {}, allocated before recording: its ring buffer wrapped, or recording started during a step.",
                pluralize(numbers.unmatched_frees, "block")
            ));
        }
        if numbers.is_saturated() {
            found.push(format!("Sums of {name} exceed 64 bits; they are cut off there."));
        }
    }
    let private = sides.map(has_private_pools);
    let traced = sides.map(|side| side.history.allocations.len() - side.history.allocations.early_count());
    let [fewer, more] = [traced[0].min(traced[1]), traced[0].max(traced[1])];
    let recorded = || {
        let [a, b] = traced.map(|count| count as u64);
        format!("A records {}, B {}: ", pluralize(a, "allocation"), group_digits(b))
    };
    if private[0] != private[1] {
        let name = if private[0] { "A" } else { "B" };
        found.push(format!(
            "Only {name} allocates from private pools (CUDA graphs or MemPool). Replays of CUDA graphs leave no events."
        ));
    } else if more > FAR_MORE * fewer.max(1) && private[0] {
        found.push(recorded() + "CUDA graphs that are replayed leave no events.");
    } else if more > FAR_MORE * fewer.max(1) {
        found.push(recorded() + "the traces cover different amounts of work.");
    }
    if (sides[0].history.device < 0) != (sides[1].history.device < 0) {
        found.push("One device is host memory, the other is not.".to_owned());
    }
    if !is_exact {
        found.push("The sequences differ too much for an exact pairing: some pairs may be wrong.".to_owned());
    }
    found
}

/// Returns true if any sampled allocation belongs to a private pool.
fn has_private_pools(side: &Side) -> bool {
    let allocations = &side.history.allocations;
    let step = allocations.len() / MAX_SAMPLES + 1;
    (0..allocations.len())
        .step_by(step)
        .map(|id| AllocationId(id as u32))
        .any(|id| !allocations.is_unexplained(id) && side.is_in_private_pool(id))
}
