//! The simulator's worker. It simulates in slices of a few milliseconds.

use allocator::answer::{WhatIf, WhatIfQuestion};
use allocator::simulation::Simulation;
use allocator::{Recording, transfer};
use base::slice::TimeSlice;
use channel::{Page, Slices, attached_bytes, serve};
use js_sys::Array;
use protocol::{SimulatorReply, SimulatorRequest, decode};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;

/// Starts the worker, which runs until the page terminates it.
pub(super) fn start() {
    serve(|page| {
        let slices = Slices::new()?;
        let (simulation, question, running) = Default::default();
        let shell = Rc::new(Shell { page, slices, simulation, question, running });
        Ok(move |request, attachments| {
            // Invalid requests are ignored.
            let _ = shell.receive(request, &attachments);
        })
    });
}

struct Shell {
    page: Page<SimulatorReply>,
    slices: Slices,
    simulation: RefCell<Option<Simulation>>,
    /// Unanswered question and its serial number.
    question: RefCell<Option<(u32, WhatIfQuestion)>>,
    /// True while [`Shell::run`] is running, which must not be started again then.
    running: Cell<bool>,
}

impl Shell {
    fn receive(self: &Rc<Self>, request: SimulatorRequest, attachments: &Array) -> Option<()> {
        match request {
            SimulatorRequest::Cancel => drop(self.question.take()),
            SimulatorRequest::Recording { device } => {
                let bytes = attached_bytes(attachments, 0)?;
                let (Recording { allocations, steps, operations, .. }, rest) = transfer::read(&bytes)?;
                let recording = Recording { allocations, steps, operations, ..decode(rest)? };
                self.question.take();
                self.simulation.replace(Some(Simulation::new(device, recording)));
            }
            SimulatorRequest::PlannedSizes { device } => {
                let mut simulation = self.simulation.borrow_mut();
                let simulation = simulation.as_mut().filter(|simulation| simulation.device() == device)?;
                simulation.plan(&attached_bytes(attachments, 0)?);
            }
            SimulatorRequest::Ask { serial, question } => {
                self.question.replace(Some((serial, *question)));
                self.simulation.borrow_mut().iter_mut().for_each(Simulation::begin);
                if !self.running.replace(true) {
                    spawn_local(self.clone().run());
                }
            }
        }
        Some(())
    }

    /// Works until the current question is answered.
    async fn run(self: Rc<Self>) {
        while self.step().is_some() {
            self.slices.yield_to_queue().await;
        }
        self.running.set(false);
    }

    /// Works for a slice of time. Returns `None` if there is nothing to do.
    fn step(&self) -> Option<()> {
        let mut simulation = self.simulation.borrow_mut();
        let (simulation, mut question) = (simulation.as_mut()?, self.question.borrow_mut());
        let (serial, asked) = question.as_ref()?;
        let send = &mut |answer: WhatIf| self.page.send(&SimulatorReply { serial: *serial, answer: Box::new(answer) });
        let ends = self.slices.end_of_next();
        if let Ok(answer) = simulation.answer(asked, send, &mut TimeSlice::new(&mut || self.slices.clock.now() < ends))
        {
            send(answer);
            *question = None;
        }
        Some(())
    }
}
