//! The page's handle to the workers that scan the files of many ranks. They have their own wasm, which is loaded when
//! first needed. Readers scan one file at a time, and the gatherer collects their results. The page reads the bytes for
//! them, because some browsers do not allow workers to read files.

use super::thread::WorkerThread;
use super::worker_code::WorkerCode;
use crate::dom;
use js_sys::{Array, Promise, Uint8Array};
use protocol::decode;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::shell::action::Action;
use ui::state::ranks::{RanksAction, ServedFiles};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, File, Response, Window};

/// Number of workers that read files at the same time.
const READERS: usize = 2;
/// Number of file bytes that are passed to a worker at a time.
pub(super) const PIECE_BYTES: f64 = 4194304.0;
/// Limit, in bytes, for the estimated tables of all files that are read at the same time.
pub(super) const MAX_TABLE_BYTES: f64 = 2147483648.0;
/// Estimated number of bytes in tables per byte of a file. The actual ratio is higher for compressed files and lower
/// for others.
const TABLES_PER_BYTE: f64 = 4.0;
/// Maximum memory of a worker, in bytes. A worker that has more is replaced after its file, because wasm never returns
/// memory.
const MAX_WORKER_BYTES: f64 = 268435456.0;

/// Source of a file to scan.
#[derive(Clone)]
pub(super) enum Source {
    File(File),
    /// File on a server that can scan it. The URL is relative to the page.
    Link(String),
}

/// Query that makes the server scan a file and respond with the result.
const SURVEY_QUERY: &str = "?survey";
/// Content type of a scan result from the server.
const SURVEY_TYPE: &str = "application/x-memscape-survey";

/// URL of the server's list of all files.
const LISTING_URL: &str = "listing";
/// Content type of the server's list of all files.
const LISTING_TYPE: &str = "application/x-memscape-listing";

/// File to scan.
pub(super) struct Task {
    pub(super) source: Source,
    pub(super) member: Option<u32>,
    pub(super) name: String,
}

/// Handle to the workers of a rank scan.
pub(super) struct Surveyor {
    dispatch: Box<dyn Fn(Action)>,
    code: WorkerCode,
    /// Serial number of the current scan. Messages from workers of earlier scans are ignored.
    generation: Cell<u32>,
    tasks: RefCell<Vec<Task>>,
    /// Indices of the files that are not read yet. The last index is read next.
    unread: RefCell<Vec<usize>>,
    done: Cell<usize>,
    paused: Cell<bool>,
    readers: RefCell<[Reader; READERS]>,
    gatherer: RefCell<WorkerStage>,
    /// Messages to send once the gatherer is ready.
    waiting: RefCell<Vec<Array>>,
}

#[derive(Default)]
enum WorkerStage {
    #[default]
    None,
    Starting(Option<WorkerThread>),
    Ready(WorkerThread),
}

/// Worker that reads files, and its current file: index, content, and estimated bytes of its tables.
#[derive(Default)]
struct Reader {
    worker: WorkerStage,
    task: Option<(usize, Option<Blob>, f64)>,
}

/// Index of the gatherer, the worker that collects results. Lower indices are readers.
const GATHERER: usize = READERS;

impl Surveyor {
    pub(super) fn new(window: Window, act: impl Fn(Action) + 'static) -> Rc<Surveyor> {
        let (generation, tasks, unread, done, paused, readers, gatherer, waiting) = Default::default();
        let code = WorkerCode::new(window, "part-surveyor");
        let dispatch = Box::new(act);
        Rc::new(Surveyor { dispatch, code, generation, tasks, unread, done, paused, readers, gatherer, waiting })
    }

    /// Returns the code that the workers run.
    pub(super) fn code(&self) -> &WorkerCode {
        &self.code
    }

    /// Starts a scan of these files. A previous scan is dropped.
    pub(super) fn start_survey(self: &Rc<Self>, tasks: Vec<Task>) {
        self.stop();
        let names: Array = tasks.iter().map(|task| JsValue::from(&task.name)).collect();
        self.unread.replace((0..tasks.len()).rev().collect());
        self.tasks.replace(tasks);
        self.send(Array::of2(&"files".into(), &names));
        self.start_worker(GATHERER);
        self.assign_files();
    }

    /// Requests the report on ranks with at most `rows` rows, sorted in the order with the index `order`.
    pub(super) fn request_report(&self, serial: u32, rows: u32, order: u32) {
        self.send(Array::of4(&"ask".into(), &serial.into(), &rows.into(), &order.into()));
    }

    /// Sets the pattern that the user typed to extract ranks from file names.
    pub(super) fn set_name_pattern(&self, typed: &str) {
        self.send(Array::of2(&"names".into(), &typed.into()));
    }

    /// Adds a sentence to the report about files that are not scanned.
    pub(super) fn note_cut(&self, sentence: &str) {
        self.send(Array::of2(&"cut".into(), &sentence.into()));
    }

    /// Stops the readers. The results so far are kept.
    pub(super) fn cancel(&self) {
        self.paused.set(true);
        self.generation.set(self.generation.get() + 1);
        let mut readers = self.readers.borrow_mut();
        // Their files will be read again from the beginning.
        let started = readers.iter_mut().filter_map(|reader| std::mem::take(reader).task);
        self.unread.borrow_mut().extend(started.map(|(file_index, ..)| file_index));
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
        drop((self.unread.take(), self.tasks.take(), self.waiting.take()));
        let ended = self.gatherer.take();
        // The running listener may belong to the thread, so the thread is dropped later.
        spawn_local(async move { drop(ended) });
    }

    /// Sends a message to the gatherer, either now or once it is ready.
    fn send(&self, message: Array) {
        match &*self.gatherer.borrow() {
            // Fails only for values that cannot be cloned.
            WorkerStage::Ready(thread) => drop(thread.worker.post_message(&message)),
            _ => self.waiting.borrow_mut().push(message),
        }
    }

    /// Assigns the next files to idle readers, as long as the memory limit allows it.
    fn assign_files(self: &Rc<Self>) {
        for index in 0..READERS {
            let next = self.unread.borrow().last().copied();
            let source = next.and_then(|next| Some((next, self.tasks.borrow().get(next)?.source.clone())));
            let Some((next, source)) = source else { return self.stop_idle_readers() };
            let file = if let Source::File(file) = &source { Some(file) } else { None };
            let tables = file.map_or(0.0, |file| file.size()) * TABLES_PER_BYTE;
            {
                let mut readers = self.readers.borrow_mut();
                let held: f64 = readers.iter().filter_map(|reader| Some(reader.task.as_ref()?.2)).sum();
                let Some(reader) = readers.get_mut(index).filter(|reader| reader.task.is_none()) else { continue };
                if self.paused.get() || held > 0.0 && held + tables > MAX_TABLE_BYTES {
                    continue;
                }
                reader.task = Some((next, file.map(|file| file.clone().into()), tables));
            }
            self.unread.borrow_mut().pop();
            if let Source::Link(link) = source {
                self.survey_on_server(index, next, &link);
                continue;
            }
            let is_ready = matches!(self.readers.borrow().get(index).map(|it| &it.worker), Some(WorkerStage::Ready(_)));
            match is_ready {
                true => drop(self.send_file(index)),
                false => self.start_worker(index),
            }
        }
    }

    /// Makes the server scan a file in place of the reader with this index.
    fn survey_on_server(self: &Rc<Self>, index: usize, file_index: usize, link: &str) {
        let answer = self.code.window().fetch_with_str(&[link, SURVEY_QUERY].concat());
        let (surveyor, number) = (self.clone(), self.generation.get());
        spawn_local(async move {
            let answer = read_survey(answer).await;
            if surveyor.generation.get() != number {
                return;
            }
            let file_index = JsValue::from(file_index as f64);
            let message = match answer {
                Ok(bytes) => Array::of3(&"surveyed".into(), &file_index, &bytes),
                Err(cause) => Array::of3(&"failed".into(), &file_index, &cause.into()),
            };
            surveyor.on_file_done(index, &message);
        });
    }

    /// Stops idle readers to free their memory.
    fn stop_idle_readers(&self) {
        let idle: Vec<WorkerStage> = self
            .readers
            .borrow_mut()
            .iter_mut()
            .filter(|reader| reader.task.is_none())
            .map(|reader| std::mem::take(&mut reader.worker))
            .collect();
        spawn_local(async move { drop(idle) });
    }

    /// Starts the worker with this index, if it is not running.
    fn start_worker(self: &Rc<Self>, index: usize) {
        let is_there = self.with_worker(index, |worker| match worker {
            WorkerStage::None => {
                *worker = WorkerStage::Starting(None);
                false
            }
            _ => true,
        });
        if is_there != Some(false) {
            return;
        }
        let number = self.generation.get();
        let surveyor = self.clone();
        spawn_local(async move {
            let code = surveyor.code.get_or_load().await;
            // The gatherer is kept when a survey is cancelled.
            let is_wanted = move |surveyor: &Surveyor| index == GATHERER || surveyor.generation.get() == number;
            if !is_wanted(&surveyor) {
                return;
            }
            let listener = surveyor.clone();
            let receive = move |event: Result<JsValue, String>| match event {
                _ if !is_wanted(&listener) => {}
                Ok(message) => drop(listener.on_message(index, message.unchecked_ref())),
                Err(cause) => listener.on_crash(index, &cause),
            };
            match code.and_then(|(script, module)| WorkerThread::new(&script, &module, receive)) {
                Ok(thread) => drop(surveyor.with_worker(index, |worker| *worker = WorkerStage::Starting(Some(thread)))),
                Err(cause) => {
                    surveyor.stop();
                    (surveyor.dispatch)(Action::Ranks(RanksAction::Failed(cause)));
                }
            }
        });
    }

    fn with_worker<R>(&self, index: usize, then: impl FnOnce(&mut WorkerStage) -> R) -> Option<R> {
        match index {
            GATHERER => Some(then(&mut self.gatherer.borrow_mut())),
            _ => self.readers.borrow_mut().get_mut(index).map(|reader| then(&mut reader.worker)),
        }
    }

    fn on_message(self: &Rc<Self>, index: usize, message: &Array) -> Option<()> {
        match message.get(0).as_string()?.as_str() {
            "ready" => {
                self.with_worker(index, |worker| {
                    if let WorkerStage::Starting(Some(thread)) = std::mem::take(worker) {
                        *worker = WorkerStage::Ready(thread);
                    }
                });
                match index {
                    GATHERER => self.waiting.take().into_iter().for_each(|message| self.send(message)),
                    _ => self.send_file(index)?,
                }
            }
            "want" => {
                let blob = self.readers.borrow().get(index)?.task.as_ref()?.1.clone()?;
                let from = message.get(1).as_f64()?;
                let (surveyor, number) = (self.clone(), self.generation.get());
                spawn_local(async move {
                    let piece = blob.slice_with_f64_and_f64(from, (from + PIECE_BYTES).min(blob.size()));
                    let bytes = match piece {
                        Ok(piece) => JsFuture::from(piece.array_buffer()).await,
                        Err(cause) => Err(cause),
                    };
                    if surveyor.generation.get() == number {
                        surveyor.send_bytes(index, bytes);
                    }
                });
            }
            "answer" => {
                let reply = decode(&message.get(1).dyn_ref::<Uint8Array>()?.to_vec())?;
                (self.dispatch)(Action::Ranks(RanksAction::Reply(reply)));
            }
            "surveyed" | "failed" => {
                if message.get(3).as_f64().is_some_and(|bytes| bytes > MAX_WORKER_BYTES) {
                    let ended = self.with_worker(index, std::mem::take);
                    spawn_local(async move { drop(ended) });
                }
                self.on_file_done(index, message);
            }
            _ => self.on_crash(index, &message.get(1).as_string().unwrap_or_default()),
        }
        Some(())
    }

    /// Sends the assigned file to a reader, if the reader is ready and has a file.
    fn send_file(&self, index: usize) -> Option<()> {
        let readers = self.readers.borrow();
        let reader = readers.get(index)?;
        let (WorkerStage::Ready(thread), (file_index, Some(blob), _)) = (&reader.worker, reader.task.as_ref()?) else {
            return None;
        };
        let tasks = self.tasks.borrow();
        let task = tasks.get(*file_index)?;
        let message =
            Array::of4(&"open".into(), &(*file_index as f64).into(), &(&*task.name).into(), &blob.size().into());
        message.push(&task.member.map_or(-1.0, f64::from).into());
        message.push(&MAX_TABLE_BYTES.into());
        // Fails only for values that cannot be cloned.
        let _ = thread.worker.post_message(&message);
        Some(())
    }

    /// Sends a reader the bytes that it has requested, or handles a failure to read them.
    fn send_bytes(self: &Rc<Self>, index: usize, bytes: Result<JsValue, JsValue>) -> Option<()> {
        match bytes {
            Ok(buffer) => {
                let readers = self.readers.borrow();
                let WorkerStage::Ready(thread) = &readers.get(index)?.worker else { return None };
                let message = Array::of2(&"bytes".into(), &Uint8Array::new(&buffer));
                // Fails only for a buffer that was transferred before.
                let _ = thread.worker.post_message_with_transfer(&message, &Array::of1(&buffer));
            }
            Err(cause) => self.on_crash(index, &dom::error_message(&cause)),
        }
        Some(())
    }

    /// Handles the scan result (or failure) of a reader's file.
    fn on_file_done(self: &Rc<Self>, index: usize, message: &Array) {
        if let Some(reader) = self.readers.borrow_mut().get_mut(index) {
            reader.task = None;
        }
        self.send(message.clone());
        self.done.set(self.done.get() + 1);
        (self.dispatch)(Action::Ranks(RanksAction::Surveyed(self.done.get())));
        self.assign_files();
    }

    /// Handles the crash of a worker. If it is a reader, its file is recorded as failed, and another worker reads the
    /// next file.
    fn on_crash(self: &Rc<Self>, index: usize, cause: &str) {
        let ended = self.with_worker(index, std::mem::take);
        spawn_local(async move { drop(ended) });
        let file_index = self.readers.borrow().get(index).and_then(|reader| Some(reader.task.as_ref()?.0));
        match file_index {
            Some(file_index) => {
                self.on_file_done(index, &Array::of3(&"failed".into(), &(file_index as f64).into(), &cause.into()));
            }
            None if index == GATHERER => {
                self.stop();
                (self.dispatch)(Action::Ranks(RanksAction::Failed(cause.to_owned())));
            }
            None => {}
        }
    }
}

/// Returns the list of all files that `memscape serve` has. The error says why the list is not available.
pub(super) async fn served_files(window: &Window) -> Result<ServedFiles, String> {
    let cause = |cause: JsValue| dom::error_message(&cause);
    let response: Response = JsFuture::from(window.fetch_with_str(LISTING_URL)).await.map_err(cause)?.unchecked_into();
    let kind = response.headers().get("content-type").ok().flatten();
    if !response.ok() || kind.as_deref() != Some(LISTING_TYPE) {
        return Err("the server does not list its files".to_owned());
    }
    let text = JsFuture::from(response.text().map_err(cause)?).await.map_err(cause)?;
    Ok(ServedFiles::parse(&text.as_string().unwrap_or_default()))
}

/// Returns the encoded scan result that the server has sent for a file.
async fn read_survey(answer: Promise) -> Result<Uint8Array, String> {
    let cause = |cause: JsValue| dom::error_message(&cause);
    let response: Response = JsFuture::from(answer).await.map_err(cause)?.unchecked_into();
    let kind = response.headers().get("content-type").ok().flatten();
    match (response.ok(), kind.as_deref() == Some(SURVEY_TYPE)) {
        (true, true) => {
            let bytes = response.array_buffer().map_err(cause)?;
            Ok(Uint8Array::new(&JsFuture::from(bytes).await.map_err(cause)?))
        }
        (true, false) => Err("this server does not survey files: only memscape serve does".to_owned()),
        (false, _) => {
            let text = response.text().map_err(cause)?;
            Err(JsFuture::from(text).await.map_err(cause)?.as_string().unwrap_or_default())
        }
    }
}
