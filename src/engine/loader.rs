//! Loading of a file in time slices: bytes → container → decoder → snapshot and history.

use super::archive_error::ArchiveError;
use super::decoder::{DecodeError, Decoded, Decoder, Layout};
use super::feed::More;
use super::intake::Intake;
use super::join::{Events, Rest, Settled};
use super::memory::{TooLarge, Watch};
use super::open::OpenFile;
use super::partial::Partly;
use super::protocol::{LoadRange, Member, PartialFile, Phase, Progress, Want};
use super::snapviewer::is_drawing;
use analysis::Sites;
use base::apart::apart;
use base::slice::Slice;
use history::container::{Container, ContainerError, Content};
use history::replay::Builder;
use history::snapshot::{Snapshot, WarningKind};

/// Error of opening a file. The message names place and cause.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("{0}")]
    Archive(#[from] ArchiveError),
    #[error("{0}")]
    Container(#[from] ContainerError),
    #[error("{0}")]
    Decode(#[from] DecodeError),
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
}

/// A file being loaded.
pub(super) struct Loader {
    name: String,
    intake: Intake,
    container: Container,
    /// Formats of the file, outermost first. Known once it is decoded.
    format: String,
    /// True if the container has consumed all bytes fed so far.
    hungry: bool,
    watch: Watch,
    /// Range of events to keep.
    load: LoadRange,
    /// Applied to the event sink of columns.
    prepare: Option<fn(&mut Events)>,
    /// Partial results, once they have been requested.
    partly: Option<Box<Partly>>,
    stage: Stage,
}

enum Stage {
    /// The decoder is created once the container knows its content.
    Decoding(Option<Decoder>),
    Replaying(Box<(Snapshot, Builder)>),
    Indexing(Box<OpenFile>),
    Over,
}

impl Loader {
    pub(super) fn new(name: String, intake: Intake, memory: u64) -> Loader {
        Loader {
            name,
            intake,
            container: Container::default(),
            format: String::new(),
            hungry: true,
            watch: Watch::new(memory),
            load: LoadRange::ALL,
            prepare: None,
            partly: None,
            stage: Stage::Decoding(None),
        }
    }

    /// Sets the range of events to keep.
    pub(super) fn keeping(self, load: LoadRange) -> Loader {
        Loader { load, ..self }
    }

    /// Accepts cached histories in place of events as well.
    pub(super) fn take_histories(&mut self) {
        self.prepare = Some(Events::take_histories);
    }

    pub(super) fn feed(&mut self, chunk: Vec<u8>) {
        self.intake.feed(chunk);
        self.hungry = false;
    }

    pub(super) fn end(&mut self) {
        self.intake.end();
        self.hungry = false;
    }

    pub(super) fn wants(&self) -> Option<Want> {
        self.intake.wants().filter(|_| self.hungry && matches!(self.stage, Stage::Decoding(_)))
    }

    pub(super) fn progress(&self) -> Progress {
        let phase = if matches!(self.stage, Stage::Decoding(_)) { Phase::Decoding } else { Phase::Indexing };
        Progress { bytes: self.container.read(), total_bytes: self.intake.total_bytes(), phase }
    }

    /// Returns what is decoded so far, if that is more than at the last call. `None` if only a range of events is kept.
    pub(super) fn partial(&mut self) -> Option<PartialFile> {
        let progress = self.progress();
        match &self.stage {
            Stage::Decoding(Some(decoder)) if self.load == LoadRange::ALL => {
                self.partly.get_or_insert_default().look(&self.name, decoder, &progress)
            }
            _ => self.partly.as_mut()?.whole(&self.name),
        }
    }

    /// Returns the snapshots of a file, once, if it has several.
    pub(super) fn take_members(&mut self) -> Option<Vec<Member>> {
        self.intake.take_members()
    }

    /// Formats an error for the user, with the name of the member if there are several.
    pub(super) fn message(&self, error: &OpenError) -> String {
        self.intake.member_name().map_or_else(|| error.to_string(), |member| format!("{member}: {error}"))
    }

    /// Works until the file is open (`Some`), or until more bytes are needed or the time is up (`None`).
    pub(super) fn step(&mut self, slice: &mut Slice<'_>) -> Result<Option<OpenFile>, OpenError> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Decoding(mut decoder) => {
                    let done = apart(|| self.decode(&mut decoder, slice))?;
                    let decoder = match (done, decoder) {
                        (true, Some(decoder)) => decoder,
                        (_, decoder) => {
                            self.stage = Stage::Decoding(decoder);
                            return Ok(None);
                        }
                    };
                    let content = decoder.description();
                    let layers = self.container.layers().map(str::to_owned);
                    self.format = layers.chain([content]).collect::<Vec<_>>().join(", ");
                    self.stage = match apart(|| decoder.finish())? {
                        Decoded::Next(mut decoder) => {
                            decoder.keep(self.load);
                            self.intake.next_member();
                            Stage::Decoding(Some(decoder))
                        }
                        Decoded::Snapshot(decoded) => {
                            let (mut snapshot, recorder) = *decoded;
                            for layer in self.container.left_out() {
                                snapshot.warnings.add(WarningKind::BytesBehind(layer), 1, || layer.to_owned());
                            }
                            let builder = apart(|| Builder::new(&snapshot, recorder));
                            self.partly.iter_mut().for_each(|partly| partly.close(&builder, &snapshot));
                            Stage::Replaying(Box::new((snapshot, builder)))
                        }
                    };
                }
                Stage::Replaying(mut replaying) => {
                    let (snapshot, builder) = &mut *replaying;
                    if apart(|| builder.step(snapshot, slice)).is_err() {
                        self.stage = Stage::Replaying(replaying);
                        return Ok(None);
                    }
                    let (snapshot, builder) = *replaying;
                    let (histories, warnings) = builder.finish();
                    let sites = Sites::new(&snapshot);
                    let name = self
                        .intake
                        .member_name()
                        .map_or(self.name.clone(), |member| format!("{} › {member}", self.name));
                    let file = OpenFile::new(name, self.format.clone(), snapshot, histories, warnings, sites);
                    self.stage = Stage::Indexing(Box::new(file));
                }
                Stage::Indexing(mut file) => {
                    if apart(|| file.index(slice)).is_err() {
                        self.stage = Stage::Indexing(file);
                        return Ok(None);
                    }
                    return Ok(Some(*file));
                }
                Stage::Over => return Ok(None),
            }
            if slice.check().is_err() {
                return Ok(None);
            }
        }
    }

    /// Decodes the available bytes. Returns true once the whole file is decoded.
    fn decode(&mut self, decoder: &mut Option<Decoder>, slice: &mut Slice<'_>) -> Result<bool, OpenError> {
        loop {
            if let Some(decoder) = decoder
                && apart(|| decoder.settle(Rest::Open)) == Settled::Some
            {
                if slice.check().is_err() {
                    return Ok(false);
                }
                continue;
            }
            let content = self.container.content();
            match apart(|| self.container.pull())? {
                Some(bytes) => {
                    if let Some(content) = content.filter(|_| decoder.is_none()) {
                        let layout = self.intake.layout();
                        if content == Content::Json && layout == Layout::Snapshot && is_drawing(bytes) {
                            return Err(DecodeError::DrawingAlone.into());
                        }
                        let decoder = decoder.insert(Decoder::new(content, layout));
                        decoder.keep(self.load);
                        self.prepare.into_iter().for_each(|prepare| decoder.prepare(prepare));
                    }
                    if let Some(decoder) = decoder {
                        let decoded = bytes.len();
                        apart(|| decoder.feed(bytes))?;
                        let (bytes, total_bytes) = (self.container.read(), self.intake.total_bytes());
                        let progress = Progress { bytes, total_bytes, phase: Phase::Decoding };
                        self.watch.look(decoded, &progress, || decoder.held())?;
                    }
                }
                None => match apart(|| self.intake.give(&mut self.container))? {
                    More::Given => {}
                    More::Hungry => {
                        self.hungry = true;
                        return Ok(false);
                    }
                    More::Over => match decoder.as_mut().map(|decoder| apart(|| decoder.settle(Rest::Ended))) {
                        Some(Settled::Some) => {}
                        Some(Settled::All) | None => return Ok(true),
                    },
                },
            }
            if slice.check().is_err() {
                return Ok(false);
            }
        }
    }

    /// Returns the bytes on the heap, by table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = vec![("chunk of the file", self.container.heap_bytes() + self.intake.heap_bytes())];
        if let Stage::Decoding(Some(decoder)) = &self.stage {
            bytes.extend(decoder.heap_bytes());
        }
        bytes
    }
}
