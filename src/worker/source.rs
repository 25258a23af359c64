//! Where the bytes come from: a file, or a link. Read as a stream, some chunks ahead: while the engine decodes one, the browser
//! reads the next. A file can be read from any offset on; a link once it is kept whole.

use super::reader::Reader;
use crate::engine::protocol::Access;
use crate::ui::url;
use js_sys::{Array, Boolean, Reflect, Uint8Array};
use std::cell::{Cell, RefCell};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Blob, File, RequestInit, Response};

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
                self.reader.replace(Some(Reader::of_blob(file)?));
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
                self.reader.replace(Some(Reader::of_link(&body)?));
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

    /// The next bytes.
    pub(super) async fn chunk(&self) -> Result<Event, Failure> {
        let Some(bytes) = self.next().await? else { return Ok(Event::End) };
        if self.blob.borrow().is_none() {
            if self.came.get() >= HEAD {
                self.kept.set_length(0);
            } else {
                self.kept.push(&bytes);
            }
            self.came.set(self.came.get() + u64::from(bytes.length()));
        }
        let chunk = bytes.to_vec();
        self.go_on(&bytes);
        Ok(Event::Chunk(chunk))
    }

    /// The next bytes as the browser gives them; `None` when there are no more.
    async fn next(&self) -> Result<Option<Uint8Array>, Failure> {
        let next = self.reader.borrow_mut().as_mut().and_then(Reader::next);
        let Some(next) = next else { return Ok(None) };
        let result = JsFuture::from(next).await.map_err(|cause| self.broken(&cause))?;
        let field = |name: &str| Reflect::get(&result, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let is_over = field("done").unchecked_into::<Boolean>().value_of();
        Ok((!is_over).then(|| field("value").unchecked_into()))
    }

    /// Starts the read that follows those under way; `used` is what the last one brought, copied by now.
    fn go_on(&self, used: &Uint8Array) {
        if let Some(reader) = self.reader.borrow_mut().as_mut() {
            reader.start(used);
        }
    }

    /// The bytes from this offset on come next. Only where the file can be read anywhere.
    pub(super) fn seek(&self, offset: u64) -> Result<(), Failure> {
        let slice = self.blob.borrow().as_ref().and_then(|blob| blob.slice_with_f64(offset as f64).ok());
        let slice = slice.ok_or_else(|| self.broken(&JsValue::UNDEFINED))?;
        self.stop_reading();
        self.reader.replace(Some(Reader::of_blob(&slice)?));
        Ok(())
    }

    /// Keeps the next bytes of a link; when that was all of them, it is open anew and can be read anywhere.
    pub(super) async fn keep(&self) -> Result<Event, Failure> {
        let bytes = self.next().await?;
        if let Some(bytes) = &bytes {
            self.kept.push(bytes);
            self.came.set(self.came.get() + u64::from(bytes.length()));
            self.go_on(bytes);
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
        self.reader.replace(Some(Reader::of_blob(&blob)?));
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
            reader.cancel();
        }
    }
}
