//! `memscape events`: the events that match a filter, printed as they come: ten million lines are never held at once.

use super::asking::{Asking, Edge};
use super::output::{more, printable, standard_output, written};
use super::terms::{Printed, SnapshotArgs, When, when};
use base::units::{Bytes, counted, duration_us, grouped};
use clap::Args;
use clap::builder::PossibleValuesParser;
use engine::protocol::{Action, EventRow, EventTerms, EventsFilter, EventsPage, EventsQuestion, Query, versioned};
use engine::{Answer, Question};
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};

/// Rows that are asked for at a time: as many as the engine hands out.
const PAGE: u32 = 512;

/// Arguments of `memscape events`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Events {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// First event: an event number, a time, peak, ... (see "memscape live --help" for WHEN)
    #[arg(long, value_name = "WHEN", value_parser = when, allow_negative_numbers = true)]
    pub(crate) from: Option<When>,
    /// Last event, inclusive
    #[arg(long, value_name = "WHEN", value_parser = when, allow_negative_numbers = true)]
    pub(crate) to: Option<When>,
    /// Only events with these actions, comma-separated
    #[arg(long = "action", value_name = "NAME", value_delimiter = ',', value_parser = PossibleValuesParser::new(Action::ALL.map(|action| action.name())))]
    pub(crate) actions: Vec<String>,
    /// Only events of this size, such as >=1MiB or 1MiB..2MiB
    #[arg(long = "size", value_name = "SIZE", value_parser = size)]
    pub(crate) sizes: Vec<String>,
    /// Only events on this stream
    #[arg(long = "stream", value_name = "N")]
    pub(crate) streams: Vec<String>,
    /// Only events in this memory pool
    #[arg(long = "pool", value_name = "A,B")]
    pub(crate) pools: Vec<String>,
    /// Only events that match, as in the page's list of events: a search of "memscape allocations", 7f89b4000000_0 (an
    /// address and how often it was freed before), stream:0, pool:0,1, or an action
    #[arg(long = "filter", value_name = "TEXT")]
    pub(crate) filters: Vec<String>,
    #[command(flatten)]
    pub(crate) printed: Printed,
}

fn size(text: &str) -> Result<String, String> {
    match Query::parse(text) {
        Ok(Query::Size(..)) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
        Ok(_) => Err("expected a size such as >=1MiB, 1MiB..2MiB or 512B".to_owned()),
    }
}

impl Events {
    /// All conditions as one filter of the page's list.
    pub(crate) fn filter(&self) -> String {
        let mut terms = if self.actions.is_empty() { Vec::new() } else { vec![self.actions.join(",")] };
        terms.extend(self.sizes.iter().cloned());
        terms.extend(self.streams.iter().map(|stream| ["stream:", stream].concat()));
        terms.extend(self.pools.iter().map(|pool| ["pool:", pool].concat()));
        terms.extend(self.filters.iter().cloned());
        terms.join(" & ")
    }
}

/// Prints them.
///
/// # Errors
/// The file or the filter cannot be read, or there is no such event or time: one sentence.
pub(crate) fn events(terms: &Events) -> Result<(), String> {
    let filter = terms.filter();
    EventTerms::parse(&filter).map_err(|error| format!("{filter}: {error}"))?;
    let mut asking = Asking::open(&terms.source)?;
    let from = terms.from.map_or(Ok(0), |when| first(&mut asking, when))?;
    let to = terms.to.map_or(Ok(u32::MAX), |when| beyond(&mut asking, when))?;
    if from > to {
        return Err("--from is after --to".to_owned());
    }
    let filter = EventsFilter { text: filter, actions: 0, between: Some([from, to]) };
    let mut out = BufWriter::new(standard_output());
    written(write(&mut out, &mut asking, &terms.printed, &filter))
}

/// The first event from a place in the trace on.
pub(crate) fn first(asking: &mut Asking, when: When) -> Result<u32, String> {
    match when {
        When::Time(clock) => {
            let us = asking.time(clock)?;
            let at = asking.at_time(us, Edge::Excluded)?;
            Ok(asking.moment(at)?.moment)
        }
        when => Ok(asking.at(when)?.moment.saturating_sub(1)),
    }
}

/// The first event beyond a place in the trace, which is listed as well.
pub(crate) fn beyond(asking: &mut Asking, when: When) -> Result<u32, String> {
    Ok(asking.at(when)?.moment)
}

fn page(asking: &mut Asking, filter: &EventsFilter, rows: [u32; 2]) -> io::Result<EventsPage> {
    let _device = asking.device.device;
    let question = EventsQuestion { filter: filter.clone(), rows, ..EventsQuestion::default() };
    match asking.ask_about(Question::Events(Box::new(question))) {
        Some(Answer::Events(page)) => Ok(*page),
        _ => Err(io::Error::other("the events could not be listed")),
    }
}

fn write(out: &mut dyn Write, asking: &mut Asking, printed: &Printed, filter: &EventsFilter) -> io::Result<()> {
    let mut next = page(asking, filter, [0, printed.top.min(PAGE)])?;
    let (listed, wanted) = (next.listed, printed.top.min(next.listed));
    let head = json!({
        "filter": filter.text,
        "from": filter.between.map(|[from, _]| from),
        "to": filter.between.map(|[_, beyond]| i64::from(beyond.min(asking.device.events as u32)) - 1),
        "events": next.all,
        "listed": listed,
        "rows_left_out": listed - wanted,
    });
    if printed.json {
        // The rows come last, one a line.
        let head = asking.document(head).to_string();
        write!(out, "{},\n\"rows\": [", head.trim_end_matches('}'))?;
    } else {
        write_head(out, asking, &filter.text, &next)?;
    }
    let mut told = 0;
    loop {
        for row in &next.rows {
            if printed.json {
                write!(out, "{}{}", if told == 0 { "\n" } else { ",\n" }, as_json(row))?;
            } else {
                write_line(out, row, asking.device.time_us.map(|(first, _)| first))?;
            }
            told += 1;
        }
        if told >= wanted || next.rows.is_empty() {
            break;
        }
        next = page(asking, filter, [told, (wanted - told).min(PAGE)])?;
    }
    if printed.json {
        writeln!(out, "\n]}}")?;
    } else {
        out.write_all((more(listed - wanted) + &asking.other_devices()).as_bytes())?;
    }
    out.flush()
}

fn write_head(out: &mut dyn Write, asking: &Asking, filter: &str, page: &EventsPage) -> io::Result<()> {
    let filter = if filter.is_empty() { String::new() } else { format!(", {}", printable(filter)) };
    let all = counted(page.all.into(), "event");
    writeln!(out, "{}{filter}: {} of {all}", asking.title(), grouped(page.listed.into()))?;
    if page.listed == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:>11}  {:>11}  {:>8}  {:<14}  {:>15}  {:<18}  {:>11}  {:>6}  {:>6}  {:>10}  {:>13}  {:>10}  call site",
        "event",
        "time",
        "Δt",
        "action",
        "bytes",
        "address",
        "allocation",
        "stream",
        "pool",
        "live",
        "awaiting free",
        "reserved"
    )
}

fn action(row: &EventRow) -> &'static str {
    Action::ALL.get(usize::from(row.action)).map_or("", |action| action.name())
}

/// A row; times are since the `first` of the trace.
fn write_line(out: &mut dyn Write, row: &EventRow, first: Option<i64>) -> io::Result<()> {
    let unless = |text: Option<String>| text.unwrap_or_default();
    let short = |bytes: u64| Bytes(bytes).to_string();
    let line = format!(
        "{:>11}  {:>11}  {:>8}  {:<14}  {:>15}  {:<18}  {:>11}  {:>6}  {:>6}  {:>10}  {:>13}  {:>10}  {}",
        grouped(row.event.into()),
        unless(row.time_us.zip(first).map(|(us, first)| format!("{:.6} s", us.saturating_sub(first) as f64 / 1e6))),
        unless(row.since_us.map(duration_us)),
        action(row),
        grouped(row.size),
        unless(row.address.map(|address| versioned(address, row.version))),
        unless(row.allocation.map(|id| "#".to_owned() + &grouped(id.into()))),
        unless(row.stream.map(|stream| format!("{stream:#x}"))),
        unless(row.pool.map(|(first, second)| format!("({first}, {second})"))),
        short(row.active),
        short(row.pending),
        short(row.reserved),
        match row.device_free {
            Some(free) => format!("{} free on the device", Bytes(free)),
            None => printable(&row.site),
        },
    );
    writeln!(out, "{}", line.trim_end())
}

fn as_json(row: &EventRow) -> Value {
    json!({
        "event": row.event,
        "action": action(row),
        "time_us": row.time_us,
        "since_us": row.since_us,
        "size_bytes": row.size,
        "address": row.address.map(|address| format!("0x{address:x}")),
        "block": row.address.map(|address| versioned(address, row.version)),
        "device_free_bytes": row.device_free,
        "stream": row.stream,
        "pool": row.pool,
        "allocation": row.allocation,
        "live_bytes": row.active,
        "awaiting_free_bytes": row.pending,
        "reserved_bytes": row.reserved,
        "call_site": row.site,
    })
}
