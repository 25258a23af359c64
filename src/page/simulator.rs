//! The page's handle to the allocator simulator, a worker with its own wasm that is loaded when first needed.
//!
//! The engine's worker extracts the recording of a device. The simulator keeps the recording for further questions
//! about the same device.

use super::remote::Remote;
use super::worker_code::WorkerCode;
use channel::buffer;
use js_sys::Array;
use protocol::{Answer, Ask, Question, Reply, Request, SimulatorReply, SimulatorRequest, WhatIfQuestion};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use ui::features::what_if::WhatIfAction;
use ui::shell::action::Action;
use web_sys::Window;

/// Handle to the simulator's worker.
pub(super) struct Simulator {
    dispatch: Box<dyn Fn(Action)>,
    remote: Remote<SimulatorRequest, SimulatorReply>,
    /// Id of the load whose recording the simulator has.
    load: Cell<u32>,
    /// Index of the device whose recording the simulator has.
    device: Cell<Option<i64>>,
    /// Question to send after the recording: serial number, device index, and question.
    question: RefCell<Option<(u32, i64, Box<WhatIfQuestion>)>>,
    /// True if the recording for the question is still to be requested, see [`Simulator::request_recording`].
    needs_recording: Cell<bool>,
    /// Planned allocation sizes to send.
    sizes: RefCell<Option<PlannedSizes>>,
}

/// Planned allocation sizes that were requested from the engine.
struct PlannedSizes {
    serial: u32,
    device: i64,
    /// `None` until the engine has sent the sizes.
    bytes: Option<Vec<u8>>,
}

impl Simulator {
    pub(super) fn new(window: Window, act: impl Fn(Action) + 'static) -> Rc<Simulator> {
        Rc::new_cyclic(|simulator: &Weak<Simulator>| {
            let simulator = simulator.clone();
            let receive = move |reply: Result<_, _>| {
                if let Some(simulator) = simulator.upgrade() {
                    simulator.on_reply(reply.map(|(reply, _)| reply));
                }
            };
            let remote = Remote::new(WorkerCode::of_part(window, "part-simulator"), receive);
            let (load, device, question, needs_recording, sizes) = Default::default();
            Simulator { dispatch: Box::new(act), remote, load, device, question, needs_recording, sizes }
        })
    }

    /// Takes the request if it is a question for the simulator, otherwise returns it.
    pub(super) fn route(&self, request: Request) -> Option<Request> {
        if let Request::Ask(Ask { serial, device, question: Question::PlannedSizes(_) }) = &request {
            self.sizes.replace(Some(PlannedSizes { serial: *serial, device: *device, bytes: None }));
        }
        let Request::Ask(Ask { serial, device, question: Question::WhatIf(question) }) = request else {
            return Some(request);
        };
        self.question.replace(Some((serial, device, question)));
        if self.device.get() == Some(device) {
            self.send_question();
        } else {
            self.device.set(None);
            self.needs_recording.set(true);
        }
        None
    }

    /// Starts the worker and returns the request for the recording, if a question needs one. Called once the page is
    /// idle, so that the simulation of common settings does not delay what is shown after a file is opened.
    pub(super) fn request_recording(&self) -> Option<Request> {
        if !self.needs_recording.take() {
            return None;
        }
        let (serial, device) = self.question.borrow().as_ref().map(|&(serial, device, _)| (serial, device))?;
        self.remote.start();
        Some(Request::Ask(Ask { serial, device, question: Question::Recording }))
    }

    /// Sends the recording that was requested for the question `serial`, and the question.
    pub(super) fn on_recording(&self, load: u32, serial: u32, bytes: &[u8]) {
        let of = self.question.borrow().as_ref().filter(|asked| asked.0 == serial).map(|asked| asked.1);
        let Some(device) = of else { return };
        self.load.set(load);
        self.device.set(Some(device));
        self.remote.send_with(&SimulatorRequest::Recording { device }, &Array::of1(&buffer(bytes)));
        self.send_question();
    }

    /// Stores the planned allocation sizes that were requested as `serial`.
    pub(super) fn on_planned_sizes(&self, serial: u32, bytes: Vec<u8>) {
        if let Some(sizes) = self.sizes.borrow_mut().as_mut().filter(|sizes| sizes.serial == serial) {
            sizes.bytes = Some(bytes);
        }
        self.send_question();
    }

    /// Cancels the current question.
    pub(super) fn cancel(&self) {
        self.question.take();
        if self.remote.is_running() {
            self.remote.send(&SimulatorRequest::Cancel);
        }
    }

    /// Stops the worker and drops its data.
    pub(super) fn stop(&self) {
        self.remote.stop();
        self.device.set(None);
        drop((self.question.take(), self.sizes.take()));
    }

    /// Sends the planned sizes and the question, if the simulator has a recording. A question about planned sizes is
    /// sent only once they are available.
    fn send_question(&self) {
        let Some(device) = self.device.get() else { return };
        let is_planned = self.question.borrow().as_ref().is_some_and(|question| question.2.is_planned);
        match self.sizes.take() {
            Some(PlannedSizes { device: of, bytes: Some(bytes), .. }) if of == device => {
                self.remote.send_with(&SimulatorRequest::PlannedSizes { device }, &Array::of1(&buffer(&bytes)));
            }
            awaited @ Some(PlannedSizes { bytes: None, .. }) => {
                self.sizes.replace(awaited);
                if is_planned {
                    return;
                }
            }
            _ => {}
        }
        if let Some((serial, _, question)) = self.question.take() {
            self.remote.send(&SimulatorRequest::Ask { serial, question });
        }
    }

    fn on_reply(&self, reply: Result<SimulatorReply, String>) {
        (self.dispatch)(match reply {
            Ok(SimulatorReply { serial, answer }) => {
                let reply = Reply::Answer { serial, answer: Answer::WhatIf(answer) };
                Action::Replied { load: self.load.get(), reply }
            }
            Err(cause) => {
                self.stop();
                Action::feature(WhatIfAction::Failed(cause))
            }
        });
    }
}
