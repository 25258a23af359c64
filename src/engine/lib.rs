//! The memscape application without a user interface.
//!
//! An [`Engine`] takes a [`Request`] (open a file, answer a query, change settings) and the bytes of the file, and
//! gives back [`Reply`] values. A driver (web worker, command line, test) calls [`Engine::step`] while it returns
//! [`Work::More`]. `step` returns when its time budget is spent, so a driver with a message queue can let a
//! cancellation or a newer request overtake running work.
//!
//! Read first: `loading.rs` (from bytes to an open file) and
//! `questions.rs` (from a question to its answer).

mod answers_at_once;
mod backend;
mod backward_stacks;
mod categories;
mod columns;
mod copying;
pub mod crop;
mod curves;
mod details;
mod device;
mod events;
mod find;
mod flame;
mod groups;
mod heaviest;
mod icicle;
mod innermost;
mod legend;
mod loading;
mod marks;
mod memory_at;
mod moments;
mod open;
mod opening;
mod origin;
mod phases;
mod plan;
mod plots;
mod questions;
mod radix;
mod range;
mod recorder_facts;
mod regions;
pub mod rehearsal;
mod report;
mod roles;
mod scenes;
mod search_matches;
mod side;
mod source_lines;
mod sources;
mod stack_match;
mod stack_trees;
mod state;
mod steps;
mod stranded;
mod table;
pub mod tables;
mod tree;
mod what_if;

pub use columns::verify_cache;
pub use groups::UNKNOWN_POOL;
pub use history::recorder::{PausedBytes, Sample};
pub use intake::PartialSchedule;
pub use opening::{OpenedFile, Opening, open_columns};
pub use phases::{Phase, PhaseFinder};
pub use protocol::{Answer, Ask, NeededBytes, Question, Reply, Request};
pub use recorder_facts::outside_of_sample;
pub use report::oom::{OomKind, OomRecord, oom_records};
pub use report::search::{ModuleSearch, StepSearch};
pub use report::settings::is_default_setting;
pub use side::Side;

use analysis::InternalRules;
use analysis::category::compiled::CompiledSet;
use base::out_of_line::out_of_line;
use base::slice::TimeSlice;
use categories::standard_rules;
use intake::{Loader, MAX_TABLE_BYTES};
use loading::Loading;
use open::OpenFile;
use protocol::{LeaveOut, LoadRange, PartialFile};
use questions::Questions;
use report::FinishedReports;
use std::collections::VecDeque;
use std::sync::Arc;

/// Remaining work of an [`Engine`], as returned by [`Engine::step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    More,
    /// Nothing is left to do until the next request or chunk.
    Idle,
}

/// Function that makes a loader leave out texts of these kinds.
type LeaveOutTexts = fn(&mut Loader, LeaveOut);

/// Engine that loads one snapshot at a time and answers queries about it.
pub struct Engine {
    /// Maximum size of a file's tables, in bytes.
    max_table_bytes: u64,
    /// Range of events to load from each file.
    load_range: LoadRange,
    /// Function that makes a loader leave out texts, and the kinds of texts ([`Engine::leave_out`]).
    leave_out: Option<(LeaveOutTexts, LeaveOut)>,
    loading: Option<Box<Loading>>,
    file: Option<Box<OpenFile>>,
    questions: Questions,
    /// Constructor of the simulator for [`Question::WhatIf`]. If `None`, such queries are not answered.
    simulator: Option<what_if::NewSimulator>,
    /// Function that configures each new loader. Set if this engine also opens cache files
    /// ([`Engine::with_cache_files`]).
    prepare_loader: Option<fn(&mut Loader)>,
    internal_rules: InternalRules,
    categories: Arc<CompiledSet>,
    replies: VecDeque<Reply>,
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}

impl Engine {
    /// Creates an engine with no file open.
    pub fn new() -> Engine {
        Engine::with_memory_limit(MAX_TABLE_BYTES)
    }

    /// Creates an engine that rejects files whose tables take more than `max_table_bytes`.
    pub fn with_memory_limit(max_table_bytes: u64) -> Engine {
        let simulator: Option<what_if::NewSimulator> = Some(what_if::simulator);
        let questions = Questions::new(simulator);
        Engine { max_table_bytes, simulator, questions, ..Engine::without_simulator() }.with_cache_files()
    }

    /// Enables opening of cache files written by [`Engine::write_cache`]. The code for that is linked only if this is
    /// called.
    pub fn with_cache_files(self) -> Engine {
        Engine { prepare_loader: Some(Loader::accept_histories), ..self }
    }

    /// Leaves texts of these kinds out of files that are opened later. The code for that is linked only if this is
    /// called.
    pub fn leave_out(&mut self, what: LeaveOut) {
        self.leave_out = Some((Loader::leave_out, what));
    }

    /// Creates an engine without the simulated allocator, whose code is then not linked. Queries of the kind
    /// [`Question::WhatIf`] are not answered. Cache files written by [`Engine::write_cache`] are rejected unless
    /// [`Engine::with_cache_files`] is called.
    pub fn without_simulator() -> Engine {
        let (questions, internal_rules, replies, load_range) = Default::default();
        let categories = standard_rules();
        let (loading, file) = (None, None);
        let (simulator, prepare_loader) = (None, None);
        Engine {
            max_table_bytes: MAX_TABLE_BYTES,
            load_range,
            leave_out: None,
            loading,
            file,
            questions,
            simulator,
            prepare_loader,
            internal_rules,
            categories,
            replies,
        }
    }

    /// Accepts a request. Long work is deferred to [`Engine::step`].
    pub fn request(&mut self, request: Request) {
        match request {
            Request::Open { name, total_bytes, access, member } => {
                self.file = None;
                self.questions = Questions::new(self.simulator);
                let loader = Loader::new(name, total_bytes, access, member, self.max_table_bytes);
                let mut loader = loader.with_range(self.load_range);
                if let Some((leave_out, what)) = self.leave_out {
                    leave_out(&mut loader, what);
                }
                self.prepare_loader.into_iter().for_each(|prepare| prepare(&mut loader));
                self.loading = Some(Box::new(Loading::new(loader)));
            }
            Request::Load(range) => self.load_range = range,
            Request::EndOfFile => {
                self.loading.iter_mut().for_each(|loading| loading.loader.end());
            }
            Request::Cancel => {
                if self.loading.take().is_some() {
                    self.replies.push_back(Reply::Cancelled);
                }
            }
            Request::Ask(ask) => {
                // Questions without an open file are dropped.
                if let Some(file) = &mut self.file {
                    self.questions.ask(file, ask, &mut self.replies);
                }
            }
            Request::Categories(set) => {
                self.categories = Arc::new(CompiledSet::new(&set));
                self.questions.forget_categories();
                self.file.iter_mut().for_each(|file| file.set_categories(self.categories.clone()));
            }
            Request::InternalFrames(rules) => {
                // The page sends valid rules only. Invalid ones are ignored.
                self.internal_rules = InternalRules::parse_leniently(&rules);
                self.questions.forget_nodes();
                self.file.iter_mut().for_each(|file| file.stack_trees.set_rules(self.internal_rules.clone()));
            }
        }
    }

    /// Feeds the next bytes of the file being loaded, as requested by [`Engine::wants`]. Ignored if no file is loading.
    pub fn feed(&mut self, chunk: Vec<u8>) {
        if let Some(loading) = &mut self.loading {
            loading.loader.feed(chunk);
        }
    }

    /// Returns the position of the bytes that are needed next. `None` while the last chunk is not consumed, and after
    /// an error or a cancellation. After an error or a cancellation, the caller should stop reading the file.
    pub fn wants(&self) -> Option<NeededBytes> {
        self.loading.as_ref()?.loader.wants()
    }

    /// Returns whether a file is being loaded.
    pub fn is_loading(&self) -> bool {
        self.loading.is_some()
    }

    /// Returns partial results for the file being loaded. `None` if nothing was decoded since the last call, or if only
    /// a range of events is loaded. Takes a few nanoseconds for each event decoded since the last call.
    pub fn partial(&mut self) -> Option<Box<PartialFile>> {
        self.loading.as_mut()?.loader.partial().map(Box::new)
    }

    /// Continues until nothing is left to do or `has_time` returns false. `has_time` is called at least every few
    /// milliseconds.
    pub fn step(&mut self, has_time: &mut dyn FnMut() -> bool) -> Work {
        let slice = &mut TimeSlice::new(has_time);
        if let Some(loading) = &mut self.loading {
            let result = loading.step(slice);
            let loader = &mut loading.loader;
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
                    self.replies.push_back(Reply::Opened(Box::new(file.summary())));
                    let file = self.file.insert(file);
                    file.stack_trees.set_rules(self.internal_rules.clone());
                    file.set_categories(self.categories.clone());
                    let encoded = std::mem::take(&mut file.encoded_reports);
                    if self.has_standard_rules() {
                        self.questions.reports.finished = FinishedReports::encoded(encoded);
                    }
                    self.loading = None;
                    // A caller that needs only the summary stops here.
                    return Work::More;
                }
                Err(message) => {
                    self.replies.push_back(Reply::Failed { message });
                    self.loading = None;
                }
            }
        }
        let Some(file) = &mut self.file else { return Work::Idle };
        let Engine { questions, replies, .. } = self;
        let answered = out_of_line(|| questions.step(file, replies, slice));
        // Preparation only makes later answers faster, so it runs when no question is waiting.
        let is_done = answered.and_then(|()| out_of_line(|| file.prepare(slice))).is_ok();
        if is_done { Work::Idle } else { Work::More }
    }

    /// Removes and returns the oldest reply.
    pub fn next_reply(&mut self) -> Option<Reply> {
        self.replies.pop_front()
    }

    /// Returns the heap usage in bytes of the open file and of the file being loaded. Each entry is the name of a table
    /// and its size.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.loading.as_ref().map_or_else(Vec::new, |loading| loading.loader.heap_bytes());
        bytes.extend(self.file.as_ref().map_or_else(Vec::new, |file| file.heap_bytes()));
        bytes.extend(self.questions.heap_bytes());
        bytes
    }
}
