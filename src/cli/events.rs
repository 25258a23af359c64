//! `memscape events`: the events that a filter leaves, printed as they come: nobody holds ten million lines at once.

use super::asking::{Asking, Edge};
use super::printable;
use super::terms::{Form, Terms, When};
use base::units::{Bytes, counted, duration_us, grouped};
use engine::protocol::{Action, EventRow, EventTerms, EventsFilter, EventsPage, EventsQuestion, versioned};
use engine::{Reply, Request};
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};

/// Rows that are asked for at a time: as many as the engine hands out.
const PAGE: u32 = 512;

/// Prints them.
///
/// # Errors
/// The file or the filter can't be read, or there is no such event or time: one sentence.
pub(crate) fn events(terms: &Terms) -> Result<(), String> {
    EventTerms::parse(&terms.pattern).map_err(|error| format!("{}: {error}", terms.pattern))?;
    let mut asking = Asking::open(&terms.file, terms.device)?;
    let [from, to] = terms.span;
    let from = from.map_or(Ok(0), |when| first(&mut asking, when))?;
    let to = to.map_or(Ok(u32::MAX), |when| beyond(&mut asking, when))?;
    if from > to {
        return Err("--from is after --to".to_owned());
    }
    let filter = EventsFilter { text: terms.pattern.clone(), actions: 0, between: Some([from, to]) };
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out, &mut asking, terms, &filter) {
        // A closed pipe (`| head`) is no failure of ours.
        Err(Stop::Closed) | Ok(()) => Ok(()),
        Err(Stop::NoAnswer) => Err("the events could not be listed".to_owned()),
    }
}

/// Why nothing more is printed.
enum Stop {
    Closed,
    NoAnswer,
}

impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Stop {
        Stop::Closed
    }
}

/// The first event from a place in the trace on.
fn first(asking: &mut Asking, when: When) -> Result<u32, String> {
    match when {
        When::Time(clock) => {
            let us = asking.time(clock)?;
            let at = asking.at_time(us, Edge::Excluded)?;
            Ok(asking.moment(at)?.moment)
        }
        when => Ok(asking.at(when)?.moment.saturating_sub(1)),
    }
}

/// The first event beyond a place in the trace, which is told of as well.
fn beyond(asking: &mut Asking, when: When) -> Result<u32, String> {
    Ok(asking.at(when)?.moment)
}

fn page(asking: &mut Asking, filter: &EventsFilter, rows: [u32; 2]) -> Result<EventsPage, Stop> {
    let device = asking.device.device;
    let question = EventsQuestion { filter: filter.clone(), rows, ..EventsQuestion::default() };
    match asking.ask(Request::Events { serial: 0, device, question: Box::new(question) }) {
        Some(Reply::Events { page, .. }) => Ok(*page),
        _ => Err(Stop::NoAnswer),
    }
}

fn write(out: &mut dyn Write, asking: &mut Asking, terms: &Terms, filter: &EventsFilter) -> Result<(), Stop> {
    let mut next = page(asking, filter, [0, terms.top.min(PAGE)])?;
    let (listed, wanted) = (next.listed, terms.top.min(next.listed));
    let head = json!({
        "schema": 1,
        "file": asking.summary.file,
        "device": asking.device.device,
        "filter": terms.pattern,
        "from": filter.between.map(|[from, _]| from),
        "to": filter.between.map(|[_, beyond]| i64::from(beyond.min(asking.device.events as u32)) - 1),
        "events": next.all,
        "listed": listed,
        "rows_left_out": listed - wanted,
    });
    let is_json = terms.form == Form::Json;
    if is_json {
        // The rows come last, one a line.
        let head = head.to_string();
        write!(out, "{},\n\"rows\": [", head.trim_end_matches('}'))?;
    } else {
        write_head(out, asking, terms, &next)?;
    }
    let mut told = 0;
    loop {
        for row in &next.rows {
            if is_json {
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
    if is_json {
        writeln!(out, "\n]}}")?;
    } else if listed > wanted {
        writeln!(out, "  and {} more: --top says how many", grouped(u64::from(listed - wanted)))?;
    }
    Ok(out.flush()?)
}

fn write_head(out: &mut dyn Write, asking: &Asking, terms: &Terms, page: &EventsPage) -> io::Result<()> {
    let device = asking.device.device;
    let device = if device < 0 { "host memory".to_owned() } else { format!("device {device}") };
    let filter = if terms.pattern.is_empty() { String::new() } else { format!(", {}", printable(&terms.pattern)) };
    let all = counted(page.all.into(), "event");
    writeln!(out, "{}, {device}{filter}: {} of {all}", printable(&asking.summary.file), grouped(page.listed.into()))?;
    if page.listed == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:>11}  {:>11}  {:>8}  {:<14}  {:>15}  {:<18}  {:>11}  {:>6}  {:>6}  {:>10}  {:>10}  {:>10}  site",
        "event",
        "time",
        "Δt",
        "action",
        "bytes",
        "address",
        "allocation",
        "stream",
        "pool",
        "allocated",
        "active",
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
        "{:>11}  {:>11}  {:>8}  {:<14}  {:>15}  {:<18}  {:>11}  {:>6}  {:>6}  {:>10}  {:>10}  {:>10}  {}",
        grouped(row.event.into()),
        unless(row.time_us.zip(first).map(|(us, first)| format!("{:.6} s", us.saturating_sub(first) as f64 / 1e6))),
        unless(row.since_us.map(duration_us)),
        action(row),
        grouped(row.size),
        unless(row.address.map(|address| versioned(address, row.version))),
        unless(row.allocation.map(|id| "#".to_owned() + &grouped(id.into()))),
        unless(row.stream.map(|stream| format!("{stream:#x}"))),
        unless(row.pool.map(|(first, second)| format!("({first}, {second})"))),
        short(row.active.saturating_sub(row.pending)),
        short(row.active),
        short(row.reserved),
        match row.device_free {
            Some(free) => format!("the driver had {} free", Bytes(free)),
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
        "size": row.size,
        "address": row.address.map(|address| format!("0x{address:x}")),
        "name": row.address.map(|address| versioned(address, row.version)),
        "device_free": row.device_free,
        "stream": row.stream,
        "pool": row.pool,
        "allocation": row.allocation,
        "active": row.active,
        "allocated": row.active.saturating_sub(row.pending),
        "pending": row.pending,
        "reserved": row.reserved,
        "site": row.site,
    })
}
