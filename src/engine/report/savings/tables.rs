//! Tables of the report on savings: changes that lower the peak, and the peak that remains without each group.

use super::groupings::NumberedGrouping;
use super::kinds::Saving;
use super::pass::PeakPass;
use crate::report::column::{self, Column, sheet};
use crate::report::site_sums::label;
use crate::report::writer::{ReportWriter, category_query, evidence_row, moment_evidence, truncate};
use analysis::{GroupEffect, Sites, site};
use base::sorted::{sorted_numbers, two_part_key};
use history::replay::AllocationId;
use history::snapshot::StackId;
use protocol::{Cell, Evidence, Grouping, SheetRow, Threshold};

/// Maximum number of frames that represent a call stack in a table. These are the innermost frames of user code.
const MAX_SHOWN_FRAMES: usize = 3;

pub(super) fn write_savings(writer: &mut ReportWriter<'_>, peak: u64, savings: &[Saving], min_bytes: Threshold) {
    let side = writer.side;
    let columns = [
        column::text("change", "change", |saving: &Saving| saving.kind.texts().label.to_owned()),
        column::bytes("live_bytes", "live at the peak", |saving: &Saving| saving.concerned_bytes),
        column::bytes("peak_without_bytes", "new peak", |saving: &Saving| saving.effect.peak),
        column::bytes("saved_bytes", "saved", |saving: &Saving| saving.saved_bytes),
        column::share("saved_share", "share", |saving: &Saving| (saving.saved_bytes, peak)),
        column::event("peak_without_event", "at event", |saving: &Saving| saving.effect.moment),
        column::text("confidence", "confidence", |saving: &Saving| saving.confidence.to_owned()),
        column::cell("call_site", "largest call site", |saving: &Saving| {
            saving.top_sites.first().map_or(Cell::Empty, |&(site, ..)| Cell::Text(label(side, site)))
        }),
        column::text("unless", "why it may not apply", |saving: &Saving| saving.kind.texts().caveat.to_owned()),
    ];
    let note = "Each change alone; savings of several do not add up. Peaks are of live (requested) bytes and exact for the allocations that \
                the change concerns.";
    let mut sheet = sheet(["savings", "Changes that lower the peak", note], &columns);
    sheet.threshold = Some(min_bytes);
    let rows: Vec<&Saving> = savings.iter().collect();
    writer.add_sheet(sheet, &columns, &rows, |writer, saving| match saving.top_sites.first() {
        Some(&(_, _, largest)) => writer.allocation_row(largest, Some(saving.effect.moment)),
        None => evidence_row(moment_evidence(saving.effect.moment)),
    });
}

/// Table that shows, for each group of a grouping, the peak that remains without this group.
struct GroupTable<'a> {
    /// Key, title and note of the table.
    titles: [&'a str; 3],
    /// Number of the first group. `end` is the number after the last group.
    first: u32,
    end: u32,
    /// Function that returns the peak without a group.
    without: &'a dyn Fn(u32) -> GroupEffect,
    /// Columns that identify a group.
    name_columns: Vec<Column<'a, u32>>,
    /// True if `name_columns` are shown after the columns of bytes.
    is_name_last: bool,
}

impl<'a> GroupTable<'a> {
    /// Returns the groups that have bytes at the peak, highest saving first. `peak` is the peak in bytes.
    fn ranked(&self, peak: u64) -> Vec<u32> {
        let groups = (self.first..self.end).filter(|&group| (self.without)(group).at_peak > 0);
        let key =
            |group: u32| two_part_key(!peak.saturating_sub((self.without)(group).peak), !(self.without)(group).at_peak);
        sorted_numbers(groups.map(|group| (key(group), group)).collect())
    }

    /// Writes the table, which shows the bytes of each group at the peak, and the peak without the group. Writes
    /// nothing if at most `min_groups` groups have bytes at the peak. `row` creates a row from a group and the moment
    /// of its new peak.
    fn write(
        self,
        writer: &mut ReportWriter<'_>,
        peak: u64,
        min_groups: Option<usize>,
        row: &mut dyn FnMut(&mut ReportWriter<'_>, u32, u32) -> SheetRow,
    ) {
        let ranked = self.ranked(peak);
        if min_groups.is_some_and(|min| ranked.len() <= min) {
            return;
        }
        let GroupTable { titles, without, name_columns, is_name_last, .. } = self;
        let bytes = [
            column::bytes("live_bytes", "live at the peak", |group| without(group).at_peak),
            column::bytes("peak_without_bytes", "peak without it", |group| without(group).peak),
            column::bytes("saved_bytes", "saved", move |group| peak.saturating_sub(without(group).peak)),
            column::event("peak_without_event", "then highest at event", |group| without(group).moment),
        ];
        let (mut columns, last) = if is_name_last { (Vec::new(), name_columns) } else { (name_columns, Vec::new()) };
        columns.extend(bytes);
        columns.extend(last);
        writer.add_sheet(sheet(titles, &columns), &columns, &ranked, |writer, group| {
            row(writer, group, without(group).moment)
        });
    }
}

pub(super) fn write_categories(writer: &mut ReportWriter<'_>, pass: &PeakPass) {
    let side = writer.side;
    let name = |group| match group {
        0 => "not explained by the side.file".to_owned(),
        group => side.group_label(Grouping::Category, group),
    };
    let note = "The peak without the allocations of the category. If another event becomes the peak, it saves less than the \
                category's bytes at the peak.";
    let groups = GroupTable {
        titles: ["categories", "Peak without each category", note],
        first: 0,
        end: pass.category_count(),
        without: &|group| pass.without_category(group),
        name_columns: vec![column::text("category", "category", name)],
        is_name_last: false,
    };
    groups.write(writer, pass.peak.1, None, &mut |_, group, moment| {
        evidence_row(Evidence { find: (group > 0).then(|| category_query(&name(group))), ..moment_evidence(moment) })
    });
}

pub(super) fn write_sites(writer: &mut ReportWriter<'_>, pass: &PeakPass, live: &[AllocationId]) {
    let side = writer.side;
    let end = side.group_count(Grouping::CallSite);
    let largest = largest_by_group(writer, end, live, &|id| Some(pass.traits(side, id).site));
    let groups = GroupTable {
        titles: ["call_sites", "Peak without each call site", ""],
        first: 0,
        end,
        without: &|group| pass.without_site(group),
        name_columns: vec![column::text("call_site", "call site", |group| label(side, group))],
        is_name_last: true,
    };
    groups.write(writer, pass.peak.1, None, &mut |writer, group, moment| {
        writer.allocation_row(largest_of(&largest, group), Some(moment))
    });
}

/// Returns the largest allocation of each group that is live at the peak, preceded by its size. `group_of` returns the
/// group of an allocation.
fn largest_by_group(
    writer: &ReportWriter<'_>,
    count: u32,
    live: &[AllocationId],
    group_of: &dyn Fn(AllocationId) -> Option<u32>,
) -> Vec<(u64, AllocationId)> {
    let mut largest = vec![(0u64, AllocationId(0)); count as usize];
    for &id in live {
        let bytes = writer.side.history.allocations.size(id);
        let known = group_of(id).and_then(|group| largest.get_mut(group as usize));
        known.filter(|it| bytes > it.0).into_iter().for_each(|it| *it = (bytes, id));
    }
    largest
}

fn largest_of(largest: &[(u64, AllocationId)], group: u32) -> AllocationId {
    largest.get(group as usize).map_or(AllocationId(0), |&(_, id)| id)
}

/// Writes the table of call stacks. It is left out if each call site has only one call stack.
pub(super) fn write_stacks(writer: &mut ReportWriter<'_>, pass: &PeakPass, live: &[AllocationId]) {
    let side = writer.side;
    let (snapshot, stacks) = (side.snapshot(), &pass.groupings.stacks);
    let sites = (0..side.group_count(Grouping::CallSite)).filter(|&site| pass.without_site(site).at_peak > 0).count();
    let index = |id| pass.groupings.index_of(side.stack(id));
    let largest = largest_by_group(writer, stacks.len() as u32, live, &index);
    let names = |group: u32| {
        let stack = stacks.get(group as usize).map_or(StackId::NONE, |stack| stack.stack);
        let frames = snapshot.stacks.frames(stack).map(|frame| snapshot.frames.frame(frame));
        let user_frames = frames.filter(|frame| Sites::is_user(snapshot, frame)).take(MAX_SHOWN_FRAMES);
        let user_frames: Vec<String> = user_frames.map(|frame| site::short(snapshot, frame)).collect();
        if user_frames.is_empty() {
            label(side, pass.traits(side, largest_of(&largest, group)).site)
        } else {
            user_frames.join(" ← ")
        }
    };
    let groups = GroupTable {
        titles: ["call_stacks", "Peak without each call stack", ""],
        first: 0,
        end: stacks.len() as u32,
        without: &|group| stacks.get(group as usize).map(|stack| pass.without_group(stack.group)).unwrap_or_default(),
        name_columns: vec![column::text("call_stack", "call stack", names)],
        is_name_last: true,
    };
    groups.write(writer, pass.peak.1, Some(sites), &mut |writer, group, moment| {
        writer.allocation_row(largest_of(&largest, group), Some(moment))
    });
}

/// Writes the table of modules. The numbers of a module include its nested modules.
pub(super) fn write_modules(writer: &mut ReportWriter<'_>, pass: &PeakPass) {
    let (file, tree) = (writer.side.file, &pass.groupings.tree);
    let module = |number: u32| tree.modules.get(number as usize);
    let class = |number| module(number).map_or_else(String::new, |module| truncate(&module.class(&file.snapshot)));
    let calls =
        |number| module(number).map_or_else(String::new, |module| truncate(&module.call_location(&file.snapshot)));
    let note = "With the modules inside it. Modules called from the same line are one row.";
    let groups = GroupTable {
        titles: ["modules", "Peak without each module", note],
        first: 1,
        end: tree.modules.len() as u32,
        without: &|number| pass.without_numbered(NumberedGrouping::Module, number),
        name_columns: vec![column::text("module", "module", class), column::text("called_at", "called at", calls)],
        is_name_last: false,
    };
    groups.write(writer, pass.peak.1, Some(0), &mut |_, number, moment| {
        let find = Some(calls(number)).filter(|call| !call.is_empty());
        evidence_row(Evidence { find, ..moment_evidence(moment) })
    });
}

/// Writes the table of annotations or the table of compiled regions.
pub(super) fn write_named(writer: &mut ReportWriter<'_>, pass: &PeakPass, by: NumberedGrouping) {
    let side = writer.side;
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
    let name = |number| truncate(&side.group_label(grouping, number));
    let groups = GroupTable {
        titles,
        first,
        end: side.group_count(grouping),
        without: &|number| pass.without_numbered(by, number),
        name_columns: vec![column::text("name", heading, name)],
        is_name_last: false,
    };
    groups.write(writer, pass.peak.1, Some(0), &mut |_, _, moment| evidence_row(moment_evidence(moment)));
}

/// Writes the table of autograd nodes.
pub(super) fn write_nodes(writer: &mut ReportWriter<'_>, pass: &PeakPass) {
    let (snapshot, nodes) = (writer.side.snapshot(), &pass.groupings.nodes);
    let name = |index: u32| {
        let frame = nodes.get(index as usize).map(|&(_, frame)| snapshot.frames.frame(frame));
        frame.map_or_else(String::new, |frame| truncate(&site::parts(snapshot, frame).0))
    };
    let groups = GroupTable {
        titles: ["autograd_nodes", "Peak without each autograd node", ""],
        first: 0,
        end: nodes.len() as u32,
        without: &|index| nodes.get(index as usize).map(|&(group, _)| pass.without_group(group)).unwrap_or_default(),
        name_columns: vec![column::text("autograd_node", "autograd node", name)],
        is_name_last: false,
    };
    groups.write(writer, pass.peak.1, Some(0), &mut |_, index, moment| {
        evidence_row(Evidence { find: Some(name(index)), ..moment_evidence(moment) })
    });
}
