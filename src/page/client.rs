//! The page's handle to the engine's worker. It starts the worker, queues messages until the worker is ready, and
//! detects crashes. The worker runs the same wasm as the page.

use super::dom;
use super::thread::{self, WorkerThread};
use crate::wire::{FromWorker, ToWorker};
use compare::FileSlot;
use js_sys::{Array, Function, Promise, Uint8Array};
use protocol::{LoadRange, Request};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Document, HtmlScriptElement, Window};

/// Handle to the engine's worker.
pub(super) struct Client {
    window: Window,
    /// Called with each message from the worker. If the worker cannot be started, it is called with
    /// [`FromWorker::Crashed`].
    receive: Box<dyn Fn(FromWorker)>,
    script: RefCell<Option<String>>,
    worker: RefCell<WorkerStage>,
    /// Worker of the open file while a new worker reads the next file. It is dropped once the next file is open, and
    /// used again if opening fails. `Err` is the cause if this worker has crashed in the meantime.
    previous: RefCell<Option<Result<Handle, String>>>,
    /// True if the worker has a file open.
    has_file: Cell<bool>,
    /// Number of workers started so far.
    started: Cell<u32>,
    /// Resolve functions of the promises for columns, oldest request first.
    pending_columns: RefCell<VecDeque<Function>>,
    /// Range of events that will be loaded from the next file.
    range: Cell<LoadRange>,
    /// Number of messages received from all workers.
    received_count: Cell<u32>,
}

enum WorkerStage {
    /// No worker is running. The next message starts one.
    None,
    /// The worker is starting. The messages are sent once it is ready.
    Starting(Option<Handle>, Vec<ToWorker>),
    Ready(Handle),
}

struct Handle {
    number: u32,
    thread: WorkerThread,
    /// Number of messages sent to the worker.
    sent: Cell<u32>,
    /// Number of sent messages that the worker has fully processed.
    done: Cell<u32>,
}

impl Handle {
    fn post(&self, message: &ToWorker) {
        self.sent.set(self.sent.get().wrapping_add(1));
        // Fails only for values that cannot be cloned. Files, strings and numbers can be.
        let _ = self.thread.worker.post_message(&message.to_js());
    }
}

impl Client {
    /// Creates a client that has not started a worker yet.
    pub(super) fn new(window: Window, receive: impl Fn(FromWorker) + 'static) -> Rc<Client> {
        let (script, worker) = (RefCell::new(None), RefCell::new(WorkerStage::None));
        let (previous, has_file, started, pending_columns, range, event) = Default::default();
        Rc::new(Client {
            window,
            receive: Box::new(receive),
            script,
            worker,
            previous,
            has_file,
            started,
            pending_columns,
            range,
            received_count: event,
        })
    }

    /// Starts the worker if there is none.
    pub(super) fn start(self: &Rc<Self>) {
        if matches!(*self.worker.borrow(), WorkerStage::None) {
            *self.worker.borrow_mut() = WorkerStage::Starting(None, Vec::new());
            let client = self.clone();
            spawn_local(async move {
                match client.start_worker().await {
                    // The client may have dropped the worker meanwhile.
                    Ok(handle) => {
                        if let WorkerStage::Starting(started_handle, _) = &mut *client.worker.borrow_mut() {
                            *started_handle = Some(handle);
                        }
                    }
                    Err(cause) => {
                        client.stop();
                        (client.receive)(FromWorker::Crashed(cause));
                    }
                }
            });
        }
    }

    /// Sends `message`, immediately or as soon as the worker is ready.
    pub(super) fn send(self: &Rc<Self>, message: ToWorker) {
        let is_first = |which: FileSlot| which == FileSlot::First;
        let opens = matches!(message, ToWorker::File { which, .. } | ToWorker::Link { which, .. } if is_first(which));
        if opens && self.has_file.take() {
            match self.worker.replace(WorkerStage::None) {
                WorkerStage::Ready(handle) => drop(self.previous.replace(Some(Ok(handle)))),
                other => drop(self.worker.replace(other)),
            }
        }
        self.start();
        if opens {
            self.post_or_queue(ToWorker::Ask(Request::Load(self.range.get())));
        }
        self.post_or_queue(message);
    }

    fn post_or_queue(&self, message: ToWorker) {
        match &mut *self.worker.borrow_mut() {
            WorkerStage::Ready(handle) => handle.post(&message),
            WorkerStage::Starting(_, queue) => queue.push(message),
            WorkerStage::None => {}
        }
    }

    /// Sets the range of events to load from the next file.
    pub(super) fn set_load_range(&self, range: LoadRange) {
        self.range.set(range);
    }

    /// Requests the snapshot of this load as uncompressed columns. The promise resolves to a [`Blob`], or to an error
    /// message.
    pub(super) fn request_columns(self: &Rc<Self>, load: u32) -> Promise {
        self.request_file(ToWorker::Columns { load })
    }

    /// Requests the snapshot of this load in the cache format of this build. The promise resolves to a [`Blob`], or to
    /// an error message.
    pub(super) fn request_cache_file(self: &Rc<Self>, load: u32) -> Promise {
        self.request_file(ToWorker::CacheFile { load })
    }

    fn request_file(self: &Rc<Self>, message: ToWorker) -> Promise {
        let promise = Promise::new(&mut |resolve, _| self.pending_columns.borrow_mut().push_back(resolve));
        self.send(message);
        promise
    }

    fn on_columns(&self, columns: &JsValue) {
        let oldest = self.pending_columns.borrow_mut().pop_front();
        // The resolve function returns nothing of interest.
        oldest.into_iter().for_each(|resolve| drop(resolve.call1(&JsValue::NULL, columns)));
    }

    /// Fails all pending requests for columns.
    fn fail_columns(&self, why: &str) {
        while !self.pending_columns.borrow().is_empty() {
            self.on_columns(&why.into());
        }
    }

    /// Marks the new file as open and drops the worker of the previous one.
    pub(super) fn on_opened(&self) {
        self.has_file.set(true);
        self.previous.take();
    }

    /// Switches back to the worker of the open file, after the next file failed to open.
    pub(super) fn restore_previous(&self) {
        match self.previous.take() {
            None => {}
            Some(Ok(handle)) => {
                drop(self.worker.replace(WorkerStage::Ready(handle)));
                self.has_file.set(true);
            }
            Some(Err(cause)) => {
                self.stop();
                (self.receive)(FromWorker::Crashed(cause));
            }
        }
    }

    /// Stops the worker and fails its pending requests.
    pub(super) fn stop(&self) {
        let ended = self.worker.replace(WorkerStage::None);
        drop(ended);
        self.has_file.set(false);
        self.fail_columns("its worker was stopped");
    }

    async fn start_worker(self: &Rc<Self>) -> Result<Handle, String> {
        let script = self.script().await?;
        let number = self.started.get() + 1;
        self.started.set(number);
        let client = self.clone();
        let thread = WorkerThread::new(&script, &wasm_bindgen::module(), move |event| match event {
            Ok(message) => FromWorker::from_js(&message).into_iter().for_each(|it| client.on_message(number, it)),
            Err(cause) => client.on_message(number, FromWorker::Crashed(cause)),
        })?;
        Ok(Handle { number, thread, sent: Cell::default(), done: Cell::default() })
    }

    /// Returns the number of messages received from all workers.
    pub(super) fn received_count(&self) -> u32 {
        self.received_count.get()
    }

    /// Returns whether the worker has processed every message sent to it. True if there is no worker.
    pub(super) fn is_idle(&self) -> bool {
        match &*self.worker.borrow() {
            WorkerStage::None => true,
            WorkerStage::Starting(..) => false,
            WorkerStage::Ready(handle) => handle.sent == handle.done,
        }
    }

    fn on_message(&self, number: u32, message: FromWorker) {
        if let FromWorker::Idle(done) = message {
            // Nothing has been sent to a worker that is kept aside.
            if let WorkerStage::Ready(handle) = &*self.worker.borrow()
                && handle.number == number
            {
                handle.done.set(done);
            }
            (self.receive)(message);
            return;
        }
        self.received_count.set(self.received_count.get().wrapping_add(1));
        let is_kept = matches!(&*self.previous.borrow(), Some(Ok(handle)) if handle.number == number);
        match message {
            FromWorker::Ready => self.on_ready(),
            FromWorker::Crashed(cause) if is_kept => {
                let ended = self.previous.replace(Some(Err(cause)));
                spawn_local(async move { drop(ended) });
            }
            // Only the first error counts.
            FromWorker::Crashed(_) if matches!(*self.worker.borrow(), WorkerStage::None) => {}
            FromWorker::Crashed(_) => {
                self.has_file.set(false);
                // The running listener belongs to the handle, so the handle is dropped after the listener has returned.
                let ended = self.worker.replace(WorkerStage::None);
                spawn_local(async move { drop(ended) });
                self.fail_columns("its worker crashed");
                (self.receive)(message);
            }
            FromWorker::Read(blob, port) => spawn_local(async move {
                let (answer, given) = match JsFuture::from(blob.array_buffer()).await {
                    Ok(bytes) => (Uint8Array::new(&bytes).into(), Array::of1(&bytes)),
                    Err(cause) => (dom::error_message(&cause).into(), Array::new()),
                };
                // Fails only for a buffer that was transferred before.
                let _ = port.post_message_with_transferable(&answer, &given);
            }),
            FromWorker::Columns(columns) => self.on_columns(&columns.map_or_else(JsValue::from, JsValue::from)),
            _ => (self.receive)(message),
        }
    }

    fn on_ready(&self) {
        let stage = self.worker.replace(WorkerStage::None);
        if let WorkerStage::Starting(Some(handle), queue) = stage {
            queue.iter().for_each(|message| handle.post(message));
            self.worker.replace(WorkerStage::Ready(handle));
        }
    }

    /// Returns the URL of the worker's script. It is created only once, because the server may no longer run when
    /// another worker is started.
    async fn script(&self) -> Result<String, String> {
        if let Some(script) = &*self.script.borrow() {
            return Ok(script.clone());
        }
        let document = self.window.document().ok_or("a window without a document")?;
        let glue = self.glue(&document).await?;
        let address = thread::script_url(&glue)?;
        self.script.replace(Some(address.clone()));
        Ok(address)
    }

    /// Returns the JavaScript glue that started this page, as text.
    async fn glue(&self, document: &Document) -> Result<String, String> {
        let script = document.query_selector("script[defer]").ok().flatten();
        let script: HtmlScriptElement =
            script.and_then(|script| script.dyn_into().ok()).ok_or("the page cannot find its own script")?;
        // The single-file page contains the script itself.
        if script.src().is_empty() {
            return script.text().map_err(|error| dom::error_message(&error));
        }
        let text = async {
            let response = thread::fetch(&self.window, &script.src()).await?;
            JsFuture::from(response.text()?).await
        };
        let text = text
            .await
            .map_err(|error| format!("the worker's script could not be fetched: {}", dom::error_message(&error)))?;
        text.as_string().ok_or_else(|| "the worker's script is not text".to_owned())
    }
}
