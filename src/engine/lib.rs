//! The app without a face: [`Request`] in, [`Reply`] out, in slices.
//!
//! A driver (worker, command line, test) hands over requests and bytes, calls [`Engine::step`] while there is work, and takes
//! the replies. `step` returns when its budget is spent, so that a driver with a message queue can let a cancel or a newer
//! window overtake what runs.

pub mod protocol;

mod answers;
mod archive;
mod archive_error;
mod categories;
mod columns;
mod copying;
pub mod crop;
mod curves;
mod decoder;
mod details;
mod device;
mod events;
mod feed;
mod find;
mod flame;
mod found;
mod glimpse;
mod groups;
mod heaviest;
mod icicle;
mod innermost;
mod intake;
mod join;
mod legend;
mod loader;
mod marks;
mod memory;
mod memory_at;
mod open;
mod opening;
mod origin;
mod partial;
mod places;
mod plan;
mod plots;
mod questions;
mod radix;
mod range;
mod recorded;
mod regions;
pub mod rehearsal;
mod report;
mod roles;
mod scenes;
mod side;
mod snapviewer;
mod source_lines;
mod sources;
mod spans;
mod stack_match;
mod state;
mod steps;
mod survey;
mod table;
mod tree;
mod what_if;

pub use columns::look_through;
pub use opening::{Opened, Opening, open_columns};
pub use partial::Pace;
pub use protocol::{Answer, Ask, Question, Reply, Request, Want};
pub use report::searched::{ModuleSearch, StepSearch};
pub use side::Side;

use analysis::{CategorySet, InternalRules};
use base::apart::apart;
use base::slice::Slice;
use intake::Intake;
use loader::Loader;
use open::OpenFile;
use protocol::{LoadRange, PartialFile};
use questions::Questions;
use std::collections::VecDeque;

/// Whether [`Engine::step`] has anything left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    More,
    /// Nothing to do until the next request or chunk.
    Idle,
}

/// The app without a face.
pub struct Engine {
    /// Bytes that the tables of a file may take.
    memory: u64,
    /// The events that files are opened with.
    load: LoadRange,
    loading: Option<Box<Loader>>,
    file: Option<Box<OpenFile>>,
    questions: Questions,
    /// Makes what answers [`Question::WhatIf`], where this engine does.
    simulator: Option<fn() -> Box<dyn what_if::Simulate>>,
    /// Prepares the opening of a file, where this engine reads what is kept of one.
    prepare: Option<fn(&mut Loader)>,
    internal: InternalRules,
    categories: CategorySet,
    replies: VecDeque<Reply>,
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}

impl Engine {
    /// An engine with no file open.
    pub fn new() -> Engine {
        Engine::with_memory(memory::MOST)
    }

    /// One that refuses a file whose tables take more than so many bytes.
    pub fn with_memory(memory: u64) -> Engine {
        let simulator: fn() -> Box<dyn what_if::Simulate> = what_if::simulator;
        let questions = Questions::new(Some(simulator()));
        Engine { memory, simulator: Some(simulator), questions, ..Engine::without_simulator() }.taking_kept()
    }

    /// The same, which also opens what [`Engine::write_kept`] wrote. Where none asks for that, none of its code is linked.
    pub fn taking_kept(self) -> Engine {
        Engine { prepare: Some(Loader::take_histories), ..self }
    }

    /// One without the simulated allocator: [`Question::WhatIf`] has no answer, and none of its code is linked. Nor does it open what
    /// [`Engine::write_kept`] wrote ([`Engine::taking_kept`]).
    pub fn without_simulator() -> Engine {
        let memory = memory::MOST;
        let (questions, internal, replies, load) = Default::default();
        let categories = CategorySet::standard();
        let (loading, file) = (None, None);
        let (simulator, prepare) = (None, None);
        Engine { memory, load, loading, file, questions, simulator, prepare, internal, categories, replies }
    }

    /// Takes a request. Long work is done in [`Engine::step`].
    pub fn request(&mut self, request: Request) {
        match request {
            Request::Open { name, total_bytes, access, member } => {
                self.file = None;
                self.questions = Questions::new(self.simulator.map(|make| make()));
                let intake = Intake::new(total_bytes, access, member);
                let mut loader = Box::new(Loader::new(name, intake, self.memory).keeping(self.load));
                self.prepare.into_iter().for_each(|prepare| prepare(&mut loader));
                self.loading = Some(loader);
            }
            Request::Load(range) => self.load = range,
            Request::EndOfFile => {
                if let Some(loader) = &mut self.loading {
                    loader.end();
                }
            }
            Request::Cancel => {
                if self.loading.take().is_some() {
                    self.replies.push_back(Reply::Cancelled);
                }
            }
            Request::Ask(ask) => {
                // Without a file nobody waits for an answer.
                if let Some(file) = &mut self.file {
                    self.questions.ask(file, ask, &mut self.replies);
                }
            }
            Request::Categories(set) => {
                self.categories = *set;
                self.questions.forget_categories();
                self.file.iter_mut().for_each(|file| file.set_categories(&self.categories));
            }
            Request::InternalFrames(rules) => {
                // The page sends what can be read; what can't says nothing.
                self.internal = InternalRules::heeded(&rules);
                self.questions.forget_nodes();
                self.file.iter_mut().for_each(|file| file.answers.set_rules(self.internal.clone()));
            }
        }
    }

    /// Takes the next bytes of the file being loaded; without one they are dropped. They are those it
    /// [wants](Engine::wants).
    pub fn feed(&mut self, chunk: Vec<u8>) {
        if let Some(loader) = &mut self.loading {
            loader.feed(chunk);
        }
    }

    /// Which bytes are needed next: `None` while the last chunk is not used up, and after an error or a cancel (stop reading
    /// then).
    pub fn wants(&self) -> Option<Want> {
        self.loading.as_ref()?.wants()
    }

    /// Whether a file is loading at all.
    pub fn is_loading(&self) -> bool {
        self.loading.is_some()
    }

    /// What is decoded so far of the file that is loading; `None` where that is as it was the last time, or where only a range is loaded.
    /// Asking costs a pass over the events since the last time: some nanoseconds each.
    pub fn partial(&mut self) -> Option<Box<PartialFile>> {
        self.loading.as_mut()?.partial().map(Box::new)
    }

    /// Works until there is nothing to do or `has_time` (asked at least every few milliseconds) says no.
    pub fn step(&mut self, has_time: &mut dyn FnMut() -> bool) -> Work {
        let slice = &mut Slice::new(has_time);
        if let Some(loader) = &mut self.loading {
            let result = apart(|| loader.step(slice));
            self.replies.extend(loader.take_members().map(Reply::Members));
            match result {
                Ok(None) => {
                    let progress = Reply::Progress(loader.progress());
                    match self.replies.back_mut() {
                        Some(last @ Reply::Progress(_)) => *last = progress,
                        _ => self.replies.push_back(progress),
                    }
                    return if loader.wants().is_some() { Work::Idle } else { Work::More };
                }
                Ok(Some(file)) => {
                    self.replies.push_back(Reply::Opened(Box::new(apart(|| file.summary()))));
                    let file = self.file.insert(Box::new(file));
                    file.answers.set_rules(self.internal.clone());
                    file.set_categories(&self.categories);
                    self.loading = None;
                    // Whoever only wants to know what is in it, asks for no more.
                    return Work::More;
                }
                Err(error) => {
                    self.replies.push_back(Reply::Failed { message: loader.message(&error) });
                    self.loading = None;
                }
            }
        }
        let Some(file) = &mut self.file else { return Work::Idle };
        let Engine { questions, replies, .. } = self;
        let answered = apart(|| questions.step(file, replies, slice));
        // What only makes answers faster comes when there is nothing else to do.
        let is_done = answered.and_then(|()| apart(|| file.prepare(slice))).is_ok();
        if is_done { Work::Idle } else { Work::More }
    }

    /// The next reply, oldest first.
    pub fn next_reply(&mut self) -> Option<Reply> {
        self.replies.pop_front()
    }

    /// Bytes on the heap, by table, of what is open and what is loading.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.loading.as_ref().map_or_else(Vec::new, |loader| loader.heap_bytes());
        bytes.extend(self.file.as_ref().map_or_else(Vec::new, |file| file.heap_bytes()));
        bytes.extend(self.questions.heap_bytes());
        bytes
    }
}
