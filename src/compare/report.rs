//! A comparison as an insight: its verdict as statements, its numbers as tables.

use crate::answer::{Comparison, Row, TreeRow, Two, factor, times};
use crate::verdict::signed;
use base::units::{Moment, grouped, percent};
use engine::protocol::{Cell, Evidence, Report, Sheet, SheetColumn, SheetRow, Statement, Tone, Topic};

/// Rows of a table, and how it is headed.
pub(crate) struct Writing {
    rows: usize,
    pub(crate) sheets: Vec<Sheet>,
}

/// The insight, with so many rows of each table at most.
pub fn report(of: &Comparison, rows: usize) -> Report {
    let say = |tone, text: &String| Statement { tone, text: text.clone(), ..Statement::default() };
    let mut statements: Vec<Statement> = of.verdict.iter().map(|text| say(Tone::Fact, text)).collect();
    if let Some(first) = statements.first_mut() {
        first.evidence = Some(at(of.a.moment));
    }
    statements.extend(of.warnings.iter().map(|text| say(Tone::Alarm, text)));
    statements.push(say(Tone::Fact, &["Alignment: ", &of.alignment_detail].concat()));
    let mut writing = Writing::new(rows);
    writing.moments(of);
    writing.groups("groups", &["Live bytes (requested) by ", &of.key_title].concat(), &groups_note(of), &of.rows, of);
    writing.tree(of);
    if !of.pools.is_empty() {
        writing.groups("pools", "Live bytes (requested) by pool", "", &of.pools, of);
    }
    writing.scaling(of);
    writing.lifetimes(of);
    writing.settings(of);
    Report { topic: Topic::Comparison, statements, sheets: writing.sheets }
}

/// What has a partner, and that the rows add up.
fn groups_note(of: &Comparison) -> String {
    let live = Two { a: of.a.live_bytes, b: of.b.live_bytes };
    let parts = of.matched.parts_per_million();
    let matched = match parts {
        0 => String::new(),
        _ => percent(parts, 1_000_000) + " of the bytes have a partner. ",
    };
    let (after_a, after_b) = (moment(of.a.moment), moment(of.b.moment));
    ["A ", &after_a, ", B ", &after_b, ". ", &matched, "All Δ add up to ", &signed(live.delta()), "."].concat()
}

fn moment(moment: u32) -> String {
    match Moment(moment).event() {
        None => "before the first event".to_owned(),
        Some(event) => "after event ".to_owned() + &grouped(event.0.into()),
    }
}

fn at(moment: u32) -> Evidence {
    Evidence { moment: Some(moment), ..Evidence::default() }
}

fn change(two: Two) -> Cell {
    Cell::Change(i64::try_from(two.delta()).unwrap_or(if two.b > two.a { i64::MAX } else { i64::MIN }))
}

pub(crate) fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

fn event(moment: u32) -> Cell {
    Cell::Event(Moment(moment).event_or_minus_one())
}

/// A, B and Δ of bytes.
fn bytes(two: Two) -> [Cell; 3] {
    [Cell::Bytes(two.a), Cell::Bytes(two.b), change(two)]
}

/// The columns of groups and nodes.
const COMPARED: [(&str, &str); 7] = [
    ("name", "name"),
    ("a_bytes", "A"),
    ("b_bytes", "B"),
    ("delta_bytes", "Δ"),
    ("relation", "B / A"),
    ("a_count", "A, allocations"),
    ("b_count", "B, allocations"),
];

/// A row of them.
fn compared(depth: u32, name: &str, of: Two, relation: String, count: Two, stack: &[String]) -> SheetRow {
    let counts = [text(relation), Cell::Count(count.a), Cell::Count(count.b)];
    let cells = std::iter::once(text(name)).chain(bytes(of)).chain(counts).collect();
    SheetRow { depth, cells, stack: stack.to_vec(), ..SheetRow::default() }
}

impl Writing {
    /// Tables of so many rows at most.
    pub(crate) fn new(rows: usize) -> Writing {
        Writing { rows, sheets: Vec::new() }
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

    fn moments(&mut self, of: &Comparison) {
        const COLUMNS: [(&str, &str); 9] = [
            ("moments", "moments"),
            ("a_event", "A, after event"),
            ("b_event", "B, after event"),
            ("a_bytes", "A, live (requested)"),
            ("b_bytes", "B, live (requested)"),
            ("delta_bytes", "Δ"),
            ("a_reserved", "A, reserved"),
            ("b_reserved", "B, reserved"),
            ("delta_reserved", "Δ, reserved"),
        ];
        let rows = of.moments.iter().map(|pair| {
            let mut cells = vec![text(&*pair.title), event(pair.moments.0), event(pair.moments.1)];
            cells.extend(bytes(pair.live));
            cells.extend(pair.reserved.map_or([Cell::Nothing, Cell::Nothing, Cell::Nothing], bytes));
            SheetRow { cells, evidence: Some(at(pair.moments.0)), ..SheetRow::default() }
        });
        self.sheet(["moments", "Moments", ""], &COLUMNS, rows.collect(), Vec::new());
    }

    fn groups(&mut self, key: &str, title: &str, note: &str, groups: &[Row], of: &Comparison) {
        let row = |row: &Row| compared(0, &row.label, row.bytes, row.relation(), row.count, &row.callers);
        let rows = groups.iter().take(self.rows).map(row).collect();
        let count = groups.iter().fold(Two::default(), |sum, row| sum.plus(row.count));
        let live = Two { a: of.a.live_bytes, b: of.b.live_bytes };
        let mut total = compared(0, "total", live, String::new(), count, &[]).cells;
        total.get_mut(4).into_iter().for_each(|relation| *relation = Cell::Nothing);
        self.sheet([key, title, note], &COMPARED, rows, total);
        self.sheets.last_mut().into_iter().for_each(|sheet| {
            sheet.left_out = groups.len().saturating_sub(sheet.rows.len()) as u32;
        });
    }

    fn tree(&mut self, of: &Comparison) {
        let row = |row: &TreeRow| {
            let relation = match (row.bytes.a, row.bytes.b) {
                (0, _) => "not live in A".to_owned(),
                (_, 0) => "not live in B".to_owned(),
                _ => times(row.bytes),
            };
            compared(row.depth, &row.label, row.bytes, relation, row.count, &row.frames)
        };
        let rows: Vec<SheetRow> = of.tree.iter().map(row).collect();
        if !rows.is_empty() {
            let title = ["Call tree where A and B differ, by ", &of.tree_title].concat();
            let note = "Each node with all that it calls. Chains are one row.";
            self.sheet(["tree", &title, note], &COMPARED, rows, Vec::new());
        }
    }

    fn scaling(&mut self, of: &Comparison) {
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
        for group in &of.scaling {
            let mut cells = vec![Cell::Nothing, text(factor(group.factor))];
            cells.extend([Cell::Count(group.sites.into()), Cell::Count(group.pairs)]);
            cells.extend(bytes(group.bytes));
            rows.push(SheetRow { cells, ..SheetRow::default() });
            rows.extend(group.rows.iter().map(|site| {
                let mut cells = vec![text(&*site.site), text(factor(site.factor)), Cell::Nothing];
                cells.push(Cell::Count(site.pairs));
                cells.extend(bytes(site.bytes));
                SheetRow { depth: 1, cells, ..SheetRow::default() }
            }));
        }
        if !rows.is_empty() {
            let note = "How the sizes of paired allocations change, by factor and call site. Bytes are those allocated in the trace.";
            self.sheet(["scaling", "Scaling", note], &COLUMNS, rows, Vec::new());
        }
    }

    fn lifetimes(&mut self, of: &Comparison) {
        const COLUMNS: [(&str, &str); 6] = [
            ("outcome", "allocations that are"),
            ("allocations", "allocations"),
            ("a_bytes", "A, allocated"),
            ("b_bytes", "B, allocated"),
            ("delta_bytes", "Δ"),
            ("longer_events", "lifetime in B − A, events"),
        ];
        let mut rows = Vec::new();
        for it in &of.lifetimes {
            let mut cells = vec![text(it.outcome.title()), Cell::Count(it.allocations)];
            cells.extend(bytes(it.bytes));
            cells.push(Cell::Nothing);
            rows.push(SheetRow { cells, ..SheetRow::default() });
            rows.extend(it.sites.iter().map(|(site, allocations, two, events)| {
                let mut cells = vec![text(&**site), Cell::Count(*allocations)];
                cells.extend(bytes(*two));
                let sign = if *events < 0 { "−" } else { "+" };
                let events = [sign, &grouped(events.unsigned_abs())].concat();
                cells.push(text(events));
                SheetRow { depth: 1, cells, ..SheetRow::default() }
            }));
        }
        if !rows.is_empty() {
            self.sheet(["lifetimes", "Lifetimes", ""], &COLUMNS, rows, Vec::new());
        }
    }

    fn settings(&mut self, of: &Comparison) {
        let value = |value: &Option<String>| text(value.as_deref().unwrap_or("not recorded"));
        let rows: Vec<SheetRow> = of
            .settings
            .iter()
            .map(|(name, a, b)| SheetRow { cells: vec![text(&**name), value(a), value(b)], ..SheetRow::default() })
            .collect();
        if !rows.is_empty() {
            let columns = [("setting", "setting"), ("a", "A"), ("b", "B")];
            self.sheet(["settings", "Allocator settings that differ", ""], &columns, rows, Vec::new());
        }
    }
}
