//! The SQL tab without a page: what is shown of typed and clicked input, with the answers of the worker's session.

use memscape::protocol::second_file_ordinal;
use memscape::protocol::sql::{RowTarget, SqlReply};
use memscape::sql::{Limits, Queries, Session, Source};
use memscape::ui::features::sql::{Sql, SqlAction};
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
        assert!(!self.tab().is_busy);
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

    fn tab(&self) -> &Sql {
        &self.state.queries
    }

    fn status(&self) -> (&str, bool) {
        let (text, is_error) = &self.tab().status;
        (text, *is_error)
    }

    /// The header and the rows received so far.
    fn table(&self) -> String {
        let result = &self.tab().result;
        let names = result.columns.iter().map(|(name, _)| &**name);
        names.chain(result.rows.iter().flat_map(|row| &row.cells).map(|cell| &**cell)).collect()
    }

    fn query(&self) -> String {
        self.tab().highlighted().into_iter().map(|(_, text)| text).collect()
    }
}

const COUNT: &str = "WITH RECURSIVE n(event, id) AS (VALUES(1, 9) UNION ALL SELECT event + 1, 9 FROM n WHERE event < ";

#[test]
fn rows_are_shown_sorted_and_saved() {
    let mut tab = tab("");
    tab.run(&format!("{COUNT} 450) SELECT event, event % 10 AS rest, id FROM n"));
    assert!(tab.table().starts_with("eventrestid119229"));
    assert!(tab.status().0.starts_with("450 rows in ") && !tab.status().1, "{:?}", tab.status());
    // More rows are added while scrolling.
    let more = |tab: &mut Tab| {
        let (number, count) = (tab.tab().result_count, tab.tab().result.rows.len());
        tab.act(SqlAction::MoreWanted);
        assert_eq!(tab.tab().result_count, number, "the rows before are shown already");
        tab.tab().result.rows.len() - count
    };
    assert_eq!([more(&mut tab), more(&mut tab), more(&mut tab)], [200, 50, 0]);
    tab.click("sort:0");
    assert!(tab.table().starts_with("eventrestid450094499"));
    tab.click("sort:0");
    assert!(tab.table().starts_with("eventrestid119"));
    let target = RowTarget { device: None, allocation: Some(9), event: Some(3) };
    assert_eq!(tab.tab().row_target("row:2"), Some(target));
    tab.click("copy");
    assert!(tab.copied.starts_with("event\trest\tid\n1\t1\t9\n"));
    tab.click("csv");
    tab.click("sqlite");
    let [(csv, rows), (sqlite, bytes)] = &*tab.saved else { panic!("two files") };
    assert!(csv == "name.csv" && rows.starts_with(b"event,rest,id\r\n1,1,9\r\n"));
    assert!(sqlite == "name.sqlite" && bytes.starts_with(b"SQLite format 3\0"));
    for nothing in ["row:4000000000", "row:", "sort:99", "nonsense", "canned:x", ""] {
        tab.click(nothing);
        assert_eq!(tab.tab().row_target(nothing), None);
    }
}

#[test]
fn rows_of_two_files_link_to_their_file() {
    let go = |tab: &mut Tab, sql: &str| {
        tab.run(sql);
        tab.tab().row_target("row:0")
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
        let chart = tab.tab().result.chart.clone();
        chart.map(|chart| (chart.lines[0].0.clone(), chart.ranges))
    };
    let wanted = ("live_bytes".to_owned(), ["0 B to 5.00 KiB", "event: 1 to 5"].map(str::to_owned));
    assert_eq!(chart("SELECT event, event * 1024 AS live_bytes FROM n"), Some(wanted));
    assert_eq!(chart("SELECT event, 'x' AS name FROM n"), None);
    assert_eq!(chart("SELECT event, event AS stack FROM n"), None);
    assert_eq!(chart("SELECT abs(event - 3) AS x, event AS y FROM n"), None);
}

#[test]
fn chart_fills_its_box() {
    let mut tab = tab("");
    tab.run(&format!("{COUNT} 3) SELECT event, event * 2 AS rate FROM n"));
    let chart = tab.tab().result.chart.as_ref().unwrap();
    assert_eq!(chart.lines, [("rate".to_owned(), "M0.0 66.67L500.0 33.33L1000.0 0.00".to_owned())]);
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
    assert_eq!(*tab.tab().history, ["SELECT 2", "SELECT 1"]);
    tab.run("SELECT no_such");
    assert!(tab.status().0.contains("no such column") && tab.status().1);
    tab.run(" SELECT 1\n");
    assert_eq!(*tab.tab().history, ["SELECT 1", "SELECT 2"]);
    assert_eq!(tab.effects.last(), Some(&SqlEffect::StoreHistory("SELECT 1\u{1e}SELECT 2".to_owned())));
    tab.click("history:1");
    assert_eq!(tab.effects[0], SqlEffect::SetText("SELECT 2".to_owned(), 8));
    assert_eq!(tab.table(), "22");
}

#[test]
fn tab_completes_words() {
    let mut tab = tab("");
    tab.edit("SELECT 'é' || reque FROM x", 19);
    assert_eq!(tab.tab().completion.words, ["requested_bytes"]);
    assert_eq!(tab.query(), "SELECT 'é' || reque FROM x");
    tab.press("Tab");
    assert_eq!(tab.effects, [SqlEffect::SetText("SELECT 'é' || requested_bytes FROM x".to_owned(), 30)]);
    assert_eq!(tab.query(), "SELECT 'é' || requested_bytes FROM x");
    assert!(tab.tab().completion.words.is_empty());
    tab.edit("SELECT * FROM s", 15);
    tab.press("ArrowDown");
    tab.press("ArrowDown");
    assert_eq!(tab.tab().chosen, Some(1));
    tab.press("Escape");
    assert!(tab.tab().completion.words.is_empty());
    tab.press("Tab");
    assert!(tab.effects.is_empty(), "the list of completions is closed");
}

#[test]
fn query_is_highlighted_once_worker_has_sent_its_syntax() {
    let mut tab = tab("");
    tab.edit("SELECT 1", 8);
    let pieces = [("keyword", "SELECT"), ("", " "), ("number", "1")].map(|(class, text)| (class, text.to_owned()));
    assert_eq!(tab.tab().highlighted(), pieces);
    // A worker that is not open is not asked.
    tab.act(SqlAction::Failed("gone".to_owned()));
    assert_eq!(tab.status(), ("The query ended the worker: gone", true));
    tab.edit("SELECT 12", 9);
    assert_eq!(tab.tab().highlighted(), [("", "SELECT 12".to_owned())]);
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
    assert_eq!(tab.tab().row_target("row:0"), None, "the new worker may have other snapshots");
    tab.click("sort:0");
    assert_eq!((tab.tab().sorted, &*tab.table()), (None, "id9"), "the new worker has no rows to sort");
    tab.act(SqlAction::Run("SELECT 5".to_owned()));
    assert!(tab.tab().is_busy);
    tab.open();
    assert!(!tab.tab().is_busy);
    assert_eq!(tab.table(), "55");
    tab.act(SqlAction::Cancelled);
    tab.act(SqlAction::Failed("no network".to_owned()));
    let text = "SQL is not available: no network. On the command line it is memscape sql.";
    assert_eq!((tab.status(), tab.tab().is_busy), ((text, true), false));
}
