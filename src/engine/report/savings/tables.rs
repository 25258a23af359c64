//! Tables of the report on savings: changes that lower the peak, and the peak without each group.

use super::groupings::NumberedGrouping;
use super::kinds::Saving;
use super::pass::PeakPass;
use crate::protocol::{Cell, Evidence, Grouping, SheetRow, Threshold};
use crate::report::column::{self, Column, sheet};
use crate::report::site_sums::label;
use crate::report::writer::{ReportWriter, category_query, evidence_row, moment_evidence, truncate};
use analysis::{GroupEffect, Sites, site};
use base::sorted::{sorted_numbers, two_part_key};
use history::replay::AllocationId;
use history::snapshot::StackId;

/// Number of frames that stand for a call stack in a table: the innermost ones of user code.
const MAX_SHOWN_FRAMES: usize = 3;

pub(super) fn write_savings(writing: &mut ReportWriter<'_>, peak: u64, savings: &[Saving], least: Threshold) {
    let (file, history) = (writing.file, writing.history);
    let columns = [
        column::text("change", "change", |of: &Saving| of.kind.texts().label.to_owned()),
        column::bytes("live_bytes", "live at the peak", |of: &Saving| of.concerned_bytes),
        column::bytes("peak_without_bytes", "peak then", |of: &Saving| of.effect.peak),
        column::bytes("saved_bytes", "saved", |of: &Saving| of.saved_bytes),
        column::share("saved_share", "share", |of: &Saving| (of.saved_bytes, peak)),
        column::event("peak_without_event", "peak then after event", |of: &Saving| of.effect.moment),
        column::text("confidence", "confidence", |of: &Saving| of.confidence.to_owned()),
        column::cell("call_site", "largest call site", |of: &Saving| {
            of.top_sites.first().map_or(Cell::Empty, |&(site, ..)| Cell::Text(label(file, history, site)))
        }),
        column::text("unless", "why it may not apply", |of: &Saving| of.kind.texts().caveat.to_owned()),
    ];
    let note = "Each change alone; savings of several do not add up. Peaks are of live (requested) bytes and exact for the allocations that \
                the change concerns.";
    let mut sheet = sheet(["savings", "Changes that lower the peak", note], &columns);
    sheet.threshold = Some(least);
    let rows: Vec<&Saving> = savings.iter().collect();
    writing.add_sheet(sheet, &columns, &rows, |writing, of| match of.top_sites.first() {
        Some(&(_, _, largest)) => writing.allocation_row(largest, Some(of.effect.moment)),
        None => evidence_row(moment_evidence(of.effect.moment)),
    });
}

/// Table of groups.
struct GroupTable<'a> {
    /// Key, title and note.
    titles: [&'a str; 3],
    /// Number of the first group. `count` is one past the last.
    first: u32,
    end: u32,
    without: &'a dyn Fn(u32) -> GroupEffect,
    /// Columns with the name of a group.
    name_columns: Vec<Column<'a, u32>>,
    /// True if the names come after the columns of bytes.
    is_name_last: bool,
}

impl<'a> GroupTable<'a> {
    /// Returns the groups with bytes at the peak, highest saving first.
    fn ranked(&self, peak: u64) -> Vec<u32> {
        let some = (self.first..self.end).filter(|&group| (self.without)(group).at_peak > 0);
        let key =
            |group: u32| two_part_key(!peak.saturating_sub((self.without)(group).peak), !(self.without)(group).at_peak);
        sorted_numbers(some.map(|group| (key(group), group)).collect())
    }

    /// Writes the table: bytes of each group at the peak, and the peak without it. Writes nothing if at most `least`
    /// groups have any bytes.
    fn write(
        self,
        writing: &mut ReportWriter<'_>,
        peak: u64,
        least: Option<usize>,
        row: &mut dyn FnMut(&mut ReportWriter<'_>, u32, u32) -> SheetRow,
    ) {
        let ranked = self.ranked(peak);
        if least.is_some_and(|least| ranked.len() <= least) {
            return;
        }
        let GroupTable { titles, without, name_columns, is_name_last, .. } = self;
        let bytes = [
            column::bytes("live_bytes", "live at the peak", |group| without(group).at_peak),
            column::bytes("peak_without_bytes", "peak without it", |group| without(group).peak),
            column::bytes("saved_bytes", "saved", move |group| peak.saturating_sub(without(group).peak)),
            column::event("peak_without_event", "peak without it after event", |group| without(group).moment),
        ];
        let (mut columns, last) = if is_name_last { (Vec::new(), name_columns) } else { (name_columns, Vec::new()) };
        columns.extend(bytes);
        columns.extend(last);
        writing.add_sheet(sheet(titles, &columns), &columns, &ranked, |writing, group| {
            row(writing, group, without(group).moment)
        });
    }
}

pub(super) fn write_categories(writing: &mut ReportWriter<'_>, run: &PeakPass) {
    let (file, history) = (writing.file, writing.history);
    let name = |group| match group {
        0 => "not explained by the file".to_owned(),
        group => file.groups.label(&file.snapshot, history, Grouping::Category, group),
    };
    let note = "The peak if nothing of the category were allocated. It saves less than what is live at the peak where another event becomes \
                the peak.";
    let groups = GroupTable {
        titles: ["categories", "Peak without each category", note],
        first: 0,
        end: run.category_count(),
        without: &|group| run.without_category(group),
        name_columns: vec![column::text("category", "category", name)],
        is_name_last: false,
    };
    groups.write(writing, run.peak.1, None, &mut |_, group, moment| {
        evidence_row(Evidence { find: (group > 0).then(|| category_query(&name(group))), ..moment_evidence(moment) })
    });
}

pub(super) fn write_sites(writing: &mut ReportWriter<'_>, run: &PeakPass, live: &[AllocationId]) {
    let (file, history) = (writing.file, writing.history);
    let end = file.groups.group_count(history, Grouping::CallSite);
    let largest = largest_by_group(writing, end, live, &|id| Some(run.traits(file, history, id).site));
    let groups = GroupTable {
        titles: ["call_sites", "Peak without each call site", ""],
        first: 0,
        end,
        without: &|group| run.without_site(group),
        name_columns: vec![column::text("call_site", "call site", |group| label(file, history, group))],
        is_name_last: true,
    };
    groups.write(writing, run.peak.1, None, &mut |writing, group, moment| {
        writing.allocation_row(largest_of(&largest, group), Some(moment))
    });
}

/// Returns the largest allocation that is live at the peak, with its size, for each group.
fn largest_by_group(
    writing: &ReportWriter<'_>,
    count: u32,
    live: &[AllocationId],
    of: &dyn Fn(AllocationId) -> Option<u32>,
) -> Vec<(u64, AllocationId)> {
    let mut largest = vec![(0u64, AllocationId(0)); count as usize];
    for &id in live {
        let bytes = writing.history.allocations.size(id);
        let of_group = of(id).and_then(|group| largest.get_mut(group as usize));
        of_group.filter(|it| bytes > it.0).into_iter().for_each(|it| *it = (bytes, id));
    }
    largest
}

fn largest_of(largest: &[(u64, AllocationId)], group: u32) -> AllocationId {
    largest.get(group as usize).map_or(AllocationId(0), |&(_, id)| id)
}

/// Writes the table of call stacks, if there are more of them than call sites.
pub(super) fn write_stacks(writing: &mut ReportWriter<'_>, run: &PeakPass, live: &[AllocationId]) {
    let (file, history) = (writing.file, writing.history);
    let (snapshot, stacks) = (&file.snapshot, &run.groupings.stacks);
    let sites = (0..file.groups.group_count(history, Grouping::CallSite))
        .filter(|&site| run.without_site(site).at_peak > 0)
        .count();
    let place = |id| run.groupings.index_of(file.stack(history, id));
    let largest = largest_by_group(writing, stacks.len() as u32, live, &place);
    let names = |group: u32| {
        let stack = stacks.get(group as usize).map_or(StackId::NONE, |stack| stack.stack);
        let frames = snapshot.stacks.frames(stack).map(|frame| snapshot.frames.frame(frame));
        let own = frames.filter(|frame| Sites::is_user(snapshot, frame)).take(MAX_SHOWN_FRAMES);
        let own: Vec<String> = own.map(|frame| site::short(snapshot, frame)).collect();
        if own.is_empty() {
            label(file, history, run.traits(file, history, largest_of(&largest, group)).site)
        } else {
            own.join(" ← ")
        }
    };
    let groups = GroupTable {
        titles: ["call_stacks", "Peak without each call stack", ""],
        first: 0,
        end: stacks.len() as u32,
        without: &|group| stacks.get(group as usize).map(|stack| run.without_group(stack.group)).unwrap_or_default(),
        name_columns: vec![column::text("call_stack", "call stack", names)],
        is_name_last: true,
    };
    groups.write(writing, run.peak.1, Some(sites), &mut |writing, group, moment| {
        writing.allocation_row(largest_of(&largest, group), Some(moment))
    });
}

/// Writes the table of modules, each including nested ones.
pub(super) fn write_modules(writing: &mut ReportWriter<'_>, run: &PeakPass) {
    let (file, tree) = (writing.file, &run.groupings.tree);
    let module = |number: u32| tree.modules.get(number as usize);
    let class = |number| module(number).map_or_else(String::new, |module| truncate(&module.class(&file.snapshot)));
    let calls =
        |number| module(number).map_or_else(String::new, |module| truncate(&module.call_location(&file.snapshot)));
    let note = "With the modules inside it. Modules called from the same line are one row.";
    let groups = GroupTable {
        titles: ["modules", "Peak without each module", note],
        first: 1,
        end: tree.modules.len() as u32,
        without: &|number| run.without_numbered(NumberedGrouping::Module, number),
        name_columns: vec![column::text("module", "module", class), column::text("called_at", "called at", calls)],
        is_name_last: false,
    };
    groups.write(writing, run.peak.1, Some(0), &mut |_, number, moment| {
        let find = Some(calls(number)).filter(|call| !call.is_empty());
        evidence_row(Evidence { find, ..moment_evidence(moment) })
    });
}

/// Writes the table of annotations or of compiled regions.
pub(super) fn write_named(writing: &mut ReportWriter<'_>, run: &PeakPass, by: NumberedGrouping) {
    let (file, history) = (writing.file, writing.history);
    // The groups before `first` are for allocations outside annotations or regions.
    let (grouping, first, titles, heading) = match by {
        NumberedGrouping::Annotation => {
            (Grouping::Annotation, 1, ["annotations", "Peak without what each annotation allocated", ""], "annotation")
        }
        _ => (
            Grouping::CompileContext,
            2,
            ["compiled_regions", "Peak without what each compiled region allocated", ""],
            "compiled region",
        ),
    };
    let name = |number| truncate(&file.groups.label(&file.snapshot, history, grouping, number));
    let groups = GroupTable {
        titles,
        first,
        end: file.groups.group_count(history, grouping),
        without: &|number| run.without_numbered(by, number),
        name_columns: vec![column::text("name", heading, name)],
        is_name_last: false,
    };
    groups.write(writing, run.peak.1, Some(0), &mut |_, _, moment| evidence_row(moment_evidence(moment)));
}

/// Writes the table of autograd nodes.
pub(super) fn write_nodes(writing: &mut ReportWriter<'_>, run: &PeakPass) {
    let (snapshot, nodes) = (&writing.file.snapshot, &run.groupings.nodes);
    let name = |place: u32| {
        let frame = nodes.get(place as usize).map(|&(_, frame)| snapshot.frames.frame(frame));
        frame.map_or_else(String::new, |frame| truncate(&site::parts(snapshot, frame).0))
    };
    let groups = GroupTable {
        titles: ["autograd_nodes", "Peak without each autograd node", ""],
        first: 0,
        end: nodes.len() as u32,
        without: &|place| nodes.get(place as usize).map(|&(group, _)| run.without_group(group)).unwrap_or_default(),
        name_columns: vec![column::text("autograd_node", "autograd node", name)],
        is_name_last: false,
    };
    groups.write(writing, run.peak.1, Some(0), &mut |_, place, moment| {
        evidence_row(Evidence { find: Some(name(place)), ..moment_evidence(moment) })
    });
}
