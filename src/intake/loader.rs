//! Loads a file in time slices: bytes → container → decoder → snapshot and histories.

mod decoding;

use super::archive_error::ArchiveError;
use super::container_input::ContainerInput;
use super::decoder::{DecodeError, Decoded, Decoder};
use super::event_sink::RecordingSink;
use super::loaded_file::LoadedFile;
use super::memory_limit::{MemoryMonitor, TooLarge};
use super::partial::PartialState;
use super::private;
use base::heap::HeapBytes;
use base::out_of_line::out_of_line;
use base::slice::TimeSlice;
use history::container::{Container, ContainerError};
use history::replay::Builder;
use history::snapshot::{Snapshot, WarningKind};
use protocol::{Access, LeaveOut, LoadRange, Member, NeededBytes, PartialFile, Phase, Progress};

/// Error that occurs while a file is loaded. The message names the position and the cause.
#[derive(Debug, thiserror::Error)]
enum LoadError {
    #[error("{0}")]
    Archive(#[from] ArchiveError),
    #[error("{0}")]
    Container(#[from] ContainerError),
    #[error("{0}")]
    Decode(#[from] DecodeError),
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// The file is a `torch.save` checkpoint. Holds what it contains, if known.
    #[error("this is a torch.save checkpoint, not a PyTorch memory snapshot{0}")]
    Checkpoint(String),
}

/// Function that removes texts of these kinds from a decoded snapshot.
type RemoveTexts = fn(&mut Snapshot, LeaveOut);

/// Time-sliced loader of a file.
pub struct Loader {
    name: String,
    input: ContainerInput,
    container: Container,
    /// Formats of the file, from the outermost to the innermost. Known once the file is decoded.
    format: String,
    /// True if the container has consumed all bytes that were fed.
    needs_bytes: bool,
    watch: MemoryMonitor,
    /// Range of events to load.
    load_range: LoadRange,
    /// Function that configures the event sink if the content is in the column format.
    prepare_sink: Option<fn(&mut RecordingSink)>,
    /// Function that removes texts from the decoded snapshot, and the kinds of texts. Its code is linked only if
    /// [`Loader::leave_out`] is called.
    remove_texts: Option<(RemoveTexts, LeaveOut)>,
    /// Partial results. `None` until they are requested.
    partial_results: Option<Box<PartialState>>,
    /// Snapshots in one pickle, JSON or tar file, if it has several.
    members: Option<Vec<Member>>,
    /// Name of the opened one.
    member_name: Option<String>,
    stage: Stage,
}

enum Stage {
    /// Decodes the content. The decoder is created once the container knows the format of its content.
    Decoding(Option<Decoder>),
    Replaying(Box<(Snapshot, Builder)>),
    Done,
}

impl Loader {
    /// Starts loading a file of `total_bytes`, if known. `member` is the index of the snapshot to load if the file has
    /// several. The file is rejected if its tables take more than `memory` bytes.
    pub fn new(name: String, total_bytes: Option<u64>, access: Access, member: Option<u32>, memory: u64) -> Loader {
        Loader {
            name,
            input: ContainerInput::new(total_bytes, access, member),
            container: Container::default(),
            format: String::new(),
            needs_bytes: true,
            watch: MemoryMonitor::new(memory),
            load_range: LoadRange::ALL,
            prepare_sink: None,
            remove_texts: None,
            partial_results: None,
            members: None,
            member_name: None,
            stage: Stage::Decoding(None),
        }
    }

    /// Sets the range of events to load.
    #[must_use]
    pub fn with_range(self, load_range: LoadRange) -> Loader {
        Loader { load_range, ..self }
    }

    /// Makes the loader accept cached histories as well as events.
    pub fn accept_histories(&mut self) {
        self.prepare_sink = Some(RecordingSink::accept_histories);
    }

    /// Leaves texts of these kinds out of the loaded file.
    pub fn leave_out(&mut self, what: LeaveOut) {
        self.remove_texts = Some((private::leave_out, what));
    }

    /// Feeds the bytes from the position that [`Loader::wants`] returned.
    pub fn feed(&mut self, chunk: Vec<u8>) {
        self.input.feed(chunk);
        self.needs_bytes = false;
    }

    /// Marks the bytes fed so far as the complete file.
    pub fn end(&mut self) {
        self.input.end();
        self.needs_bytes = false;
    }

    /// Returns the position of the bytes that are needed next. `None` while the last chunk is not consumed, and once
    /// the file is decoded.
    pub fn wants(&self) -> Option<NeededBytes> {
        self.input.wants().filter(|_| self.needs_bytes && matches!(self.stage, Stage::Decoding(_)))
    }

    pub fn progress(&self) -> Progress {
        let phase = if matches!(self.stage, Stage::Decoding(_)) { Phase::Decoding } else { Phase::Indexing };
        Progress { bytes: self.container.bytes_read(), total_bytes: self.input.total_bytes(), phase }
    }

    /// Returns partial results if more events were decoded since the last call. `None` if only a range of events is
    /// loaded.
    pub fn partial(&mut self) -> Option<PartialFile> {
        let progress = self.progress();
        match &self.stage {
            Stage::Decoding(Some(decoder)) if self.load_range == LoadRange::ALL => {
                self.partial_results.get_or_insert_default().update(&self.name, decoder, &progress)
            }
            _ => self.partial_results.as_mut()?.take_final(&self.name),
        }
    }

    /// Returns the list of snapshots if the file has several. Later calls return `None`.
    pub fn take_members(&mut self) -> Option<Vec<Member>> {
        self.members.take().or_else(|| self.input.take_members())
    }

    fn member_name(&self) -> Option<&str> {
        self.member_name.as_deref().or_else(|| self.input.member_name())
    }

    /// Continues loading the file. Returns `Some` when it is complete, or `None` if more bytes are needed or the time
    /// slice is used up.
    ///
    /// # Errors
    /// Returns a message if the file is not a snapshot, is damaged, or takes too much memory. The message includes the
    /// name of the member if the file has several snapshots.
    pub fn step(&mut self, slice: &mut TimeSlice<'_>) -> Result<Option<LoadedFile>, String> {
        self.load(slice).map_err(|error| {
            self.member_name().map_or_else(|| error.to_string(), |member| format!("{member}: {error}"))
        })
    }

    fn load(&mut self, slice: &mut TimeSlice<'_>) -> Result<Option<LoadedFile>, LoadError> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Decoding(mut decoder) => {
                    let done = out_of_line(|| self.decode(&mut decoder, slice))?;
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
                    self.stage = match self.finish_decoder(decoder)? {
                        Decoded::NextMember(mut decoder) => {
                            decoder.set_range(self.load_range);
                            self.input.next_member();
                            Stage::Decoding(Some(decoder))
                        }
                        Decoded::Snapshot(decoded) => {
                            let (mut snapshot, recorder) = *decoded;
                            for layer in self.container.layers_with_trailing_bytes() {
                                snapshot.warnings.add(WarningKind::TrailingBytes(layer), 1, || layer.to_owned());
                            }
                            if let Some((remove_texts, what)) = self.remove_texts {
                                remove_texts(&mut snapshot, what);
                            }
                            let builder = Builder::new(&snapshot, recorder);
                            self.partial_results
                                .iter_mut()
                                .for_each(|partial_results| partial_results.finish_decoding(&builder, &snapshot));
                            Stage::Replaying(Box::new((snapshot, builder)))
                        }
                    };
                }
                Stage::Replaying(mut replaying) => {
                    let (snapshot, builder) = &mut *replaying;
                    if out_of_line(|| builder.step(snapshot, slice)).is_err() {
                        self.stage = Stage::Replaying(replaying);
                        return Ok(None);
                    }
                    let (snapshot, builder) = *replaying;
                    let member = self.member_name();
                    let name = member.map_or(self.name.clone(), |member| format!("{} › {member}", self.name));
                    return Ok(Some(LoadedFile::new(name, self.format.clone(), snapshot, builder)));
                }
                Stage::Done => return Ok(None),
            }
            if slice.check().is_err() {
                return Ok(None);
            }
        }
    }

    /// Returns the heap usage in bytes of each table.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = vec![("chunk of the file", self.container.heap_bytes() + self.input.heap_bytes())];
        if let Stage::Decoding(Some(decoder)) = &self.stage {
            bytes.extend(decoder.heap_bytes());
        }
        bytes
    }
}
