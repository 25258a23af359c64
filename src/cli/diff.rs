//! `memscape diff`: compares two snapshots, as text, JSON or Markdown.

use super::cancellation;
use super::common_args::{SnapshotArgs, TracePosition, parse_trace_position};
use super::diff_json::as_json;
use super::diff_text::as_text;
use super::open_snapshot::{OpenSnapshot, select_device};
use super::output::to_pretty_json;
use base::slice::TimeSlice;
use base::units::Moment;
use clap::{Args, ValueEnum};
use compare::{Align, CompareOptions, Comparer, Comparison, Key, SideFacts, peaks_in, report};
use std::path::PathBuf;
use ui::text::markdown::markdown;
use ui::text::summary::device_name;

/// Default number of rows to print.
const DEFAULT_ROWS: u32 = 20;

/// Arguments of `memscape diff`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Diff {
    /// First snapshot
    pub(crate) a: PathBuf,
    /// Second snapshot; may be the same file
    pub(crate) b: PathBuf,
    /// Device of A; if omitted, the device that ran out of memory, else the one with the highest peak
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) device_a: Option<i64>,
    /// Device of B
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) device_b: Option<i64>,
    /// Cursor position in A: peak, oom, end, an event number or a time; if only one is given, the other is aligned with it
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true)]
    pub(crate) at_a: Option<TracePosition>,
    /// Cursor position in B
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true)]
    pub(crate) at_b: Option<TracePosition>,
    /// Start of the range in A where peaks are compared; the range in B is aligned with it
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true, conflicts_with_all = ["at_a", "at_b"])]
    pub(crate) from: Option<TracePosition>,
    /// End of the range in A where peaks are compared
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true, conflicts_with_all = ["at_a", "at_b"])]
    pub(crate) to: Option<TracePosition>,
    /// Key to match allocations by; if omitted, the strictest key that matches 90 % of the bytes
    #[arg(long)]
    pub(crate) key: Option<KeyArg>,
    /// Method to align moments; if omitted, by steps, else by the sequence of allocations, else by the share of events
    #[arg(long)]
    pub(crate) align: Option<AlignArg>,
    /// Replace the beginning OLD of paths by NEW before paths are compared, such as /home/a/=/home/b/; may be given several times
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_prefix_map)]
    pub(crate) map: Vec<(String, String)>,
    /// Maximum number of rows to print
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ROWS)]
    pub(crate) top: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

impl Diff {
    /// Creates arguments that compare one device of each file, with default values for all other options.
    pub(crate) fn for_devices(a: (PathBuf, i64), b: (PathBuf, i64), json: bool, markdown: bool) -> Diff {
        let (at_a, at_b, from, to, key, align, map) = Default::default();
        let (device_a, device_b) = (Some(a.1), Some(b.1));
        Diff {
            a: a.0,
            b: b.0,
            device_a,
            device_b,
            at_a,
            at_b,
            from,
            to,
            key,
            align,
            map,
            top: DEFAULT_ROWS,
            json,
            markdown,
        }
    }
}

/// Key to match allocations by, as a command line value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyArg(Key);

impl ValueEnum for KeyArg {
    fn value_variants<'a>() -> &'a [KeyArg] {
        const ALL: [KeyArg; Key::ALL.len()] = {
            let (mut all, mut index) = ([KeyArg(Key::Stack); Key::ALL.len()], 0);
            while index < Key::ALL.len() {
                all[index] = KeyArg(Key::ALL[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// Method to align moments, as a command line value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlignArg(Align);

impl ValueEnum for AlignArg {
    fn value_variants<'a>() -> &'a [AlignArg] {
        &[AlignArg(Align::Steps), AlignArg(Align::Sequence), AlignArg(Align::Share)]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// Runs `memscape diff` and returns its output.
///
/// # Errors
/// Returns an error message that names the file, if a file cannot be read, or the device or moment does not exist.
pub(crate) fn diff(arguments: &Diff) -> Result<String, String> {
    let comparison = run_comparison(arguments)?;
    Ok(match (arguments.json, arguments.markdown) {
        (true, _) => to_pretty_json(&as_json(&comparison)),
        (_, true) => as_markdown(&comparison, arguments.top),
        _ => as_text(&comparison, arguments.top),
    })
}

fn run_comparison(arguments: &Diff) -> Result<Comparison, String> {
    let Diff { a, b, device_a, device_b, at_a, at_b, key, align, .. } = arguments;
    let open = |file: &PathBuf, device| {
        let source = SnapshotArgs { file: file.clone(), device };
        OpenSnapshot::open(&source).map_err(|error| format!("{}: {error}", file.display()))
    };
    let mut first = open(a, *device_a)?;
    // When two devices or moments of one file are compared, the file is read once.
    let mut second = if a == b { None } else { Some(open(b, *device_b)?) };
    let mut of_a = |at| resolve_moment(&mut first, at).map_err(|error| format!("{}: {error}", a.display()));
    let (one, from, to) = (of_a(*at_a)?, of_a(arguments.from)?, of_a(arguments.to)?);
    let device_of_a = first.device.device;
    let (device_of_b, other) = {
        let snapshot = second.as_mut().unwrap_or(&mut first);
        if a == b {
            snapshot.device = select_device(&snapshot.summary, *device_b)?.clone();
        }
        let other = resolve_moment(snapshot, *at_b).map_err(|error| format!("{}: {error}", b.display()))?;
        (snapshot.device.device, other)
    };
    let engine_a = first.into_engine();
    let engine_b = second.map(OpenSnapshot::into_engine);
    let missing = || "no device has events or segments".to_owned();
    let side_a = engine_a.side(device_of_a).ok_or_else(missing)?;
    let side_b = engine_b.as_ref().unwrap_or(&engine_a).side(device_of_b).ok_or_else(missing)?;
    let wanted = CompareOptions { a: one, b: other, key: key.map(|key| key.0), align: align.map(|align| align.0) };
    let mut comparer = Comparer::new(&side_a, &side_b, wanted).with_prefixes(arguments.map.clone());
    if from.is_some() || to.is_some() {
        while comparer.align(&side_a, &side_b, &mut TimeSlice::new(&mut cancellation::should_continue)).is_err() {
            cancellation::check()?;
        }
        let range = [from.unwrap_or(Moment::START), to.unwrap_or(Moment(side_a.history.event_count()))];
        let (one, other) = peaks_in([&side_a, &side_b], comparer.alignment(), range);
        comparer.set_moments(one, other);
    }
    loop {
        cancellation::check()?;
        if let Ok(comparison) = comparer.step(&side_a, &side_b, &mut TimeSlice::new(&mut cancellation::should_continue))
        {
            return Ok(comparison);
        }
    }
}

/// Parses a path prefix and its replacement, `OLD=NEW`.
fn parse_prefix_map(typed: &str) -> Result<(String, String), String> {
    match typed.split_once('=') {
        Some((old, new)) if !old.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => Err("expected OLD=NEW, such as /home/a/=/home/b/".to_owned()),
    }
}

/// Converts a cursor position to a moment. Finishes background work on the file first.
fn resolve_moment(snapshot: &mut OpenSnapshot, when: Option<TracePosition>) -> Result<Option<Moment>, String> {
    snapshot.prepare();
    when.map(|when| snapshot.facts_at(when).map(|facts| Moment(facts.moment))).transpose()
}

/// Formats the comparison like the page's Markdown report, with the names of the compared files in the title.
fn as_markdown(comparison: &Comparison, top: u32) -> String {
    let name = |side: &SideFacts| [&side.file, " · ", &device_name(side.device)].concat();
    markdown(&report(comparison, top as usize), &[name(&comparison.a), name(&comparison.b)].join(" → "))
}
