//! The page's handle to the SQL worker. The engine's worker sends it the snapshots as columns.

use super::app::App;
use super::client::Client;
use super::remote::Remote;
use super::worker_code::WorkerCode;
use super::{dom, export, storage};
use js_sys::{Array, Uint8Array};
use protocol::sql::{SqlReply, SqlRequest};
use std::cell::Cell;
use std::rc::Rc;
use ui::features::sql::SqlAction;
use ui::shell::action::Action;
use ui::state::effect::SqlEffect;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, HtmlTextAreaElement, Window};

/// Storage key of the query history.
const HISTORY_KEY: &str = "memscape.sql";

/// Reply of the SQL worker with its attachments, or the cause of a failure.
pub(super) type SqlEvent = Result<(SqlReply, Array), String>;

/// Handle to the SQL worker.
pub(super) struct SqlWorker {
    client: Rc<Client>,
    remote: Remote<SqlRequest, SqlReply>,
    /// Number of workers started so far.
    started: Cell<u32>,
}

impl SqlWorker {
    /// Creates a handle. `receive` is called with each reply, and with the cause of a failure.
    pub(super) fn new(window: Window, client: Rc<Client>, receive: impl Fn(SqlEvent) + 'static) -> Rc<SqlWorker> {
        let remote = Remote::new(WorkerCode::of_part(window, "part-sql"), receive);
        Rc::new(SqlWorker { client, remote, started: Cell::default() })
    }

    /// Opens the snapshots of these loads in a new worker.
    pub(super) fn open(self: &Rc<Self>, loads: Vec<u32>, request: SqlRequest) {
        self.remote.stop();
        // The code is loaded meanwhile.
        self.remote.start();
        let number = self.started.get() + 1;
        self.started.set(number);
        let sql = self.clone();
        spawn_local(async move {
            let columns = sql.columns(loads).await;
            // The worker may have been replaced meanwhile, or its code could not be loaded.
            if sql.started.get() != number || !sql.remote.is_running() {
                return;
            }
            match columns {
                Ok(columns) => sql.remote.send_with(&request, &columns),
                Err(cause) => sql.remote.fail(cause.as_string().unwrap_or_else(|| dom::error_message(&cause))),
            }
        });
    }

    /// Returns the columns of these loads as buffers.
    async fn columns(&self, loads: Vec<u32>) -> Result<Array, JsValue> {
        let files = Array::new();
        for load in loads {
            let columns: Blob = JsFuture::from(self.client.request_columns(load)).await?.dyn_into()?;
            files.push(&JsFuture::from(columns.array_buffer()).await?);
        }
        Ok(files)
    }

    /// Sends a request to the worker, which has opened the snapshots.
    pub(super) fn send(&self, request: &SqlRequest) {
        self.remote.send(request);
    }
}

/// Loads the stored history of queries.
pub(super) fn load_history(app: &App) {
    if let Some(text) = storage::load_value(&app.dom, HISTORY_KEY) {
        app.dispatch(Action::feature(SqlAction::HistoryLoaded(text)));
    }
}

/// Carries out an effect of the tab.
pub(super) fn perform(app: &App, effect: SqlEffect) {
    match effect {
        SqlEffect::Open(loads, request) => app.sql.open(loads, request),
        SqlEffect::Ask(request) => app.sql.send(&request),
        SqlEffect::SetText(text, cursor) => {
            if let Some(editor) = app.dom.by_id::<HtmlTextAreaElement>("sql-text") {
                editor.set_value(&text);
                let cursor = text.get(..cursor).map_or(0, |before| before.encode_utf16().count() as u32);
                // Fails only for fields that do not contain text.
                let _ = editor.set_selection_range(cursor, cursor);
                dom::focus_element(&editor);
            }
        }
        SqlEffect::StoreHistory(text) => storage::store(&app.dom, HISTORY_KEY, &text),
    }
}

/// Handles a reply of the worker, or its failure.
pub(super) fn on_event(app: &App, event: SqlEvent) {
    app.dispatch(Action::feature(match event {
        Ok((reply, attachments)) => {
            if let SqlReply::File(Ok(name)) = &reply {
                let content = Array::of1(&Uint8Array::new(&attachments.get(0)));
                // Fails only if the browser has no memory left.
                let _ = Blob::new_with_u8_array_sequence(&content).and_then(|blob| export::download(app, &blob, name));
            }
            SqlAction::Replied(Box::new(reply))
        }
        Err(cause) => SqlAction::Failed(cause),
    }));
}
