//! Reads ahead in a stream: while the engine decodes a chunk, the browser already reads the next ones.

use crate::wire::FromWorker;
use channel::Page;
use js_sys::{Array, ArrayBuffer, Promise, Reflect, Uint8Array};
use std::cell::Cell;
use std::collections::VecDeque;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Blob, MessageChannel, MessageEvent, ReadableStream, ReadableStreamByobReader, ReadableStreamDefaultReader,
};

/// Reason why a file cannot be read.
pub(super) enum Failure {
    /// The request failed, or the response is an error. Contains the HTTP status if there was a response.
    Link(Option<u16>),
    Read(String),
}

/// Reader of a stream.
pub(super) struct Reader {
    stream: Stream,
    /// The blob that is being read, unless the stream is the response of a link.
    blob: Option<Blob>,
    /// Number of bytes that the reader has returned.
    bytes_read: f64,
    /// Reads in progress, oldest first.
    read_ahead: VecDeque<Promise>,
}

enum Stream {
    /// The browser fills buffers provided by this worker, which are reused.
    Byob(ReadableStreamByobReader),
    /// The browser allocates a new buffer for each chunk.
    Default(ReadableStreamDefaultReader),
    /// Pieces of the blob, starting at this offset, are read one by one, each into a new buffer.
    Pieces(Blob, Cell<f64>, PieceReader),
}

/// Who reads the pieces of a blob.
#[derive(Clone, Copy, PartialEq)]
enum PieceReader {
    Worker,
    /// The page, for this worker.
    Page,
}

/// Number of reused buffers: one is filled while the other one is decoded. Reuse matters, because allocating a new
/// buffer for each chunk took as long as reading.
const BUFFERS: usize = 2;
/// Size of a reused buffer, in bytes.
const BUFFER_BYTES: u32 = 4 << 20;

/// Number of chunks that are read ahead if the browser allocates the buffers. The chunks of a link can be small, since
/// they have the size with which they arrive.
const CHUNKS_AHEAD: usize = 16;

impl Reader {
    /// Reads a blob, into reused buffers if the browser supports it.
    ///
    /// WebKit does not, and its streams of blobs do not wait for the reader: as much of the file as was not decoded yet
    /// was in memory (4 GiB of 5), and making room for it kept the page's thread busy for seconds.
    pub(super) fn from_blob(blob: &Blob) -> Reader {
        // A stream starts to read when it is created.
        let has_byob = Reflect::has(&js_sys::global(), &"ReadableStreamBYOBReader".into()).unwrap_or(false);
        let Some(Ok(reader)) = has_byob.then(|| ReadableStreamByobReader::new(&blob.stream())) else {
            return Reader::from_pieces(blob, 0.0, PieceReader::Worker);
        };
        let stream = Stream::Byob(reader);
        let read_ahead = (0..BUFFERS).map(|_| read(&stream, &Uint8Array::new_with_length(BUFFER_BYTES))).collect();
        Reader { stream, blob: Some(blob.clone()), bytes_read: 0.0, read_ahead }
    }

    /// Creates a reader that lets the page read the blob, starting at an offset. In WebKit, the worker of a page from
    /// `file://` cannot read any blob.
    pub(super) fn from_page(blob: &Blob, from: f64) -> Reader {
        Reader::from_pieces(blob, from, PieceReader::Page)
    }

    fn from_pieces(blob: &Blob, from: f64, by: PieceReader) -> Reader {
        let stream = Stream::Pieces(blob.clone(), Cell::new(from), by);
        let read_ahead = (0..BUFFERS).map(|_| read(&stream, &Uint8Array::new_with_length(0))).collect();
        let blob = (by == PieceReader::Worker).then(|| blob.clone());
        Reader { stream, blob, bytes_read: from, read_ahead }
    }

    /// Returns a reader that continues where this one has stopped, but lets the page read the blob. `None` if the page
    /// is reading already, or if there is no blob.
    pub(super) fn continue_in_page(&self) -> Option<Reader> {
        self.blob.as_ref().map(|blob| Reader::from_page(blob, self.bytes_read))
    }

    /// Creates a reader for the response body of a download. Each chunk has its own buffer, because callers may keep
    /// chunks.
    pub(super) fn from_stream(stream: &ReadableStream) -> Result<Reader, Failure> {
        let reader = ReadableStreamDefaultReader::new(stream)
            .map_err(|_| Failure::Read("This browser cannot read streams.".into()))?;
        let stream = Stream::Default(reader);
        let read_ahead = (0..CHUNKS_AHEAD).map(|_| read(&stream, &Uint8Array::new_with_length(0))).collect();
        Ok(Reader { stream, blob: None, bytes_read: 0.0, read_ahead })
    }

    /// Returns the promise of the oldest read in progress. It resolves to `{ done, value }`, or to a value for
    /// [`piece`].
    pub(super) fn next_read(&mut self) -> Option<Promise> {
        self.read_ahead.pop_front()
    }

    /// Starts another read. `used` is a chunk that was processed, so its buffer may be reused.
    pub(super) fn start_read(&mut self, used: &Uint8Array) {
        self.bytes_read += f64::from(used.length());
        self.read_ahead.push_back(read(&self.stream, used));
    }

    /// Stops reading. Reads in progress return the end of the stream.
    pub(super) fn cancel(&self) {
        let ended = match &self.stream {
            Stream::Byob(reader) => reader.cancel(),
            Stream::Default(reader) => reader.cancel(),
            Stream::Pieces(..) => return,
        };
        let _ = ignore_rejection(ended.unchecked_into());
    }
}

/// Starts a read. A failure is reported when the read is awaited.
fn read(stream: &Stream, buffer: &Uint8Array) -> Promise {
    ignore_rejection(match stream {
        Stream::Byob(reader) => {
            // The chunk may be shorter than its buffer, which is reused as a whole.
            let whole = Uint8Array::new(&buffer.buffer());
            reader.read_with_array_buffer_view(&whole).unchecked_into()
        }
        Stream::Default(reader) => reader.read().unchecked_into(),
        Stream::Pieces(blob, at, by) => {
            let from = at.replace((at.get() + f64::from(BUFFER_BYTES)).min(blob.size()));
            blob.slice_with_f64_and_f64(from, at.get()).map_or_else(
                |cause| Promise::reject(&cause),
                |piece| {
                    if *by == PieceReader::Page { read_in_page(&piece) } else { piece.array_buffer().unchecked_into() }
                },
            )
        }
    })
}

/// Asks the page to read a whole blob. The promise resolves to a message for [`piece`].
pub(super) fn read_in_page(blob: &Blob) -> Promise {
    Promise::new(&mut |resolve, reject| {
        let sent = MessageChannel::new().and_then(|channel| {
            channel.port1().set_onmessage(Some(&resolve));
            Page::new()?.send_with(&FromWorker::Read, &Array::of2(blob, &channel.port2()));
            Ok(())
        });
        if let Err(cause) = sent {
            // The reject function returns nothing of interest.
            let _ = reject.call1(&JsValue::NULL, &cause);
        }
    })
}

/// Returns the bytes of a piece of a blob, or the error of the page that read it. `None` if `result` comes from a
/// stream.
pub(super) fn piece(result: &JsValue) -> Option<Result<Uint8Array, JsValue>> {
    match result.dyn_ref::<MessageEvent>() {
        Some(message) => Some(message.data().dyn_into()),
        None => result.dyn_ref::<ArrayBuffer>().map(|bytes| Ok(Uint8Array::new(bytes))),
    }
}

/// Marks a rejection of the promise as handled. Otherwise, a rejection that nothing awaits would be reported as a crash
/// of the worker.
fn ignore_rejection(promise: Promise) -> Promise {
    let _ = Promise::all_settled(&Array::of1(&promise));
    promise
}
