//! Arguments that several commands share, and parsers of their values.

use super::opening::set_left_out;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use protocol::{LEAVE_OUT_NAMES, LeaveOut, LoadRange, NamedAction, NamedEvent, Query};
use std::path::PathBuf;
use ui::text::position_text::{EXPECTED_FORMS, Position, parse_position};

/// Arguments that select a snapshot and one of its devices.
#[derive(Args, Clone, Debug)]
pub(crate) struct SnapshotArgs {
    /// Snapshot to read, "-" for standard input
    pub(crate) file: PathBuf,
    /// Device ordinal, -1 for host memory; if omitted, the device that ran out of memory, else the one with the highest
    /// peak
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) device: Option<i64>,
}

/// Arguments that select the range of events to load.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoadArgs {
    /// Load only the events from this one on; allocations that are live there are kept, as allocated before recording
    #[arg(long = "load-from", value_name = "EVENT", global = true)]
    load_from: Option<u32>,
    /// Load only the events up to this one
    #[arg(long = "load-to", value_name = "EVENT", global = true)]
    load_to: Option<u32>,
    /// Load only the last N events
    #[arg(long = "load-last", value_name = "N", global = true)]
    load_last: Option<u32>,
}

impl LoadArgs {
    /// Returns true if all events are loaded.
    pub(crate) fn is_all(&self) -> bool {
        *self == LoadArgs::default()
    }

    /// Returns the range of events to load.
    ///
    /// # Errors
    /// Returns an error message if the range is empty.
    pub(crate) fn range(&self) -> Result<LoadRange, String> {
        let all = LoadRange::ALL;
        let to = self.load_to.map_or(all.to, |last| last.saturating_add(1));
        let range = LoadRange {
            from: self.load_from.unwrap_or(all.from),
            to,
            max_events: self.load_last.unwrap_or(all.max_events),
        };
        if range.from >= range.to { Err("--load-from is after --load-to".to_owned()) } else { Ok(range) }
    }
}

/// Texts to leave out of the output.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct LeaveOutArgs {
    /// Leave texts of the file out of the output: all, or some of paths,source,annotations,metadata,host,recorder
    #[arg(long = "leave-out", value_name = "TEXTS", value_parser = parse_leave_out, global = true)]
    texts: Option<LeaveOut>,
}

impl LeaveOutArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.texts.is_some()
    }

    /// Returns an error message if texts are left out in a command that is not about one snapshot.
    pub(crate) fn conflict(&self, is_general: bool) -> Option<String> {
        (self.is_given() && is_general).then(|| {
            "--leave-out is for commands that read one snapshot: write one without these texts with convert".to_owned()
        })
    }

    /// Leaves the texts out of all files that are opened later.
    pub(crate) fn apply(&self) {
        self.texts.into_iter().for_each(set_left_out);
    }
}

fn parse_leave_out(text: &str) -> Result<LeaveOut, String> {
    if text == "all" {
        return Ok(LeaveOut::ALL);
    }
    let mut what = LeaveOut::default();
    match text.split(',').map(str::trim).find(|name| !what.add(name)) {
        None => Ok(what),
        Some(_) => Err(format!("expected all, or some of {}", LEAVE_OUT_NAMES.join(","))),
    }
}

const WHEN_HELP: &str = "Cursor position:

peak                   peak of live bytes
reserved-peak          peak of reserved bytes
oom                    after the last OOM
end                    after the last event
3216                   after event 3216; -1: before the first event
1.25s, 350ms           time since the first event
1759252605604106us     timestamp, in microseconds since 1970
alloc:7f89b4000000_2, free_completed:7f89b4000000_2
                       after this event at an address that was freed twice before";

/// Argument for the cursor position.
#[derive(Args, Clone, Debug)]
pub(crate) struct AtArg {
    /// Cursor position: peak, oom, end, an event number or a time
    #[arg(long = "at", value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true, long_help = WHEN_HELP)]
    pub(crate) when: Option<TracePosition>,
}

/// Arguments for the length and format of the output.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArgs {
    /// Maximum number of rows to print
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TracePosition {
    /// At the peak of requested bytes.
    Peak,
    /// At the peak of reserved bytes.
    ReservedPeak,
    /// After the last out-of-memory event.
    OutOfMemory,
    /// After the last event.
    End,
    /// After the event with this index. −1 is before the first event.
    Event(i64),
    /// After all events up to and including this time.
    Time(TimeArg),
    /// After the event named by an action, an address and a version.
    Named(NamedEvent),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum TimeArg {
    /// Microseconds since 1970, as recorded in files.
    Since1970(i64),
    /// Microseconds since the first event, as displayed by the page.
    SinceFirst(u64),
}

/// Returns the name of an enum value on the command line.
pub(crate) fn value_name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Returns a parser of the names of these values.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: impl Fn(T) -> &'static str + Copy + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    let value = move |typed: String| all.into_iter().find(|value| name(*value) == typed).ok_or("unknown name");
    PossibleValuesParser::new(all.map(name)).try_map(value)
}

pub(crate) fn parse_trace_position(text: &str) -> Result<TracePosition, String> {
    let named = |turn, name: &str| {
        let (address, version) = name.rsplit_once('_')?;
        let address = u64::from_str_radix(address.strip_prefix("0x").unwrap_or(address), 16).ok()?;
        Some(TracePosition::Named(NamedEvent { action: turn, address, version: version.parse().ok()? }))
    };
    let read = match text.split_once(':') {
        Some(("alloc", name)) => named(NamedAction::Alloc, name.trim()),
        Some(("free_completed", name)) => named(NamedAction::FreeCompleted, name.trim()),
        Some(_) => None,
        None => match text {
            "peak" => Some(TracePosition::Peak),
            "reserved-peak" => Some(TracePosition::ReservedPeak),
            "oom" => Some(TracePosition::OutOfMemory),
            "end" => Some(TracePosition::End),
            text => match text.parse() {
                Ok(event) => Some(TracePosition::Event(event)).filter(|_| event >= -1),
                Err(_) => parse_time(text).map(TracePosition::Time).ok(),
            },
        },
    };
    read.ok_or_else(|| EXPECTED_FORMS.to_owned())
}

/// Parses a time. `1759252605604106us` (the unit is optional) counts from 1970, `1.25s` and `350ms` count from the
/// first event.
pub(crate) fn parse_time(text: &str) -> Result<TimeArg, String> {
    match (text.strip_suffix("us").unwrap_or(text).parse(), parse_position(text)) {
        (Ok(us), _) => Ok(TimeArg::Since1970(us)),
        (_, Some(Position::Time(us))) => Ok(TimeArg::SinceFirst(us)),
        _ => Err("expected a time such as 1.25s, 350ms or 1759252605604106us".to_owned()),
    }
}

/// Parses a number of bytes such as `3145728`, `3MiB` or `1.5G`, in the syntax of search queries.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    match Query::parse(&["=", text].concat()) {
        Ok(Query::Size(bytes, _)) => Ok(bytes),
        Err(error) => Err(error.to_string()),
        Ok(_) => Err("expected a size such as 512, 2MiB or 1.5GiB".to_owned()),
    }
}

#[cfg(test)]
#[path = "../../tests/units/cli/terms.rs"]
mod tests;
