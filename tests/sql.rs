//! SQL tables compared with the engine's own answers on real files: rows, curves, trees and sums.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;

use generate::Options;
use memscape::engine::tables::{Value as CellValue, columns};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::exports::each_row;
use memscape::protocol::{
    ExportFormat, ExportQuestion, ExportTable, FileSummary, Fold, FoldScope, FoldState, Scope, SortDirection, Span,
    TableColumn, TableFilter, TableQuestion, TableSort, TreeQuestion,
};
use memscape::sql::{
    EXAMPLE_QUERIES, FileLabel, Limits, Queries, Source, TABLES, Value, completions, schema_text, tokens,
};
use opened::{Opened, open, real_pickles};

pub(crate) const LIMITS: Limits = Limits { seconds: 60, memory: 1 << 30 };

/// A clock that never advances, so no query of these tests times out.
pub(crate) fn frozen_clock() -> f64 {
    0.0
}

/// Opens a file in two engines: one for queries, one for the engine's own answers.
fn open_twice(bytes: &[u8]) -> Option<(Queries, Opened)> {
    let (queries, other) = (open_queries(bytes, FileLabel::default())?, open(bytes).ok()?);
    Some((queries, other))
}

fn open_whole(bytes: &[u8]) -> Option<(FileSummary, Box<memscape::engine::Engine>)> {
    let Opened { mut engine, summary, .. } = open(bytes).ok()?;
    summary.devices.iter().for_each(|device| _ = engine.complete_side(device.device));
    Some((summary, Box::new(engine)))
}

fn open_queries(bytes: &[u8], label: FileLabel) -> Option<Queries> {
    let (summary, engine) = open_whole(bytes)?;
    let mut source = Source::default();
    source.add(label, summary, engine);
    Some(Queries::new(source, frozen_clock, LIMITS).unwrap())
}

/// Cells of a query as text, `-` for empty ones.
pub(crate) fn rows(queries: &Queries, sql: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let done = queries.run(sql, &mut |_| {}, &mut |values| {
        rows.push(values.iter().map(|value| text(*value)).collect());
        true
    });
    done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows
}

fn text(value: Value<'_>) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => value.to_string(),
        Value::Text(text) => text.to_owned(),
        Value::Blob(bytes) => format!("{bytes:?}"),
    }
}

fn single_value(queries: &Queries, sql: &str) -> i64 {
    rows(queries, sql)[0][0].parse().unwrap_or(0)
}

/// The real files, or a generated one if there are none.
fn files() -> Vec<(String, Vec<u8>)> {
    let real = real_pickles().unwrap_or_default();
    let mut files: Vec<_> =
        real.iter().map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect();
    files.push(("generated".to_owned(), generated("--steps 3 --layers 3 --frames 20 --oom")));
    files
}

fn generated(options: &str) -> Vec<u8> {
    let (options, _) = Options::parse(options.split_whitespace().map(str::to_owned)).unwrap();
    generate::generate(&options, Vec::new()).unwrap().0
}

/// Tables of exports, and their names in SQL.
const EXPORTED: [(ExportTable, &str); 5] = [
    (ExportTable::Allocations, "allocation"),
    (ExportTable::Segments, "segment"),
    (ExportTable::Curve, "curve"),
    (ExportTable::Events, "event"),
    (ExportTable::Stacks, "frame"),
];

#[test]
fn rows_match_exports() {
    for (file, bytes) in files() {
        let Some((queries, mut other)) = open_twice(&bytes) else { continue };
        for device in other.summary.devices.clone() {
            for (table, name) in EXPORTED {
                // The table of frames is of all devices.
                if name == "frame" && other.summary.devices.len() > 1 {
                    continue;
                }
                let names: Vec<&str> = columns(table).iter().map(|column| column.key).collect();
                let device = device.device;
                let device_filter = if name == "frame" { String::new() } else { format!(" WHERE device = {device}") };
                let sql = format!("SELECT {} FROM {name}{device_filter}", names.join(", "));
                let mut ours = rows(&queries, &sql).into_iter();
                let side = other.engine.complete_side(device).unwrap();
                let range = Span { from: 0, to: side.history.event_count() };
                let (format, scope) = (ExportFormat::Csv, Scope::All);
                let question = ExportQuestion { format, table, cursor: 0, range, scope, largest: 0 };
                each_row(side, &question, &mut |cells| {
                    let cell = |cell: &CellValue<'_>| match cell {
                        CellValue::Empty => "-".to_owned(),
                        CellValue::Unsigned(number) => number.to_string(),
                        CellValue::Signed(number) => number.to_string(),
                        CellValue::Bool(value) => i64::from(*value).to_string(),
                        CellValue::Text(text) => text.clone().into_owned(),
                    };
                    // The former names of columns come last.
                    let wanted: Vec<String> = cells.iter().take(names.len()).map(cell).collect();
                    assert_eq!(ours.next(), Some(wanted), "{file}, device {device}: {name}");
                    Ok(())
                })
                .unwrap();
                assert_eq!(ours.next(), None, "{file}, device {device}: {name} has more rows");
            }
        }
    }
}

#[test]
fn live_bytes_match_summary() {
    let mut checked = 0;
    for (file, bytes) in files() {
        let Some((queries, other)) = open_twice(&bytes) else { continue };
        for device in &other.summary.devices {
            let at = device.device;
            let sum = |when: &str| {
                single_value(&queries, &format!("SELECT sum(requested_bytes) FROM live_at({when}) WHERE device = {at}"))
            };
            assert_eq!(sum("'peak'"), device.drawn_peak as i64, "{file}, device {at}: peak");
            let end = single_value(
                &queries,
                &format!("SELECT live_bytes FROM curve WHERE device = {at} ORDER BY event DESC LIMIT 1"),
            );
            assert_eq!(sum("'end'"), end, "{file}, device {at}: end");
            let peak = single_value(&queries, &format!("SELECT max(live_bytes) FROM curve WHERE device = {at}"));
            assert_eq!(peak, device.drawn_peak as i64, "{file}, device {at}: curve");
            for event in [-1, 0, device.events as i64 / 3, device.events as i64 - 1] {
                let live = format!("SELECT live_bytes FROM curve WHERE device = {at} AND event = {event}");
                let Some(live) = rows(&queries, &live).first().map(|row| row[0].parse::<i64>().unwrap()) else {
                    continue;
                };
                assert_eq!(sum(&event.to_string()), live, "{file}, device {at}, event {event}");
                let tree = format!("SELECT total_bytes FROM tree({event}) WHERE device = {at} AND node = 0");
                assert_eq!(single_value(&queries, &tree), live, "{file}, device {at}: tree at {event}");
                let between = format!("SELECT sum(delta_bytes) FROM between({event}, 'end') WHERE device = {at}");
                assert_eq!(
                    single_value(&queries, &between),
                    end - live,
                    "{file}, device {at}: between {event} and the end"
                );
                let back = format!("SELECT sum(delta_bytes) FROM between('end', {event}) WHERE device = {at}");
                assert_eq!(single_value(&queries, &back), live - end, "{file}, device {at}: backwards");
            }
            checked += 1;
        }
        let blocks = "SELECT count(*) FROM block b JOIN allocation a ON a.device = b.device AND a.id = b.allocation \
                      WHERE a.requested_bytes <> b.requested_bytes";
        assert_eq!(single_value(&queries, blocks), 0, "{file}: blocks and their allocations");
    }
    assert!(checked > 0);
}

#[test]
fn tree_matches_call_tree_tab() {
    for (file, bytes) in files() {
        let Some((queries, mut other)) = open_twice(&bytes) else { continue };
        for device in other.summary.devices.clone() {
            let moment = u32::try_from(device.peak_event + 1).unwrap();
            let mut wanted = Vec::new();
            loop {
                let tree = TreeQuestion {
                    scope: Scope::At(moment),
                    arrangement: Default::default(),
                    focus: None,
                    folds: vec![Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open }],
                    reveal: None,
                    search_serial: None,
                    rows: [wanted.len() as u32, 500],
                };
                let ask = Ask { serial: 1, device: device.device, question: Question::Tree(Box::new(tree)) };
                let Reply::Answer { answer: Answer::Tree(page), .. } = other.reply(Request::Ask(ask)) else { panic!() };
                let row = |row: &memscape::protocol::TreeRow| {
                    // Placeholders for no file and no line are empty in queries.
                    let file = Some(&row.label.file).filter(|file| !matches!(file.as_str(), "" | "??" | "none"));
                    let line = row.label.line.parse::<u32>().ok().filter(|line| (1..=i32::MAX as u32).contains(line));
                    let own = [row.self_weight.bytes.to_string(), row.self_weight.count.to_string()];
                    let total = [row.weight.bytes.to_string(), row.weight.count.to_string()];
                    let texts = [row.depth.to_string(), row.label.name.clone()];
                    let place =
                        [file.map_or("-".into(), Clone::clone), line.map_or("-".into(), |line| line.to_string())];
                    [texts, place, own, total].concat()
                };
                wanted.extend(page.rows.iter().map(row));
                if page.rows.is_empty() || wanted.len() as u32 >= page.row_count {
                    break;
                }
            }
            let sql = format!(
                "SELECT depth, function, file, line, self_bytes, self_count, total_bytes, total_count \
                 FROM tree({}) WHERE device = {}",
                device.peak_event, device.device
            );
            let mut ours = rows(&queries, &sql);
            ours.sort();
            wanted.sort();
            assert_eq!(ours.len(), wanted.len(), "{file}, device {}", device.device);
            for (ours, wanted) in ours.iter().zip(&wanted) {
                assert_eq!(ours, wanted, "{file}, device {}", device.device);
            }
        }
    }
}

#[test]
fn largest_allocations_match_allocations_tab() {
    for (file, bytes) in files() {
        let Some((queries, mut other)) = open_twice(&bytes) else { continue };
        for device in other.summary.devices.clone() {
            let question = TableQuestion {
                scope: Scope::All,
                filter: TableFilter::default(),
                sort: TableSort { column: TableColumn::Size, direction: SortDirection::Descending },
                rows: [0, 50],
                reveal: None,
                selected: Vec::new(),
                search_serial: None,
            };
            let ask = Ask { serial: 1, device: device.device, question: Question::Table(Box::new(question)) };
            let Reply::Answer { answer: Answer::Table(page), .. } = other.reply(Request::Ask(ask)) else { panic!() };
            let wanted: Vec<String> = page.rows.iter().map(|row| row.requested.to_string()).collect();
            let sql = format!(
                "SELECT requested_bytes FROM allocation WHERE device = {} ORDER BY requested_bytes DESC LIMIT 50",
                device.device
            );
            let ours: Vec<String> = rows(&queries, &sql).into_iter().map(|mut row| row.remove(0)).collect();
            assert_eq!(ours, wanted, "{file}");
            for row in page.rows.iter().take(5) {
                let details = other.details(device.device, row.allocation).unwrap();
                let id = row.allocation;
                let of = format!("FROM allocation WHERE device = {} AND id = {id}", device.device);
                assert_eq!(
                    single_value(&queries, &format!("SELECT allocated_rounded_bytes {of}")),
                    details.rounded as i64
                );
                let frames = format!("SELECT count(*) FROM frame WHERE stack = (SELECT stack {of})");
                if details.frames.len() < 100 {
                    assert_eq!(single_value(&queries, &frames), details.frames.len() as i64, "{file}: #{id}");
                }
            }
        }
    }
}

#[test]
fn filters_and_joins_match_full_scan() {
    let queries = open_queries(&generated("--steps 3 --layers 3 --oom"), FileLabel::default()).unwrap();
    // `+` keeps SQLite from passing a condition to the table.
    for (quick, scan) in [
        ("allocation WHERE id = 17", "allocation WHERE +id = 17"),
        ("allocation WHERE id BETWEEN 10.5 AND 20.5", "allocation WHERE +id BETWEEN 10.5 AND 20.5"),
        ("event WHERE event > 5 AND event < 9", "event WHERE +event > 5 AND +event < 9"),
        ("event WHERE event = '7'", "event WHERE +event = 7"),
        ("event WHERE event IN (3, 1, 2, 999999999)", "event WHERE +event IN (3, 1, 2, 999999999)"),
        ("event WHERE event = NULL", "event WHERE +event = NULL"),
        ("event WHERE event >= 9223372036854775807", "event WHERE +event >= 9223372036854775807"),
        ("curve WHERE event <= -1", "curve WHERE +event <= -1"),
        ("curve WHERE device = 1", "curve WHERE +device = 1"),
        ("frame WHERE stack = 40", "frame WHERE +stack = 40"),
        ("allocation a JOIN stack s ON s.stack = a.stack", "allocation a JOIN stack s ON +s.stack = +a.stack"),
        ("block b JOIN segment s ON s.id = b.segment", "block b JOIN segment s ON +s.id = +b.segment"),
    ] {
        let [quick, scan] =
            [quick, scan].map(|from| rows(&queries, &format!("SELECT * FROM {from} ORDER BY 1, 2, 3, 4")));
        assert_eq!(quick, scan);
    }
    // Rows come in the order that saves SQLite a sort.
    let down = rows(&queries, "SELECT event FROM curve ORDER BY event DESC");
    let mut up = rows(&queries, "SELECT event FROM curve ORDER BY event");
    up.reverse();
    assert_eq!(down, up);
}

#[test]
fn functions_return_formatted_values() {
    let queries = open_queries(&generated("--steps 2 --layers 2"), FileLabel::default()).unwrap();
    let formatted = rows(&queries, "SELECT human(1536), human(-1073741824), human(NULL), human(0.4), human('x')");
    assert_eq!(formatted, [["1.50 KiB", "−1.00 GiB", "-", "0 B", "-"]]);
    assert_eq!(single_value(&queries, "SELECT count(*) FROM allocation WHERE site(stack) IS NOT call_site"), 0);
    let by_function = "SELECT count(DISTINCT stack) FROM frame WHERE file || ':' || line || ' ' || function GLOB '*.py:[0-9]* forward'";
    let by_pattern = r"SELECT count(*) FROM stack WHERE frame_match(stack, '[.]py:\d+ forward$')";
    let found = single_value(&queries, by_pattern);
    assert!(found > 0);
    assert_eq!(found, single_value(&queries, by_function));
    let wrong = queries.run("SELECT frame_match(1, '(')", &mut |_| {}, &mut |_| true).unwrap_err();
    assert!(wrong.to_string().contains("frame_match"), "{wrong}");
    let wrong = queries.run("SELECT * FROM live_at('never')", &mut |_| {}, &mut |_| true).unwrap_err();
    assert!(wrong.to_string().contains("expected 'peak'"), "{wrong}");
    let wrong = queries.run("SELECT * FROM live_at(99999999)", &mut |_| {}, &mut |_| true).unwrap_err();
    assert!(wrong.to_string().contains("no event 99999999"), "{wrong}");
}

#[test]
fn ready_made_queries_run() {
    for (file, bytes) in files() {
        let Some(queries) = open_queries(&bytes, FileLabel::default()) else { continue };
        for query in EXAMPLE_QUERIES {
            let mut columns = 0;
            let done = queries.run(query.sql, &mut |names| columns = names.len(), &mut |_| true);
            assert!(done.is_ok() && columns > 0, "{file}: {}: {done:?}", query.title);
        }
    }
}

#[test]
fn two_files_have_separate_sides_and_stacks() {
    let mut source = Source::default();
    for (side, options) in [("A", "--steps 2 --layers 2"), ("B", "--steps 2 --layers 3")] {
        let (summary, engine) = open_whole(&generated(options)).unwrap();
        source.add(FileLabel { side: Some(side), rank: None }, summary, engine);
    }
    let queries = Queries::new(source, frozen_clock, LIMITS).unwrap();
    let shown = rows(&queries, "SELECT DISTINCT side FROM allocation ORDER BY side");
    assert_eq!(shown, [["A"], ["B"]]);
    for (side, options) in [("A", "--steps 2 --layers 2"), ("B", "--steps 2 --layers 3")] {
        let alone = open_queries(&generated(options), FileLabel::default()).unwrap();
        for sql in [
            "SELECT sum(requested_bytes) FROM live_at('peak')",
            "SELECT count(*) FROM frame",
            "SELECT count(*) FROM block",
        ] {
            let here = format!("{sql} WHERE side = '{side}'");
            assert_eq!(single_value(&queries, &here), single_value(&alone, sql), "{here}");
        }
        let sites = "SELECT group_concat(call_site) FROM (SELECT site(stack) AS call_site FROM allocation";
        let [here, there] = [format!("{sites} WHERE side = '{side}' ORDER BY id)"), format!("{sites} ORDER BY id)")];
        assert_eq!(rows(&queries, &here), rows(&alone, &there));
    }
    assert_eq!(
        single_value(&queries, "SELECT count(*) FROM stack a JOIN stack b USING (stack) WHERE a.side <> b.side"),
        0
    );
}

#[test]
fn every_table_is_in_schema_text_and_completions() {
    let queries = open_queries(&generated("--steps 2 --layers 2"), FileLabel::default()).unwrap();
    let text = schema_text(queries.catalog(), None);
    let names: Vec<&str> = queries.catalog().tables().map(|(name, _)| *name).collect();
    assert_eq!(names, TABLES.map(|table| table.name));
    for (name, columns) in queries.catalog().tables() {
        assert!(text.contains(&format!("\n{name}")) || text.starts_with(name), "{name}");
        assert!(columns.iter().all(|column| text.contains(&format!("    {}", column.name))), "{name}");
    }
    let complete = |sql: &str| completions(queries.catalog(), sql, sql.len()).words;
    assert_eq!(complete("SELECT requested"), ["requested_bytes"]);
    assert_eq!(complete("SELECT * FROM seg"), ["segment"]);
    assert_eq!(complete("SELECT a.live FROM x"), [""; 0]);
    assert_eq!(complete("SELECT 'seg"), [""; 0]);
    assert!(complete("SELECT a.").contains(&"device".to_owned()));
    let query = "SELECT human(id) -- x\nFROM allocation WHERE call_site LIKE '%é%' AND 1";
    let pieces = tokens(queries.catalog(), query);
    let whole: String = pieces.iter().map(|piece| &query[piece.from..piece.to]).collect();
    assert_eq!(whole, query);
}
