//! The SQL tab without a page: what is shown of typed and clicked input, with the answers of the worker's session.

use memscape::protocol::second_file_ordinal;
use memscape::protocol::sql::{RowTarget, SqlReply};
use memscape::sql::{Limits, Queries, Session, Source};
use memscape::ui::features::sql::{Node, SqlAction, SqlPart};
use memscape::ui::state::effect::SqlEffect;
use memscape::ui::text::url::PageScheme;
use memscape::ui::{Action, Effect, State, update};

/// The tab, its worker, and the effects that the page would carry out.
struct Tab {
    state: State,
    session: Session,
    effects: Vec<SqlEffect>,
    copied: String,
    saved: Vec<(String, Vec<u8>)>,
}

fn tab(history: &str) -> Tab {
    compared(history, None)
}

fn compared(history: &str, second: Option<&'static str>) -> Tab {
    let limits = Limits { seconds: 0, memory: 1 << 28 };
    let queries = Queries::new(Source::default(), || 0.0, limits).unwrap();
    let session = Session::new(queries, || 0.0, "name".to_owned(), second);
    let (effects, copied, saved) = Default::default();
    let mut tab = Tab { state: State::new(PageScheme::default()), session, effects, copied, saved };
    tab.act(SqlAction::HistoryLoaded(history.to_owned()));
    tab.open();
    tab
}

impl Tab {
    fn open(&mut self) {
        let schema = self.session.schema();
        self.act(SqlAction::Replied(Box::new(SqlReply::Opened(Ok(schema)))));
    }

    fn act(&mut self, action: SqlAction) {
        for effect in update(&mut self.state, Action::feature(action), 0.0) {
            match effect {
                Effect::Sql(SqlEffect::Ask(request)) => {
                    let (reply, file) = self.session.answer(request).unwrap();
                    if let SqlReply::File(Ok(name)) = &reply {
                        self.saved.push((name.clone(), file.unwrap()));
                    }
                    self.act(SqlAction::Replied(Box::new(reply)));
                }
                Effect::Sql(effect) => self.effects.push(effect),
                Effect::Copy(text) => self.copied = text,
                _ => {}
            }
        }
    }

    fn run(&mut self, query: &str) {
        self.effects.clear();
        self.act(SqlAction::Run(query.to_owned()));
        assert!(!self.state.queries.is_busy());
    }

    fn click(&mut self, act: &str) {
        self.effects.clear();
        self.act(SqlAction::Clicked(act.to_owned()));
    }

    fn edit(&mut self, text: &str, cursor: usize) {
        self.act(SqlAction::Edited(text.to_owned(), cursor));
    }

    fn press(&mut self, key: &str) {
        self.effects.clear();
        self.act(SqlAction::KeyPressed(key.to_owned()));
    }

    fn shown(&self, part: SqlPart) -> String {
        text(&self.state.queries.nodes(part))
    }

    fn status(&self) -> (&str, bool) {
        self.state.queries.status()
    }
}

fn text(nodes: &[Node]) -> String {
    let of = |node: &Node| match node {
        Node::Text(text) => text.clone(),
        Node::Element { children, .. } => text(children),
    };
    nodes.iter().map(of).collect()
}

const COUNT: &str = "WITH RECURSIVE n(event, id) AS (VALUES(1, 9) UNION ALL SELECT event + 1, 9 FROM n WHERE event < ";

#[test]
fn rows_are_shown_sorted_and_saved() {
    let mut tab = tab("");
    tab.run(&format!("{COUNT} 450) SELECT event, event % 10 AS rest, id FROM n"));
    assert!(tab.shown(SqlPart::Rows).starts_with("eventrestid119229"));
    assert!(tab.status().0.starts_with("450 rows in ") && !tab.status().1, "{:?}", tab.status());
    // More rows are added while scrolling.
    let more = |tab: &mut Tab| {
        let (version, count) = (tab.state.queries.version(SqlPart::Rows), tab.state.queries.row_count());
        tab.act(SqlAction::MoreWanted);
        assert_eq!(tab.state.queries.version(SqlPart::Rows), version);
        tab.state.queries.rows_from(count).len()
    };
    assert_eq!([more(&mut tab), more(&mut tab), more(&mut tab)], [200, 50, 0]);
    tab.click("sort:0");
    assert!(tab.shown(SqlPart::Rows).starts_with("eventrestid450094499"));
    tab.click("sort:0");
    assert!(tab.shown(SqlPart::Rows).starts_with("eventrestid119"));
    let target = RowTarget { device: None, allocation: Some(9), event: Some(3) };
    assert_eq!(tab.state.queries.row_target("row:2"), Some(target));
    tab.click("copy");
    assert!(tab.copied.starts_with("event\trest\tid\n1\t1\t9\n"));
    tab.click("csv");
    tab.click("sqlite");
    let [(csv, rows), (sqlite, bytes)] = &*tab.saved else { panic!("two files") };
    assert!(csv == "name.csv" && rows.starts_with(b"event,rest,id\r\n1,1,9\r\n"));
    assert!(sqlite == "name.sqlite" && bytes.starts_with(b"SQLite format 3\0"));
    for nothing in ["row:4000000000", "row:", "sort:99", "nonsense", "canned:x", ""] {
        tab.click(nothing);
        assert_eq!(tab.state.queries.row_target(nothing), None);
    }
}

#[test]
fn rows_of_two_files_link_to_their_file() {
    let go = |tab: &mut Tab, sql: &str| {
        tab.run(sql);
        tab.state.queries.row_target("row:0")
    };
    let of = |device| Some(RowTarget { device: Some(device), allocation: Some(7), event: None });
    let mut tab = compared("", Some("B"));
    assert_eq!(go(&mut tab, "SELECT 'A' AS side, 1 AS device, 7 AS id"), of(1));
    assert_eq!(go(&mut tab, "SELECT 'B' AS side, 1 AS device, 7 AS id"), of(second_file_ordinal(1)));
    for unclear in
        ["SELECT 1 AS device, 7 AS id", "SELECT 'B' AS side, 7 AS id", "SELECT 2 AS side, 1 AS device, 7 AS id"]
    {
        assert_eq!(go(&mut tab, unclear), None);
    }
    let mut swapped = compared("", Some("A"));
    assert_eq!(go(&mut swapped, "SELECT 'A' AS side, 1 AS device, 7 AS id"), of(second_file_ordinal(1)));
}

#[test]
fn only_numeric_series_has_a_chart() {
    let mut tab = tab("");
    let mut chart = |sql: &str| {
        tab.run(&format!("{COUNT} 5) {sql}"));
        tab.shown(SqlPart::Chart)
    };
    assert_eq!(chart("SELECT event, event * 1024 AS live_bytes FROM n"), "live_bytes0 B to 5.00 KiBevent: 1 to 5");
    assert_eq!(chart("SELECT event, 'x' AS name FROM n"), "");
    assert_eq!(chart("SELECT event, event AS stack FROM n"), "");
    assert_eq!(chart("SELECT abs(event - 3) AS x, event AS y FROM n"), "");
}

#[test]
fn chart_fills_its_box() {
    let mut tab = tab("");
    tab.run(&format!("{COUNT} 3) SELECT event, event * 2 AS rate FROM n"));
    let nodes = tab.state.queries.nodes(SqlPart::Chart);
    let Node::Element { children, .. } = &nodes[0] else { panic!("an svg") };
    let Node::Element { attributes, .. } = &children[0] else { panic!("a path") };
    assert!(attributes.contains(&("d", "M0.0 66.67L500.0 33.33L1000.0 0.00".to_owned())), "{attributes:?}");
}

#[test]
fn result_is_limited_to_ten_thousand_rows() {
    let mut tab = tab("");
    tab.run(&format!("{COUNT} 20000) SELECT event FROM n"));
    assert!(tab.status().0.starts_with("The first 10,000 rows in ") && !tab.status().1);
}

#[test]
fn history_keeps_only_valid_queries() {
    let mut tab = tab("SELECT 2\u{1e}SELECT 1");
    assert_eq!(tab.shown(SqlPart::History), "SELECT 2SELECT 1");
    tab.run("SELECT no_such");
    assert!(tab.status().0.contains("no such column") && tab.status().1);
    tab.run(" SELECT 1\n");
    assert_eq!(tab.shown(SqlPart::History), "SELECT 1SELECT 2");
    assert_eq!(tab.effects.last(), Some(&SqlEffect::StoreHistory("SELECT 1\u{1e}SELECT 2".to_owned())));
    tab.click("history:1");
    assert_eq!(tab.effects[0], SqlEffect::SetText("SELECT 2".to_owned(), 8));
    assert_eq!(tab.shown(SqlPart::Rows), "22");
}

#[test]
fn tab_completes_words() {
    let mut tab = tab("");
    tab.edit("SELECT 'é' || reque FROM x", 18);
    assert_eq!(tab.shown(SqlPart::Words), "requested_bytes");
    assert_eq!(tab.shown(SqlPart::Query), "SELECT 'é' || reque FROM x\n");
    tab.press("Tab");
    assert_eq!(tab.effects, [SqlEffect::SetText("SELECT 'é' || requested_bytes FROM x".to_owned(), 29)]);
    assert_eq!(tab.shown(SqlPart::Query), "SELECT 'é' || requested_bytes FROM x\n");
    assert_eq!(tab.shown(SqlPart::Words), "");
    tab.edit("SELECT * FROM s", 15);
    tab.press("ArrowDown");
    tab.press("ArrowDown");
    let words = tab.state.queries.nodes(SqlPart::Words);
    assert!(
        matches!(&words[1], Node::Element { attributes, .. } if attributes.contains(&("aria-selected", "true".to_owned())))
    );
    tab.press("Escape");
    assert!(tab.shown(SqlPart::Words).is_empty());
    tab.press("Tab");
    assert!(tab.effects.is_empty(), "the list of completions is closed");
}

#[test]
fn query_is_highlighted_once_worker_has_sent_its_syntax() {
    let mut tab = tab("");
    tab.edit("SELECT 1", 8);
    assert_eq!(tab.state.queries.nodes(SqlPart::Query).len(), 4, "keyword, space, number and end of line");
    // A worker that is not open is not asked.
    tab.act(SqlAction::Failed("gone".to_owned()));
    assert_eq!(tab.status(), ("The query ended the worker: gone", true));
    tab.edit("SELECT 12", 9);
    let nodes = tab.state.queries.nodes(SqlPart::Query);
    assert_eq!(nodes, [Node::Text("SELECT 12".to_owned()), Node::Text("\n".to_owned())]);
}

#[test]
fn query_waits_until_snapshots_are_open() {
    let mut tab = tab("");
    tab.run("SELECT 9 AS id");
    // Cancelling opens the snapshots again, in a new worker.
    tab.effects.clear();
    tab.act(SqlAction::Cancelled);
    assert!(matches!(&*tab.effects, [SqlEffect::Open(..)]), "{:?}", tab.effects);
    assert_eq!(tab.status(), ("Loading…", false));
    assert_eq!(tab.state.queries.row_target("row:0"), None, "the new worker may have other snapshots");
    tab.act(SqlAction::Run("SELECT 5".to_owned()));
    assert!(tab.state.queries.is_busy());
    tab.open();
    assert!(!tab.state.queries.is_busy());
    assert_eq!(tab.shown(SqlPart::Rows), "55");
    tab.act(SqlAction::Cancelled);
    tab.act(SqlAction::Failed("no network".to_owned()));
    let text = "SQL is not available: no network. On the command line it is memscape sql.";
    assert_eq!((tab.status(), tab.state.queries.is_busy()), ((text, true), false));
}
