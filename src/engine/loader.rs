//! A file on its way in: bytes → container → pickle → snapshot and history, in slices.

use super::open::OpenFile;
use super::protocol::{Access, Phase, Progress, Want};
use crate::analysis::Sites;
use crate::container::{Container, ContainerError};
use crate::pickle::{Limits, Machine, PickleError};
use crate::replay::{Builder, Recorder};
use crate::snapshot::{ContentError, ReadError, Reader, Snapshot, Value};

/// Why a file can't be opened: one sentence with place and cause.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    /// The outer format.
    #[error("{0}")]
    Container(#[from] ContainerError),
    /// The pickle.
    #[error("{0}")]
    Pickle(#[from] PickleError<ReadError>),
    /// The values.
    #[error("{0}")]
    Content(#[from] ContentError),
}

/// What the first bytes of a pickle tell of its writer.
#[derive(Default)]
struct Head {
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

/// A file on its way in.
pub(super) struct Loader {
    name: String,
    total_bytes: Option<u64>,
    read: u64,
    head: Head,
    container: Container,
    chunk: Vec<u8>,
    at: usize,
    ended: bool,
    stage: Stage,
}

enum Stage {
    Decoding(Box<Machine<Reader<Recorder>>>),
    Replaying(Box<(Snapshot, Builder)>),
    Indexing(Box<OpenFile>),
    Over,
}

impl Loader {
    pub(super) fn new(name: String, total_bytes: Option<u64>, _access: Access, _member: Option<u32>) -> Loader {
        let machine = Machine::new(Reader::new(Recorder::default()), Limits::default());
        Loader {
            name,
            total_bytes,
            read: 0,
            head: Head::default(),
            container: Container::default(),
            chunk: Vec::new(),
            at: 0,
            ended: false,
            stage: Stage::Decoding(Box::new(machine)),
        }
    }

    pub(super) fn feed(&mut self, chunk: Vec<u8>) {
        self.chunk = chunk;
        self.at = 0;
    }

    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    pub(super) fn wants(&self) -> Option<Want> {
        let hungry = matches!(self.stage, Stage::Decoding(_)) && !self.ended && self.at >= self.chunk.len();
        hungry.then_some(Want::Next)
    }

    pub(super) fn progress(&self) -> Progress {
        let phase = if matches!(self.stage, Stage::Decoding(_)) { Phase::Decoding } else { Phase::Indexing };
        Progress { bytes: self.read, total_bytes: self.total_bytes, phase }
    }

    /// Works until the file is open (`Some`), more bytes are needed or `has_time` says no (`None`).
    pub(super) fn step(&mut self, has_time: &mut dyn FnMut() -> bool) -> Result<Option<OpenFile>, OpenError> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Decoding(mut machine) => {
                    let done = self.decode(&mut machine, has_time)?;
                    if !done {
                        self.stage = Stage::Decoding(machine);
                        return Ok(None);
                    }
                    let (reader, root): (Reader<Recorder>, Value) = machine.finish()?;
                    let (snapshot, recorder) = reader.finish(root)?;
                    let builder = Builder::new(&snapshot, recorder);
                    self.stage = Stage::Replaying(Box::new((snapshot, builder)));
                }
                Stage::Replaying(mut replaying) => {
                    let (snapshot, builder) = &mut *replaying;
                    if !builder.step(snapshot, has_time) {
                        self.stage = Stage::Replaying(replaying);
                        return Ok(None);
                    }
                    let (snapshot, builder) = *replaying;
                    let (histories, warnings) = builder.finish();
                    let sites = Sites::new(&snapshot);
                    let file = OpenFile::new(self.name.clone(), self.format(), snapshot, histories, warnings, sites);
                    self.stage = Stage::Indexing(Box::new(file));
                }
                Stage::Indexing(mut file) => {
                    if !file.index(has_time) {
                        self.stage = Stage::Indexing(file);
                        return Ok(None);
                    }
                    return Ok(Some(*file));
                }
                Stage::Over => return Ok(None),
            }
            if !has_time() {
                return Ok(None);
            }
        }
    }

    /// `true` when the whole pickle is decoded.
    fn decode(
        &mut self,
        machine: &mut Machine<Reader<Recorder>>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> Result<bool, OpenError> {
        while self.at < self.chunk.len() {
            let end = self.chunk.len().min(self.at + self.container.piece());
            let piece = self.chunk.get(self.at..end).unwrap_or_default();
            let unpacked = self.container.unpack(piece)?;
            self.head.see(unpacked);
            machine.feed(unpacked)?;
            self.read += (end - self.at) as u64;
            self.at = end;
            if !has_time() {
                return Ok(false);
            }
        }
        if self.ended {
            let rest = self.container.finish()?;
            self.head.see(&rest);
            machine.feed(&rest)?;
        }
        Ok(self.ended)
    }

    fn format(&self) -> String {
        let pickle = self.head.describe();
        let layers = self.container.layers().iter().map(|&layer| layer.to_owned());
        layers.chain([pickle]).collect::<Vec<_>>().join(", ")
    }

    /// Bytes on the heap, by table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = vec![("chunk of the file", self.chunk.capacity())];
        if let Stage::Decoding(machine) = &self.stage {
            bytes.push(("memo and stack", machine.heap_bytes()));
            bytes.extend(machine.builder().heap_bytes());
            bytes.extend(machine.builder().sink().heap_bytes());
        }
        bytes
    }
}
