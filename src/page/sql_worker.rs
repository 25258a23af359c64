//! The page's handle to the SQL worker. The engine's worker sends it the snapshot as columns. The SQL worker describes
//! the elements that show its results, so that the page's wasm contains no code for them.

use super::app::App;
use super::busy::BusyGuard;
use super::remote::Remote;
use super::worker_code::WorkerCode;
use super::{clipboard, dom, export, storage};
use js_sys::{Array, Uint8Array};
use std::cell::{Cell, OnceCell, RefCell};
use ui::Action;
use ui::sql::{QuerySubject, SqlAction};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, Element, HtmlTextAreaElement};

/// Storage key of the query history.
const HISTORY_KEY: &str = "memscape.sql";
/// Tags of elements that the SQL worker may create, separated by spaces. None of them can load or execute anything.
const TAGS: &str = " button details li ol p path span summary svg table tbody td th thead tr ul ";
/// Attributes that the SQL worker may set, separated by spaces.
const ATTRIBUTES: &str = " aria-label aria-selected aria-sort class d data-act id preserveAspectRatio role scope tabindex title type viewBox ";
const SVG: &str = "http://www.w3.org/2000/svg";

/// Handle to the SQL worker.
pub(super) struct SqlWorker {
    /// Messages are attached to empty requests and replies.
    remote: Remote<(), ()>,
    /// Messages to send once the snapshots are open.
    waiting: RefCell<Option<Vec<Array>>>,
    /// True if the worker has opened the snapshots.
    is_open: Cell<bool>,
    /// Number of workers started or crashed so far.
    generation: Cell<u32>,
    /// Snapshots that the queries run on.
    subject: RefCell<QuerySubject>,
    /// Guard that keeps the page busy while a query runs.
    busy: RefCell<Option<BusyGuard>>,
}

thread_local! {
    /// The only handle to the SQL worker. It is not part of [`App`], because its functions need the app.
    static SQL: OnceCell<&'static SqlWorker> = const { OnceCell::new() };
}

/// Returns the page's handle to the SQL worker.
pub(super) fn sql_worker(app: &'static App) -> &'static SqlWorker {
    SQL.with(|sql| *sql.get_or_init(|| Box::leak(Box::new(SqlWorker::new(app)))))
}

impl SqlWorker {
    fn new(app: &'static App) -> SqlWorker {
        let receive = move |event: Result<((), Array), String>| match event {
            Ok((_, attachments)) => drop(sql_worker(app).on_message(app, attachments.get(0).unchecked_ref())),
            Err(cause) => on_failure(app, &cause),
        };
        let remote = Remote::new(WorkerCode::of_part(app.dom.window.clone(), "part-sql"), receive);
        let (waiting, is_open, generation, subject, busy) = Default::default();
        SqlWorker { remote, waiting, is_open, generation, subject, busy }
    }

    /// Restarts the worker if `subject` differs from the snapshots that it queries now.
    pub(super) fn open(&self, app: &'static App, subject: QuerySubject) {
        if *self.subject.borrow() != subject {
            self.subject.replace(subject);
            self.restart(app);
        }
    }

    /// Stops the worker, including any running query, and starts a new one.
    pub(super) fn restart(&self, app: &'static App) {
        let number = self.generation.get() + 1;
        self.generation.set(number);
        self.remote.stop();
        self.waiting.replace(Some(Vec::new()));
        self.is_open.set(false);
        self.remote.start();
        set_busy(app, true);
        set_status(app, "Loading…", false);
        spawn_local(async move {
            if let Err(cause) = sql_worker(app).start(app, number).await
                && sql_worker(app).generation.get() == number
            {
                on_failure(app, &cause);
            }
        });
    }

    async fn start(&self, app: &'static App, number: u32) -> Result<(), String> {
        let cause = |cause: JsValue| dom::error_message(&cause);
        let subject = self.subject.borrow().clone();
        let files = Array::new();
        for load in subject.loads {
            let columns = JsFuture::from(app.client.request_columns(load)).await.map_err(cause)?;
            let columns: Blob = columns.dyn_into().map_err(|why| why.as_string().unwrap_or_default())?;
            files.push(&Uint8Array::new(&JsFuture::from(columns.array_buffer()).await.map_err(cause)?));
        }
        if self.generation.get() != number {
            return Ok(());
        }
        let history = storage::load_value(&app.dom, HISTORY_KEY).unwrap_or_default();
        let open = Array::of4(&"open".into(), &files, &subject.name.into(), &history.into());
        open.push(&Uint8Array::from(&*ui::sql::encoded_rules(&app.state.borrow())));
        open.push(&subject.is_b_second.into());
        self.post(&open);
        self.waiting.take().into_iter().flatten().for_each(|message| self.post(&message));
        Ok(())
    }

    fn post(&self, message: &Array) {
        self.remote.send_with(&(), &Array::of1(message));
    }

    /// Sends a message if the worker is ready. Otherwise, the message is dropped.
    pub(super) fn send(&self, message: &Array) {
        if self.remote.is_ready() {
            self.post(message);
        }
    }

    /// Sends a message that may start long work, either now or once the worker is ready. Starts the worker if
    /// necessary.
    pub(super) fn run(&self, app: &'static App, message: Array) {
        if !self.subject.borrow().loads.is_empty() && !self.remote.is_running() {
            self.restart(app);
        }
        if let Some(waiting) = &mut *self.waiting.borrow_mut() {
            return waiting.push(message);
        }
        set_busy(app, true);
        self.post(&message);
    }

    fn on_message(&self, app: &'static App, message: &Array) -> Option<()> {
        let text = |at| message.get(at).as_string();
        match text(0)?.as_str() {
            what @ ("show" | "add") => {
                let place: Element = app.dom.by_id(&text(1)?)?;
                if what == "show" {
                    dom::clear(&place);
                }
                message.iter().skip(2).for_each(|node| add_node(app, &place, &node));
            }
            "status" => set_status(app, &text(1)?, message.get(2).is_truthy()),
            "typed" => {
                let editor: HtmlTextAreaElement = app.dom.by_id("sql-text")?;
                editor.set_value(&text(1)?);
                let cursor = message.get(2).as_f64()? as u32;
                // Fails only for fields that do not contain text.
                let _ = editor.set_selection_range(cursor, cursor);
                dom::focus_element(&editor);
            }
            "go" => {
                let number = |at| message.get(at).as_f64();
                let device = number(1).map(|device| device as i64);
                let shown = app.state.borrow().device().map(|device| device.device);
                if let Some(device) = device.filter(|_| device != shown) {
                    app.dispatch(Action::DeviceChosen(device));
                }
                let allocation = number(2).map(|id| SqlAction::Allocation(id as u32));
                let action = allocation.or(number(3).map(|event| SqlAction::Event(event as u32)))?;
                app.dispatch(Action::feature(action));
            }
            "copy" => clipboard::copy(app, &text(1)?),
            "save" => {
                let blob = Blob::new_with_u8_array_sequence(&Array::of1(&message.get(2))).ok()?;
                export::download(app, &blob, &text(1)?).ok()?;
            }
            "history" => storage::store(&app.dom, HISTORY_KEY, &text(1)?),
            "done" => {
                self.is_open.set(true);
                set_busy(app, false);
            }
            _ => {}
        }
        Some(())
    }
}

/// Drops a worker that has crashed or cannot be started, and shows the cause.
fn on_failure(app: &'static App, cause: &str) {
    let sql = sql_worker(app);
    sql.generation.set(sql.generation.get() + 1);
    sql.remote.stop();
    sql.waiting.take();
    set_busy(app, false);
    let text = match sql.is_open.get() {
        true => ["The query ended the worker: ", cause].concat(),
        false => ["SQL is not available: ", cause, ". On the command line it is memscape sql."].concat(),
    };
    set_status(app, &text, true);
}

/// Shows whether a query is running.
fn set_busy(app: &'static App, is_busy: bool) {
    let running = is_busy.then(|| app.busy.guard());
    drop(sql_worker(app).busy.replace(running));
    if let Some(panel) = app.dom.by_id::<Element>("sql") {
        dom::set_flag(&panel, "aria-busy", is_busy);
    }
}

fn set_status(app: &App, text: &str, is_error: bool) {
    if let Some(status) = app.dom.by_id::<Element>("sql-status") {
        dom::set_text(&status, text);
        dom::set_attribute(&status, "title", text);
        dom::set_attribute(&status, "class", if is_error { "wrong" } else { "" });
    }
}

/// Appends a node described by the worker: a string for a text, or `[tag, [name, value, …], child…]` for an element.
fn add_node(app: &App, place: &Element, node: &JsValue) {
    if let Some(text) = node.as_string() {
        // Cannot fail for a string.
        let _ = place.append_with_str_1(&text);
        return;
    }
    let node: &Array = node.unchecked_ref();
    let is_in = |list: &str, name: &str| list.contains(&[" ", name, " "].concat());
    let Some(tag) = node.get(0).as_string().filter(|tag| is_in(TAGS, tag)) else { return };
    let element = match tag.as_str() {
        "svg" | "path" => app.dom.document.create_element_ns(Some(SVG), &tag),
        _ => app.dom.document.create_element(&tag),
    };
    let Ok(element) = element else { return };
    let attributes: Vec<String> = Array::from(&node.get(1)).iter().filter_map(|it| it.as_string()).collect();
    for pair in attributes.chunks_exact(2) {
        if let [name, value] = pair
            && is_in(ATTRIBUTES, name)
        {
            dom::set_attribute(&element, name, value);
        }
    }
    node.iter().skip(2).for_each(|child| add_node(app, &element, &child));
    dom::append(place, &element);
}
