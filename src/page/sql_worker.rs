//! The page's handle to the SQL worker. The engine's worker sends it the snapshots as columns.

use super::client::Client;
use super::dom;
use super::remote::Remote;
use super::worker_code::WorkerCode;
use js_sys::Array;
use protocol::sql::{SqlReply, SqlRequest};
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, Window};

/// Reply of the SQL worker with its attachments, or the cause of a failure.
pub(super) type SqlEvent = Result<(SqlReply, Array), String>;

/// Handle to the SQL worker.
pub(super) struct SqlWorker {
    client: Rc<Client>,
    code: Rc<WorkerCode>,
    remote: Remote<SqlRequest, SqlReply>,
    /// Number of workers started so far.
    started: Cell<u32>,
}

impl SqlWorker {
    /// Creates a handle. `receive` is called with each reply, and with the cause of a failure.
    pub(super) fn new(window: Window, client: Rc<Client>, receive: impl Fn(SqlEvent) + 'static) -> Rc<SqlWorker> {
        let code = WorkerCode::of_part(window, "part-sql");
        let remote = Remote::new(code.clone(), receive);
        Rc::new(SqlWorker { client, code, remote, started: Cell::default() })
    }

    /// Returns the code of the worker, for further workers.
    pub(super) fn code(&self) -> Rc<WorkerCode> {
        self.code.clone()
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
                Err(cause) => sql.remote.fail(dom::error_message(&cause)),
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
