//! Options of the generator and their command line.

use super::pickle_writer::Style;

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) length: Length,
    pub(crate) seed: u64,
    pub(crate) devices: usize,
    /// Minimum number of frames in a stack.
    pub(crate) depth: usize,
    pub(crate) style: Style,
    /// Keep only the last events of each device, like `max_entries`.
    pub(crate) ring: Option<u64>,
    /// Parameters in MiB that exist before recording. `None` allocates the parameters while recording.
    pub(crate) before_recording_mib: Option<u64>,
    pub(crate) model: Model,
    /// Some frees wait for another stream.
    pub(crate) pending: bool,
    /// The run ends with a failing allocation.
    pub(crate) oom: bool,
    /// Use expandable segments, with map and unmap events.
    pub(crate) expandable: bool,
    /// Every step leaks a tensor.
    pub(crate) leak: bool,
    pub(crate) annotations: bool,
    /// Annotate each layer's forward pass as well.
    pub(crate) layer_annotations: bool,
    pub(crate) times: bool,
    pub(crate) compile_contexts: bool,
    /// Write `user_metadata`: the phase of the step, as JSON text.
    pub(crate) metadata: bool,
    /// Write `pool_id`, and use a private pool for attention's scratch memory.
    pub(crate) private_pools: bool,
    /// Write a `snapshot` event after each step.
    pub(crate) snapshots: bool,
    /// Record pinned host memory as well.
    pub(crate) host: bool,
    pub(crate) program: Program,
    pub(crate) work: StepSize,
}

/// Size of the work in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepSize {
    /// Sequences in a batch. The default is 4.
    pub(crate) batch: Option<u64>,
    /// Tokens in a sequence, the same in each step. Attention then saves its scores, the only tensors that grow
    /// quadratically. `None` uses another number in each step.
    pub(crate) sequence: Option<u64>,
    /// Activations have 16 bits in place of 32.
    pub(crate) is_half: bool,
    /// Size of an additional leak per step, in MiB.
    pub(crate) extra_leak_mib: u64,
}

/// Program to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Training,
    /// An evaluation whose results fragment memory, and a training step that therefore fails.
    Fragmentation,
    /// A server that captures CUDA graphs.
    Graphs,
}

/// End of the training.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// At the first event from this one on with no allocation in progress.
    Events(u64),
    /// After this many whole steps.
    Steps(u64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) layers: u64,
    pub(crate) hidden: u64,
    pub(crate) vocabulary: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            length: Length::Events(20_000),
            seed: 1,
            devices: 1,
            depth: 30,
            style: Style::Python { protocol: 4 },
            ring: None,
            before_recording_mib: Some(2048),
            model: Model { layers: 24, hidden: 2048, vocabulary: 50_304 },
            pending: false,
            oom: false,
            expandable: false,
            leak: false,
            annotations: true,
            layer_annotations: false,
            times: true,
            compile_contexts: false,
            metadata: false,
            private_pools: false,
            snapshots: false,
            host: false,
            program: Program::Training,
            work: StepSize::default(),
        }
    }
}

impl Options {
    /// Returns the options of a small example: a model is created and trained for three steps that leak a tensor each,
    /// and the fourth runs out of memory.
    pub(crate) fn example() -> Options {
        Options {
            length: Length::Steps(3),
            depth: 18,
            before_recording_mib: None,
            model: Model { layers: 12, hidden: 1024, vocabulary: 50_304 },
            oom: true,
            leak: true,
            ..Options::default()
        }
    }

    /// Returns the options of a sample of the start page (src/ui/state/samples.rs), or of a snapshot of the tutorials
    /// in www/docs: before and after a change that leaks, and of one rank of several.
    pub(crate) fn sample(name: &str) -> Option<Options> {
        let base = Options { depth: 12, before_recording_mib: None, ..Options::default() };
        let model = |layers| Model { layers, hidden: 1024, vocabulary: 50_304 };
        Some(match name {
            "out-of-memory" => Options { program: Program::Fragmentation, ..base },
            "leak" => Options { length: Length::Steps(8), model: model(3), leak: true, ..base },
            "training" => Options { length: Length::Steps(3), model: model(6), layer_annotations: true, ..base },
            "before" => Options { length: Length::Steps(3), model: model(3), ..base },
            "after" => {
                let work = StepSize { extra_leak_mib: 48, ..StepSize::default() };
                Options { length: Length::Steps(3), model: model(3), work, ..base }
            }
            "rank" => Options { length: Length::Steps(4), model: model(3), ..base },
            "cuda-graphs" => Options { program: Program::Graphs, private_pools: true, ..base },
            _ => return None,
        })
    }

    /// Returns how many of a device's events are kept.
    pub(crate) fn kept(&self, events: u64) -> u64 {
        self.ring.map_or(events, |ring| ring.min(events))
    }

    /// Parses command-line arguments. Returns the options and the remaining arguments.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<(Options, Vec<String>), String> {
        let mut options = Options::default();
        let mut others = Vec::new();
        let mut words = words;
        while let Some(word) = words.next() {
            let mut number = || -> Result<u64, String> {
                let value = words.next().ok_or_else(|| format!("{word} wants a number"))?;
                value.parse().map_err(|_| format!("{word} wants a number, not {value}"))
            };
            match word.as_str() {
                "--sample" => {
                    let name = words.next().unwrap_or_default();
                    options = Options::sample(&name).ok_or_else(|| format!("there is no sample {name}"))?;
                }
                "--example" => options = Options::example(),
                "--events" => options.length = Length::Events(number()?),
                "--steps" => options.length = Length::Steps(number()?),
                "--seed" => options.seed = number()?,
                "--devices" => options.devices = number()? as usize,
                "--frames" => options.depth = number()? as usize,
                "--layers" => options.model.layers = number()?.max(1),
                "--hidden" => options.model.hidden = number()?.max(1),
                "--ring" => options.ring = Some(number()?),
                "--prerecord-mib" => options.before_recording_mib = Some(number()?),
                "--record-from-start" => options.before_recording_mib = None,
                "--protocol" => match number()? {
                    protocol @ 2..=5 => options.style = Style::Python { protocol: protocol as u8 },
                    other => return Err(format!("--protocol is 2 to 5, not {other}")),
                },
                "--style" => match words.next().as_deref() {
                    Some("cpp") => options.style = Style::Cpp,
                    Some("python") => options.style = Style::Python { protocol: 4 },
                    _ => return Err("--style is python or cpp".to_owned()),
                },
                "--batch" => options.work.batch = Some(number()?.max(1)),
                "--sequence" => options.work.sequence = Some(number()?.max(1)),
                "--precision" => match number()? {
                    bits @ (16 | 32) => options.work.is_half = bits == 16,
                    other => return Err(format!("--precision is 16 or 32, not {other}")),
                },
                "--extra-leak" => options.work.extra_leak_mib = number()?,
                "--pending" => options.pending = true,
                "--oom" => options.oom = true,
                "--expandable" => options.expandable = true,
                "--leak" => options.leak = true,
                "--no-annotations" => options.annotations = false,
                "--no-time" => options.times = false,
                "--compile-contexts" => options.compile_contexts = true,
                "--layer-annotations" => options.layer_annotations = true,
                "--metadata" => options.metadata = true,
                "--private-pools" => options.private_pools = true,
                "--snapshots" => options.snapshots = true,
                "--host" => options.host = true,
                unknown if unknown.starts_with("--") => return Err(format!("there is no option {unknown}")),
                _ => others.push(word),
            }
        }
        Ok((options, others))
    }
}
