//! What is inside the container → a snapshot's values: one decoder for each kind of content, the same reader behind each.

use crate::container::Content;
use crate::json::{self, JsonError};
use crate::pickle::{self, PickleError};
use crate::replay::Recorder;
use crate::snapshot::{ReadError, Reader, Value};

/// Why the content can't be decoded.
#[derive(Debug, thiserror::Error)]
pub(super) enum DecodeError {
    /// The pickle.
    #[error("{0}")]
    Pickle(#[from] PickleError<ReadError>),
    /// The JSON.
    #[error("{0}")]
    Json(#[from] JsonError<ReadError>),
}

/// Decodes what a container holds, fed as it is unpacked.
pub(super) enum Decoder {
    Pickle(Box<pickle::Machine<Reader<Recorder>>>, Head),
    Json(Box<json::Machine<Reader<Recorder>>>),
}

impl Decoder {
    /// A decoder at the start of such content.
    pub(super) fn new(content: Content) -> Decoder {
        let reader = Reader::new(Recorder::default());
        match content {
            Content::Pickle => {
                let machine = pickle::Machine::new(reader, pickle::Limits::default());
                Decoder::Pickle(Box::new(machine), Head::default())
            }
            Content::Json => Decoder::Json(Box::new(json::Machine::new(reader, json::Limits::default()))),
        }
    }

    /// Decodes the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        match self {
            Decoder::Pickle(machine, head) => {
                head.see(bytes);
                machine.feed(bytes)?;
            }
            Decoder::Json(machine) => machine.feed(bytes)?,
        }
        Ok(())
    }

    /// The reader and the outermost value; an error when the content was not complete.
    pub(super) fn finish(self) -> Result<(Reader<Recorder>, Value), DecodeError> {
        match self {
            Decoder::Pickle(machine, _) => Ok(machine.finish()?),
            Decoder::Json(machine) => Ok(machine.finish()?),
        }
    }

    /// How the content is written: `pickle 4 (Python)`.
    pub(super) fn description(&self) -> String {
        match self {
            Decoder::Pickle(_, head) => head.describe(),
            Decoder::Json(_) => "JSON".to_owned(),
        }
    }

    /// Bytes on the heap and events read so far.
    pub(super) fn held(&self) -> (u64, u64) {
        let events = match self {
            Decoder::Pickle(machine, _) => machine.builder().sink().events(),
            Decoder::Json(machine) => machine.builder().sink().events(),
        };
        (self.heap_bytes().iter().map(|&(_, bytes)| bytes as u64).sum(), events)
    }

    /// Bytes on the heap, by table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let (reader, own) = match self {
            Decoder::Pickle(machine, _) => (machine.builder(), ("memo and stack", machine.heap_bytes())),
            Decoder::Json(machine) => (machine.builder(), ("longest string", machine.heap_bytes())),
        };
        let mut bytes = vec![own];
        bytes.extend(reader.heap_bytes());
        bytes.extend(reader.sink().heap_bytes());
        bytes
    }
}

/// What the first bytes of a pickle tell of its writer.
#[derive(Default)]
pub(super) struct Head {
    bytes: [u8; 4],
    len: usize,
}

impl Head {
    fn see(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let Some(slot) = self.bytes.get_mut(self.len) else { return };
            *slot = byte;
            self.len += 1;
        }
    }

    /// torch's C++ pickler writes protocol 2 and memoises a container after its contents, so MARK follows at once.
    fn describe(&self) -> String {
        let writer = match self.bytes {
            [_, 2, b'}' | b']', b'('] => "torch C++",
            _ => "Python",
        };
        format!("pickle {} ({writer})", self.bytes[1])
    }
}
