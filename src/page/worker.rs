//! The engine's worker. It handles messages from the page and runs the engine.
//!
//! The engine works in slices of a few milliseconds. In between, the worker processes its message queue, so that a
//! cancellation, a newer view or another file takes precedence over running work.

mod fingerprinting;
mod later;
mod link;
mod posting;
mod reader;
mod source;
mod warm_up;

use crate::wire::{FromWorker, ToWorker};
use channel::{Page, Slices, serve};
use compare::{FileSlot, Pair};
use engine::{Engine, PartialSchedule, Work};
use gloo::timers::callback::Timeout;
use js_sys::Array;
use later::LaterCode;
use protocol::{NeededBytes, Phase, Progress, Reply, Request};
use reader::Failure;
use source::Source;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use warm_up::WarmUp;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;

/// Duration, in milliseconds, of a slice of work between opening a file and its first picture. The engine prepares
/// answers then, and the question about the picture should not wait long.
const FIRST_SLICE_MS: f64 = 2.0;

/// Time, in milliseconds, without bytes after which all that was decoded is sent to the page.
const STALLED_MS: u32 = 400;

/// Starts the worker, which runs until the page terminates it.
pub fn start() {
    serve(|page| {
        let shell = Rc::new(WorkerShell {
            page,
            slices: Slices::new()?,
            engine: RefCell::new(Pair::new(|| Engine::without_simulator().with_cache_files())),
            source: RefCell::new(None),
            later: LaterCode::default(),
            warm_up: RefCell::new(None),
            unfingerprinted: RefCell::new(None),
            fingerprint_timer: RefCell::new(None),
            loads: Default::default(),
            running: Cell::new(false),
            received: Cell::default(),
            fingerprinting: Cell::default(),
            progress_due: Cell::new(0.0),
            unsent: RefCell::new(None),
            pace: Cell::default(),
            phase: Cell::new(Phase::Decoding),
            worked_ms: Cell::new(0.0),
        });
        Ok(move |message, attachments: Array| shell.receive(message, &attachments))
    });
}

struct WorkerShell {
    page: Page<FromWorker>,
    slices: Slices,
    engine: RefCell<Pair>,
    /// Source of the file that is being loaded.
    source: RefCell<Option<Rc<Source>>>,
    later: LaterCode,
    /// Warm-up work that runs until the first file is opened.
    warm_up: RefCell<Option<Box<WarmUp>>>,
    /// Completely read source whose fingerprint is not computed yet. It is computed after the picture was sent.
    unfingerprinted: RefCell<Option<Rc<Source>>>,
    /// Computes the fingerprint if no picture is sent. Dropping it cancels it.
    fingerprint_timer: RefCell<Option<Timeout>>,
    /// Ids of the loads of the first and the second file, used in replies. Unchanged while a newer load waits for its
    /// first bytes.
    loads: [Cell<u32>; 2],
    /// True while [`WorkerShell::run`] is running, which must not be started again then.
    running: Cell<bool>,
    /// Number of messages received, for [`FromWorker::Idle`].
    received: Cell<u32>,
    /// Number of fingerprints that are being computed.
    fingerprinting: Cell<u32>,
    /// Earliest time of the next progress message, in milliseconds.
    progress_due: Cell<f64>,
    /// Progress message that was not due.
    unsent: RefCell<Option<(FileSlot, Reply)>>,
    /// Schedule of partial results.
    pace: Cell<PartialSchedule>,
    /// Phase reported in the latest progress message.
    phase: Cell<Phase>,
    /// Time, in milliseconds, that the engine has worked since a file was opened, without waiting for bytes.
    worked_ms: Cell<f64>,
}

impl WorkerShell {
    fn receive(self: &Rc<Self>, message: ToWorker, attachments: &Array) {
        self.received.set(self.received.get().wrapping_add(1));
        if !matches!(message, ToWorker::Later) {
            // A real request ends the warm-up.
            self.warm_up.take().into_iter().for_each(|rehearsal| rehearsal.end());
        }
        match message {
            ToWorker::WarmUp => drop(self.warm_up.replace(Some(Box::new(WarmUp::new())))),
            ToWorker::Later => match self.later.link(&attachments.get(0)) {
                Ok(waiting) => waiting.into_iter().for_each(|request| self.engine.borrow_mut().request(request)),
                // The bootstrap script sends it to the page.
                Err(cause) => wasm_bindgen::throw_val(cause),
            },
            ToWorker::File { load, member, which } => {
                self.set_source(Source::from_file((load, which), member, attachments.get(0).unchecked_into()));
            }
            ToWorker::Link { load, member, url, which } => {
                self.set_source(Source::from_link((load, which), member, url));
            }
            ToWorker::CloseSecond => {
                let is_second = self.source.borrow().as_ref().is_some_and(|source| source.which == FileSlot::Second);
                if is_second {
                    self.end_source();
                }
                self.engine.borrow_mut().close_second();
            }
            ToWorker::Columns { load } => self.write(load, Engine::write_columns),
            ToWorker::CacheFile { load } => self.write(load, Engine::write_cache),
            ToWorker::Ask(request) => {
                if request == Request::Cancel {
                    self.end_source();
                }
                if let Some(request) = self.later.admit(request) {
                    self.engine.borrow_mut().request(request);
                }
            }
        }
        if !self.running.replace(true) {
            spawn_local(self.clone().run());
        }
    }

    fn load(&self, which: FileSlot) -> &Cell<u32> {
        &self.loads[which as usize]
    }

    fn set_source(self: &Rc<Self>, source: Source) {
        self.send_fingerprint();
        self.end_source();
        if source.which == FileSlot::First {
            self.later.forget_requests();
        }
        self.source.replace(Some(Rc::new(source)));
    }

    fn end_source(&self) {
        if let Some(source) = self.source.take() {
            source.cancel();
        }
    }

    /// Works until the engine is idle and no bytes are left to read.
    async fn run(self: Rc<Self>) {
        // Questions that were sent together are ordered by their priorities.
        self.slices.yield_to_queue().await;
        let mut slice_ends = self.end_of_next_slice();
        loop {
            let began = self.slices.clock.now();
            let work = self.engine.borrow_mut().step(&mut || self.slices.clock.now() < slice_ends);
            self.worked_ms.set(self.worked_ms.get() + self.slices.clock.now() - began);
            self.post_replies();
            self.post_partial();
            if work == Work::Idle && self.unfingerprinted.borrow().is_some() {
                self.send_fingerprint_later();
            }
            if work == Work::More || self.slices.clock.now() >= slice_ends {
                self.slices.yield_to_queue().await;
                slice_ends = self.end_of_next_slice();
                // Messages that arrived meanwhile did not start another loop.
                continue;
            }
            if !self.read().await && self.step_warm_up(slice_ends) == Work::Idle {
                break;
            }
        }
        self.running.set(false);
        self.post_if_idle();
    }

    fn end_of_next_slice(&self) -> f64 {
        // The picture was not sent yet.
        let is_first = self.unfingerprinted.borrow().is_some();
        if is_first { self.slices.clock.now() + FIRST_SLICE_MS } else { self.slices.end_of_next() }
    }

    /// Notifies the page if there is nothing left to do.
    fn post_if_idle(&self) {
        let is_fingerprinting = self.fingerprinting.get() > 0 || self.unfingerprinted.borrow().is_some();
        if !self.running.get() && !is_fingerprinting && !self.later.is_awaited() {
            self.page.send(&FromWorker::Idle(self.received.get()));
        }
    }

    /// Continues the warm-up, if there is one.
    fn step_warm_up(&self, slice_ends: f64) -> Work {
        let mut rehearsal = self.warm_up.borrow_mut();
        let work = rehearsal
            .as_mut()
            .map_or(Work::Idle, |it| it.step(self.later.is_linked(), &mut || self.slices.clock.now() < slice_ends));
        if work == Work::Idle
            && let Some(rehearsal) = rehearsal.take()
        {
            // For developer tools and tests.
            let _ = self.slices.clock.mark("memscape: rehearsed");
            rehearsal.end();
        }
        work
    }

    /// Passes the next bytes to the engine. Returns false if there is nothing to read.
    async fn read(self: &Rc<Self>) -> bool {
        let Some(source) = self.source.borrow().clone() else { return false };
        let want = self.engine.borrow().wants();
        let shell = self.clone();
        let stalled = Timeout::new(STALLED_MS, move || shell.post_unsent());
        let result = match want {
            _ if !source.is_open() => source.open().await,
            Some(NeededBytes::Next) => source.read_chunk().await,
            Some(NeededBytes::At(offset)) => match source.seek(offset) {
                Ok(()) => source.read_chunk().await,
                Err(failure) => Err(failure),
            },
            Some(NeededBytes::WholeFile) => source.keep_chunk().await,
            None => {
                // The engine has found an error, has all it needs, or was cancelled.
                self.finish_source(self.source.take());
                return true;
            }
        };
        drop(stalled);
        let is_current = self.source.borrow().as_ref().is_some_and(|current| Rc::ptr_eq(current, &source));
        if !is_current {
            return true;
        }
        let mut engine = self.engine.borrow_mut();
        match result {
            Ok(source::Event::Opened { name, total_bytes, access }) => {
                if let Some(version) = source.version().filter(|_| source.which == FileSlot::First) {
                    self.page.send(&FromWorker::Versioned { load: source.load, version });
                }
                self.load(source.which).set(source.load);
                self.worked_ms.set(0.0);
                self.pace.set(PartialSchedule::start(self.slices.clock.now()));
                let open = Request::Open { name, total_bytes, access, member: source.member };
                match source.which {
                    FileSlot::First => engine.request(open),
                    FileSlot::Second => engine.open_second(open),
                }
            }
            Ok(source::Event::Kept(bytes)) => {
                let progress = Progress { bytes, total_bytes: None, phase: Phase::Decoding };
                self.post(source.which, Reply::Progress(progress));
            }
            Ok(source::Event::Interrupted(at)) => {
                self.page.send(&FromWorker::LinkInterrupted { load: source.load, at });
            }
            Ok(source::Event::Chunk(bytes)) => engine.feed(bytes),
            Ok(source::Event::End) => {
                engine.request(Request::EndOfFile);
                self.finish_source(self.source.take());
            }
            Err(failure) => {
                engine.request(Request::Cancel);
                self.source.take();
                let load = source.load;
                self.page.send(&match failure {
                    Failure::Link(status) => FromWorker::LinkFailed { load, status },
                    Failure::Read(message) => FromWorker::Reply { load, reply: Reply::Failed { message } },
                });
            }
        }
        true
    }
}
