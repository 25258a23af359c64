//! The page's handle to the workers that scan the files of many ranks. They have their own wasm, which is loaded when
//! first needed. Readers scan one file at a time, and the gatherer collects their results. The page reads the bytes for
//! them, because some browsers do not allow workers to read files.

use super::ranks_server;
use super::remote::Remote;
use super::worker_code::WorkerCode;
use crate::dom;
use js_sys::{Array, ArrayBuffer};
use protocol::{FileToRead, SurveyorReply, SurveyorRequest};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use ui::shell::action::Action;
use ui::state::ranks::RanksAction;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, File, Window};

/// Number of workers that read files at the same time.
const READERS: usize = 2;
/// Number of file bytes that are passed to a worker at a time.
const PIECE_BYTES: f64 = 4194304.0;
/// Limit, in bytes, for the estimated tables of all files that are read at the same time.
pub(super) const MAX_TABLE_BYTES: u64 = 2147483648;
/// Estimated number of bytes in tables per byte of a file. The actual ratio is higher for compressed files and lower
/// for others.
const TABLES_PER_BYTE: f64 = 4.0;
/// Maximum memory of a worker, in bytes. A worker that has more is replaced after its file, because wasm never returns
/// memory.
const MAX_WORKER_BYTES: u64 = 268435456;

/// Source of a file to scan.
#[derive(Clone)]
pub(super) enum Source {
    File(File),
    /// File on a server that can scan it. The URL is relative to the page.
    Link(String),
}

/// File to scan.
pub(super) struct Task {
    pub(super) source: Source,
    pub(super) member: Option<u32>,
    pub(super) name: String,
}

/// Handle to the workers of a rank scan.
pub(super) struct Surveyor {
    dispatch: Box<dyn Fn(Action)>,
    code: Rc<WorkerCode>,
    /// Number of scans cancelled so far. Bytes and results that were requested for them are ignored.
    generation: Cell<u32>,
    tasks: RefCell<Vec<Task>>,
    /// Indices of the files that are not read yet. The last index is read next.
    unread: RefCell<Vec<usize>>,
    done: Cell<usize>,
    paused: Cell<bool>,
    readers: [Reader; READERS],
    gatherer: SurveyorRemote,
}

/// Worker that runs the wasm of the surveyor.
pub(super) type SurveyorRemote = Remote<SurveyorRequest, SurveyorReply>;

/// Worker that reads files.
struct Reader {
    remote: SurveyorRemote,
    task: RefCell<Option<CurrentFile>>,
}

/// File that a reader or the server scans.
#[derive(Clone)]
struct CurrentFile {
    /// Index of the file in the scan.
    index: usize,
    /// Content. `None` if the server scans the file.
    blob: Option<Blob>,
    /// Estimated bytes of its tables.
    tables: f64,
}

impl Surveyor {
    pub(super) fn new(window: Window, act: impl Fn(Action) + 'static) -> Rc<Surveyor> {
        Rc::new_cyclic(|surveyor: &Weak<Surveyor>| {
            let code = WorkerCode::of_part(window, "part-surveyor");
            let remote = |handle: fn(&Rc<Surveyor>, usize, _), index| {
                let surveyor = surveyor.clone();
                Remote::new(code.clone(), move |reply| {
                    if let Some(surveyor) = surveyor.upgrade() {
                        handle(&surveyor, index, reply);
                    }
                })
            };
            let readers = std::array::from_fn(|index| Reader {
                remote: remote(Surveyor::on_reader_reply, index),
                task: RefCell::default(),
            });
            let gatherer = remote(Surveyor::on_gatherer_reply, 0);
            let (generation, tasks, unread, done, paused) = Default::default();
            Surveyor {
                dispatch: Box::new(act),
                code: code.clone(),
                generation,
                tasks,
                unread,
                done,
                paused,
                readers,
                gatherer,
            }
        })
    }

    /// Returns the code that the workers run.
    pub(super) fn code(&self) -> Rc<WorkerCode> {
        self.code.clone()
    }

    /// Starts a scan of these files. A previous scan is dropped.
    pub(super) fn start_survey(self: &Rc<Self>, tasks: Vec<Task>) {
        self.stop();
        self.gatherer.send(&SurveyorRequest::Gather(tasks.iter().map(|task| task.name.clone()).collect()));
        self.unread.replace((0..tasks.len()).rev().collect());
        self.tasks.replace(tasks);
        self.assign_files();
    }

    /// Sends a request about the current scan to the gatherer. Ignored if there is no scan.
    pub(super) fn send(&self, request: &SurveyorRequest) {
        self.send_with(request, &Array::new());
    }

    fn send_with(&self, request: &SurveyorRequest, attachments: &Array) {
        if self.gatherer.is_running() {
            self.gatherer.send_with(request, attachments);
        }
    }

    /// Stops the readers. The results so far are kept.
    pub(super) fn cancel(&self) {
        self.paused.set(true);
        self.generation.set(self.generation.get() + 1);
        for reader in &self.readers {
            reader.remote.stop();
            // Its file will be read again from the beginning.
            self.unread.borrow_mut().extend(reader.task.take().map(|task| task.index));
        }
    }

    /// Resumes a cancelled scan.
    pub(super) fn resume(self: &Rc<Self>) {
        self.paused.set(false);
        self.assign_files();
    }

    /// Stops all workers and drops the scan.
    pub(super) fn stop(&self) {
        self.cancel();
        self.paused.set(false);
        self.done.set(0);
        drop((self.unread.take(), self.tasks.take()));
        self.gatherer.stop();
    }

    /// Assigns the next files to idle readers, as long as the memory limit allows it.
    fn assign_files(self: &Rc<Self>) {
        for (reader_index, reader) in self.readers.iter().enumerate() {
            let next = self.unread.borrow().last().copied();
            let source = next.and_then(|next| Some((next, self.tasks.borrow().get(next)?.source.clone())));
            let Some((index, source)) = source else { return self.stop_idle_readers() };
            let blob: Option<Blob> = if let Source::File(file) = &source { Some(file.clone().into()) } else { None };
            let tables = blob.as_ref().map_or(0.0, Blob::size) * TABLES_PER_BYTE;
            let held: f64 = self.readers.iter().filter_map(|reader| Some(reader.task.borrow().as_ref()?.tables)).sum();
            let is_too_much = held > 0.0 && held + tables > MAX_TABLE_BYTES as f64;
            if reader.task.borrow().is_some() || self.paused.get() || is_too_much {
                continue;
            }
            self.unread.borrow_mut().pop();
            match (source, &blob) {
                (Source::Link(link), _) => self.survey_on_server(reader_index, link),
                (_, Some(blob)) => self.send_file(reader, index, blob),
                _ => {}
            }
            reader.task.replace(Some(CurrentFile { index, blob, tables }));
        }
    }

    fn send_file(&self, reader: &Reader, index: usize, blob: &Blob) {
        let tasks = self.tasks.borrow();
        let Some(Task { name, member, .. }) = tasks.get(index) else { return };
        let (name, member) = (name.clone(), *member);
        let file = FileToRead { name, bytes: blob.size() as u64, member, max_table_bytes: MAX_TABLE_BYTES };
        reader.remote.send(&SurveyorRequest::Survey(file));
    }

    /// Makes the server scan a file in place of the reader with this index.
    fn survey_on_server(self: &Rc<Self>, index: usize, link: String) {
        let (surveyor, generation) = (self.clone(), self.generation.get());
        spawn_local(async move {
            let answer = ranks_server::survey(surveyor.code.window(), &link).await;
            if surveyor.generation.get() == generation {
                surveyor.on_file_done(index, answer.map(|bytes| Array::of1(&bytes)));
            }
        });
    }

    /// Stops idle readers to free their memory.
    fn stop_idle_readers(&self) {
        self.readers.iter().filter(|reader| reader.task.borrow().is_none()).for_each(|reader| reader.remote.stop());
    }

    fn on_gatherer_reply(self: &Rc<Self>, _: usize, reply: Result<(SurveyorReply, Array), String>) {
        match reply {
            Ok((SurveyorReply::Report(reply), _)) => (self.dispatch)(Action::Ranks(RanksAction::Reply(reply))),
            Ok(_) => {}
            Err(cause) => self.fail(cause),
        }
    }

    fn on_reader_reply(self: &Rc<Self>, index: usize, reply: Result<(SurveyorReply, Array), String>) {
        match reply {
            Ok((SurveyorReply::Need(offset), _)) => self.read(index, offset),
            Ok((SurveyorReply::Surveyed { result, memory_bytes }, attachments)) => {
                if memory_bytes > MAX_WORKER_BYTES {
                    self.readers.get(index).iter().for_each(|reader| reader.remote.stop());
                }
                self.on_file_done(index, result.map(|()| attachments));
            }
            Ok(_) => {}
            // The code could not be loaded.
            Err(cause) if !self.gatherer.is_ready() => self.fail(cause),
            // The file of a reader that has crashed is recorded as failed, and another worker reads the next file.
            Err(cause) => self.on_file_done(index, Err(cause)),
        }
    }

    /// Sends a reader the bytes that it has requested.
    fn read(self: &Rc<Self>, index: usize, offset: u64) {
        let task = self.readers.get(index).and_then(|reader| reader.task.borrow().clone());
        let Some(blob) = task.and_then(|task| task.blob) else { return };
        let (surveyor, generation) = (self.clone(), self.generation.get());
        spawn_local(async move {
            let bytes = read_piece(&blob, offset).await;
            let Some(reader) = surveyor.readers.get(index).filter(|_| surveyor.generation.get() == generation) else {
                return;
            };
            match bytes {
                Ok(buffer) => reader.remote.send_with(&SurveyorRequest::Bytes, &Array::of1(&buffer)),
                Err(cause) => {
                    reader.remote.stop();
                    surveyor.on_file_done(index, Err(dom::error_message(&cause)));
                }
            }
        });
    }

    /// Passes the result of a reader's file to the gatherer. A successful result is attached.
    fn on_file_done(self: &Rc<Self>, index: usize, result: Result<Array, String>) {
        let Some(task) = self.readers.get(index).and_then(|reader| reader.task.take()) else { return };
        let (attachments, result) = result.map_or_else(|cause| (Array::new(), Err(cause)), |bytes| (bytes, Ok(())));
        self.send_with(&SurveyorRequest::Add { file: task.index as u32, result }, &attachments);
        self.done.set(self.done.get() + 1);
        (self.dispatch)(Action::Ranks(RanksAction::Surveyed(self.done.get())));
        self.assign_files();
    }

    fn fail(&self, cause: String) {
        self.stop();
        (self.dispatch)(Action::Ranks(RanksAction::Failed(cause)));
    }
}

/// Reads the next bytes of a file, from this offset on, into a buffer. It is empty at the end of the file.
pub(super) async fn read_piece(file: &Blob, offset: u64) -> Result<ArrayBuffer, JsValue> {
    let from = offset as f64;
    let piece = file.slice_with_f64_and_f64(from, (from + PIECE_BYTES).min(file.size()))?;
    JsFuture::from(piece.array_buffer()).await?.dyn_into()
}
