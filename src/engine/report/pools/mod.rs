//! Insight on private pools (CUDA graphs, MemPool) and host memory, with reserved and live bytes per pool.

mod pool_bytes;

use super::insight::{Given, Insight, Need};
use super::site_sums::SiteSums;
use super::writer::{ReportWriter, bytes_text, evidence_row, moment_evidence};
use crate::report::column::{self, sheet};
use crate::side::Side;
use crate::stack_trees::Population;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{Moment, group_digits, percent, pluralize};
use pool_bytes::{Pool, PoolPass};
use protocol::{Cell, Grouping, Scope, Tone};

/// Maximum number of private pools whose contents are listed. The largest pools are listed first.
const MAX_CONTENTS: usize = 16;

/// The insight on pools.
pub(super) struct Pools {
    pass: PoolPass,
    /// Contents of the listed private pools. They are computed one after another.
    contents: Option<Vec<PoolContents>>,
}

struct PoolContents {
    pool: u32,
    moment: u32,
    population: Population,
    next: usize,
    sums: SiteSums,
}

impl Insight for Pools {
    const NEEDS: &'static [Need] = &[Need::Segments];

    fn new(&Given { side, question, segments, .. }: &Given<'_>) -> Pools {
        let peak = Moment::after_event_or_minus_one(side.history.numbers.peak_event).0;
        let moment = question.at.unwrap_or(peak).min(side.history.event_count());
        Pools { pass: PoolPass::new(side, segments, [peak, moment]), contents: None }
    }

    fn step(&mut self, &Given { side, segments, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        let Pools { pass, contents } = self;
        pass.step(side, segments, slice)?;
        let contents = contents.get_or_insert_with(|| {
            let private = ranked_pools(pass).into_iter().filter(|&pool| side.file.groups.is_private(pool));
            let listed = private.take(MAX_CONTENTS).map(|pool| {
                let moment = pass.pools.get(pool as usize).map_or(0, |pool| pool.peak_live.1);
                let population = Population::new(side.history, Scope::At(moment));
                PoolContents { pool, moment, population, next: 0, sums: SiteSums::new(side) }
            });
            listed.collect()
        });
        contents.iter_mut().try_for_each(|contents| contents.step(side, slice))
    }

    fn write(self, _: &Given<'_>, writer: &mut ReportWriter<'_>) {
        write_statements(writer, &self.pass);
        write_pools(writer, &self.pass);
        write_contents(writer, &self.contents.unwrap_or_default());
    }
}

impl PoolContents {
    fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        self.population.visit(side.history, &mut self.next, slice, &mut |id, size| {
            if side.group(Grouping::Pool, id) == self.pool {
                self.sums.add(side, id, size);
            }
        })
    }
}

/// Returns the numbers of all pools that had a segment or an allocation at any time, largest pool first.
fn ranked_pools(pass: &PoolPass) -> Vec<u32> {
    let used = (0u32..).zip(&pass.pools).filter(|(_, pool)| pool.peak_reserved.0 > 0 || pool.identified != [0, 0]);
    sorted_numbers(
        used.map(|(number, pool)| (two_part_key(!pool.peak_reserved.0, !pool.peak_live.0), number)).collect(),
    )
}

/// Returns the display name of the pool with this number.
fn pool_label(side: Side<'_>, pool: u32) -> String {
    side.group_label(Grouping::Pool, pool)
}

fn write_statements(writer: &mut ReportWriter<'_>, pass: &PoolPass) {
    let Side { file, history } = writer.side;
    let private: Vec<u32> = ranked_pools(pass).into_iter().filter(|&pool| file.groups.is_private(pool)).collect();
    let has_pools = file.groups.has_pools();
    if private.is_empty() && !has_pools {
        let text = "No pools recorded: neither segments nor events name one.";
        writer.add_statement(Tone::Fact, text.to_owned(), None);
    } else if private.is_empty() {
        let text = "No private pools: no CUDA graph or MemPool reserves memory of its own.";
        writer.add_statement(Tone::Good, text.to_owned(), None);
    }
    let sum = |pools: &[u32], value: &dyn Fn(&Pool) -> u64| {
        let pools = pools.iter().filter_map(|&pool| pass.pools.get(pool as usize));
        pools.fold(0u64, |sum, pool| sum.saturating_add(value(pool)))
    };
    if !private.is_empty() {
        let [reserved, idle] =
            [sum(&private, &|pool| pool.sampled[0].reserved), sum(&private, &|pool| pool.sampled[0].free())];
        let text = format!(
            "{}: {} reserved at the peak, of which ≤ {} ({}) is free. Other pools cannot use it.",
            pluralize(private.len() as u64, "private pool"),
            bytes_text(reserved),
            bytes_text(idle),
            percent(idle, reserved)
        );
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(pass.moments[0])));
        let [by_event, by_segment] =
            [sum(&private, &|pool| pool.identified[0]), sum(&private, &|pool| pool.identified[1])];
        let text = format!(
            "Allocations in private pools: {} identified by the pool_id of their event, {} by the segment at their address at the end.",
            group_digits(by_event),
            group_digits(by_segment)
        );
        writer.add_statement(Tone::Fact, text, None);
    }
    for host in file.histories.iter().filter(|it| it.device < 0) {
        let numbers = &host.numbers;
        let positive = |bytes: i64| bytes_text(u64::try_from(bytes).unwrap_or(0));
        let event = u64::try_from(numbers.peak_event).map(|event| format!(" at event {}", group_digits(event)));
        let text = format!(
            "Pinned host memory (a separate device): peak {}{}; reserved ≤ {}, {} at the end.",
            positive(numbers.peak),
            event.unwrap_or_default(),
            positive(numbers.peak_reserved),
            pluralize(numbers.segments, "segment")
        );
        let moment = Moment::after_event_or_minus_one(numbers.peak_event).0;
        writer.add_statement(Tone::Fact, text, (history.device < 0).then(|| moment_evidence(moment)));
    }
}

fn write_pools(writer: &mut ReportWriter<'_>, pass: &PoolPass) {
    let segments = segments_at_end(writer);
    let [peak, moment] = [0, 1].map(|which| {
        let all = pass.pools.iter().map(move |pool| pool.sampled[which]);
        all.fold((0u64, 0u64, 0u64, 0u64), |sum, it| {
            (
                sum.0.saturating_add(it.reserved),
                sum.1.saturating_add(it.live),
                sum.2.saturating_add(it.rounded),
                sum.3.saturating_add(it.awaiting_free),
            )
        })
    });
    // Blocks without a known pool may lie in segments of a known one, so only the free bytes of all pools are reliable.
    let idle = |(reserved, _, rounded, _): (u64, u64, u64, u64)| reserved.saturating_sub(rounded);
    let side = writer.side;
    type Row<'a> = (u32, &'a Pool);
    let at_end = |number: u32| segments.get(number as usize).copied().unwrap_or(0);
    let columns = [
        column::text("pool", "pool", |(number, _): Row<'_>| pool_label(side, number)),
        column::bytes("max_reserved_bytes", "peak reserved", |(_, pool): Row<'_>| pool.peak_reserved.0),
        column::event("max_reserved_event", "after event", |(_, pool): Row<'_>| pool.peak_reserved.1),
        column::bytes("max_live_bytes", "peak live", |(_, pool): Row<'_>| pool.peak_live.0),
        column::event("max_live_event", "after event", |(_, pool): Row<'_>| pool.peak_live.1),
        column::bytes("peak_reserved_bytes", "at the peak: reserved", |(_, pool): Row<'_>| pool.sampled[0].reserved)
            .total(Cell::Bytes(peak.0)),
        column::bytes("peak_live_bytes", "live", |(_, pool): Row<'_>| pool.sampled[0].live).total(Cell::Bytes(peak.1)),
        column::bytes("peak_free_bytes", "≤ free", |(_, pool): Row<'_>| pool.sampled[0].free())
            .total(Cell::Bytes(idle(peak))),
        column::bytes("reserved_bytes", "at the cursor: reserved", |(_, pool): Row<'_>| pool.sampled[1].reserved)
            .total(Cell::Bytes(moment.0)),
        column::bytes("live_bytes", "live", |(_, pool): Row<'_>| pool.sampled[1].live).total(Cell::Bytes(moment.1)),
        column::bytes("awaiting_free_bytes", "awaiting free", |(_, pool): Row<'_>| pool.sampled[1].awaiting_free)
            .total(Cell::Bytes(moment.3)),
        column::bytes("free_bytes", "≤ free", |(_, pool): Row<'_>| pool.sampled[1].free())
            .total(Cell::Bytes(idle(moment))),
        column::count("segments", "segments at the end", |(number, _): Row<'_>| at_end(number))
            .total(Cell::Count(segments.iter().sum())),
        column::count("by_event", "identified by event", |(_, pool): Row<'_>| pool.identified[0]),
        column::count("by_segment", "identified by segment", |(_, pool): Row<'_>| pool.identified[1]),
    ];
    let note = "Each pool has its own peaks. An allocation's pool is identified by its event, or by the \
                segment at its address at the end.";
    let sheet = sheet(["pools", "Pools", note], &columns);
    let ranked = ranked_pools(pass).into_iter();
    let rows: Vec<Row<'_>> = ranked.filter_map(|number| Some((number, pass.pools.get(number as usize)?))).collect();
    writer.add_sheet(sheet, &columns, &rows, |_, (_, pool)| evidence_row(moment_evidence(pool.peak_live.1)));
}

/// Returns the number of segments at the end of the trace for each pool number.
fn segments_at_end(writer: &ReportWriter<'_>) -> Vec<u64> {
    let mut counts = vec![0; writer.side.group_count(Grouping::Pool) as usize];
    for segment in writer.side.file.snapshot.segments.iter().filter(|it| it.device == writer.side.history.device) {
        let number = writer.side.file.groups.pool_number(segment.pool);
        counts.get_mut(number as usize).into_iter().for_each(|count| *count += 1);
    }
    counts
}

fn write_contents(writer: &mut ReportWriter<'_>, contents: &[PoolContents]) {
    let side = writer.side;
    type Row<'a> = (&'a PoolContents, u64, u32);
    let columns = [
        column::text("pool", "pool", |(it, ..): Row<'_>| pool_label(side, it.pool)),
        column::bytes("live_bytes", "live", |(it, _, group): Row<'_>| it.sums.get(group).bytes),
        column::share("share", "share", |(it, whole, group): Row<'_>| (it.sums.get(group).bytes, whole)),
        column::count("count", "allocations", |(it, _, group): Row<'_>| it.sums.get(group).count),
        column::text("call_site", "call site", |(it, _, group): Row<'_>| it.sums.name(side, group)),
    ];
    let rows: Vec<Row<'_>> = contents
        .iter()
        .flat_map(|it| {
            let ranked = it.sums.ranked(0);
            let (whole, _) = it.sums.total(&ranked);
            ranked.into_iter().map(move |group| (it, whole, group))
        })
        .collect();
    let note = "Each pool at its own peak.";
    let sheet = sheet(["contents", "Private pools at their peak, by call site", note], &columns);
    writer
        .add_sheet(sheet, &columns, &rows, |writer, (it, _, group)| writer.site_row(&it.sums, group, Some(it.moment)));
}
