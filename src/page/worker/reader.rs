//! A stream of bytes, read some chunks ahead: while the engine decodes one, the browser reads the next.

use crate::wire::FromWorker;
use js_sys::{Array, Promise, Uint8Array};
use std::cell::Cell;
use std::collections::VecDeque;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Blob, DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, ReadableStream, ReadableStreamByobReader,
    ReadableStreamDefaultReader,
};

/// Why there are no bytes.
pub(super) enum Failure {
    /// No answer, or one without the file: the HTTP status, if there was any.
    Link(Option<u16>),
    Read(String),
}

/// Reads one stream to its end.
pub(super) struct Reader {
    stream: Stream,
    /// The blob that is read, if it is one, and how many of its bytes were given out.
    blob: Option<Blob>,
    given: f64,
    /// The reads that were started ahead, oldest first.
    ahead: VecDeque<Promise>,
}

enum Stream {
    /// The browser fills buffers of ours, which go round.
    Filling(ReadableStreamByobReader),
    /// The browser makes a buffer for each chunk.
    Giving(ReadableStreamDefaultReader),
    /// The page reads the blob from this offset on.
    Asking(Blob, Cell<f64>),
}

/// Buffers that go round, and bytes in each: one is filled while the other is decoded. A fresh buffer for each chunk, as the
/// other kind of stream makes, costs as much as reading: 149 MiB of pages that the system must find and clear.
const BUFFERS: usize = 2;
const BUFFER: u32 = 4 << 20;

/// Chunks that are read ahead where the browser makes the buffers: a link's come as the network brings them.
const CHUNKS_AHEAD: usize = 16;

impl Reader {
    /// Reads a blob: into our own buffers where the browser can.
    pub(super) fn of_blob(blob: &Blob) -> Result<Reader, Failure> {
        let stream = blob.stream();
        match ReadableStreamByobReader::new(&stream) {
            Ok(reader) => {
                let stream = Stream::Filling(reader);
                let ahead = (0..BUFFERS).map(|_| read(&stream, &Uint8Array::new_with_length(BUFFER))).collect();
                Ok(Reader { stream, blob: Some(blob.clone()), given: 0.0, ahead })
            }
            Err(_) => Ok(Reader { blob: Some(blob.clone()), ..Reader::of_link(&stream)? }),
        }
    }

    /// Lets the page read a blob, from an offset on: a worker of a page from `file://` may read none in WebKit, not even its own.
    pub(super) fn of_page(blob: &Blob, from: f64) -> Reader {
        let stream = Stream::Asking(blob.clone(), Cell::new(from));
        let ahead = (0..BUFFERS).map(|_| read(&stream, &Uint8Array::new_with_length(0))).collect();
        Reader { stream, blob: None, given: from, ahead }
    }

    /// The same bytes from where this one stopped, read by the page; `None` where it reads already, or there is no blob.
    pub(super) fn by_page(&self) -> Option<Reader> {
        self.blob.as_ref().map(|blob| Reader::of_page(blob, self.given))
    }

    /// Reads what a link brings: its chunks may be kept, so each has a buffer of its own.
    pub(super) fn of_link(stream: &ReadableStream) -> Result<Reader, Failure> {
        let reader = ReadableStreamDefaultReader::new(stream)
            .map_err(|_| Failure::Read("This browser cannot read streams.".into()))?;
        let stream = Stream::Giving(reader);
        let ahead = (0..CHUNKS_AHEAD).map(|_| read(&stream, &Uint8Array::new_with_length(0))).collect();
        Ok(Reader { stream, blob: None, given: 0.0, ahead })
    }

    /// What the oldest read brings: `{ done, value }`.
    pub(super) fn next(&mut self) -> Option<Promise> {
        self.ahead.pop_front()
    }

    /// Starts a read that follows those under way; `used` is what an earlier one brought, and may be overwritten.
    pub(super) fn start(&mut self, used: &Uint8Array) {
        self.given += f64::from(used.length());
        self.ahead.push_back(read(&self.stream, used));
    }

    /// Stops reading; whoever waits for bytes is told that there are no more.
    pub(super) fn cancel(&self) {
        let ended = match &self.stream {
            Stream::Filling(reader) => reader.cancel(),
            Stream::Giving(reader) => reader.cancel(),
            Stream::Asking(..) => return,
        };
        let _ = quiet(ended.unchecked_into());
    }
}

/// Starts a read whose failure is seen when its turn comes.
fn read(stream: &Stream, buffer: &Uint8Array) -> Promise {
    quiet(match stream {
        Stream::Filling(reader) => {
            // The bytes that came may be fewer than the buffer has room for.
            let whole = Uint8Array::new(&buffer.buffer());
            reader.read_with_array_buffer_view(&whole).unchecked_into()
        }
        Stream::Giving(reader) => reader.read().unchecked_into(),
        Stream::Asking(blob, at) => {
            let from = at.replace((at.get() + f64::from(BUFFER)).min(blob.size()));
            blob.slice_with_f64_and_f64(from, at.get())
                .map_or_else(|cause| Promise::reject(&cause), |piece| asked(&piece))
        }
    })
}

/// Lets the page read all of a blob: a promise of the message that [`answer`] reads.
pub(super) fn asked(blob: &Blob) -> Promise {
    Promise::new(&mut |resolve, reject| {
        let sent = MessageChannel::new().and_then(|channel| {
            channel.port1().set_onmessage(Some(&resolve));
            let (message, ports) = FromWorker::Read(blob.clone(), channel.port2()).into_js();
            let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
            scope.post_message_with_transfer(&message, &ports)
        });
        if let Err(cause) = sent {
            // What it returns says nothing.
            let _ = reject.call1(&JsValue::NULL, &cause);
        }
    })
}

/// What the page read; the error says why nothing. `None` where this is no answer of the page.
pub(super) fn answer(message: &JsValue) -> Option<Result<Uint8Array, JsValue>> {
    message.dyn_ref::<MessageEvent>().map(|message| message.data().dyn_into())
}

/// A promise nobody may be waiting for when it is rejected; without this, that would count as the worker's death.
fn quiet(promise: Promise) -> Promise {
    let _ = Promise::all_settled(&Array::of1(&promise));
    promise
}
