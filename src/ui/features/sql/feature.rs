//! Declaration of the SQL tab.

use super::data::{QuerySubject, Sql, SqlAction, WorkerStage};
use crate::features::feature::{Feature, close_nothing, reset_nothing, take_nothing};
use crate::state::change::AskPhase;
use crate::state::effect::{Effect, SqlEffect};
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab;
use protocol::sql::{SqlFormat, SqlRequest};

pub(crate) const FEATURE: Feature<Sql, SqlAction> = Feature {
    reset: reset_nothing,
    questions: &[(AskPhase::Last, open_if_visible)],
    on_reply: take_nothing,
    on_action,
    link_keys: &[],
    on_escape: close_nothing,
};

/// Opens the snapshots in the worker when the tab is shown, and when they or the category rules have changed.
fn open_if_visible(sql: &mut Sql, shared: &Shared, _: i64, out: &mut Outbox) {
    if shared.views.visible() == Some(Tab::Sql)
        && let Some(subject) = QuerySubject::from_state(shared).filter(|subject| *subject != sql.subject)
    {
        sql.subject = subject;
        sql.queued = None;
        open(sql, shared, out);
    }
}

/// Opens the snapshots in a new worker. The previous one is stopped, including any running query.
fn open(sql: &mut Sql, shared: &Shared, out: &mut Outbox) {
    let QuerySubject { loads, is_b_second, name, .. } = sql.subject.clone();
    // The previous result stays, without links into its snapshots and without further rows.
    (sql.stage, sql.is_busy, sql.result.row_count) = (WorkerStage::Opening, true, 0);
    sql.set_status("Loading…", false);
    let request = SqlRequest::Open { name, categories: Box::new(shared.rules.set()), is_b_second };
    out.push(Effect::Sql(SqlEffect::Open(loads, request)));
}

fn on_action(sql: &mut Sql, shared: &Shared, action: SqlAction, out: &mut Outbox) {
    match action {
        SqlAction::HistoryLoaded(stored) => sql.load_history(&stored),
        SqlAction::Edited(text, cursor) => sql.on_edit(text, cursor, out),
        SqlAction::KeyPressed(key) => sql.on_key(&key, out),
        SqlAction::Run(query) => run(sql, shared, query, out),
        SqlAction::Clicked(act) => on_click(sql, shared, &act, out),
        SqlAction::MoreWanted => sql.request_rows(out),
        SqlAction::Cancelled => {
            sql.queued = None;
            open(sql, shared, out);
        }
        SqlAction::Replied(reply) => sql.on_reply(*reply, out),
        SqlAction::Failed(_) if sql.stage == WorkerStage::Stopped => {}
        SqlAction::Failed(cause) => {
            let text = match sql.stage {
                WorkerStage::Open => ["The query ended the worker: ", &cause].concat(),
                _ => ["SQL is not available: ", &cause, ". On the command line it is memscape sql."].concat(),
            };
            (sql.stage, sql.is_busy, sql.result.row_count, sql.queued) = (WorkerStage::Stopped, false, 0, None);
            sql.set_status(&text, true);
        }
        SqlAction::Allocation(allocation) => out.intend(Intent::Select(Some(allocation))),
        SqlAction::Event(event) => out.intend(Intent::MoveCursor(event.saturating_add(1))),
    }
}

/// Runs a query, now or once the snapshots are open.
fn run(sql: &mut Sql, shared: &Shared, query: String, out: &mut Outbox) {
    match sql.stage {
        WorkerStage::Open => sql.run(query, out),
        stage => {
            sql.queued = Some(query);
            if stage == WorkerStage::Stopped && !sql.subject.loads.is_empty() {
                open(sql, shared, out);
            }
        }
    }
}

/// Handles a click on an element. `act` names the kind of element and its index.
fn on_click(sql: &mut Sql, shared: &Shared, act: &str, out: &mut Outbox) {
    let (kind, index) = act.split_once(':').unwrap_or((act, ""));
    let index = index.parse::<usize>().unwrap_or(usize::MAX);
    let is_open = sql.stage == WorkerStage::Open;
    match kind {
        "column" => sql.insert_column(index, out),
        "word" => sql.complete(index, out),
        "sort" if sql.result.row_count > 0 => sql.ask(SqlRequest::Sort(index), out),
        "copy" if is_open => sql.ask(SqlRequest::Export(SqlFormat::Text), out),
        "csv" if is_open => sql.ask(SqlRequest::Export(SqlFormat::Csv), out),
        "sqlite" if is_open => sql.ask(SqlRequest::Export(SqlFormat::Sqlite), out),
        list => {
            if let Some(query) = sql.listed_query(list, index) {
                sql.set_text(query.len(), query.clone(), out);
                run(sql, shared, query, out);
            }
        }
    }
}
