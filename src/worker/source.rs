//! Where the bytes come from: a file, or a link. Read as a stream, some chunks ahead: while the engine decodes one, the browser
//! reads the next. A file can be read from any offset on; a link once it is kept whole.

use crate::engine::protocol::Access;
use crate::ui::url;
use js_sys::{Array, Boolean, Promise, Reflect, Uint8Array};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Blob, File, ReadableStreamDefaultReader, RequestInit, Response};

/// The bytes of one load.
pub(super) struct Source {
    /// The load's number.
    pub(super) load: u32,
    /// Which snapshot of the file is wanted.
    pub(super) member: Option<u32>,
    origin: Origin,
    reader: RefCell<Option<Reader>>,
    /// All bytes, where they can be read anywhere.
    blob: RefCell<Option<Blob>>,
    /// What came through a link, as long as the whole of it may be wanted.
    kept: Array,
    /// Bytes that came through a link so far.
    came: Cell<u64>,
    abort: Option<AbortController>,
}

enum Origin {
    File(File),
    Link(String),
}

struct Reader {
    stream: ReadableStreamDefaultReader,
    /// The reads that were started ahead, oldest first.
    ahead: VecDeque<Promise>,
}

/// Reads under way, so that bytes can arrive while the engine works. For a local file it measured no better than one: of 1.0 s
/// for 149 MiB, 0.2 s went by waiting either way.
const READS_AHEAD: usize = 16;

/// What reading brings.
pub(super) enum Event {
    /// It is open.
    Opened {
        /// For messages.
        name: String,
        /// Where known.
        total_bytes: Option<u64>,
        /// How its bytes can be reached.
        access: Access,
    },
    /// So many bytes of the whole are kept.
    Kept(u64),
    /// The next bytes.
    Chunk(Vec<u8>),
    /// There are no more.
    End,
}

/// Why there are no bytes.
pub(super) enum Failure {
    /// No answer, or one without the file: the HTTP status, if there was any.
    Link(Option<u16>),
    /// Reading stopped half-way: one sentence.
    Read(String),
}

/// By so many bytes the engine has seen whether it wants the whole file.
const HEAD: u64 = 64;
/// Kept bytes are handed to the browser by so many, which may put them on the disk.
const KEPT_AT_ONCE: u32 = 256;

/// Starts a read whose failure is seen when its turn comes.
fn read_ahead(stream: &ReadableStreamDefaultReader) -> Promise {
    quiet(stream.read().unchecked_into())
}

/// A promise nobody may be waiting for when it is rejected; without this, that would count as the worker's death.
fn quiet(promise: Promise) -> Promise {
    let _ = Promise::all_settled(&Array::of1(&promise));
    promise
}

impl Source {
    /// A file of this machine.
    pub(super) fn file(load: u32, member: Option<u32>, file: File) -> Source {
        let source = Source::new(load, member, Origin::File(file.clone()));
        source.blob.replace(Some(file.into()));
        source
    }

    /// A file somewhere else; `url` is absolute.
    pub(super) fn link(load: u32, member: Option<u32>, url: String) -> Source {
        Source { abort: AbortController::new().ok(), ..Source::new(load, member, Origin::Link(url)) }
    }

    fn new(load: u32, member: Option<u32>, origin: Origin) -> Source {
        let (reader, blob) = (RefCell::new(None), RefCell::new(None));
        Source { load, member, origin, reader, blob, kept: Array::new(), came: Cell::new(0), abort: None }
    }

    /// Whether [`Source::open`] has succeeded.
    pub(super) fn is_open(&self) -> bool {
        self.reader.borrow().is_some()
    }

    /// Gets ready to read.
    pub(super) async fn open(&self) -> Result<Event, Failure> {
        match &self.origin {
            Origin::File(file) => {
                self.read_from(file.stream().get_reader())?;
                let total_bytes = Some(file.size() as u64);
                Ok(Event::Opened { name: file.name(), total_bytes, access: Access::Anywhere })
            }
            Origin::Link(address) => {
                let response = self.fetch(address).await.ok_or(Failure::Link(None))?;
                if !response.ok() {
                    return Err(Failure::Link(Some(response.status())));
                }
                let header = |name| response.headers().get(name).ok().flatten();
                // The length is of what travels: with a content coding it is not the length of what we read.
                let coded = header("content-encoding").is_some_and(|coding| coding != "identity");
                let total_bytes = header("content-length").filter(|_| !coded).and_then(|length| length.parse().ok());
                let body = response.body().ok_or(Failure::Link(None))?;
                self.read_from(body.get_reader())?;
                Ok(Event::Opened { name: url::file_name(address), total_bytes, access: Access::Forward })
            }
        }
    }

    async fn fetch(&self, address: &str) -> Option<Response> {
        let options = RequestInit::new();
        options.set_signal(self.abort.as_ref().map(AbortController::signal).as_ref());
        let scope: web_sys::WorkerGlobalScope = js_sys::global().dyn_into().ok()?;
        JsFuture::from(scope.fetch_with_str_and_init(address, &options)).await.ok()?.dyn_into().ok()
    }

    fn read_from(&self, reader: js_sys::Object) -> Result<(), Failure> {
        let stream: ReadableStreamDefaultReader =
            reader.dyn_into().map_err(|_| Failure::Read("The browser has no reader for streams.".into()))?;
        let ahead = (0..READS_AHEAD).map(|_| read_ahead(&stream)).collect();
        self.reader.replace(Some(Reader { stream, ahead }));
        Ok(())
    }

    /// The next bytes.
    pub(super) async fn chunk(&self) -> Result<Event, Failure> {
        let next = self.reader.borrow_mut().as_mut().and_then(|reader| reader.ahead.pop_front());
        let Some(next) = next else { return Ok(Event::End) };
        let result = JsFuture::from(next).await.map_err(|cause| self.broken(&cause))?;
        let field = |name: &str| Reflect::get(&result, &name.into()).unwrap_or(JsValue::UNDEFINED);
        if field("done").unchecked_into::<Boolean>().value_of() {
            return Ok(Event::End);
        }
        if let Some(reader) = self.reader.borrow_mut().as_mut() {
            reader.ahead.push_back(read_ahead(&reader.stream));
        }
        let bytes = field("value").unchecked_into::<Uint8Array>();
        if self.blob.borrow().is_none() {
            if self.came.get() >= HEAD {
                self.kept.set_length(0);
            } else {
                self.kept.push(&bytes);
            }
            self.came.set(self.came.get() + u64::from(bytes.length()));
        }
        Ok(Event::Chunk(bytes.to_vec()))
    }

    /// The bytes from this offset on come next. Only where the file can be read anywhere.
    pub(super) fn seek(&self, offset: u64) -> Result<(), Failure> {
        let slice = self.blob.borrow().as_ref().and_then(|blob| blob.slice_with_f64(offset as f64).ok());
        let slice = slice.ok_or_else(|| self.broken(&JsValue::UNDEFINED))?;
        self.stop_reading();
        self.read_from(slice.stream().get_reader())
    }

    /// Keeps the next bytes of a link; when that was all of them, it is open anew and can be read anywhere.
    pub(super) async fn keep(&self) -> Result<Event, Failure> {
        let next = self.reader.borrow_mut().as_mut().and_then(|reader| reader.ahead.pop_front());
        let result = match next {
            Some(next) => JsFuture::from(next).await.map_err(|cause| self.broken(&cause))?,
            None => JsValue::UNDEFINED,
        };
        let field = |name: &str| Reflect::get(&result, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let bytes = field("value").dyn_into::<Uint8Array>().ok();
        if let Some(bytes) = &bytes {
            self.kept.push(bytes);
            self.came.set(self.came.get() + u64::from(bytes.length()));
            if let Some(reader) = self.reader.borrow_mut().as_mut() {
                reader.ahead.push_back(read_ahead(&reader.stream));
            }
        }
        if bytes.is_some() && self.kept.length() < KEPT_AT_ONCE {
            return Ok(Event::Kept(self.came.get()));
        }
        let blob = Blob::new_with_u8_array_sequence(&self.kept).map_err(|cause| self.broken(&cause))?;
        self.kept.set_length(0);
        if bytes.is_some() {
            self.kept.push(&blob);
            return Ok(Event::Kept(self.came.get()));
        }
        self.read_from(blob.stream().get_reader())?;
        let total_bytes = Some(blob.size() as u64);
        self.blob.replace(Some(blob));
        Ok(Event::Opened { name: self.name(), total_bytes, access: Access::Anywhere })
    }

    fn name(&self) -> String {
        match &self.origin {
            Origin::File(file) => file.name(),
            Origin::Link(address) => url::file_name(address),
        }
    }

    fn broken(&self, cause: &JsValue) -> Failure {
        let cause = cause
            .dyn_ref::<js_sys::Error>()
            .map_or_else(String::new, |error| format!(" ({})", String::from(error.message())));
        Failure::Read(match &self.origin {
            Origin::File(file) => {
                format!(
                    "{} could not be read to its end{cause}: was it changed, moved or removed meanwhile?",
                    file.name()
                )
            }
            Origin::Link(address) => {
                format!("{} stopped coming before its end{cause}: try again.", url::file_name(address))
            }
        })
    }

    /// Stops reading; whoever waits for bytes is told that there are no more.
    pub(super) fn cancel(&self) {
        if let Some(abort) = &self.abort {
            abort.abort();
        }
        self.stop_reading();
    }

    fn stop_reading(&self) {
        if let Some(reader) = self.reader.borrow().as_ref() {
            let _ = quiet(reader.stream.cancel().unchecked_into());
        }
    }
}
