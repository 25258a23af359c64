//! The page's handle to the engine's worker, which runs the same wasm as the page. While a new worker reads the next
//! file, the worker of the open file is kept.

use super::dom;
use super::remote::Remote;
use super::worker_code::WorkerCode;
use crate::wire::{FromWorker, ToWorker, attach_columns};
use compare::FileSlot;
use gloo::timers::callback::Timeout;
use js_sys::{Array, Function, Promise, Uint8Array};
use protocol::{LoadRange, Request};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, File, MessagePort, Window};

/// Delay, in milliseconds, before a fetch that failed is repeated.
const FETCH_AGAIN_MS: u32 = 5_000;

/// Handle to the engine's worker.
pub(super) struct Client {
    code: Rc<WorkerCode>,
    /// The code behind [gates](base::later::gate), which a worker gets after its start.
    later_code: Rc<WorkerCode>,
    /// Called with each message from the worker, and with the cause if it cannot be started or crashes.
    receive: Box<dyn Fn(Result<FromWorker, String>)>,
    /// Called with the cause each time the code behind gates could not be fetched.
    fail_later: Box<dyn Fn(String)>,
    /// `None` until the first message, and after a crash.
    worker: RefCell<Option<EngineWorker>>,
    /// Worker of the open file while a new worker reads the next file. It is dropped once the next file is open, and
    /// used again if opening fails. `Err` is the cause if this worker has crashed in the meantime.
    previous: RefCell<Option<Result<EngineWorker, String>>>,
    /// True if the worker has a file open.
    has_file: Cell<bool>,
    /// Number of workers created so far.
    created: Cell<u32>,
    /// Resolve functions of the promises for columns, oldest request first.
    pending_columns: RefCell<VecDeque<Function>>,
    /// Range of events that will be loaded from the next file.
    range: Cell<LoadRange>,
    /// Number of messages received from all workers.
    received_count: Cell<u32>,
}

struct EngineWorker {
    number: u32,
    remote: Remote<ToWorker, FromWorker>,
    /// Number of messages sent to the worker.
    sent: Cell<u32>,
    /// Number of sent messages that the worker has fully processed.
    done: Cell<u32>,
}

impl Client {
    /// Creates a client that has not started a worker yet.
    pub(super) fn new(
        window: Window,
        receive: impl Fn(Result<FromWorker, String>) + 'static,
        fail_later: impl Fn(String) + 'static,
    ) -> Rc<Client> {
        let later_code = WorkerCode::of_part(window.clone(), "part-later");
        let code = WorkerCode::of_page(window);
        let (receive, fail_later) = (Box::new(receive), Box::new(fail_later));
        let (worker, previous, has_file, created, pending_columns, range, received_count) = Default::default();
        Rc::new(Client {
            code,
            later_code,
            receive,
            fail_later,
            worker,
            previous,
            has_file,
            created,
            pending_columns,
            range,
            received_count,
        })
    }

    /// Starts the worker if there is none.
    pub(super) fn start(self: &Rc<Self>) {
        if self.worker.borrow().is_none() {
            let number = self.created.get() + 1;
            self.created.set(number);
            let client = self.clone();
            let remote = Remote::new(self.code.clone(), move |event| client.on_event(number, event));
            remote.start();
            let (sent, done) = Default::default();
            self.worker.replace(Some(EngineWorker { number, remote, sent, done }));
            self.fetch_later_code(number);
        }
    }

    /// Fetches the code behind gates for the worker with this number, again and again until it arrives or the worker
    /// ends.
    fn fetch_later_code(self: &Rc<Self>, number: u32) {
        let client = self.clone();
        spawn_local(async move {
            match client.later_code.module().await {
                Ok(module) => {
                    client.with_worker(number, |worker| worker.send(&ToWorker::Later, &Array::of1(&module)));
                }
                Err(cause) if client.with_worker(number, |_| ()).is_some() => {
                    (client.fail_later)(cause);
                    Timeout::new(FETCH_AGAIN_MS, move || client.fetch_later_code(number)).forget();
                }
                Err(_) => {}
            }
        });
    }

    /// Calls `work` with the worker with this number. Returns `None` if it has ended.
    fn with_worker<T>(&self, number: u32, work: impl FnOnce(&EngineWorker) -> T) -> Option<T> {
        let (current, previous) = (self.worker.borrow(), self.previous.borrow());
        let worker = current.iter().chain(previous.iter().flatten()).find(|worker| worker.number == number);
        worker.map(work)
    }

    /// Sends `message`, immediately or as soon as the worker is ready.
    pub(super) fn send(self: &Rc<Self>, message: &ToWorker) {
        self.send_with(message, &Array::new());
    }

    /// Opens a file in the worker.
    pub(super) fn open(self: &Rc<Self>, file: &File, member: Option<u32>, (load, which): (u32, FileSlot)) {
        self.send_with(&ToWorker::File { load, member, which }, &Array::of1(file));
    }

    fn send_with(self: &Rc<Self>, message: &ToWorker, attachments: &Array) {
        let opens = matches!(
            message,
            ToWorker::File { which: FileSlot::First, .. } | ToWorker::Link { which: FileSlot::First, .. }
        );
        if opens && self.has_file.take() {
            self.previous.replace(self.worker.take().map(Ok));
        }
        self.start();
        if let Some(worker) = &*self.worker.borrow() {
            let load = ToWorker::Ask(Request::Load(self.range.get()));
            opens.then(|| worker.send(&load, &Array::new()));
            worker.send(message, attachments);
        }
    }

    /// Sets the range of events to load from the next file.
    pub(super) fn set_load_range(&self, range: LoadRange) {
        self.range.set(range);
    }

    /// Requests the snapshot of this load as uncompressed columns. The promise resolves to a [`Blob`], or to an error
    /// message.
    pub(super) fn request_columns(self: &Rc<Self>, load: u32) -> Promise {
        self.request_file(&ToWorker::Columns { load })
    }

    /// Requests the snapshot of this load in the cache format of this build. The promise resolves to a [`Blob`], or to
    /// an error message.
    pub(super) fn request_cache_file(self: &Rc<Self>, load: u32) -> Promise {
        self.request_file(&ToWorker::CacheFile { load })
    }

    fn request_file(self: &Rc<Self>, message: &ToWorker) -> Promise {
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
            Some(Ok(worker)) => {
                self.worker.replace(Some(worker));
                self.has_file.set(true);
            }
            Some(Err(cause)) => {
                self.stop();
                (self.receive)(Err(cause));
            }
        }
    }

    /// Stops the worker and fails its pending requests.
    pub(super) fn stop(&self) {
        self.end_worker("its worker was stopped");
    }

    fn end_worker(&self, why: &str) {
        self.worker.take();
        self.has_file.set(false);
        self.fail_columns(why);
    }

    /// Returns the number of messages received from all workers.
    pub(super) fn received_count(&self) -> u32 {
        self.received_count.get()
    }

    /// Returns whether the worker has processed every message sent to it. True if there is no worker.
    pub(super) fn is_idle(&self) -> bool {
        self.worker.borrow().as_ref().is_none_or(|worker| worker.remote.is_ready() && worker.sent == worker.done)
    }

    fn on_event(&self, number: u32, event: Result<(FromWorker, Array), String>) {
        let is_current = self.worker.borrow().as_ref().is_some_and(|worker| worker.number == number);
        if !matches!(event, Ok((FromWorker::Idle(_), _))) {
            self.received_count.set(self.received_count.get().wrapping_add(1));
        }
        let (message, attachments) = match event {
            Ok(event) => event,
            Err(cause) if is_current => {
                self.end_worker("its worker crashed");
                return (self.receive)(Err(cause));
            }
            // The worker that is kept has crashed.
            Err(cause) => return drop(self.previous.replace(Some(Err(cause)))),
        };
        match message {
            FromWorker::Idle(done) => {
                // Nothing has been sent to a worker that is kept aside.
                if is_current {
                    self.worker.borrow().iter().for_each(|worker| worker.done.set(done));
                }
                (self.receive)(Ok(message));
            }
            FromWorker::Read => answer_read(&attachments),
            FromWorker::Columns(columns) => {
                self.on_columns(&columns.map_or_else(JsValue::from, |()| attachments.get(0)));
            }
            FromWorker::Reply { load, mut reply } => {
                if attach_columns(&mut reply, &attachments).is_some() {
                    (self.receive)(Ok(FromWorker::Reply { load, reply }));
                }
            }
            message => (self.receive)(Ok(message)),
        }
    }
}

impl EngineWorker {
    fn send(&self, message: &ToWorker, attachments: &Array) {
        self.sent.set(self.sent.get().wrapping_add(1));
        self.remote.send_with(message, attachments);
    }
}

/// Reads a blob for the worker and answers through the port.
fn answer_read(attachments: &Array) {
    let (blob, port): (Blob, MessagePort) = (attachments.get(0).unchecked_into(), attachments.get(1).unchecked_into());
    spawn_local(async move {
        let (answer, given) = match JsFuture::from(blob.array_buffer()).await {
            Ok(bytes) => (Uint8Array::new(&bytes).into(), Array::of1(&bytes)),
            Err(cause) => (dom::error_message(&cause).into(), Array::new()),
        };
        // Fails only for a buffer that was transferred before.
        let _ = port.post_message_with_transferable(&answer, &given);
    });
}
