//! The page's handle to the allocator simulator, a worker with its own wasm that is loaded when first needed.
//!
//! The engine's worker extracts the recording of a device. The simulator keeps the recording for further questions
//! about the same device.

use super::thread::WorkerThread;
use super::worker_code::WorkerCode;
use js_sys::{Array, Uint8Array};
use protocol::{Answer, Ask, Question, Reply, Request, WhatIfQuestion, decode, encode};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::features::what_if::WhatIfAction;
use ui::shell::action::Action;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::Window;

/// Handle to the simulator's worker.
pub(super) struct Simulator {
    dispatch: Box<dyn Fn(Action)>,
    code: WorkerCode,
    stage: RefCell<WorkerStage>,
    /// Number of workers started so far.
    started: Cell<u32>,
    /// Id of the load whose recording the simulator has.
    load: Cell<u32>,
    /// Index of the device whose recording the simulator has.
    device: Cell<Option<i64>>,
    /// Recording to send once the worker is ready.
    recording: RefCell<Option<Array>>,
    /// Question to send after the recording: serial number, device index, and question.
    question: RefCell<Option<(u32, i64, WhatIfQuestion)>>,
    /// Planned allocation sizes to send: serial number of their request, device index, and the message, which is `None`
    /// until the engine has sent the sizes.
    sizes: RefCell<Option<(u32, i64, Option<Array>)>>,
}

enum WorkerStage {
    None,
    Starting(Option<WorkerThread>),
    Ready(WorkerThread),
}

impl Simulator {
    pub(super) fn new(window: Window, act: impl Fn(Action) + 'static) -> Rc<Simulator> {
        let (started, load, device, recording, question, sizes) = Default::default();
        let (dispatch, code, stage) =
            (Box::new(act), WorkerCode::new(window, "part-simulator"), RefCell::new(WorkerStage::None));
        Rc::new(Simulator { dispatch, code, stage, started, load, device, recording, question, sizes })
    }

    /// Stores the request if it is a question for the simulator. Returns the request that must be sent to the engine
    /// instead, if any.
    pub(super) fn route(self: &Rc<Self>, request: Request) -> Option<Request> {
        if let Request::Ask(Ask { serial, device, question: Question::PlannedSizes(_) }) = &request {
            self.sizes.replace(Some((*serial, *device, None)));
        }
        let Request::Ask(Ask { serial, device, question: Question::WhatIf(question) }) = request else {
            return Some(request);
        };
        self.question.replace(Some((serial, device, *question)));
        if self.device.get() == Some(device) {
            self.send_pending();
            return None;
        }
        self.device.set(None);
        self.start();
        Some(Request::Ask(Ask { serial, device, question: Question::Recording }))
    }

    /// Stores the recording that was requested for the question `serial`, and sends the pending messages.
    pub(super) fn on_recording(&self, load: u32, serial: u32, bytes: &[u8]) {
        let of = self.question.borrow().as_ref().filter(|asked| asked.0 == serial).map(|asked| asked.1);
        let Some(device) = of else { return };
        self.load.set(load);
        self.device.set(Some(device));
        let message = Array::of3(&"recording".into(), &(device as f64).into(), &Uint8Array::from(bytes));
        self.recording.replace(Some(message));
        self.send_pending();
    }

    /// Stores the planned allocation sizes that were requested as `serial`.
    pub(super) fn on_planned_sizes(&self, serial: u32, bytes: &[u8]) {
        if let Some((_, device, message)) = self.sizes.borrow_mut().as_mut().filter(|asked| asked.0 == serial) {
            *message = Some(Array::of3(&"sizes".into(), &(*device as f64).into(), &Uint8Array::from(bytes)));
        }
        self.send_pending();
    }

    /// Cancels the current question.
    pub(super) fn cancel(&self) {
        self.question.take();
        if let WorkerStage::Ready(thread) = &*self.stage.borrow() {
            // Fails only for values that cannot be cloned.
            let _ = thread.worker.post_message(&Array::of1(&"cancel".into()));
        }
    }

    /// Stops the worker and drops its data.
    pub(super) fn stop(&self) {
        self.started.set(self.started.get() + 1);
        self.device.set(None);
        drop((self.recording.take(), self.question.take(), self.sizes.take()));
        let ended = self.stage.replace(WorkerStage::None);
        // The running listener may belong to the thread, so the thread is dropped later.
        spawn_local(async move { drop(ended) });
    }

    /// Starts the worker if there is none.
    fn start(self: &Rc<Self>) {
        if !matches!(*self.stage.borrow(), WorkerStage::None) {
            return;
        }
        self.stage.replace(WorkerStage::Starting(None));
        let number = self.started.get();
        let simulator = self.clone();
        spawn_local(async move {
            let code = simulator.code.get_or_load().await;
            if simulator.started.get() != number {
                return;
            }
            let listener = simulator.clone();
            let receive = move |event: Result<JsValue, String>| match event {
                _ if listener.started.get() != number => {}
                Ok(message) => drop(listener.on_message(message.unchecked_ref())),
                Err(cause) => listener.fail(&cause),
            };
            match code.and_then(|(script, module)| WorkerThread::new(&script, &module, receive)) {
                Ok(thread) => drop(simulator.stage.replace(WorkerStage::Starting(Some(thread)))),
                Err(cause) => simulator.fail(&cause),
            }
        });
    }

    /// Sends all pending messages, if the worker is ready and a recording is available. A question about planned sizes
    /// is sent only once they are available.
    fn send_pending(&self) {
        let (WorkerStage::Ready(thread), Some(device)) = (&*self.stage.borrow(), self.device.get()) else { return };
        let give = |message: Array| {
            let bytes: Uint8Array = message.get(2).unchecked_into();
            // Fails only for a buffer that was transferred before.
            let _ = thread.worker.post_message_with_transfer(&message, &Array::of1(&bytes.buffer()));
        };
        self.recording.take().into_iter().for_each(give);
        let is_planned = self.question.borrow().as_ref().is_some_and(|question| question.2.is_planned);
        match self.sizes.take() {
            Some((_, of, Some(sizes))) if of == device => give(sizes),
            awaited @ Some((.., None)) => {
                self.sizes.replace(awaited);
                if is_planned {
                    return;
                }
            }
            _ => {}
        }
        if let Some((serial, _, question)) = self.question.take() {
            let bytes = Uint8Array::from(&*encode(&question));
            // Fails only for values that cannot be cloned.
            let _ = thread.worker.post_message(&Array::of3(&"ask".into(), &serial.into(), &bytes));
        }
    }

    fn on_message(&self, message: &Array) -> Option<()> {
        match message.get(0).as_string()?.as_str() {
            "ready" => {
                if let WorkerStage::Starting(Some(thread)) = self.stage.replace(WorkerStage::None) {
                    self.stage.replace(WorkerStage::Ready(thread));
                }
                self.send_pending();
            }
            "answer" => {
                let serial = message.get(1).as_f64()? as u32;
                let answer = decode(&message.get(2).dyn_ref::<Uint8Array>()?.to_vec())?;
                let reply = Reply::Answer { serial, answer: Answer::WhatIf(Box::new(answer)) };
                (self.dispatch)(Action::Replied { load: self.load.get(), reply });
            }
            _ => self.fail(&message.get(1).as_string().unwrap_or_default()),
        }
        Some(())
    }

    fn fail(&self, cause: &str) {
        self.stop();
        (self.dispatch)(Action::feature(WhatIfAction::Failed(cause.to_owned())));
    }
}
