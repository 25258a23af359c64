//! `memscape diff`: compares two snapshots, as text, JSON or Markdown.

use super::cancellation;
use super::common_args::{SnapshotArgs, TracePosition, one_of, parse_trace_position};
use super::one_stream::only_stream;
use super::open_snapshot::{OpenSnapshot, select_device};
use super::output::{to_pretty_json, with_fields};
use super::report_text::format_report;
use super::stream_arg::{StreamArg, stream_text};
use base::slice::TimeSlice;
use base::units::Moment;
use clap::Args;
use compare::{
    Align, AllocationRow, CompareOptions, Comparer, Comparison, Key, Matched, MomentPair, PerSide, Row, SideFacts,
    StepRow, TreeRow, peaks_in, report,
};
use engine::Side;
use protocol::SCHEMA;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Default number of rows to print.
pub(crate) const DEFAULT_ROWS: u32 = 20;

/// Arguments of `memscape diff`.
#[derive(Args, Clone, Debug, Default)]
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
    /// Cursor position in A: peak, oom, end, an event number or a time; if only one is given, the other is aligned with
    /// it
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
    #[command(flatten)]
    pub(crate) stream: StreamArg,
    /// Key to match allocations by; if omitted, the strictest key that matches 90 % of the bytes
    #[arg(long, value_parser = one_of(Key::ALL, Key::name))]
    pub(crate) key: Option<Key>,
    /// Method to align moments; if omitted, by steps, else by the sequence of allocations, else by the share of events
    #[arg(long, value_parser = one_of(Align::ALL, Align::name))]
    pub(crate) align: Option<Align>,
    /// Replace the beginning OLD of paths by NEW before paths are compared, such as /home/a/=/home/b/; may be given
    /// several times
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

/// Runs `memscape diff` and returns its output.
///
/// # Errors
/// Returns an error message that names the file, if a file cannot be read, or the device or moment does not exist.
pub(crate) fn diff(arguments: &Diff) -> Result<String, String> {
    let comparison = run_comparison(arguments)?;
    if arguments.json {
        let stream = arguments.stream.stream.map_or_else(|| json!({}), |stream| json!({ "stream": stream }));
        return Ok(to_pretty_json(&with_fields(as_json(&comparison), stream)));
    }
    let stream = arguments.stream.stream.map(|stream| format!(" · stream {}", stream_text(stream))).unwrap_or_default();
    let name = |file: &str, side: &SideFacts| [file, " · ", &side.backend.name_of(side.device), &stream].concat();
    let files = file_names(arguments, &comparison);
    let sides = [name(&files[0], &comparison.a), name(&files[1], &comparison.b)].join(" → ");
    Ok(format_report(&report(&comparison, arguments.top as usize), &sides, arguments.markdown))
}

/// Returns the names of the files of A and B. Files of the same name in different folders have the part of their paths
/// that differs.
fn file_names(Diff { a, b, .. }: &Diff, comparison: &Comparison) -> [String; 2] {
    let common = a.components().zip(b.components()).take_while(|(a, b)| a == b).count();
    let is_same = comparison.a.file == comparison.b.file && a.file_name() == b.file_name() && a != b;
    let name = |path: &Path, name: &str| match is_same {
        true => path.components().skip(common).collect::<PathBuf>().display().to_string(),
        false => name.to_owned(),
    };
    [name(a, &comparison.a.file), name(b, &comparison.b.file)]
}

fn run_comparison(arguments: &Diff) -> Result<Comparison, String> {
    let Diff { a, b, device_a, device_b, at_a, at_b, key, align, .. } = arguments;
    let open = |file: &PathBuf, device| {
        let source = SnapshotArgs { file: file.clone(), device };
        let snapshot = OpenSnapshot::open(&source).and_then(|snapshot| only_stream(snapshot, arguments.stream));
        snapshot.map_err(|error| format!("{}: {error}", file.display()))
    };
    let mut first = open(a, *device_a)?;
    // When two devices or moments of one file are compared, the file is read once.
    let is_one_file = a == b && arguments.stream.stream.is_none();
    let mut second = if is_one_file { None } else { Some(open(b, *device_b)?) };
    let mut of_a = |at| resolve_moment(&mut first, at).map_err(|error| format!("{}: {error}", a.display()));
    let (one, from, to) = (of_a(*at_a)?, of_a(arguments.from)?, of_a(arguments.to)?);
    let device_of_a = first.device.device;
    let (device_of_b, other) = {
        let snapshot = second.as_mut().unwrap_or(&mut first);
        if is_one_file {
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
    let wanted = CompareOptions { a: one, b: other, key: *key, align: *align };
    let mut comparer = Comparer::new(&side_a, &side_b, wanted).with_prefixes(arguments.map.clone());
    if from.is_some() || to.is_some() {
        while comparer.align(&side_a, &side_b, &mut TimeSlice::new(&mut cancellation::should_continue)).is_err() {
            cancellation::check()?;
        }
        let range = [from.unwrap_or(Moment::START), to.unwrap_or(Moment(side_a.history.event_count()))];
        let (one, other) = peaks_in([&side_a, &side_b], comparer.alignment(), range);
        comparer.set_moments(one, other);
    }
    complete(comparer, &side_a, &side_b)
}

/// Runs a comparison to its end.
///
/// # Errors
/// Returns an error message if the command is cancelled.
pub(crate) fn complete(mut comparer: Comparer, a: &Side, b: &Side) -> Result<Comparison, String> {
    loop {
        cancellation::check()?;
        if let Ok(comparison) = comparer.step(a, b, &mut TimeSlice::new(&mut cancellation::should_continue)) {
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

fn side(facts: &SideFacts) -> Value {
    json!({
        "file": facts.file,
        "device": facts.device,
        "events": facts.events,
        "event": Moment(facts.moment).event_or_minus_one(),
        "live_bytes": facts.live_bytes,
        "reserved_bytes": facts.reserved_bytes,
    })
}

fn ratio(two: PerSide) -> Option<f64> {
    (two.a > 0).then(|| two.b as f64 / two.a as f64)
}

fn two(two: PerSide) -> Value {
    json!({"a": two.a, "b": two.b, "delta": two.clamped_delta()})
}

/// Returns the fields of both sides, and the fields of `more`.
fn compared(bytes: PerSide, count: PerSide, more: Value) -> Value {
    let (delta, PerSide { a, b }) = (bytes.clamped_delta(), bytes);
    let fields = json!({"a_bytes": a, "b_bytes": b, "delta_bytes": delta, "a_count": count.a, "b_count": count.b});
    with_fields(fields, more)
}

fn row_json(row: &Row) -> Value {
    let (key, ratio) = (&row.label, ratio(row.bytes));
    let more = json!({"key": key, "callers": row.callers, "ratio": ratio, "in_both": row.in_both});
    compared(row.bytes, row.count, more)
}

fn tree_json(row: &TreeRow) -> Value {
    compared(row.bytes, row.count, json!({"depth": row.depth, "frame": row.label, "callers": row.frames}))
}

fn moments_json(pair: &MomentPair) -> Value {
    let event = |moment: u32| Moment(moment).event_or_minus_one();
    let fragmentation =
        |live: u64, reserved: u64| (reserved > 0).then(|| reserved.saturating_sub(live) as f64 / reserved as f64);
    json!({
        "title": pair.title,
        "a_event": event(pair.moments.0),
        "b_event": event(pair.moments.1),
        "live_bytes": two(pair.live),
        "awaiting_free_bytes": two(pair.awaiting_free),
        "reserved_bytes": pair.reserved.map(two),
        "a_fragmentation_at_most": pair.reserved.and_then(|reserved| fragmentation(pair.live.a, reserved.a)),
        "b_fragmentation_at_most": pair.reserved.and_then(|reserved| fragmentation(pair.live.b, reserved.b)),
    })
}

fn step_json(step: &StepRow) -> Value {
    json!({
        "step": step.name,
        "a_peak_bytes": step.peak.a,
        "b_peak_bytes": step.peak.b,
        "delta_bytes": step.peak.clamped_delta(),
        "ratio": ratio(step.peak),
        "a_count": step.allocations.a,
        "b_count": step.allocations.b,
    })
}

fn allocation_json(row: &AllocationRow) -> Value {
    let (PerSide { a, b }, delta) = (row.bytes, row.bytes.clamped_delta());
    let bytes = json!({"a_bytes": a, "b_bytes": b, "delta_bytes": delta, "relation": row.relation()});
    with_fields(bytes, json!({"call_site": row.site, "a_id": row.ids.0, "b_id": row.ids.1}))
}

/// Builds the JSON document of a comparison.
fn as_json(comparison: &Comparison) -> Value {
    let live = PerSide { a: comparison.a.live_bytes, b: comparison.b.live_bytes };
    let share = |part: u64, whole: u64| part as f64 / (whole as f64).max(1.0);
    let matched_share = |matched: Matched| matched.parts_per_million() as f64 / 1e6;
    let matched = comparison.matched;
    let tried = comparison.tried.iter().map(|(key, it)| json!({"key": key, "matched_share": matched_share(*it)}));
    let settings = comparison.settings.iter().map(|(name, a, b)| json!({"setting": name, "a": a, "b": b}));
    // `bytes` is the former name of `live_bytes` and `requested_bytes`.
    let scaling = comparison.scaling.iter().map(|group| {
        let sites = group.rows.iter().map(|row| {
            let (share, bytes) = (share(row.share.0, row.share.1), two(row.bytes));
            json!({"call_site": row.site, "factor": row.factor, "share": share, "pairs": row.pairs, "bytes": bytes, "live_bytes": bytes})
        });
        let (sites, bytes) = (sites.collect::<Value>(), two(group.bytes));
        json!({"factor": group.factor, "call_sites": group.sites, "pairs": group.pairs, "bytes": bytes, "live_bytes": bytes, "largest": sites})
    });
    let lifetimes = comparison.lifetimes.iter().map(|it| {
        let sites = it.sites.iter().map(|site| {
            let (bytes, events, steps) = (two(site.bytes), site.longer_events, site.longer_steps);
            let longer = json!({"longer_events": events, "longer_steps": steps});
            with_fields(longer, json!({"call_site": site.site, "allocations": site.allocations, "bytes": bytes, "requested_bytes": bytes}))
        });
        let (sites, bytes) = (sites.collect::<Value>(), two(it.bytes));
        json!({"outcome": it.outcome.name(), "allocations": it.allocations, "bytes": bytes, "requested_bytes": bytes, "largest": sites})
    });
    json!({
        "schema": SCHEMA,
        "a": side(&comparison.a),
        "b": side(&comparison.b),
        "delta_bytes": live.clamped_delta(),
        "verdict": comparison.verdict,
        "warnings": comparison.warnings,
        "alignment": comparison.alignment,
        "alignment_detail": comparison.alignment_detail,
        "key": comparison.key,
        "matched_share": matched_share(matched),
        "matched_bytes": matched.bytes,
        "known_bytes": matched.known,
        "keys_tried": tried.collect::<Value>(),
        "moments": comparison.moments.iter().map(moments_json).collect::<Value>(),
        "out_of_memory": two(comparison.out_of_memory),
        "settings": settings.collect::<Value>(),
        "rows": comparison.rows.iter().map(row_json).collect::<Value>(),
        "steps": comparison.steps.iter().map(step_json).collect::<Value>(),
        "allocations": comparison.allocations.rows.iter().map(allocation_json).collect::<Value>(),
        "allocations_that_differ": comparison.allocations.count,
        "allocated_before_recording_bytes": two(comparison.allocations.early),
        "tree": comparison.tree.iter().map(tree_json).collect::<Value>(),
        "pools": comparison.pools.iter().map(row_json).collect::<Value>(),
        "scaling": scaling.collect::<Value>(),
        "lifetimes": lifetimes.collect::<Value>(),
    })
}
