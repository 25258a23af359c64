//! The simulator's worker. It handles messages from the page and simulates in slices of a few milliseconds.
//!
//! ```text
//! ["recording", device, bytes]    later questions are about this recording
//! ["sizes", device, bytes]        allocation sizes for questions about a plan; ignored for other devices
//! ["ask", serial, bytes]          question, replaces the previous one
//! ["cancel"]                      drop the question
//! ["ready"]                       the worker is ready
//! ["answer", serial, bytes]       answer, possibly partial
//! ["died", text]                  the worker panicked
//! ```

use allocator::answer::{WhatIf, WhatIfQuestion};
use allocator::simulation::Simulation;
use allocator::{Recording, transfer};
use base::slice::TimeSlice;
use gloo::events::EventListener;
use js_sys::{Array, Promise, Uint8Array};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, Performance};

/// Maximum duration, in milliseconds, of a slice of work. Messages wait until it ends.
const SLICE_MS: f64 = 8.0;

/// Starts the worker, which runs until the page terminates it.
pub(super) fn start() {
    if let Err(cause) = listen() {
        // The bootstrap reports it to the page.
        wasm_bindgen::throw_val(cause);
    }
}

fn listen() -> Result<(), JsValue> {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().dyn_into()?;
    let clock = scope.performance().ok_or("a worker without a clock")?;
    std::panic::set_hook(Box::new({
        let scope = scope.clone();
        move |panic| post(&scope, &Array::of2(&"died".into(), &panic.to_string().into()))
    }));
    let (turns, running) = (MessageChannel::new()?, Cell::new(false));
    let (simulation, question) = Default::default();
    let shell = Rc::new(Shell { scope: scope.clone(), clock, turns, simulation, question, running });
    let listener = EventListener::new(&scope, "message", move |event| {
        if let Some(event) = event.dyn_ref::<MessageEvent>() {
            // Invalid messages are ignored.
            let _ = shell.receive(event.data().unchecked_ref());
        }
    });
    // The listener lives as long as the worker.
    listener.forget();
    post(&scope, &Array::of1(&"ready".into()));
    Ok(())
}

fn post(scope: &DedicatedWorkerGlobalScope, message: &Array) {
    // Fails only for values that cannot be cloned. Strings, numbers and bytes can be.
    let _ = scope.post_message(message);
}

struct Shell {
    scope: DedicatedWorkerGlobalScope,
    clock: Performance,
    turns: MessageChannel,
    simulation: RefCell<Option<Simulation>>,
    /// Unanswered question and its serial number.
    question: RefCell<Option<(u32, WhatIfQuestion)>>,
    /// True while [`Shell::run`] is running, which must not be started again then.
    running: Cell<bool>,
}

impl Shell {
    fn receive(self: &Rc<Self>, message: &Array) -> Option<()> {
        if message.get(0) == "cancel" {
            self.question.take();
            return Some(());
        }
        let number = message.get(1).as_f64()?;
        let bytes = message.get(2).dyn_ref::<Uint8Array>()?.to_vec();
        if message.get(0) == "recording" {
            let (Recording { allocations, steps, operations, .. }, rest) = transfer::read(&bytes)?;
            let recording = Recording { allocations, steps, operations, ..postcard::from_bytes(rest).ok()? };
            self.question.take();
            self.simulation.replace(Some(Simulation::new(number as i64, recording)));
            return Some(());
        }
        if message.get(0) == "sizes" {
            let mut simulation = self.simulation.borrow_mut();
            simulation.as_mut().filter(|simulation| simulation.device() == number as i64)?.plan(&bytes);
            return Some(());
        }
        let question = postcard::from_bytes(&bytes).ok()?;
        self.question.replace(Some((number as u32, question)));
        self.simulation.borrow_mut().iter_mut().for_each(Simulation::begin);
        if !self.running.replace(true) {
            spawn_local(self.clone().run());
        }
        Some(())
    }

    /// Works until the current question is answered.
    async fn run(self: Rc<Self>) {
        while self.step().is_some() {
            self.yield_to_queue().await;
        }
        self.running.set(false);
    }

    /// Works for a slice of time. Returns `None` if there is nothing to do.
    fn step(&self) -> Option<()> {
        let mut simulation = self.simulation.borrow_mut();
        let (simulation, mut question) = (simulation.as_mut()?, self.question.borrow_mut());
        let (serial, asked) = question.as_ref()?;
        let send = &mut |answer: WhatIf| {
            let bytes = postcard::to_allocvec(&answer).unwrap_or_default();
            post(&self.scope, &Array::of3(&"answer".into(), &(*serial).into(), &Uint8Array::from(&*bytes)));
        };
        let ends = self.clock.now() + SLICE_MS;
        if let Ok(answer) = simulation.answer(asked, send, &mut TimeSlice::new(&mut || self.clock.now() < ends)) {
            send(answer);
            *question = None;
        }
        Some(())
    }

    /// Waits until pending messages have been received.
    async fn yield_to_queue(&self) {
        let passed = Promise::new(&mut |resolve, _| self.turns.port1().set_onmessage(Some(&resolve)));
        if self.turns.port2().post_message(&JsValue::NULL).is_ok() {
            let _ = JsFuture::from(passed).await;
        }
    }
}
