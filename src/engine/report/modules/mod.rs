//! Insight on modules: memory use of each `nn.Module` of the model.

mod sums;
mod tree;

pub(super) use tree::ModuleTree;

use super::insight::{Given, Insight, Need};
use super::writer::{ReportWriter, StackLines, bytes_text, evidence_row, range_evidence, statement, truncate};
use crate::moments::elapsed_us;
use crate::radix::Radix;
use crate::report::column::{self, cells, sheet};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};
use base::units::{EventIdx, percent, pluralize};
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StringId};
use protocol::{Cell, Evidence, Sheet, SheetRow, Span, Statement, Tone};
use sums::{CommonAnnotation, ModuleTotals, Sums};
use tree::Module;

/// Maximum length in bytes of annotations that are used as module names.
const MAX_NAME_LEN: usize = 200;

const NOTE: &str = "Modules in the order of their first call, indented by nesting; modules called from the same line are one row. Peaks are \
    those of the whole device during the module; allocations and frees include nested modules. Mean fragmentation as in \
    MemoryTracer: the share of reserved bytes that is not live, averaged over events.";

/// The insight on modules.
#[derive(Default)]
pub(super) struct Modules {
    tree: ModuleTree,
    sums: Sums,
    outermost: Radix,
}

impl Modules {
    /// Continues sorting the modules, because the number of rows is limited. Outer modules come before inner ones. At
    /// the same depth, modules that allocate more bytes come first.
    fn rank(&mut self, slice: &mut TimeSlice) -> SliceResult {
        let known = self.outermost.len();
        if known == 0 {
            self.outermost = Radix::with_capacity(self.tree.modules.len());
        }
        for (number, (module, sum)) in self.tree.modules.iter().zip(&self.sums.sums).enumerate().skip(known) {
            slice.tick()?;
            let key = u64::from(module.depth.min(0xffff)) << 48 | (!sum.allocated >> 16);
            self.outermost.push(key, number as u32);
        }
        self.outermost.step(slice)
    }
}

impl Insight for Modules {
    const NEEDS: &'static [Need] = &[];

    fn new(_: &Given<'_>) -> Modules {
        Modules::default()
    }

    fn step(&mut self, &Given { side, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        self.tree.step(side.snapshot(), slice)?;
        self.sums.step(side, &self.tree, slice)?;
        self.rank(slice)
    }

    fn write(self, &Given { side, .. }: &Given<'_>, writer: &mut ReportWriter<'_>) {
        let context =
            ReportContext { snapshot: side.snapshot(), history: side.history, tree: &self.tree, sums: &self.sums.sums };
        // Modules that occur only on another device or before the trace are left out.
        let is_on_device =
            |&number: &u32| number > 0 && context.sum(number).is_some_and(|sum| sum.events > 0 || sum.live_at_peak > 0);
        let modules: Vec<u32> = self.outermost.into_ids().into_iter().filter(is_on_device).collect();
        writer.report.statements.push(context.statement(&modules));
        writer.report.sheets.push(context.sheet(&modules, writer.max_rows()));
    }
}

/// Access to the file and the results that the report on modules shows.
struct ReportContext<'a> {
    snapshot: &'a Snapshot,
    history: &'a DeviceHistory,
    tree: &'a ModuleTree,
    sums: &'a [ModuleTotals],
}

impl ReportContext<'_> {
    fn sum(&self, number: u32) -> Option<ModuleTotals> {
        self.sums.get(number as usize).copied()
    }

    fn module(&self, number: u32) -> Option<Module> {
        self.tree.modules.get(number as usize).copied().filter(|_| number > 0)
    }

    /// Returns the annotation that covers all events of a module. `None` if it does not resemble a module name, or if
    /// the parent has the same annotation.
    fn annotation(&self, module: Module, sum: ModuleTotals) -> Option<StringId> {
        let CommonAnnotation::Same(Some(name)) = sum.annotation else { return None };
        let is_parents = self
            .module(module.parent)
            .and_then(|_| self.sum(module.parent))
            .is_some_and(|it| it.annotation == sum.annotation);
        let text = self.snapshot.strings.bytes(name);
        let is_path = text.len() <= MAX_NAME_LEN
            && text.contains(&b'.')
            && text.iter().all(|&letter| letter.is_ascii_alphanumeric() || matches!(letter, b'.' | b'_'));
        (is_path && !is_parents).then_some(name)
    }

    /// Returns the name of a module: its annotation, or its class name if Python recorded it, or the file of its
    /// `forward`.
    fn name(&self, module: Module, sum: ModuleTotals) -> String {
        if let Some(name) = self.annotation(module, sum) {
            return self.snapshot.strings.text(name).into_owned();
        }
        module.class(self.snapshot)
    }

    fn calls(&self, module: Module) -> String {
        module.call_location(self.snapshot)
    }

    fn statement(&self, modules: &[u32]) -> Statement {
        let heaviest = modules.iter().filter_map(|&number| Some((self.sum(number)?.live_at_peak, number)));
        // Of equally large modules, the innermost is chosen. It has the highest number.
        let Some((live, number)) = heaviest.max() else {
            let text = "No modules found: no stack contains a forward called by nn.Module.".to_owned();
            return statement(Tone::Fact, text, None);
        };
        let mut text = pluralize(modules.len() as u64, "module");
        let (Some(module), Some(sum)) = (self.module(number), self.sum(number)) else {
            return statement(Tone::Fact, text, None);
        };
        if live == 0 {
            text.push_str(". Nothing allocated in them is live at the peak.");
            return statement(Tone::Fact, text, Some(self.evidence(module, sum)));
        }
        text.push_str(&format!(
            ". Largest at the peak: {}, called at {} ({}, {} of the peak).",
            self.name(module, sum),
            self.calls(module),
            bytes_text(live),
            percent(live, self.history.numbers.drawn_peak)
        ));
        statement(Tone::Fact, text, Some(self.evidence(module, sum)))
    }

    fn evidence(&self, module: Module, sum: ModuleTotals) -> Evidence {
        let find = Some(self.calls(module)).filter(|call| !call.is_empty());
        // Modules known only from blocks in the final snapshot have no range in the trace.
        if sum.events == 0 {
            return Evidence { find, ..Evidence::default() };
        }
        let span = Span { from: sum.first, to: sum.last.saturating_add(1).min(self.history.event_count()) };
        Evidence { find, ..range_evidence(span, sum.peak_moment) }
    }

    fn sheet(&self, modules: &[u32], max_rows: usize) -> Sheet {
        type Row = (Module, ModuleTotals);
        let known = |sum: ModuleTotals, cell: Cell| if sum.events > 0 { cell } else { Cell::Empty };
        let elapsed = |sum: ModuleTotals| elapsed_us(self.history, EventIdx(sum.first), EventIdx(sum.last));
        let columns = [
            column::text("module", "module", |(module, sum): Row| truncate(&self.name(module, sum))),
            column::text("called_at", "called at", |(module, _): Row| truncate(&self.calls(module))),
            column::cell("peak_live_bytes", "peak", |(_, sum): Row| known(sum, Cell::Bytes(sum.peak))),
            column::cell("peak_reserved_bytes", "peak reserved", |(_, sum): Row| match sum.reserved {
                0 => Cell::Empty,
                reserved => known(sum, Cell::Bytes(reserved)),
            }),
            column::bytes("live_bytes_at_peak", "live at the device's peak", |(_, sum): Row| sum.live_at_peak),
            column::count("allocations", "allocations", |(_, sum): Row| sum.allocations),
            column::bytes("requested_bytes", "requested", |(_, sum): Row| sum.allocated),
            column::count("frees", "frees", |(_, sum): Row| sum.frees),
            column::bytes("freed_bytes", "freed", |(_, sum): Row| sum.freed),
            column::cell("mean_fragmentation", "≤ mean fragmentation", |(_, sum): Row| match sum.reserved {
                0 => Cell::Empty,
                _ => known(sum, Cell::Ratio(sum.fragmentation_sum / sum.events as f64)),
            }),
            column::cell("duration_us", "duration", |(_, sum): Row| {
                elapsed(sum).map_or(Cell::Empty, |elapsed| known(sum, Cell::Micros(elapsed.unsigned_abs())))
            }),
            column::count("events", "events", |(_, sum): Row| sum.events),
        ];
        let mut sheet = sheet(["modules", "Modules", NOTE], &columns);
        let shown = modules.get(..max_rows).unwrap_or(modules);
        sheet.left_out = (modules.len() - shown.len()) as u32;
        let mut lines = StackLines::default();
        for number in self.depth_first(shown) {
            let (Some(module), Some(sum)) = (self.module(number), self.sum(number)) else { continue };
            let calls =
                std::iter::successors(Some(module), |inner| self.module(inner.parent)).filter_map(|inner| inner.call);
            sheet.rows.push(SheetRow {
                cells: cells(&columns, (module, sum)),
                stack: lines.frame_lines(self.snapshot, calls),
                depth: module.depth,
                ..evidence_row(self.evidence(module, sum))
            });
        }
        sheet
    }

    /// Returns the modules in depth-first order. Siblings are sorted by their first event.
    fn depth_first(&self, shown: &[u32]) -> Vec<u32> {
        let key = |&number: &u32| {
            let sum = self.sum(number).unwrap_or_default();
            let first = if sum.events > 0 { sum.first } else { u32::MAX };
            two_part_key(first.into(), number.into())
        };
        let by_time = sorted_by_key(shown.to_vec(), key);
        // First child and next sibling of each module.
        let mut children = vec![(0u32, 0u32); self.tree.modules.len()];
        for &number in by_time.iter().rev() {
            let parent = self.module(number).map_or(0, |module| module.parent) as usize;
            let next = children.get_mut(parent).map_or(0, |links| std::mem::replace(&mut links.0, number));
            children.get_mut(number as usize).into_iter().for_each(|links| links.1 = next);
        }
        let mut order = Vec::with_capacity(shown.len());
        let links = |number: u32| children.get(number as usize).copied().unwrap_or_default();
        let mut pending = vec![links(0).0];
        while let Some(number) = pending.pop() {
            if number > 0 {
                order.push(number);
                let (child, next) = links(number);
                pending.extend([next, child]);
            }
        }
        order
    }
}
