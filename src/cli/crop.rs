//! `memscape crop`: saves a range of a trace as a smaller snapshot.

use super::common_args::{SnapshotArgs, TracePosition, parse_trace_position};
use super::compressed::{CompressedWriter, CompressionKind};
use super::events::events_between;
use super::open_snapshot::{OpenSnapshot, select_device};
use super::output_file::OutputFile;
use super::step_args::StepArgs;
use super::stream_arg::StreamArg;
use base::units::{Bytes, pluralize};
use clap::Args;
use engine::Engine;
use engine::crop::{Crop, CropError, Cropped};
use protocol::FileSummary;

/// Arguments of `memscape crop`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Snapshot to write, compressed if its name ends in .gz or .zst; "-" for standard output
    #[arg(short, long = "output", value_name = "OUT.pickle")]
    pub(crate) out: OutputFile,
    /// First event, or time
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true)]
    pub(crate) from: Option<TracePosition>,
    /// Last event, or time
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true)]
    pub(crate) to: Option<TracePosition>,
    /// Keep the events around this position: peak, oom, an event or a time; replaces --from and --to
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, conflicts_with_all = ["from", "to", "step", "phase"])]
    pub(crate) around: Option<TracePosition>,
    /// With --around, how many events to keep before it, and after it
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "around")]
    pub(crate) events: u32,
    #[command(flatten)]
    pub(crate) step: StepArgs,
    #[command(flatten)]
    pub(crate) stream: StreamArg,
    /// Also keep the events of these devices from the same time: ordinals, or "all"
    #[arg(long, value_name = "N,N", value_parser = devices)]
    pub(crate) also: Option<Devices>,
    /// Write no events for allocations made before the range; those that are freed in the range lose their stacks
    #[arg(long)]
    pub(crate) no_prologue: bool,
}

impl Arguments {
    /// Writes the cropped snapshot. Returns a summary sentence about the written file, or an error message.
    pub(crate) fn write(&self) -> Result<String, String> {
        let mut snapshot = OpenSnapshot::open(&self.source)?;
        let chosen = self.range(&mut snapshot)?;
        self.stream.check(&snapshot)?;
        let (device, summary) = (snapshot.device.device, snapshot.summary.clone());
        let mut engine = snapshot.into_engine();
        let mut devices = vec![(device, chosen)];
        for other in self.others(&summary, device)? {
            devices.push((other, same_time(&engine, device, chosen, other)?));
        }
        let crop = Crop { devices, prologue: !self.no_prologue, stream: self.stream.stream, source: summary.file };
        let to_message = |error: std::io::Error| format!("{}: {error}", self.out.path().display());
        let mut out =
            CompressedWriter::create(&self.out, CompressionKind::from_path(self.out.path())).map_err(to_message)?;
        let cropped = engine.crop(&crop, &mut out).map_err(|error| match error {
            CropError::Invalid(why) => why,
            CropError::Io(error) => to_message(error),
        })?;
        out.finish().map_err(to_message)?;
        Ok(summary_text(cropped))
    }

    /// Returns the range of events to keep, with an exclusive end.
    fn range(&self, snapshot: &mut OpenSnapshot) -> Result<[u32; 2], String> {
        if let Some(range) = self.step.events(snapshot)? {
            return Ok(range);
        }
        if let Some(around) = self.around {
            let moment = snapshot.facts_at(around)?.moment;
            let first = moment.saturating_sub(1).saturating_sub(self.events);
            return Ok([first, moment.saturating_add(self.events)]);
        }
        events_between(snapshot, self.from, self.to)
    }

    /// Returns the ordinals of the other devices to keep.
    fn others(&self, summary: &FileSummary, device: i64) -> Result<Vec<i64>, String> {
        let others = match &self.also {
            None => Vec::new(),
            Some(Devices::All) => {
                summary.devices.iter().map(|device| device.device).filter(|&device| device >= 0).collect()
            }
            Some(Devices::List(these)) => these.clone(),
        };
        let others: Vec<i64> = others.into_iter().filter(|&other| other != device).collect();
        others.iter().try_for_each(|&other| select_device(summary, Some(other)).map(drop))?;
        Ok(others)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    All,
    List(Vec<i64>),
}

fn devices(text: &str) -> Result<Devices, String> {
    if text == "all" {
        return Ok(Devices::All);
    }
    let these = text.split(',').map(|part| part.trim().parse().ok().filter(|&ordinal: &i64| ordinal >= 0));
    these.collect::<Option<_>>().map(Devices::List).ok_or_else(|| "expected ordinals such as 1,2, or all".to_owned())
}

/// Returns the range of events on device `other` that covers the same time as a range of events on `device`.
fn same_time(engine: &Engine, device: i64, [from, to]: [u32; 2], other: i64) -> Result<[u32; 2], String> {
    let missing = || {
        "the trace has no timestamps (PyTorch 2.2 and later record them), which are needed to crop other devices"
            .to_owned()
    };
    let history = |device| engine.side(device).map(|side| side.history);
    let (source, others) = history(device).zip(history(other)).ok_or("the file has no such device")?;
    let (last, beyond) = (others.event_count(), source.event_count());
    let (Some(clock), Some(source)) =
        (others.events.times.time_axis(), source.events.times.time_axis().map(|_| source))
    else {
        // Without times, only the whole trace can be mapped.
        return if from == 0 && to >= beyond { Ok([0, last]) } else { Err(missing()) };
    };
    let time_of = |event: u32| source.events.times.at(event);
    let first = if from == 0 { Some(0) } else { time_of(from).map(|us| clock.events_before_us(us)) };
    let end = if to >= beyond { Some(last) } else { time_of(to).map(|us| clock.events_before_us(us)) };
    first.zip(end).map(|(first, end)| [first, end.max(first)]).ok_or_else(missing)
}

fn summary_text(cropped: Cropped) -> String {
    let Cropped { events, prologue, live_before, segments } = cropped;
    let before = match (live_before, prologue) {
        (0, _) => "nothing live before them".to_owned(),
        (bytes, 0) => format!("{} live before them", Bytes(bytes)),
        (bytes, events) => {
            format!("{} live before them, {} added for their stacks", Bytes(bytes), pluralize(events.into(), "event"))
        }
    };
    let [events, segments] =
        [(events, "event"), (segments, "segment")].map(|(count, noun)| pluralize(count.into(), noun));
    format!("{events}, {before}, {segments} after them")
}
