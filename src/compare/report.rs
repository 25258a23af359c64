//! Converts a comparison to a report: the verdict as sentences, the numbers as tables.

use crate::answer::{Comparison, MomentPair, PerSide, Row, TreeRow, factor, relation};
use crate::verdict::{row_name, signed, unmatched_code};
use base::units::{Bytes, group_digits, moment_text, percent, pluralize};
use protocol::column::moment_cell;
use protocol::{Cell, Chart, DeltaBox, Evidence, Report, Sheet, SheetColumn, SheetRow, Statement, Tone, Topic};

/// Builder of tables with a limited number of rows.
pub(crate) struct TableBuilder {
    rows: usize,
    pub(crate) sheets: Vec<Sheet>,
}

/// Returns the report with at most `rows` rows per table.
pub fn report(comparison: &Comparison, rows: usize) -> Report {
    let say = |tone, text: &String| Statement { tone, text: text.clone(), ..Statement::default() };
    let mut statements: Vec<Statement> = comparison.verdict.iter().map(|text| say(Tone::Fact, text)).collect();
    if let Some(first) = statements.first_mut() {
        first.evidence = Some(at(comparison.a.moment));
    }
    statements.extend(comparison.warnings.iter().map(|text| say(Tone::Alarm, text)));
    if comparison.out_of_memory != PerSide::default() {
        let PerSide { a, b } = comparison.out_of_memory;
        let times = |times: u64| if times == 1 { String::new() } else { format!(" {} times", group_digits(times)) };
        let text = match (a, b) {
            (0, _) => format!("B ran out of memory{}, A did not.", times(b)),
            (_, 0) => format!("A ran out of memory{}, B did not.", times(a)),
            _ => format!("A ran out of memory {}, B {}.", pluralize(a, "time"), pluralize(b, "time")),
        };
        statements.push(say(Tone::Alarm, &text));
    }
    // Moments of one trace need no alignment, and their peaks and steps are the same.
    let is_one_trace = is_one_trace(comparison);
    if !is_one_trace {
        statements.push(say(Tone::Fact, &comparison.alignment_detail));
    }
    // Frames of code that could not be matched would only appear twice.
    let has_frames = unmatched_code(comparison).is_none();
    let boxes = if has_frames { boxes(&comparison.flame) } else { Vec::new() };
    if let Some(last) = statements.last_mut() {
        last.chart = (!boxes.is_empty()).then(|| Chart::Delta(comparison.tree_title.clone(), boxes));
    }
    let mut tables = TableBuilder::new(rows);
    if !is_one_trace {
        tables.moments(comparison);
    }
    tables.groups(
        "groups",
        &["Live bytes (requested) by ", &comparison.key_title].concat(),
        &groups_note(comparison),
        &comparison.rows,
        comparison,
    );
    if has_frames {
        tables.tree(comparison);
    }
    if !is_one_trace {
        tables.steps(comparison);
    }
    tables.allocations(comparison);
    if !comparison.pools.is_empty() {
        tables.groups("pools", "Live bytes (requested) by pool", "", &comparison.pools, comparison);
    }
    if !is_one_trace {
        tables.scaling(comparison);
    }
    tables.lifetimes(comparison);
    tables.settings(comparison);
    Report { topic: Topic::Comparison, statements, sheets: tables.sheets, headline: None }
}

/// Returns whether A and B are moments of the same trace.
fn is_one_trace(comparison: &Comparison) -> bool {
    let (a, b) = (&comparison.a, &comparison.b);
    let is_same = |pair: &MomentPair| pair.moments.0 == pair.moments.1 && pair.live.delta() == 0;
    (&a.file, a.device, a.events) == (&b.file, b.device, b.events)
        && a.moment != b.moment
        && comparison.moments.iter().all(is_same)
}

/// Returns the flame graph that compares both sides. A box is as wide as the larger value of A and B, or as its callees
/// if they are wider. Boxes precede their callees.
fn boxes(nodes: &[TreeRow]) -> Vec<DeltaBox> {
    // Widths are summed from the innermost nodes outwards, then positions from left to right.
    let mut below: Vec<u64> = Vec::new();
    let mut widths = vec![0; nodes.len()];
    for (node, width) in nodes.iter().zip(&mut widths).rev() {
        let depth = node.depth as usize;
        below.resize(below.len().max(depth + 2), 0);
        let callees = below.get_mut(depth + 1).map_or(0, std::mem::take);
        *width = node.bytes.a.max(node.bytes.b).max(callees);
        below.get_mut(depth).into_iter().for_each(|sum| *sum = sum.saturating_add(*width));
    }
    let all = below.first().copied().unwrap_or(0);
    let part = |bytes: u64| (u128::from(bytes) * u128::from(DeltaBox::FULL_WIDTH) / u128::from(all.max(1))) as u32;
    let mut left_edges = vec![0u64; below.len()];
    let mut placed = Vec::new();
    for (node, width) in nodes.iter().zip(widths) {
        let depth = node.depth as usize;
        let left = left_edges.get(depth).copied().unwrap_or(0);
        left_edges.get_mut(depth).into_iter().for_each(|next| *next = left.saturating_add(width));
        left_edges.get_mut(depth + 1).into_iter().for_each(|next| *next = left);
        let (left, width) = (part(left), part(width));
        let PerSide { a, b } = node.bytes;
        placed.push(DeltaBox { depth: node.depth, left, width, name: node.label.clone(), a, b });
    }
    placed
}

/// Returns a note about the matched bytes and about the sum of the rows.
fn groups_note(comparison: &Comparison) -> String {
    let live = PerSide { a: comparison.a.live_bytes, b: comparison.b.live_bytes };
    let parts = comparison.matched.parts_per_million();
    let matched = match parts {
        0 => String::new(),
        _ => percent(parts, 1_000_000) + " of the bytes have a partner. ",
    };
    let (after_a, after_b) = (moment_text(comparison.a.moment), moment_text(comparison.b.moment));
    ["A ", &after_a, ", B ", &after_b, ". ", &matched, "All Δ add up to ", &signed(live.delta()), "."].concat()
}

fn at(moment: u32) -> Evidence {
    Evidence { moment: Some(moment), ..Evidence::default() }
}

fn change(two: PerSide) -> Cell {
    Cell::Change(two.clamped_delta())
}

pub(crate) fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// Returns table cells with the bytes of A, the bytes of B, and the difference.
fn bytes(two: PerSide) -> [Cell; 3] {
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

    fn moments(&mut self, comparison: &Comparison) {
        const COLUMNS: [(&str, &str); 11] = [
            ("moments", "moments"),
            ("a_event", "A, after event"),
            ("b_event", "B, after event"),
            ("a_bytes", "A, live (requested)"),
            ("b_bytes", "B, live (requested)"),
            ("delta_bytes", "Δ"),
            ("a_reserved", "A, reserved"),
            ("b_reserved", "B, reserved"),
            ("delta_reserved", "Δ, reserved"),
            ("a_fragmentation", "A, fragmentation ≤"),
            ("b_fragmentation", "B, fragmentation ≤"),
        ];
        // An upper bound: the allocator rounds block sizes up, so less is free than what is not live.
        let free = |live: u64, reserved: u64| Cell::Share { part: reserved.saturating_sub(live), whole: reserved };
        let rows = comparison.moments.iter().map(|pair| {
            let mut cells = vec![text(&*pair.title), moment_cell(pair.moments.0), moment_cell(pair.moments.1)];
            cells.extend(bytes(pair.live));
            cells.extend(pair.reserved.map_or([Cell::Empty, Cell::Empty, Cell::Empty], bytes));
            cells.extend(pair.reserved.map_or([Cell::Empty, Cell::Empty], |reserved| {
                [free(pair.live.a, reserved.a), free(pair.live.b, reserved.b)]
            }));
            SheetRow { evidence: Some(at(pair.moments.0)), ..row(cells) }
        });
        self.sheet(["moments", "Moments", ""], &COLUMNS, rows.collect(), Vec::new());
    }

    fn groups(&mut self, key: &str, title: &str, note: &str, groups: &[Row], comparison: &Comparison) {
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

    fn tree(&mut self, comparison: &Comparison) {
        let row = |row: &TreeRow| {
            compared(row.depth, &row.label, row.bytes, relation(row.bytes, true), row.count, &row.frames)
        };
        let title = ["Call tree where A and B differ, by ", &comparison.tree_title].concat();
        let note = "Each node with all that it calls. Chains are one row.";
        self.add(["tree", &title, note], &COMPARED, comparison.tree.iter().map(row).collect());
    }

    fn steps(&mut self, comparison: &Comparison) {
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

    fn allocations(&mut self, comparison: &Comparison) {
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

    fn scaling(&mut self, comparison: &Comparison) {
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

    fn lifetimes(&mut self, comparison: &Comparison) {
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

    fn settings(&mut self, comparison: &Comparison) {
        let value = |value: &Option<String>| text(value.as_deref().unwrap_or("not recorded"));
        let rows =
            comparison.settings.iter().map(|(name, a, b)| row(vec![text(&**name), value(a), value(b)])).collect();
        let columns = [("setting", "setting"), ("a", "A"), ("b", "B")];
        self.add(["settings", "Allocator settings that differ", ""], &columns, rows);
    }
}
