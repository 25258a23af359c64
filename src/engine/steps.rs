//! Keyboard steps in the stacked plots: to the block above or below at the same moment, or to the previous or next
//! block at the same height.

use super::open::OpenFile;
use super::plots::walk_ranges;
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory};
use picture::timeline::{self, Source};
use protocol::{Plot, PlotSettings, Step, StepOutcome, StepResult};

/// Maximum number of events that one call examines, which takes a few milliseconds.
const MAX_EVENTS: u32 = 50_000;

/// Performs a keyboard step from a moment and a height in bytes. Returns `None` if the device is unknown.
pub(super) fn step(
    file: &mut OpenFile,
    device: i64,
    plot_settings: PlotSettings,
    (moment, byte): (u32, u64),
    step: Step,
) -> Option<StepResult> {
    if let Plot::Addresses(_) = plot_settings.plot {
        return file.step_in_addresses(device, plot_settings, (moment, byte), step);
    }
    file.prepare_picture_now(device, plot_settings);
    let history = file.history(device)?;
    let moment = moment.min(history.event_count());
    file.with_source(device, plot_settings, |source| {
        let middle = |lowest: u64, size: u64| Some((moment, lowest.saturating_add(size / 2), StepOutcome::Arrived));
        let found = match step {
            Step::Above => block(source, moment, byte)
                .and_then(|this| block(source, moment, this.lowest.saturating_add(this.size)))
                .and_then(|above| middle(above.lowest, above.size)),
            Step::Below => match block(source, moment, byte) {
                Some(this) => this.lowest.checked_sub(1).and_then(|byte| block(source, moment, byte)),
                // From above the stack, the step goes to its top.
                None => total(source, moment).checked_sub(1).and_then(|byte| block(source, moment, byte)),
            }
            .and_then(|below| middle(below.lowest, below.size)),
            Step::To(allocation) => {
                let id = AllocationId(allocation);
                timeline::lowest_byte_of(source, id, Moment(moment))
                    .and_then(|lowest| middle(lowest, source.allocations.size(id)))
            }
            Step::Earlier | Step::Later => {
                let reserved = file.segments(device).filter(|_| plot_settings.plot != Plot::Stack);
                match reserved {
                    Some(segments) => walk_ranges((history, segments), source, (moment, byte), step),
                    None => walk_events(history, source, (moment, byte), step, MAX_EVENTS),
                }
                .map(|(moment, outcome)| (moment, byte, outcome))
            }
        };
        let (moment, byte, outcome) = found.unwrap_or((moment, byte, StepOutcome::NotFound));
        StepResult { moment, byte, outcome }
    })
}

/// The block at a height of the plot.
#[derive(Clone, Copy)]
struct Block {
    id: AllocationId,
    lowest: u64,
    size: u64,
}

fn block(source: &Source, moment: u32, byte: u64) -> Option<Block> {
    let hit = timeline::stack_at(source, Moment(moment), byte)?;
    Some(Block { id: hit.allocation, lowest: hit.lowest_byte, size: source.allocations.size(hit.allocation) })
}

fn total(source: &Source, moment: u32) -> u64 {
    u64::try_from(source.requested.at(Moment(moment))).unwrap_or(0)
}

/// Examines event by event until another block covers the height `byte`. Blocks move when a block below them is
/// allocated or freed.
fn walk_events(
    history: &DeviceHistory,
    source: &Source,
    (start, byte): (u32, u64),
    step: Step,
    max_events: u32,
) -> Option<(u32, StepOutcome)> {
    let rank = |id: AllocationId| source.order.map_or(id.0, |order| order.rank(id));
    let mut this = block(source, start, byte);
    let mut total = total(source, start);
    let mut moment = start;
    for _ in 0..max_events {
        // The next moment on the way, and the event between it and the current moment.
        let (next, event) = match step {
            Step::Earlier => (moment.checked_sub(1)?, moment - 1),
            _ => (moment + 1, moment),
        };
        if next > history.event_count() {
            return None;
        }
        if let Some((id, allocated_at)) = history.lifetime_change(EventIdx(event)) {
            let size = source.allocations.size(id);
            let is_added = allocated_at == (step == Step::Later);
            let apply_change =
                |bytes: u64| if is_added { bytes.saturating_add(size) } else { bytes.saturating_sub(size) };
            total = apply_change(total);
            this = this.filter(|this| this.id != id);
            if let Some(this) = this.as_mut().filter(|this| rank(id) < rank(this.id)) {
                this.lowest = apply_change(this.lowest);
            }
            let is_covered = this.is_some_and(|this| this.lowest <= byte && byte - this.lowest < this.size);
            if !is_covered {
                if byte < total {
                    return Some((next, StepOutcome::Arrived));
                }
                this = None;
            }
        }
        moment = next;
    }
    Some((moment, StepOutcome::Unfinished))
}
