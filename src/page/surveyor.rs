//! The page's handle to the workers that survey many ranks. They have their own wasm, which is loaded when first
//! needed. Some read files, one at a time, and another one gathers the results. The page reads the bytes for them,
//! since some browsers do not allow workers to read files.

use super::part::Code;
use super::thread::Thread;
use crate::dom;
use engine::protocol::decoded;
use js_sys::{Array, Promise, Uint8Array};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::Action;
use ui::ranks::{RanksAction, ServedFiles};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, File, Response, Window};

/// Number of workers that read files.
const READERS: usize = 2;
/// Number of bytes that are passed to a worker at a time.
pub(super) const PIECE: f64 = 4194304.0;
/// Limit, in bytes, for the tables of all files that are read at the same time.
pub(super) const MEMORY: f64 = 2147483648.0;
/// Estimated bytes of tables per byte of a file. Compressed files need more, uncompressed ones less.
const TABLES_PER_BYTE: f64 = 4.0;
/// A worker whose memory exceeds this size, in bytes, is replaced after its file, because wasm never returns memory.
const MOST_KEPT: f64 = 268435456.0;

/// Location of a file to survey.
#[derive(Clone)]
pub(super) enum Source {
    File(File),
    /// File on a server that surveys it itself. The URL is relative to the page.
    Link(String),
}

/// Query that makes the server survey a file.
const SURVEY: &str = "?survey";
/// Content type of the server's survey.
const SURVEYED: &str = "application/x-memscape-survey";

/// URL of the list of all files of a server.
const LISTING: &str = "listing";
/// Content type of that list.
const LISTED: &str = "application/x-memscape-listing";

/// File to survey.
pub(super) struct Task {
    pub(super) source: Source,
    pub(super) member: Option<u32>,
    pub(super) name: String,
}

/// Handle to the workers of the survey.
pub(super) struct Surveyor {
    act: Box<dyn Fn(Action)>,
    code: Code,
    /// Number of the current survey. Messages from workers of earlier surveys are ignored.
    number: Cell<u32>,
    tasks: RefCell<Vec<Task>>,
    /// Indices of the files that are still unread. The next one is last.
    left: RefCell<Vec<usize>>,
    done: Cell<usize>,
    paused: Cell<bool>,
    readers: RefCell<[Reader; READERS]>,
    gatherer: RefCell<Worker>,
    /// Messages to send once the gatherer is ready.
    waiting: RefCell<Vec<Array>>,
}

#[derive(Default)]
enum Worker {
    #[default]
    None,
    Starting(Option<Thread>),
    Ready(Thread),
}

/// Worker that reads files, and its current file: index, content, and estimated bytes of its tables.
#[derive(Default)]
struct Reader {
    worker: Worker,
    task: Option<(usize, Option<Blob>, f64)>,
}

/// Index of the gatherer among the workers. Readers have the indices below.
const GATHERER: usize = READERS;

impl Surveyor {
    pub(super) fn new(window: Window, act: impl Fn(Action) + 'static) -> Rc<Surveyor> {
        let (number, tasks, left, done, paused, readers, gatherer, waiting) = Default::default();
        let code = Code::new(window, "part-surveyor");
        let act = Box::new(act);
        Rc::new(Surveyor { act, code, number, tasks, left, done, paused, readers, gatherer, waiting })
    }

    /// Returns the code of the workers.
    pub(super) fn code(&self) -> &Code {
        &self.code
    }

    /// Starts a survey of these files. A previous survey is dropped.
    pub(super) fn begin(self: &Rc<Self>, tasks: Vec<Task>) {
        self.end();
        let names: Array = tasks.iter().map(|task| JsValue::from(&task.name)).collect();
        self.left.replace((0..tasks.len()).rev().collect());
        self.tasks.replace(tasks);
        self.tell(Array::of2(&"files".into(), &names));
        self.start(GATHERER);
        self.go_on();
    }

    /// Requests the report. `rows` limits its rows and `order` sorts them.
    pub(super) fn ask(&self, serial: u32, rows: u32, order: u32) {
        self.tell(Array::of4(&"ask".into(), &serial.into(), &rows.into(), &order.into()));
    }

    /// Sets the user's pattern for reading ranks from file names.
    pub(super) fn read_names(&self, typed: &str) {
        self.tell(Array::of2(&"names".into(), &typed.into()));
    }

    /// Adds a note to the report about files that are not surveyed.
    pub(super) fn note_cut(&self, sentence: &str) {
        self.tell(Array::of2(&"cut".into(), &sentence.into()));
    }

    /// Stops the readers. Results so far are kept.
    pub(super) fn cancel(&self) {
        self.paused.set(true);
        self.number.set(self.number.get() + 1);
        let mut readers = self.readers.borrow_mut();
        // Their files will be read again from the beginning.
        let begun = readers.iter_mut().filter_map(|reader| std::mem::take(reader).task);
        self.left.borrow_mut().extend(begun.map(|(place, ..)| place));
    }

    /// Resumes a cancelled survey.
    pub(super) fn resume(self: &Rc<Self>) {
        self.paused.set(false);
        self.go_on();
    }

    /// Stops all workers and drops the survey.
    pub(super) fn end(&self) {
        self.cancel();
        self.paused.set(false);
        self.done.set(0);
        drop((self.left.take(), self.tasks.take(), self.waiting.take()));
        let ended = self.gatherer.take();
        // The running listener may belong to the thread, so the thread is dropped later.
        spawn_local(async move { drop(ended) });
    }

    /// Sends a message to the gatherer, now or once it is ready.
    fn tell(&self, message: Array) {
        match &*self.gatherer.borrow() {
            // Fails only for values that cannot be cloned.
            Worker::Ready(thread) => drop(thread.worker.post_message(&message)),
            _ => self.waiting.borrow_mut().push(message),
        }
    }

    /// Assigns the next files to free readers, as far as the memory limit allows.
    fn go_on(self: &Rc<Self>) {
        for at in 0..READERS {
            let next = self.left.borrow().last().copied();
            let source = next.and_then(|next| Some((next, self.tasks.borrow().get(next)?.source.clone())));
            let Some((next, source)) = source else { return self.end_idle() };
            let file = if let Source::File(file) = &source { Some(file) } else { None };
            let tables = file.map_or(0.0, |file| file.size()) * TABLES_PER_BYTE;
            {
                let mut readers = self.readers.borrow_mut();
                let held: f64 = readers.iter().filter_map(|reader| Some(reader.task.as_ref()?.2)).sum();
                let Some(reader) = readers.get_mut(at).filter(|reader| reader.task.is_none()) else { continue };
                if self.paused.get() || held > 0.0 && held + tables > MEMORY {
                    continue;
                }
                reader.task = Some((next, file.map(|file| file.clone().into()), tables));
            }
            self.left.borrow_mut().pop();
            if let Source::Link(link) = source {
                self.ask_server(at, next, &link);
                continue;
            }
            let is_ready = matches!(self.readers.borrow().get(at).map(|it| &it.worker), Some(Worker::Ready(_)));
            match is_ready {
                true => drop(self.open(at)),
                false => self.start(at),
            }
        }
    }

    /// Lets the server survey the file with index `place`.
    fn ask_server(self: &Rc<Self>, at: usize, place: usize, link: &str) {
        let answer = self.code.window().fetch_with_str(&[link, SURVEY].concat());
        let (surveyor, number) = (self.clone(), self.number.get());
        spawn_local(async move {
            let answer = surveyed_by_server(answer).await;
            if surveyor.number.get() != number {
                return;
            }
            let place = JsValue::from(place as f64);
            let message = match answer {
                Ok(bytes) => Array::of3(&"surveyed".into(), &place, &bytes),
                Err(cause) => Array::of3(&"failed".into(), &place, &cause.into()),
            };
            surveyor.file_done(at, &message);
        });
    }

    /// Stops readers that have nothing to do, to free their memory.
    fn end_idle(&self) {
        let idle: Vec<Worker> = self
            .readers
            .borrow_mut()
            .iter_mut()
            .filter(|reader| reader.task.is_none())
            .map(|reader| std::mem::take(&mut reader.worker))
            .collect();
        spawn_local(async move { drop(idle) });
    }

    /// Starts the worker with index `at` if there is none.
    fn start(self: &Rc<Self>, at: usize) {
        let is_there = self.with(at, |worker| match worker {
            Worker::None => {
                *worker = Worker::Starting(None);
                false
            }
            _ => true,
        });
        if is_there != Some(false) {
            return;
        }
        let number = self.number.get();
        let surveyor = self.clone();
        spawn_local(async move {
            let code = surveyor.code.get().await;
            // The gatherer is kept when a survey is cancelled.
            let is_wanted = move |surveyor: &Surveyor| at == GATHERER || surveyor.number.get() == number;
            if !is_wanted(&surveyor) {
                return;
            }
            let listener = surveyor.clone();
            let hear = move |heard: Result<JsValue, String>| match heard {
                _ if !is_wanted(&listener) => {}
                Ok(message) => drop(listener.hear(at, message.unchecked_ref())),
                Err(cause) => listener.died(at, &cause),
            };
            match code.and_then(|(script, module)| Thread::new(&script, &module, hear)) {
                Ok(thread) => drop(surveyor.with(at, |worker| *worker = Worker::Starting(Some(thread)))),
                Err(cause) => {
                    surveyor.end();
                    (surveyor.act)(Action::Ranks(RanksAction::Failed(cause)));
                }
            }
        });
    }

    fn with<R>(&self, at: usize, then: impl FnOnce(&mut Worker) -> R) -> Option<R> {
        match at {
            GATHERER => Some(then(&mut self.gatherer.borrow_mut())),
            _ => self.readers.borrow_mut().get_mut(at).map(|reader| then(&mut reader.worker)),
        }
    }

    fn hear(self: &Rc<Self>, at: usize, message: &Array) -> Option<()> {
        match message.get(0).as_string()?.as_str() {
            "ready" => {
                self.with(at, |worker| {
                    if let Worker::Starting(Some(thread)) = std::mem::take(worker) {
                        *worker = Worker::Ready(thread);
                    }
                });
                match at {
                    GATHERER => self.waiting.take().into_iter().for_each(|message| self.tell(message)),
                    _ => self.open(at)?,
                }
            }
            "want" => {
                let blob = self.readers.borrow().get(at)?.task.as_ref()?.1.clone()?;
                let from = message.get(1).as_f64()?;
                let (surveyor, number) = (self.clone(), self.number.get());
                spawn_local(async move {
                    let piece = blob.slice_with_f64_and_f64(from, (from + PIECE).min(blob.size()));
                    let bytes = match piece {
                        Ok(piece) => JsFuture::from(piece.array_buffer()).await,
                        Err(cause) => Err(cause),
                    };
                    if surveyor.number.get() == number {
                        surveyor.give(at, bytes);
                    }
                });
            }
            "answer" => {
                let reply = decoded(&message.get(1).dyn_ref::<Uint8Array>()?.to_vec())?;
                (self.act)(Action::Ranks(RanksAction::Told(reply)));
            }
            "surveyed" | "failed" => {
                if message.get(3).as_f64().is_some_and(|bytes| bytes > MOST_KEPT) {
                    let ended = self.with(at, std::mem::take);
                    spawn_local(async move { drop(ended) });
                }
                self.file_done(at, message);
            }
            _ => self.died(at, &message.get(1).as_string().unwrap_or_default()),
        }
        Some(())
    }

    /// Sends a reader its file, once the worker is ready and has one.
    fn open(&self, at: usize) -> Option<()> {
        let readers = self.readers.borrow();
        let reader = readers.get(at)?;
        let (Worker::Ready(thread), (place, Some(blob), _)) = (&reader.worker, reader.task.as_ref()?) else {
            return None;
        };
        let tasks = self.tasks.borrow();
        let task = tasks.get(*place)?;
        let message = Array::of4(&"open".into(), &(*place as f64).into(), &(&*task.name).into(), &blob.size().into());
        message.push(&task.member.map_or(-1.0, f64::from).into());
        message.push(&MEMORY.into());
        // Fails only for values that cannot be cloned.
        let _ = thread.worker.post_message(&message);
        Some(())
    }

    /// Sends a reader the bytes it has requested, or handles a failure to read them.
    fn give(self: &Rc<Self>, at: usize, bytes: Result<JsValue, JsValue>) -> Option<()> {
        match bytes {
            Ok(buffer) => {
                let readers = self.readers.borrow();
                let Worker::Ready(thread) = &readers.get(at)?.worker else { return None };
                let message = Array::of2(&"bytes".into(), &Uint8Array::new(&buffer));
                // Fails only for a buffer that was transferred before.
                let _ = thread.worker.post_message_with_transfer(&message, &Array::of1(&buffer));
            }
            Err(cause) => self.died(at, &dom::cause(&cause)),
        }
        Some(())
    }

    /// Handles the result (or failure) of a reader's file.
    fn file_done(self: &Rc<Self>, at: usize, message: &Array) {
        if let Some(reader) = self.readers.borrow_mut().get_mut(at) {
            reader.task = None;
        }
        self.tell(message.clone());
        self.done.set(self.done.get() + 1);
        (self.act)(Action::Ranks(RanksAction::Surveyed(self.done.get())));
        self.go_on();
    }

    /// Handles the crash of a worker. For a reader, its file is recorded as failed, and another worker reads the next
    /// one.
    fn died(self: &Rc<Self>, at: usize, cause: &str) {
        let ended = self.with(at, std::mem::take);
        spawn_local(async move { drop(ended) });
        let place = self.readers.borrow().get(at).and_then(|reader| Some(reader.task.as_ref()?.0));
        match place {
            Some(place) => {
                self.file_done(at, &Array::of3(&"failed".into(), &(place as f64).into(), &cause.into()));
            }
            None if at == GATHERER => {
                self.end();
                (self.act)(Action::Ranks(RanksAction::Failed(cause.to_owned())));
            }
            None => {}
        }
    }
}

/// Returns all files of `memscape serve`. The error is the reason why they are not known.
pub(super) async fn served_files(window: &Window) -> Result<ServedFiles, String> {
    let cause = |cause: JsValue| dom::cause(&cause);
    let response: Response = JsFuture::from(window.fetch_with_str(LISTING)).await.map_err(cause)?.unchecked_into();
    let kind = response.headers().get("content-type").ok().flatten();
    if !response.ok() || kind.as_deref() != Some(LISTED) {
        return Err("the server does not list its files".to_owned());
    }
    let text = JsFuture::from(response.text().map_err(cause)?).await.map_err(cause)?;
    Ok(ServedFiles::parse(&text.as_string().unwrap_or_default()))
}

/// Returns the survey of a file that the server has sent, in encoded form.
async fn surveyed_by_server(answer: Promise) -> Result<Uint8Array, String> {
    let cause = |cause: JsValue| dom::cause(&cause);
    let response: Response = JsFuture::from(answer).await.map_err(cause)?.unchecked_into();
    let kind = response.headers().get("content-type").ok().flatten();
    match (response.ok(), kind.as_deref() == Some(SURVEYED)) {
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
