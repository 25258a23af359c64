//! The page's end of a channel to a worker. `src/channel` is the worker's end.

use super::dom;
use super::worker_code::WorkerCode;
use channel::{pack, transferred, unpack};
use gloo::events::EventListener;
use js_sys::Array;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{ErrorEvent, Event, MessageEvent, Worker, WorkerOptions};

/// A worker that starts with the first request. Requests wait until it is ready. It is terminated when it is stopped or
/// dropped, and can be started again.
pub(super) struct Remote<Request, Reply> {
    link: Rc<Link>,
    messages: PhantomData<fn(Request) -> Reply>,
}

impl<Request: Serialize, Reply: DeserializeOwned> Remote<Request, Reply> {
    /// Creates a worker that is not started. `receive` is called with each reply and its attachments. If the worker
    /// cannot be started or crashes, it is stopped, and `receive` is called with the cause.
    pub(super) fn new(
        code: Rc<WorkerCode>,
        receive: impl Fn(Result<(Reply, Array), String>) + 'static,
    ) -> Remote<Request, Reply> {
        let receive = Box::new(move |event: Result<Array, String>| match event {
            Ok(message) => unpack(message).into_iter().for_each(|reply| receive(Ok(reply))),
            Err(cause) => receive(Err(cause)),
        });
        let (stage, generation) = Default::default();
        Remote { link: Rc::new(Link { code, receive, stage, generation }), messages: PhantomData }
    }

    /// Sends a request, now or as soon as the worker is ready.
    pub(super) fn send(&self, request: &Request) {
        self.send_with(request, &Array::new());
    }

    /// Sends a request with attachments.
    pub(super) fn send_with(&self, request: &Request, attachments: &Array) {
        self.link.send(pack(request, attachments));
    }
}

impl<Request, Reply> Remote<Request, Reply> {
    /// Starts the worker, unless it is running.
    pub(super) fn start(&self) {
        self.link.start();
    }

    /// Terminates the worker. Its replies and the requests that wait for it are dropped.
    pub(super) fn stop(&self) {
        self.link.stop();
    }

    /// Stops the worker, and reports the cause as that of a failure.
    pub(super) fn fail(&self, cause: String) {
        self.link.fail(cause);
    }

    /// Returns whether the worker is starting or running.
    pub(super) fn is_running(&self) -> bool {
        !matches!(*self.link.stage.borrow(), Stage::Stopped)
    }

    /// Returns whether the worker handles requests immediately.
    pub(super) fn is_ready(&self) -> bool {
        matches!(*self.link.stage.borrow(), Stage::Ready(_))
    }
}

impl<Request, Reply> Drop for Remote<Request, Reply> {
    fn drop(&mut self) {
        self.link.stop();
    }
}

/// A [`Remote`] for messages of any type.
struct Link {
    code: Rc<WorkerCode>,
    receive: Box<dyn Fn(Result<Array, String>)>,
    stage: RefCell<Stage>,
    /// Number of workers stopped so far. Their messages are ignored.
    generation: Cell<u32>,
}

#[derive(Default)]
enum Stage {
    #[default]
    Stopped,
    /// The worker is starting. The messages are sent once it is ready.
    Starting(Option<Thread>, Vec<Array>),
    Ready(Thread),
}

impl Link {
    fn start(self: &Rc<Self>) {
        if !matches!(*self.stage.borrow(), Stage::Stopped) {
            return;
        }
        self.stage.replace(Stage::Starting(None, Vec::new()));
        let (link, generation) = (self.clone(), self.generation.get());
        spawn_local(async move {
            let code = link.code.get_or_load().await;
            if link.generation.get() != generation {
                return;
            }
            match code.and_then(|(script, module)| Thread::new(&link, &script, &module)) {
                Ok(thread) => {
                    if let Stage::Starting(started, _) = &mut *link.stage.borrow_mut() {
                        *started = Some(thread);
                    }
                }
                Err(cause) => link.fail(cause),
            }
        });
    }

    fn send(self: &Rc<Self>, message: Array) {
        self.start();
        match &mut *self.stage.borrow_mut() {
            Stage::Ready(thread) => thread.post(&message),
            Stage::Starting(_, waiting) => waiting.push(message),
            Stage::Stopped => {}
        }
    }

    fn stop(&self) {
        self.generation.set(self.generation.get().wrapping_add(1));
        let ended = self.stage.take();
        // The running listener may belong to the thread, so the thread is dropped later.
        spawn_local(async move { drop(ended) });
    }

    fn fail(&self, cause: String) {
        self.stop();
        (self.receive)(Err(cause));
    }

    fn on_message(&self, message: JsValue) {
        match message.dyn_into() {
            Ok(message) => (self.receive)(Ok(message)),
            Err(message) => match message.as_string() {
                Some(cause) => self.fail(cause),
                None => self.on_ready(),
            },
        }
    }

    fn on_ready(&self) {
        let mut stage = self.stage.borrow_mut();
        if let Stage::Starting(Some(thread), waiting) = std::mem::take(&mut *stage) {
            waiting.iter().for_each(|message| thread.post(message));
            *stage = Stage::Ready(thread);
        }
    }
}

/// Running worker, which is terminated when this is dropped.
struct Thread {
    worker: Worker,
    _listeners: [EventListener; 2],
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

impl Thread {
    fn new(link: &Rc<Link>, script: &str, module: &JsValue) -> Result<Thread, String> {
        let options = WorkerOptions::new();
        options.set_name(link.code.name());
        let worker = Worker::new_with_options(script, &options).map_err(|error| dom::error_message(&error))?;
        let listen = |kind, handle: fn(&Link, &Event)| {
            let (link, generation) = (link.clone(), link.generation.get());
            EventListener::new(&worker, kind, move |event| {
                if link.generation.get() == generation {
                    handle(&link, event);
                }
            })
        };
        let listeners = [
            listen("message", |link, event| {
                event.dyn_ref::<MessageEvent>().iter().for_each(|event| link.on_message(event.data()));
            }),
            listen("error", |link, event| {
                link.fail(event.dyn_ref::<ErrorEvent>().map_or_else(String::new, ErrorEvent::message));
            }),
        ];
        worker.post_message(module).map_err(|error| dom::error_message(&error))?;
        Ok(Thread { worker, _listeners: listeners })
    }

    fn post(&self, message: &Array) {
        // Fails only for a buffer that was transferred before, and for values that cannot be cloned.
        let _ = self.worker.post_message_with_transfer(message, &transferred(message));
    }
}
