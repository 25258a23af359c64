//! The page's handle to the SQL worker. The worker gets the snapshot as columns from the engine's worker and describes
//! the elements that show its results, so that the page's wasm contains no code for that.

use super::app::App;
use super::busy::Reason;
use super::part::Code;
use super::thread::Thread;
use super::{clipboard, dom, export, storage};
use js_sys::{Array, Uint8Array};
use std::cell::{Cell, OnceCell, RefCell};
use ui::Action;
use ui::queries::{QueriesAction, Subject};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, Element, HtmlTextAreaElement, Window};

/// Storage key of the query history.
const HISTORY: &str = "memscape.sql";
/// Element tags that the worker may create. None of them loads or runs anything.
const TAGS: &str = " button details li ol p path span summary svg table tbody td th thead tr ul ";
/// Attributes that the worker may set.
const ATTRIBUTES: &str = " aria-label aria-selected aria-sort class d data-act id preserveAspectRatio role scope tabindex title type viewBox ";
const SVG: &str = "http://www.w3.org/2000/svg";

/// Handle to the SQL worker.
pub(super) struct Sql {
    code: Code,
    thread: RefCell<Option<Thread>>,
    /// Messages to send once the worker is ready.
    waiting: RefCell<Vec<Array>>,
    is_ready: Cell<bool>,
    /// Number of workers started so far. Messages from earlier ones are ignored.
    made: Cell<u32>,
    /// Snapshots that the queries run on.
    subject: RefCell<Subject>,
    /// Keeps the page busy while a query runs.
    running: RefCell<Option<Reason>>,
}

thread_local! {
    /// The only handle. It is not part of [`App`], because its functions need the app.
    static SQL: OnceCell<&'static Sql> = const { OnceCell::new() };
}

/// Returns the page's handle to the SQL worker.
pub(super) fn sql(app: &App) -> &'static Sql {
    SQL.with(|sql| *sql.get_or_init(|| Box::leak(Box::new(Sql::new(app.dom.window.clone())))))
}

impl Sql {
    fn new(window: Window) -> Sql {
        let (thread, waiting, is_ready, made, subject, running) = Default::default();
        Sql { code: Code::new(window, "part-sql"), thread, waiting, is_ready, made, subject, running }
    }

    /// Restarts the worker if the queries are to run on other snapshots.
    pub(super) fn open(&self, app: &'static App, subject: Subject) {
        if *self.subject.borrow() != subject {
            self.subject.replace(subject);
            self.restart(app);
        }
    }

    /// Stops the worker with any running query, and starts a new one.
    pub(super) fn restart(&self, app: &'static App) {
        let number = self.made.get() + 1;
        self.made.set(number);
        self.is_ready.set(false);
        self.waiting.borrow_mut().clear();
        let ended = self.thread.take();
        // The running listener may belong to the thread, so the thread is dropped later.
        spawn_local(async move { drop(ended) });
        busy(app, true);
        say(app, "Loading…", false);
        spawn_local(async move {
            if let Err(cause) = sql(app).start(app, number).await {
                busy(app, false);
                say(
                    app,
                    &["SQL is not available: ", &cause, ". On the command line it is memscape sql."].concat(),
                    true,
                );
            }
        });
    }

    async fn start(&self, app: &'static App, number: u32) -> Result<(), String> {
        let (script, module) = self.code.get().await?;
        let cause = |cause: JsValue| dom::cause(&cause);
        let subject = self.subject.borrow().clone();
        let files = Array::new();
        for load in subject.loads {
            let columns = JsFuture::from(app.client.columns(load)).await.map_err(cause)?;
            let columns: Blob = columns.dyn_into().map_err(|why| why.as_string().unwrap_or_default())?;
            files.push(&Uint8Array::new(&JsFuture::from(columns.array_buffer()).await.map_err(cause)?));
        }
        if self.made.get() != number {
            return Ok(());
        }
        let history = storage::stored(&app.dom, HISTORY).unwrap_or_default();
        let open = Array::of4(&"open".into(), &files, &subject.name.into(), &history.into());
        open.push(&Uint8Array::from(&*ui::queries::rules(&app.state.borrow())));
        open.push(&subject.is_b_second.into());
        self.waiting.borrow_mut().insert(0, open);
        let hear = move |heard: Result<JsValue, String>| match heard {
            _ if sql(app).made.get() != number => {}
            Ok(message) => drop(sql(app).hear(app, message.unchecked_ref())),
            Err(cause) => died(app, &cause),
        };
        self.thread.replace(Some(Thread::new(&script, &module, hear)?));
        Ok(())
    }

    /// Sends a message if the worker is ready. Otherwise the message is dropped.
    pub(super) fn tell(&self, message: &Array) {
        if let Some(thread) = &*self.thread.borrow()
            && self.is_ready.get()
        {
            // Fails only for values that cannot be cloned.
            let _ = thread.worker.post_message(message);
        }
    }

    /// Sends a message that starts possibly long work, now or once the worker is ready. Starts the worker if necessary.
    pub(super) fn work(&self, app: &'static App, message: Array) {
        if !self.subject.borrow().loads.is_empty() && self.thread.borrow().is_none() && self.waiting.borrow().is_empty()
        {
            self.restart(app);
        }
        if self.is_ready.get() {
            busy(app, true);
            self.tell(&message);
        } else {
            self.waiting.borrow_mut().push(message);
        }
    }

    fn hear(&self, app: &'static App, message: &Array) -> Option<()> {
        let text = |at| message.get(at).as_string();
        match text(0)?.as_str() {
            "ready" => {
                self.is_ready.set(true);
                self.waiting.take().iter().for_each(|message| self.tell(message));
            }
            what @ ("show" | "add") => {
                let place: Element = app.dom.by_id(&text(1)?)?;
                if what == "show" {
                    dom::clear(&place);
                }
                message.iter().skip(2).for_each(|node| add(app, &place, &node));
            }
            "status" => say(app, &text(1)?, message.get(2).is_truthy()),
            "typed" => {
                let editor: HtmlTextAreaElement = app.dom.by_id("sql-text")?;
                editor.set_value(&text(1)?);
                let cursor = message.get(2).as_f64()? as u32;
                // Fails only for fields that do not contain text.
                let _ = editor.set_selection_range(cursor, cursor);
                dom::give_focus(&editor);
            }
            "go" => {
                let number = |at| message.get(at).as_f64();
                let device = number(1).map(|device| device as i64);
                let shown = app.state.borrow().device().map(|device| device.device);
                if let Some(device) = device.filter(|_| device != shown) {
                    app.dispatch(Action::DeviceChosen(device));
                }
                let allocation = number(2).map(|id| QueriesAction::Allocation(id as u32));
                let action = allocation.or(number(3).map(|event| QueriesAction::Event(event as u32)))?;
                app.dispatch(Action::of(action));
            }
            "copy" => clipboard::copy(app, &text(1)?),
            "save" => {
                let blob = Blob::new_with_u8_array_sequence(&Array::of1(&message.get(2))).ok()?;
                export::download(app, &blob, &text(1)?).ok()?;
            }
            "history" => storage::store(&app.dom, HISTORY, &text(1)?),
            "done" => busy(app, false),
            _ => died(app, &text(1)?),
        }
        Some(())
    }
}

fn died(app: &'static App, cause: &str) {
    sql(app).made.set(sql(app).made.get() + 1);
    sql(app).is_ready.set(false);
    let ended = sql(app).thread.take();
    spawn_local(async move { drop(ended) });
    busy(app, false);
    say(app, &["The query ended the worker: ", cause].concat(), true);
}

/// Shows whether a query is running.
fn busy(app: &'static App, is_busy: bool) {
    let running = is_busy.then(|| app.busy.begin());
    drop(sql(app).running.replace(running));
    if let Some(panel) = app.dom.by_id::<Element>("sql") {
        dom::set_flag(&panel, "aria-busy", is_busy);
    }
}

fn say(app: &App, text: &str, is_error: bool) {
    if let Some(status) = app.dom.by_id::<Element>("sql-status") {
        dom::set_text(&status, text);
        dom::set_attribute(&status, "title", text);
        dom::set_attribute(&status, "class", if is_error { "wrong" } else { "" });
    }
}

/// Creates what the worker describes: a string for text, or `[tag, [name, value, …], child…]` for an element.
fn add(app: &App, place: &Element, node: &JsValue) {
    if let Some(text) = node.as_string() {
        // Cannot fail for a string.
        let _ = place.append_with_str_1(&text);
        return;
    }
    let node: &Array = node.unchecked_ref();
    let is_in = |list: &str, name: &str| list.contains(&[" ", name, " "].concat());
    let Some(tag) = node.get(0).as_string().filter(|tag| is_in(TAGS, tag)) else { return };
    let made = match tag.as_str() {
        "svg" | "path" => app.dom.document.create_element_ns(Some(SVG), &tag),
        _ => app.dom.document.create_element(&tag),
    };
    let Ok(made) = made else { return };
    let attributes: Vec<String> = Array::from(&node.get(1)).iter().filter_map(|it| it.as_string()).collect();
    for pair in attributes.chunks_exact(2) {
        if let [name, value] = pair
            && is_in(ATTRIBUTES, name)
        {
            dom::set_attribute(&made, name, value);
        }
    }
    node.iter().skip(2).for_each(|child| add(app, &made, &child));
    dom::append(place, &made);
}
