//! A stream of bytes, read some chunks ahead: while the engine decodes one, the browser reads the next.

use super::source::Failure;
use js_sys::{Array, Promise, Uint8Array};
use std::collections::VecDeque;
use wasm_bindgen::JsCast;
use web_sys::{Blob, ReadableStream, ReadableStreamByobReader, ReadableStreamDefaultReader};

/// Reads one stream to its end.
pub(super) struct Reader {
    stream: Stream,
    /// The reads that were started ahead, oldest first.
    ahead: VecDeque<Promise>,
}

enum Stream {
    /// The browser fills buffers of ours, which go round.
    Filling(ReadableStreamByobReader),
    /// The browser makes a buffer for each chunk.
    Giving(ReadableStreamDefaultReader),
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
                Ok(Reader { stream, ahead })
            }
            Err(_) => Reader::of_link(&stream),
        }
    }

    /// Reads what a link brings: its chunks may be kept, so each has a buffer of its own.
    pub(super) fn of_link(stream: &ReadableStream) -> Result<Reader, Failure> {
        let reader = ReadableStreamDefaultReader::new(stream)
            .map_err(|_| Failure::Read("The browser has no reader for streams.".into()))?;
        let stream = Stream::Giving(reader);
        let ahead = (0..CHUNKS_AHEAD).map(|_| read(&stream, &Uint8Array::new_with_length(0))).collect();
        Ok(Reader { stream, ahead })
    }

    /// What the oldest read brings: `{ done, value }`.
    pub(super) fn next(&mut self) -> Option<Promise> {
        self.ahead.pop_front()
    }

    /// Starts a read that follows those under way; `used` is what an earlier one brought, and may be overwritten.
    pub(super) fn start(&mut self, used: &Uint8Array) {
        self.ahead.push_back(read(&self.stream, used));
    }

    /// Stops reading; whoever waits for bytes is told that there are no more.
    pub(super) fn cancel(&self) {
        let ended = match &self.stream {
            Stream::Filling(reader) => reader.cancel(),
            Stream::Giving(reader) => reader.cancel(),
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
    })
}

/// A promise nobody may be waiting for when it is rejected; without this, that would count as the worker's death.
fn quiet(promise: Promise) -> Promise {
    let _ = Promise::all_settled(&Array::of1(&promise));
    promise
}
