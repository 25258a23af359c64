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
mod join;
mod legend;
mod loader;
mod marks;
mod memory;
mod memory_at;
mod open;
mod origin;
mod pending;
mod places;
mod plots;
mod radix;
mod range;
mod regions;
mod report;
mod scenes;
mod snapviewer;
mod source;
mod source_lines;
mod sources;
mod spans;
mod stack_match;
mod state;
mod steps;
mod survey;
mod table;
mod tree;

pub use protocol::{Answer, Ask, Question, Reply, Request, Want};

use analysis::{CategorySet, InternalRules};
use loader::Loader;
use open::OpenFile;
use protocol::Plot;
use scenes::PendingScene;
use source::Source;
use std::collections::VecDeque;

/// Whether [`Engine::step`] has anything left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Call again.
    More,
    /// Nothing to do until the next request or chunk.
    Idle,
}

/// The app without a face.
pub struct Engine {
    /// Bytes that the tables of a file may take.
    memory: u64,
    loading: Option<Box<Loader>>,
    file: Option<Box<OpenFile>>,
    scene: Option<Box<PendingScene>>,
    searches: find::Searches,
    tables: table::Tables,
    events: events::Events,
    curves: curves::AskedCurves,
    pending: pending::Pending,
    reports: report::Reports,
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
        let (searches, tables, events, curves, pending, reports, internal, replies) = Default::default();
        let categories = CategorySet::standard();
        let (loading, file, scene) = (None, None, None);
        Engine {
            memory,
            loading,
            file,
            scene,
            searches,
            tables,
            events,
            curves,
            pending,
            reports,
            internal,
            categories,
            replies,
        }
    }

    /// Takes a request. Long work is done in [`Engine::step`].
    pub fn request(&mut self, request: Request) {
        match request {
            Request::Open { name, total_bytes, access, member } => {
                self.file = None;
                self.scene = None;
                self.searches = find::Searches::default();
                self.tables = table::Tables::default();
                self.events = events::Events::default();
                self.curves = curves::AskedCurves::default();
                self.pending = pending::Pending::default();
                self.reports = report::Reports::default();
                self.loading = Some(Box::new(Loader::new(name, Source::new(total_bytes, access, member), self.memory)));
            }
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
            Request::Ask(ask) => self.ask(ask),
            Request::Categories(set) => {
                self.categories = *set;
                self.tables.forget_nodes();
                self.events.forget_categories();
                self.reports.begin_again();
                self.scene.iter_mut().for_each(|scene| scene.begin_again());
                self.file.iter_mut().for_each(|file| file.set_categories(&self.categories));
            }
            Request::InternalFrames(rules) => {
                // The page sends what can be read; what can't says nothing.
                self.internal = InternalRules::heeded(&rules);
                self.pending.forget_trees();
                self.tables.forget_nodes();
                self.file.iter_mut().for_each(|file| file.answers.set_rules(self.internal.clone()));
            }
        }
    }

    /// Takes a question: what is quick is answered at once, the rest waits for [`Engine::step`].
    fn ask(&mut self, Ask { serial, device, what }: Ask) {
        let file = self.file.as_deref_mut();
        let answer = match what {
            Question::Scene { view, looks } => {
                self.scene = Some(Box::new(PendingScene::new(serial, device, view, looks)));
                None
            }
            Question::Hit { looks, moment, byte } if looks.plot == Plot::Stack => {
                Some(Answer::Hit { hit: file.and_then(|file| file.hit(device, looks, moment, byte)), memory: None })
            }
            Question::Hit { looks, moment, byte } => {
                let found = file.map(|file| file.hit_in_plot(device, looks, moment, byte)).unwrap_or_default();
                Some(Answer::Hit { hit: found.0, memory: Some(Box::new(found.1)) })
            }
            Question::Curves { view, only } => {
                self.curves.ask(file.as_deref(), serial, device, (view, only));
                None
            }
            Question::Events(question) => {
                self.events.ask(serial, device, *question);
                None
            }
            Question::EventsText(question) => {
                self.events.copy(serial, device, *question);
                None
            }
            Question::Moments(at) => file
                .and_then(|file| file.history(device))
                .map(|history| Answer::Moments(at.into_iter().filter_map(|at| places::facts(history, at)).collect())),
            Question::Step { looks, moment, byte, step } => {
                file.and_then(|file| steps::step(file, device, looks, (moment, byte), step)).map(Answer::Step)
            }
            Question::Marks => {
                file.and_then(|file| marks::marks(file, device)).map(|marks| Answer::Marks(Box::new(marks)))
            }
            Question::Overview { axis, width_px } => file
                .and_then(|file| file.overview(device, axis, width_px))
                .map(|overview| Answer::Overview(Box::new(overview))),
            Question::Outline { view, looks, allocation } => {
                file.and_then(|file| file.outline(device, looks, &view, allocation)).map(Answer::Outline)
            }
            Question::Find(query) => {
                self.searches.find(serial, device, &query);
                None
            }
            Question::FindNext { find, begin, direction, looks, window, scope } => Some(Answer::FindNext(
                file.and_then(|file| find::step_to(file, (find, scope), begin, direction, looks, window)),
            )),
            Question::SameStack(stack) => {
                self.searches.count_stack(serial, device, stack);
                None
            }
            Question::Table(question) => {
                self.tables.ask(serial, device, *question);
                None
            }
            Question::TableText(question) => {
                self.tables.copy(serial, device, *question);
                None
            }
            Question::Report(question) => {
                self.reports.ask(serial, device, question);
                None
            }
            Question::Legend { .. } | Question::Details(_) => {
                self.pending.ask(Ask { serial, device, what });
                self.pending.answer_quick(file, &mut self.replies);
                None
            }
            what => {
                self.pending.ask(Ask { serial, device, what });
                None
            }
        };
        self.replies.extend(answer.map(|answer| Reply::Answer { serial, answer }));
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

    /// Works until there is nothing to do or `has_time` (asked at least every few milliseconds) says no.
    pub fn step(&mut self, has_time: &mut dyn FnMut() -> bool) -> Work {
        if let Some(loader) = &mut self.loading {
            let result = loader.step(has_time);
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
                    let file = self.file.insert(Box::new(file));
                    file.answers.set_rules(self.internal.clone());
                    file.set_categories(&self.categories);
                    self.loading = None;
                }
                Err(error) => {
                    self.replies.push_back(Reply::Failed { message: loader.message(&error) });
                    self.loading = None;
                }
            }
        }
        match (&mut self.file, &mut self.scene) {
            (Some(file), Some(pending)) => {
                let Some(reply) = pending.step(file, has_time) else { return Work::More };
                self.replies.extend(reply);
                self.scene = None;
            }
            _ => self.scene = None,
        }
        if let Some(file) = &mut self.file
            && !(self.curves.step(file, &mut self.replies, has_time)
                && self.searches.step(file, &mut self.replies, has_time)
                && self.pending.step(file, &mut self.replies, has_time)
                && self.tables.step(file, &mut self.replies, has_time)
                && self.events.step(file, &mut self.replies, has_time)
                && self.reports.step(file, &mut self.replies, has_time))
        {
            return Work::More;
        }
        // What only makes answers faster comes when there is nothing else to do.
        let is_prepared = self.file.as_mut().is_none_or(|file| file.prepare(has_time));
        if is_prepared { Work::Idle } else { Work::More }
    }

    /// The next reply, oldest first.
    pub fn next_reply(&mut self) -> Option<Reply> {
        self.replies.pop_front()
    }

    /// Bytes on the heap, by table, of what is open and what is loading.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.loading.as_ref().map_or_else(Vec::new, |loader| loader.heap_bytes());
        bytes.extend(self.file.as_ref().map_or_else(Vec::new, |file| file.heap_bytes()));
        bytes.push(("table", self.tables.heap_bytes()));
        bytes.push(("curves", self.curves.heap_bytes()));
        bytes.push(("list of events", self.events.heap_bytes()));
        bytes.push(("views", self.pending.heap_bytes()));
        bytes
    }
}
