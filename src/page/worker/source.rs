//! Source of a load's bytes: a file or a link, read ahead as a stream. A file can be read from any offset. So can a
//! link, once all of its bytes are kept.

use super::link::Link;
use super::reader::{self, Failure, Reader};
use compare::FileSlot;
use js_sys::{Array, Boolean, Reflect, Uint8Array};
use protocol::Access;
use std::cell::{Cell, RefCell};
use ui::text::fingerprint::{FingerprintHasher, parts};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File};

/// Source of the bytes of one load.
pub(super) struct Source {
    /// Id of the load.
    pub(super) load: u32,
    pub(super) which: FileSlot,
    /// Index of the requested snapshot in a file that contains several.
    pub(super) member: Option<u32>,
    origin: Origin,
    reader: RefCell<Option<Reader>>,
    /// All bytes of the file, if it can be read from any offset.
    blob: RefCell<Option<Blob>>,
    /// Bytes received from a link. Kept until it is clear that the engine does not need the whole file.
    kept_chunks: Array,
    /// True if the page reads blobs for this worker, which cannot.
    page_reads: Cell<bool>,
    /// Number of bytes received from a link so far.
    received_bytes: Cell<u64>,
    /// Computes the fingerprint of a link's file while it is received. `None` if the length of the file is not known in
    /// advance.
    hasher: RefCell<Option<FingerprintHasher>>,
}

enum Origin {
    File(File),
    Link(Link),
}

/// Result of a single read from the stream.
enum ReadResult {
    Bytes(Uint8Array),
    End,
    Interrupted,
}

/// Progress of a source that the engine must handle.
pub(super) enum Event {
    Opened {
        name: String,
        /// Length of the file, if known.
        total_bytes: Option<u64>,
        /// Offsets at which reading can start: only the beginning, or any offset.
        access: Access,
    },
    /// The whole file is being kept. Contains the number of bytes so far.
    Kept(u64),
    /// Next bytes of the file.
    Chunk(Vec<u8>),
    /// End of the file.
    End,
    /// The connection was lost after this many bytes. Reading continues from there.
    Interrupted(u64),
}

/// Number of bytes after which the engine knows whether it must read the file from arbitrary offsets.
const HEAD_BYTES: u64 = 64;
/// Number of kept chunks that are combined to a blob, which the browser may store on disk.
const CHUNKS_PER_BLOB: u32 = 256;

impl Source {
    /// Creates the source of a local file.
    pub(super) fn from_file((load, which): (u32, FileSlot), member: Option<u32>, file: File) -> Source {
        let source = Source::new((load, which), member, Origin::File(file.clone()));
        source.blob.replace(Some(file.into()));
        source
    }

    /// Creates the source of a link. `url` is absolute.
    pub(super) fn from_link((load, which): (u32, FileSlot), member: Option<u32>, url: String) -> Source {
        Source::new((load, which), member, Origin::Link(Link::new(url)))
    }

    fn new((load, which): (u32, FileSlot), member: Option<u32>, origin: Origin) -> Source {
        let (reader, blob) = (RefCell::new(None), RefCell::new(None));
        let (kept_chunks, received_bytes, hasher) = (Array::new(), Cell::new(0), RefCell::new(None));
        Source {
            load,
            which,
            member,
            origin,
            reader,
            blob,
            kept_chunks,
            page_reads: Cell::new(false),
            received_bytes,
            hasher,
        }
    }

    /// Returns whether [`Source::open`] has succeeded.
    pub(super) fn is_open(&self) -> bool {
        self.reader.borrow().is_some()
    }

    /// Opens the file, or sends the request of a link.
    pub(super) async fn open(&self) -> Result<Event, Failure> {
        match &self.origin {
            Origin::File(file) => {
                self.reader.replace(Some(Reader::from_blob(file)));
                let total_bytes = Some(file.size() as u64);
                Ok(Event::Opened { name: file.name(), total_bytes, access: Access::Random })
            }
            Origin::Link(link) => {
                let (reader, total_bytes) = link.open().await?;
                self.reader.replace(Some(reader));
                self.hasher.replace(total_bytes.map(FingerprintHasher::new));
                Ok(Event::Opened { name: link.name(), total_bytes, access: Access::Sequential })
            }
        }
    }

    /// Returns the next bytes.
    pub(super) async fn read_chunk(&self) -> Result<Event, Failure> {
        let bytes = match self.read_next().await? {
            ReadResult::Bytes(bytes) => bytes,
            ReadResult::End => return Ok(Event::End),
            ReadResult::Interrupted => return Ok(Event::Interrupted(self.received_bytes.get())),
        };
        if self.blob.borrow().is_none() {
            if self.received_bytes.get() >= HEAD_BYTES {
                self.kept_chunks.set_length(0);
            } else {
                self.kept_chunks.push(&bytes);
            }
            self.count(&bytes);
        }
        let chunk = bytes.to_vec();
        if let Some(tap) = self.hasher.borrow_mut().as_mut() {
            tap.update(&chunk);
        }
        self.start_read(&bytes);
        Ok(Event::Chunk(chunk))
    }

    /// Returns the next bytes in a JavaScript buffer.
    async fn read_next(&self) -> Result<ReadResult, Failure> {
        let link = self.active_link();
        if let Some(link) = link.filter(|link| link.is_broken()) {
            let rest = link.resume(self.received_bytes.get()).await?;
            self.reader.replace(Some(rest));
        }
        let result = loop {
            let next = self.reader.borrow_mut().as_mut().and_then(Reader::next_read);
            let Some(next) = next else { return Ok(ReadResult::End) };
            match (JsFuture::from(next).await, link) {
                (Ok(result), _) => break result,
                (Err(_), Some(link)) => {
                    return link.on_interrupted(self.received_bytes.get()).map(|()| ReadResult::Interrupted);
                }
                (Err(cause), None) => {
                    let by_page = self.reader.borrow().as_ref().and_then(Reader::continue_in_page);
                    self.reader.replace(Some(by_page.ok_or_else(|| self.read_failure(&cause))?));
                    self.page_reads.set(true);
                }
            }
        };
        if let Some(answer) = reader::piece(&result) {
            let bytes = answer.map_err(|cause| self.read_failure(&cause))?;
            return Ok(if bytes.length() == 0 { ReadResult::End } else { ReadResult::Bytes(bytes) });
        }
        let field = |name: &str| Reflect::get(&result, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let is_over = field("done").unchecked_into::<Boolean>().value_of();
        if !is_over {
            return Ok(ReadResult::Bytes(field("value").unchecked_into()));
        }
        link.map_or(Ok(()), |link| link.check_length(self.received_bytes.get())).map(|()| ReadResult::End)
    }

    /// Returns the link that is being downloaded. `None` once the whole file is kept.
    fn active_link(&self) -> Option<&Link> {
        match &self.origin {
            Origin::Link(link) if self.blob.borrow().is_none() => Some(link),
            _ => None,
        }
    }

    fn count(&self, bytes: &Uint8Array) {
        self.received_bytes.set(self.received_bytes.get() + u64::from(bytes.length()));
        if let Some(link) = self.active_link() {
            link.on_bytes();
        }
    }

    /// Starts another read. `used` is the last chunk, whose bytes have been copied.
    fn start_read(&self, used: &Uint8Array) {
        if let Some(reader) = self.reader.borrow_mut().as_mut() {
            reader.start_read(used);
        }
    }

    /// Continues reading at this offset. Fails if the source can be read only from the beginning.
    pub(super) fn seek(&self, offset: u64) -> Result<(), Failure> {
        let slice = self.blob.borrow().as_ref().and_then(|blob| blob.slice_with_f64(offset as f64).ok());
        let slice = slice.ok_or_else(|| self.read_failure(&JsValue::UNDEFINED))?;
        self.stop_reading();
        let is_allowed = !self.page_reads.get();
        self.reader.replace(Some(if is_allowed { Reader::from_blob(&slice) } else { Reader::from_page(&slice, 0.0) }));
        Ok(())
    }

    /// Keeps the next bytes of a link. Once all bytes are kept, the source becomes a blob that can be read from any
    /// offset.
    pub(super) async fn keep_chunk(&self) -> Result<Event, Failure> {
        let bytes = match self.read_next().await? {
            ReadResult::Bytes(bytes) => Some(bytes),
            ReadResult::End => None,
            ReadResult::Interrupted => return Ok(Event::Interrupted(self.received_bytes.get())),
        };
        if let Some(bytes) = &bytes {
            self.kept_chunks.push(bytes);
            self.count(bytes);
            self.start_read(bytes);
        }
        if bytes.is_some() && self.kept_chunks.length() < CHUNKS_PER_BLOB {
            return Ok(Event::Kept(self.received_bytes.get()));
        }
        let blob = Blob::new_with_u8_array_sequence(&self.kept_chunks).map_err(|cause| self.read_failure(&cause))?;
        self.kept_chunks.set_length(0);
        if bytes.is_some() {
            self.kept_chunks.push(&blob);
            return Ok(Event::Kept(self.received_bytes.get()));
        }
        self.reader.replace(Some(Reader::from_blob(&blob)));
        let total_bytes = Some(blob.size() as u64);
        self.blob.replace(Some(blob));
        Ok(Event::Opened { name: self.name(), total_bytes, access: Access::Random })
    }

    /// Returns the fingerprint of the file. `None` if the file was not read to its end, or if its length was not known
    /// in advance.
    pub(super) async fn fingerprint(&self) -> Option<String> {
        let Some(blob) = self.blob.borrow().clone() else { return self.hasher.borrow().as_ref()?.finish() };
        let length = blob.size() as u64;
        let mut tap = FingerprintHasher::new(length);
        for part in parts(length) {
            tap.skip_to(part.start);
            let slice = blob.slice_with_f64_and_f64(part.start as f64, part.end as f64).ok()?;
            let read = if self.page_reads.get() {
                reader::read_in_page(&slice)
            } else {
                slice.array_buffer().unchecked_into()
            };
            let read = JsFuture::from(read).await.ok()?;
            let bytes = reader::piece(&read)?.ok()?;
            tap.update(&bytes.to_vec());
        }
        tap.finish()
    }

    /// Returns the version of the file (such as its ETag) that the server has reported.
    pub(super) fn version(&self) -> Option<String> {
        if let Origin::Link(link) = &self.origin { link.version() } else { None }
    }

    fn name(&self) -> String {
        match &self.origin {
            Origin::File(file) => file.name(),
            Origin::Link(link) => link.name(),
        }
    }

    fn read_failure(&self, cause: &JsValue) -> Failure {
        // The page reports the cause as a string.
        let cause = cause.dyn_ref::<js_sys::Error>().map(|error| error.message().into()).or_else(|| cause.as_string());
        let cause = cause.map_or_else(String::new, |cause| format!(" ({cause})"));
        Failure::Read(format!(
            "{} could not be read to the end{cause}. It may have been changed, moved or removed.",
            self.name()
        ))
    }

    /// Stops reading. Reads in progress return the end of the stream.
    pub(super) fn cancel(&self) {
        if let Origin::Link(link) = &self.origin {
            link.abort();
        }
        self.stop_reading();
    }

    fn stop_reading(&self) {
        if let Some(reader) = self.reader.borrow().as_ref() {
            reader.cancel();
        }
    }
}
