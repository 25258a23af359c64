//! The SQL tab without a page: output events for typed and clicked input.

use super::{Node, PageCommand, SqlTab, bytes_to};
use crate::{Limits, Queries, Source};
use protocol::second_file_ordinal;

fn desk(history: &str) -> (SqlTab, Vec<PageCommand>) {
    compared(history, None)
}

fn compared(history: &str, second: Option<&'static str>) -> (SqlTab, Vec<PageCommand>) {
    let limits = Limits { seconds: 0, memory: 1 << 28 };
    SqlTab::new(Queries::new(Source::default(), || 0.0, limits).unwrap(), || 0.0, "name", history, second)
}

fn text(nodes: &[Node]) -> String {
    let of = |node: &Node| match node {
        Node::Text(text) => text.clone(),
        Node::Element { children, .. } => text(children),
    };
    nodes.iter().map(of).collect()
}

fn shown(commands: &[PageCommand], id: &str) -> String {
    let of = |commands: &PageCommand| match commands {
        PageCommand::Replace(known, nodes) if *known == id => Some(text(nodes)),
        _ => None,
    };
    commands.iter().find_map(of).unwrap_or_else(|| panic!("no update of {id}"))
}

const COUNT: &str = "WITH RECURSIVE n(event, id) AS (VALUES(1, 9) UNION ALL SELECT event + 1, 9 FROM n WHERE event < ";

#[test]
fn rows_are_shown_sorted_and_saved() {
    let (mut desk, _) = desk("");
    let commands = desk.run(&format!("{COUNT} 450) SELECT event, event % 10 AS rest, id FROM n"));
    assert!(shown(&commands, "sql-result").starts_with("eventrestid119229"));
    assert!(
        matches!(&commands[1], PageCommand::Status(text, false) if text.starts_with("450 rows in ")),
        "{commands:?}"
    );
    // More rows are added while scrolling.
    let more = |desk: &mut SqlTab| match &*desk.more() {
        [PageCommand::Append("sql-rows", nodes)] => nodes.len(),
        _ => 0,
    };
    assert_eq!([more(&mut desk), more(&mut desk), more(&mut desk)], [200, 50, 0]);
    assert!(shown(&desk.on_click("sort:0"), "sql-result").starts_with("eventrestid450094499"));
    assert!(shown(&desk.on_click("sort:0"), "sql-result").starts_with("eventrestid119"));
    assert_eq!(desk.on_click("row:2"), [PageCommand::Go { device: None, allocation: Some(9), event: Some(3) }]);
    assert!(
        matches!(&desk.on_click("copy")[0], PageCommand::Copy(text) if text.starts_with("event\trest\tid\n1\t1\t9\n"))
    );
    let saved = desk.on_click("csv");
    assert!(
        matches!(&saved[0], PageCommand::Save(name, bytes) if name == "name.csv" && bytes.starts_with(b"event,rest,id\r\n1,1,9\r\n"))
    );
    assert!(
        matches!(&desk.on_click("sqlite")[0], PageCommand::Save(name, bytes) if name == "name.sqlite" && bytes.starts_with(b"SQLite format 3\0"))
    );
    for nothing in ["row:4000000000", "row:", "sort:99", "nonsense", "canned:x", ""] {
        desk.on_click(nothing);
    }
}

#[test]
fn rows_of_two_files_link_to_their_file() {
    let (mut desk, _) = compared("", Some("B"));
    let go = |desk: &mut SqlTab, sql: &str| {
        desk.run(sql);
        desk.on_click("row:0")
    };
    let of = |device| vec![PageCommand::Go { device: Some(device), allocation: Some(7), event: None }];
    assert_eq!(go(&mut desk, "SELECT 'A' AS side, 1 AS device, 7 AS id"), of(1));
    assert_eq!(go(&mut desk, "SELECT 'B' AS side, 1 AS device, 7 AS id"), of(second_file_ordinal(1)));
    for unclear in
        ["SELECT 1 AS device, 7 AS id", "SELECT 'B' AS side, 7 AS id", "SELECT 2 AS side, 1 AS device, 7 AS id"]
    {
        assert_eq!(go(&mut desk, unclear), []);
    }
    let (mut swapped, _) = compared("", Some("A"));
    assert_eq!(go(&mut swapped, "SELECT 'A' AS side, 1 AS device, 7 AS id"), of(second_file_ordinal(1)));
}

#[test]
fn only_numeric_series_has_a_chart() {
    let (mut desk, _) = desk("");
    let chart = |desk: &mut SqlTab, sql: &str| shown(&desk.run(&format!("{COUNT} 5) {sql}")), "sql-chart");
    assert_eq!(
        chart(&mut desk, "SELECT event, event * 1024 AS live_bytes FROM n"),
        "live_bytes0 B to 5.00 KiBevent: 1 to 5"
    );
    assert_eq!(chart(&mut desk, "SELECT event, 'x' AS name FROM n"), "");
    assert_eq!(chart(&mut desk, "SELECT event, event AS stack FROM n"), "");
    assert_eq!(chart(&mut desk, "SELECT abs(event - 3) AS x, event AS y FROM n"), "");
}

#[test]
fn result_is_limited_to_ten_thousand_rows() {
    let (mut desk, _) = desk("");
    let commands = desk.run(&format!("{COUNT} 20000) SELECT event FROM n"));
    assert!(matches!(&commands[1], PageCommand::Status(text, false) if text.starts_with("The first 10,000 rows in ")));
}

#[test]
fn history_keeps_only_valid_queries() {
    let (mut desk, commands) = desk("SELECT 2\u{1e}SELECT 1");
    assert_eq!(shown(&commands, "sql-history"), "SELECT 2SELECT 1");
    let commands = desk.run("SELECT no_such");
    assert!(matches!(&commands[1], PageCommand::Status(text, true) if text.contains("no such column")));
    let commands = desk.run(" SELECT 1\n");
    assert_eq!(shown(&commands, "sql-history"), "SELECT 1SELECT 2");
    assert_eq!(commands.last(), Some(&PageCommand::History("SELECT 1\u{1e}SELECT 2".to_owned())));
    let commands = desk.on_click("history:1");
    assert_eq!(commands[0], PageCommand::SetQuery("SELECT 2".to_owned(), 8));
    assert_eq!(shown(&commands, "sql-result"), "22");
}

#[test]
fn tab_completes_words() {
    let (mut desk, _) = desk("");
    let commands = desk.on_edit("SELECT 'é' || reque FROM x", 18);
    assert_eq!(shown(&commands, "sql-words"), "requested_bytes");
    assert_eq!(shown(&commands, "sql-colour"), "SELECT 'é' || reque FROM x\n");
    let commands = desk.on_key("Tab");
    assert_eq!(commands[0], PageCommand::SetQuery("SELECT 'é' || requested_bytes FROM x".to_owned(), 29));
    desk.on_edit("SELECT * FROM s", 15);
    desk.on_key("ArrowDown");
    let chosen = desk.on_key("ArrowDown");
    let PageCommand::Replace(_, words) = &chosen[0] else { panic!() };
    assert!(
        matches!(&words[1], Node::Element { attributes, .. } if attributes.contains(&("aria-selected", "true".to_owned())))
    );
    assert!(shown(&desk.on_key("Escape"), "sql-words").is_empty());
    assert!(desk.on_key("Tab").is_empty(), "the list of completions is closed");
}

#[test]
fn utf16_offsets_are_converted_to_bytes() {
    for (text, letters, bytes) in
        [("abc", 2, 2), ("é🦀x", 1, 2), ("é🦀x", 3, 6), ("é🦀x", 2, 2), ("a", 9, 1), ("", 0, 0)]
    {
        assert_eq!(bytes_to(text, letters), bytes, "{text} {letters}");
    }
}
