//! Bytes lost to rounding, for the allocations that are live at the peak: allocated (rounded) minus requested bytes.

use crate::device::SizeSource;
use crate::report::column::{self, sheet};
use crate::report::site_sums::label;
use crate::report::writer::{ReportWriter, bytes_text, is_notable, moment_evidence, threshold};
use crate::side::Side;
use crate::stack_trees::Population;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{Moment, percent};
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use protocol::{Cell, Grouping, ReportQuestion, Scope, Threshold, Tone};

/// Bytes lost to rounding by allocations with the same call site, requested size and rounded size.
struct Loss {
    group: u32,
    requested: u64,
    rounded: u64,
    lost: u64,
    count: u64,
    recorded: u64,
    example: u32,
}

/// Bytes lost to rounding at the peak, by call site and size.
pub(super) struct RoundingLoss {
    moment: u32,
    population: Option<Population>,
    next: usize,
    min_bytes: Threshold,
    losses: Vec<Loss>,
    /// Maps call site, requested size and rounded size to an index in `losses`.
    loss_index: HashMap<(u32, u64, u64), u32, foldhash::fast::RandomState>,
    requested: u64,
    rounded: u64,
}

impl RoundingLoss {
    pub(super) fn new(history: &DeviceHistory, question: &ReportQuestion) -> RoundingLoss {
        let moment = Moment::after_event_or_minus_one(history.numbers.peak_event).0;
        RoundingLoss {
            moment,
            population: None,
            next: 0,
            min_bytes: threshold(question, ["lost", "at least", "bytes lost"], 64 << 10),
            losses: Vec::new(),
            loss_index: HashMap::default(),
            requested: 0,
            rounded: 0,
        }
    }

    /// Continues adding up the allocations that are live at the peak.
    pub(super) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        let RoundingLoss { moment, population, next, losses, loss_index, requested, rounded: all, .. } = self;
        let population = population.get_or_insert_with(|| Population::new(side.history, Scope::At(*moment)));
        population.visit(side.history, next, slice, &mut |id, size| {
            let (block, known) = side.device_data().rounded_size(id);
            *requested = requested.saturating_add(size);
            *all = all.saturating_add(block);
            let group = side.group(Grouping::CallSite, id);
            let new = losses.len() as u32;
            let index = *loss_index.entry((group, size, block)).or_insert(new);
            if index == new {
                let (lost, count, recorded) = (0, 0, 0);
                losses.push(Loss { group, requested: size, rounded: block, lost, count, recorded, example: id.0 });
            }
            if let Some(loss) = losses.get_mut(index as usize) {
                loss.lost = loss.lost.saturating_add(block.saturating_sub(size));
                loss.count += 1;
                loss.recorded += u64::from(known == SizeSource::Recorded);
            }
        })
    }

    /// Writes the summary sentence on bytes lost to rounding, and the table of the largest losses.
    pub(super) fn write(self, writer: &mut ReportWriter<'_>) {
        let side = writer.side;
        let RoundingLoss { moment, min_bytes, losses, requested, rounded, .. } = self;
        let numbers = &side.history.numbers;
        let lost = rounded.saturating_sub(requested);
        let mut text = format!(
            "Lost to rounding at the peak: ≥ {}, {} of allocated (rounded).",
            bytes_text(lost),
            percent(lost, rounded)
        );
        if numbers.end_rounded > 0 {
            text.push_str(&format!(
                " Recorded at the end: {}.",
                bytes_text(numbers.end_rounded.saturating_sub(numbers.end))
            ));
        }
        if is_notable(lost, rounded) {
            writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
        }
        let ranked = losses.iter().zip(0..).filter(|(loss, _)| loss.lost >= min_bytes.value.max(1));
        let ranked = sorted_numbers(ranked.map(|(loss, index)| (two_part_key(!loss.lost, 0), index)).collect());
        let ranked: Vec<&Loss> = ranked.into_iter().filter_map(|index| losses.get(index as usize)).collect();
        let lost = ranked.iter().fold(0u64, |lost, it| lost.saturating_add(it.lost));
        let columns = [
            column::bytes("lost_bytes", "≥ lost", |it: &Loss| it.lost).total(Cell::Bytes(lost)),
            column::count("count", "allocations", |it: &Loss| it.count)
                .total(Cell::Count(ranked.iter().map(|it| it.count).sum())),
            column::bytes("requested_bytes_each", "requested each", |it: &Loss| it.requested),
            column::bytes("allocated_rounded_bytes_each", "≥ allocated (rounded) each", |it: &Loss| it.rounded),
            column::count("recorded", "with recorded size", |it: &Loss| it.recorded),
            column::text("call_site", "call site", |it: &Loss| label(side, it.group)),
        ];
        let note = "Allocated (rounded) minus requested bytes, by size and call site. Exact where the block is still there at the end, \
                    otherwise a lower bound.";
        let mut sheet = sheet(["rounding", "Lost to rounding at the peak", note], &columns);
        sheet.threshold = Some(min_bytes);
        writer.add_sheet(sheet, &columns, &ranked, |writer, it| {
            writer.allocation_row(AllocationId(it.example), Some(moment))
        });
    }
}
