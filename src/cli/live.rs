//! `memscape live` and `memscape peak`: what is live at the cursor, grouped by the code that allocated it.

use super::common_args::{AtArg as AtPosition, SnapshotArgs, TimeArg, TracePosition, parse_time};
use super::live_rows::{Counting, LiveArgs, LiveRows};
use super::open_snapshot::{Edge, OpenSnapshot, ask_device};
use base::units::Moment;
use clap::Args;
use protocol::{MomentFacts, MomentSpec, ReportQuestion, Span, Topic};

/// Arguments of `memscape live`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Live {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    #[command(flatten)]
    pub(crate) at: AtPosition,
    #[command(flatten)]
    pub(crate) terms: LiveArgs,
}

/// Arguments of `memscape peak`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Peak {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Start of the time range, inclusive: 1.25s or 350ms since the first event, or microseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    pub(crate) from: Option<TimeArg>,
    /// End of the time range, inclusive
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    pub(crate) to: Option<TimeArg>,
    #[command(flatten)]
    pub(crate) terms: LiveArgs,
}

/// Runs `memscape live` and returns its output.
///
/// # Errors
/// Returns an error message if the file cannot be read or the cursor position does not exist.
pub(crate) fn live(Live { source, at, terms }: &Live) -> Result<String, String> {
    let mut snapshot = OpenSnapshot::open(source)?;
    let facts = match at.when.unwrap_or(TracePosition::Peak) {
        TracePosition::Peak => peak_in(&mut snapshot, terms, None)?,
        when => snapshot.facts_at(when)?,
    };
    LiveRows::render(snapshot, terms, facts, None)
}

/// Runs `memscape peak` and returns its output.
///
/// # Errors
/// Returns an error message if the file cannot be read or has no recorded times.
pub(crate) fn peak(Peak { source, from, to, terms }: &Peak) -> Result<String, String> {
    let mut snapshot = OpenSnapshot::open(source)?;
    if (from, to) == (&None, &None) {
        let facts = peak_in(&mut snapshot, terms, None)?;
        return LiveRows::render(snapshot, terms, facts, None);
    }
    // The range includes the state at its start.
    let [from_us, to_us] = [from, to].map(|clock| clock.map(|clock| snapshot.time(clock)).transpose());
    let [from_us, to_us] = [from_us?, to_us?];
    let from = from_us.map_or(Ok(MomentSpec::Moment(0)), |us| snapshot.at_time(us, Edge::Excluded))?;
    let to = to_us.map_or(Ok(MomentSpec::Moment(u32::MAX)), |us| snapshot.at_time(us, Edge::Included))?;
    if from_us.zip(to_us).is_some_and(|(from, to)| from > to) {
        return Err("--from is after --to".to_owned());
    }
    let span = Span { from: snapshot.moment_facts(from)?.moment, to: snapshot.moment_facts(to)?.moment };
    if let (Some((first, last)), [from, to]) = (snapshot.device.time_us, [from_us, to_us])
        && (from.is_some_and(|from| from > last) || to.is_some_and(|to| to < first))
    {
        return Err(format!("the range is outside the trace, which is from {first}us to {last}us"));
    }
    let facts = peak_in(&mut snapshot, terms, Some(span))?;
    LiveRows::render(snapshot, terms, facts, Some(span))
}

/// Returns the state at the peak of what the arguments count. `window` limits the search to a range.
fn peak_in(snapshot: &mut OpenSnapshot, terms: &LiveArgs, window: Option<Span>) -> Result<MomentFacts, String> {
    let moment = match (terms.stream.stream, terms.counting, window) {
        (Some(stream), ..) => {
            let Span { from, to } = window.unwrap_or(Span { from: 0, to: u32::MAX });
            let peak = snapshot.side().map(|side| side.stream_peak_in(stream, Moment(from), Moment(to)));
            peak.ok_or("the file has no such device")?.0.0
        }
        (_, Counting::Mosaic, _) => mosaic_peak(snapshot, window)?,
        (_, Counting::Whole, None) => return snapshot.facts_at(TracePosition::Peak),
        (_, Counting::Whole, Some(span)) => {
            ask_device!(snapshot, Range(span)).ok_or("the peak of the range could not be computed")?.peak_moment
        }
    };
    snapshot.moment_facts(MomentSpec::Moment(moment))
}

/// Returns the moment of the peak of live bytes without the baseline, as counted by Mosaic. `window` limits the search
/// to a range.
fn mosaic_peak(snapshot: &mut OpenSnapshot, window: Option<Span>) -> Result<u32, String> {
    let moments = window.map_or_else(Vec::new, |Span { from, to }| vec![("from", from), ("to", to)]);
    let thresholds = moments.into_iter().map(|(key, moment)| (key.to_owned(), moment.into())).collect();
    let question = ReportQuestion { topic: Topic::Steps, at: None, thresholds, rows: 0, ..ReportQuestion::default() };
    let report = ask_device!(snapshot, Report(question)).ok_or("the peak could not be computed")?;
    let sheet = report.sheets.iter().find(|sheet| sheet.key == "mosaic");
    // The first row is the peak of the trace, the second one that of the range.
    let row = sheet.and_then(|sheet| sheet.rows.get(usize::from(window.is_some())));
    Ok(row.and_then(|row| row.evidence.as_ref()?.moment).ok_or("no such event")?)
}

impl Peak {
    /// Returns an error message if arguments conflict, or `None`.
    pub(crate) fn conflict(&self) -> Option<String> {
        let (from, to) = (self.from?, self.to?);
        (from > to).then(|| "--from is after --to".to_owned())
    }
}
