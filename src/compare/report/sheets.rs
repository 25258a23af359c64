//! Tables of the report of a comparison.

use crate::answer::{Comparison, PerSide, Row, TreeRow, factor, relation};
use crate::verdict::row_name;
use base::units::{Bytes, group_digits};
use protocol::column::moment_cell;
use protocol::{Cell, Evidence, Sheet, SheetColumn, SheetRow};

/// Builder of tables with a limited number of rows.
pub(crate) struct TableBuilder {
    rows: usize,
    pub(crate) sheets: Vec<Sheet>,
}

/// Returns evidence at a moment.
pub(super) fn at(moment: u32) -> Evidence {
    Evidence { moment: Some(moment), ..Evidence::default() }
}

fn change(two: PerSide) -> Cell {
    Cell::Change(two.clamped_delta())
}

pub(crate) fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// Returns table cells with the bytes of A, the bytes of B, and the difference.
pub(super) fn bytes(two: PerSide) -> [Cell; 3] {
    [Cell::Bytes(two.a), Cell::Bytes(two.b), change(two)]
}

/// Columns of tables that compare groups or nodes.
const COMPARED: [(&str, &str); 7] = [
    ("name", "name"),
    ("a_bytes", "A"),
    ("b_bytes", "B"),
    ("delta_bytes", "Δ"),
    ("relation", "B / A"),
    ("a_count", "A, allocations"),
    ("b_count", "B, allocations"),
];

/// Returns a table row with the columns [`COMPARED`].
fn compared(depth: u32, name: &str, live: PerSide, relation: String, count: PerSide, stack: &[String]) -> SheetRow {
    let counts = [text(relation), Cell::Count(count.a), Cell::Count(count.b)];
    let cells = std::iter::once(text(name)).chain(bytes(live)).chain(counts).collect();
    SheetRow { depth, stack: stack.to_vec(), ..row(cells) }
}

/// Returns a table row without evidence and stack.
pub(crate) fn row(cells: Vec<Cell>) -> SheetRow {
    SheetRow { cells, ..SheetRow::default() }
}

impl TableBuilder {
    /// Creates a builder with at most `rows` rows per table.
    pub(crate) fn new(rows: usize) -> TableBuilder {
        TableBuilder { rows, sheets: Vec::new() }
    }

    pub(crate) fn sheet(
        &mut self,
        [key, title, note]: [&str; 3],
        columns: &[(&str, &str)],
        rows: Vec<SheetRow>,
        total: Vec<Cell>,
    ) {
        let columns = columns.iter().map(|(key, label)| SheetColumn { key: (*key).into(), label: (*label).into() });
        let left_out = rows.len().saturating_sub(self.rows) as u32;
        self.sheets.push(Sheet {
            key: key.to_owned(),
            title: title.to_owned(),
            note: note.to_owned(),
            columns: columns.collect(),
            rows: rows.into_iter().take(self.rows).collect(),
            left_out,
            total,
            ..Sheet::default()
        });
    }

    /// Adds a table without totals, unless it has no rows.
    pub(crate) fn add(&mut self, words: [&str; 3], columns: &[(&str, &str)], rows: Vec<SheetRow>) {
        if !rows.is_empty() {
            self.sheet(words, columns, rows, Vec::new());
        }
    }

    pub(super) fn moments(&mut self, comparison: &Comparison) {
        let mut columns = vec![
            ("moments", "moments"),
            ("a_event", "A, after event"),
            ("b_event", "B, after event"),
            ("a_bytes", "A, live (requested)"),
            ("b_bytes", "B, live (requested)"),
            ("delta_bytes", "Δ"),
            ("a_awaiting_free", "A, awaiting free"),
            ("b_awaiting_free", "B, awaiting free"),
            ("a_reserved", "A, reserved"),
            ("b_reserved", "B, reserved"),
            ("delta_reserved", "Δ, reserved"),
            ("a_fragmentation", "A, fragmentation ≤"),
            ("b_fragmentation", "B, fragmentation ≤"),
        ];
        let has_awaiting_free = comparison.moments.iter().any(|pair| pair.awaiting_free != PerSide::default());
        if !has_awaiting_free {
            columns.retain(|(key, _)| !key.ends_with("awaiting_free"));
        }
        // An upper bound: the allocator rounds block sizes up, so less is free than what is not live.
        let free = |live: u64, reserved: u64| Cell::Share { part: reserved.saturating_sub(live), whole: reserved };
        let rows = comparison.moments.iter().map(|pair| {
            let mut cells = vec![text(&*pair.title), moment_cell(pair.moments.0), moment_cell(pair.moments.1)];
            cells.extend(bytes(pair.live));
            if has_awaiting_free {
                cells.extend([Cell::Bytes(pair.awaiting_free.a), Cell::Bytes(pair.awaiting_free.b)]);
            }
            cells.extend(pair.reserved.map_or([Cell::Empty, Cell::Empty, Cell::Empty], bytes));
            cells.extend(pair.reserved.map_or([Cell::Empty, Cell::Empty], |reserved| {
                [free(pair.live.a, reserved.a), free(pair.live.b, reserved.b)]
            }));
            SheetRow { evidence: Some(at(pair.moments.0)), ..row(cells) }
        });
        self.sheet(["moments", "Moments", ""], &columns, rows.collect(), Vec::new());
    }

    pub(super) fn groups(&mut self, key: &str, title: &str, note: &str, groups: &[Row], comparison: &Comparison) {
        let name = |row: &Row| if key == "groups" { row_name(comparison, &row.label) } else { &row.label }.to_owned();
        let row = |row: &Row| compared(0, &name(row), row.bytes, row.relation(), row.count, &row.callers);
        let rows = groups.iter().take(self.rows).map(row).collect();
        let count = groups.iter().fold(PerSide::default(), |sum, row| sum.plus(row.count));
        let live = PerSide { a: comparison.a.live_bytes, b: comparison.b.live_bytes };
        let mut total = compared(0, "total", live, String::new(), count, &[]).cells;
        total.get_mut(4).into_iter().for_each(|relation| *relation = Cell::Empty);
        self.sheet([key, title, note], &COMPARED, rows, total);
        self.sheets.last_mut().into_iter().for_each(|sheet| {
            sheet.left_out = groups.len().saturating_sub(sheet.rows.len()) as u32;
        });
    }

    pub(super) fn tree(&mut self, comparison: &Comparison) {
        let row = |row: &TreeRow| {
            compared(row.depth, &row.label, row.bytes, relation(row.bytes, true), row.count, &row.frames)
        };
        let title = ["Call tree where A and B differ, by ", &comparison.tree_title].concat();
        let note = "Each node with all that it calls. Chains are one row.";
        self.add(["tree", &title, note], &COMPARED, comparison.tree.iter().map(row).collect());
    }

    pub(super) fn steps(&mut self, comparison: &Comparison) {
        const COLUMNS: [(&str, &str); 7] = [
            ("step", "step"),
            ("a_peak", "A, peak (requested)"),
            ("b_peak", "B, peak (requested)"),
            ("delta_peak", "Δ"),
            ("relation", "B / A"),
            ("a_count", "A, allocations"),
            ("b_count", "B, allocations"),
        ];
        let rows = comparison.steps.iter().map(|step| SheetRow {
            evidence: Some(at(step.begins.0)),
            ..compared(0, &step.name, step.peak, relation(step.peak, true), step.allocations, &[])
        });
        self.add(["steps", "Steps", "Steps are paired by name, else by number."], &COLUMNS, rows.collect());
    }

    pub(super) fn allocations(&mut self, comparison: &Comparison) {
        const COLUMNS: [(&str, &str); 7] = [
            ("call_site", "call site"),
            ("a_id", "A, id"),
            ("b_id", "B, id"),
            ("a_bytes", "A"),
            ("b_bytes", "B"),
            ("delta_bytes", "Δ"),
            ("relation", "B / A"),
        ];
        let all = &comparison.allocations;
        let id = |id: Option<u32>| id.map_or(Cell::Empty, |id| Cell::Count(id.into()));
        let rows = all.rows.iter().take(self.rows).map(|it| {
            let mut cells = vec![text(&*it.site), id(it.ids.0), id(it.ids.1)];
            cells.extend(bytes(it.bytes));
            cells.push(text(it.relation()));
            let evidence = it.ids.0.filter(|_| it.bytes.a > 0);
            let evidence = evidence.map(|id| Evidence { allocation: Some(id), ..at(comparison.a.moment) });
            SheetRow { evidence, ..row(cells) }
        });
        let rows: Vec<SheetRow> = rows.collect();
        if rows.is_empty() {
            return;
        }
        let mut total = vec![text("total"), Cell::Empty, Cell::Empty];
        total.extend(bytes(PerSide { a: comparison.a.live_bytes, b: comparison.b.live_bytes }));
        total.push(Cell::Empty);
        let mut note =
            ["Live (requested) in A or B. Without differences: ", &Bytes(all.equal.a).to_string(), "."].concat();
        if all.early != PerSide::default() {
            let [a, b] = [all.early.a, all.early.b].map(|bytes| Bytes(bytes).to_string());
            note += &[" Allocated before recording, not paired: A ", &a, ", B ", &b, "."].concat();
        }
        self.sheet(["allocations", "Allocations that differ", &note], &COLUMNS, rows, total);
        let left_out = all.count.saturating_sub(all.rows.len().min(self.rows) as u64) as u32;
        self.sheets.last_mut().into_iter().for_each(|sheet| sheet.left_out = left_out);
    }

    pub(super) fn scaling(&mut self, comparison: &Comparison) {
        const COLUMNS: [(&str, &str); 7] = [
            ("call_site", "call site"),
            ("factor", "size in B / A"),
            ("call_sites", "call sites"),
            ("pairs", "paired allocations"),
            ("a_bytes", "A, allocated"),
            ("b_bytes", "B, allocated"),
            ("delta_bytes", "Δ"),
        ];
        let mut rows = Vec::new();
        for group in &comparison.scaling {
            let mut cells = vec![Cell::Empty, text(factor(group.factor))];
            cells.extend([Cell::Count(group.sites.into()), Cell::Count(group.pairs)]);
            cells.extend(bytes(group.bytes));
            rows.push(row(cells));
            rows.extend(group.rows.iter().map(|site| {
                let mut cells = vec![text(&*site.site), text(factor(site.factor)), Cell::Empty];
                cells.push(Cell::Count(site.pairs));
                cells.extend(bytes(site.bytes));
                SheetRow { depth: 1, ..row(cells) }
            }));
        }
        let note = "How the sizes of paired allocations change, by factor and call site. Bytes are those allocated in the trace.";
        self.add(["scaling", "Scaling", note], &COLUMNS, rows);
    }

    pub(super) fn lifetimes(&mut self, comparison: &Comparison) {
        const COLUMNS: [(&str, &str); 7] = [
            ("outcome", "allocations that are"),
            ("allocations", "allocations"),
            ("a_bytes", "A, allocated"),
            ("b_bytes", "B, allocated"),
            ("delta_bytes", "Δ"),
            ("longer_events", "lifetime in B − A, events"),
            ("longer_steps", "lifetime in B − A, steps"),
        ];
        let mut rows = Vec::new();
        for it in &comparison.lifetimes {
            let mut cells = vec![text(it.outcome.title()), Cell::Count(it.allocations)];
            cells.extend(bytes(it.bytes));
            cells.extend([Cell::Empty, Cell::Empty]);
            rows.push(row(cells));
            rows.extend(it.sites.iter().map(|site| {
                let mut cells = vec![text(&*site.site), Cell::Count(site.allocations)];
                cells.extend(bytes(site.bytes));
                cells.extend([site.longer_events, site.longer_steps].map(|longer| {
                    let sign = if longer < 0 { "−" } else { "+" };
                    text([sign, &group_digits(longer.unsigned_abs())].concat())
                }));
                SheetRow { depth: 1, ..row(cells) }
            }));
        }
        self.add(["lifetimes", "Lifetimes", ""], &COLUMNS, rows);
    }

    pub(super) fn settings(&mut self, comparison: &Comparison) {
        let value = |value: &Option<String>| text(value.as_deref().unwrap_or("not recorded"));
        let rows =
            comparison.settings.iter().map(|(name, a, b)| row(vec![text(&**name), value(a), value(b)])).collect();
        let columns = [("setting", "setting"), ("a", "A"), ("b", "B")];
        self.add(["settings", "Allocator settings that differ", ""], &columns, rows);
    }
}
