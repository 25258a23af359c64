//! `memscape events`: prints the events that match a filter. Rows are fetched in pages, so that memory use does not
//! depend on the length of the trace.

use super::common_args::{OutputArgs, SnapshotArgs, TracePosition, parse_trace_position};
use super::open_snapshot::{Edge, OpenSnapshot, ask_device};
use super::output::{escape_json, ignore_broken_pipe, more_rows_line, printable, standard_output, with_fields};
use super::report_json::row_as_json;
use super::table::{self, Table, columns, name_column, number_column};
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, duration_us, group_digits, pluralize};
use clap::Args;
use clap::builder::PossibleValuesParser;
use engine::tables::{Row, SiteCache, TotalsCache};
use protocol::{Action, EventRow, EventTerms, EventsFilter, EventsPage, EventsQuestion, ExportTable, Query, versioned};
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};

/// Number of rows per request, the maximum that the engine returns.
const PAGE_ROWS: u32 = 512;

/// Arguments of `memscape events`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Events {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// First event: an event number, a time, peak, ... (see "memscape live --help" for WHEN)
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true)]
    pub(crate) from: Option<TracePosition>,
    /// Last event, inclusive
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true)]
    pub(crate) to: Option<TracePosition>,
    /// Only events with these actions, comma-separated
    #[arg(long = "action", value_name = "NAME", value_delimiter = ',', value_parser = PossibleValuesParser::new(Action::ALL.map(|action| action.name())))]
    pub(crate) actions: Vec<String>,
    /// Only events of this size, such as >=1MiB or 1MiB..2MiB
    #[arg(long = "size", value_name = "SIZE", value_parser = parse_size)]
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
    pub(crate) output: OutputArgs,
}

fn parse_size(text: &str) -> Result<String, String> {
    match Query::parse(text) {
        Ok(Query::Size(..)) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
        Ok(_) => Err("expected a size such as >=1MiB, 1MiB..2MiB or 512B".to_owned()),
    }
}

impl Events {
    /// Combines all conditions into one filter expression in the syntax of the page's event list.
    pub(crate) fn filter(&self) -> String {
        let mut terms = if self.actions.is_empty() { Vec::new() } else { vec![self.actions.join(",")] };
        terms.extend(self.sizes.iter().cloned());
        terms.extend(self.streams.iter().map(|stream| ["stream:", stream].concat()));
        terms.extend(self.pools.iter().map(|pool| ["pool:", pool].concat()));
        terms.extend(self.filters.iter().cloned());
        terms.join(" & ")
    }
}

/// Prints the events that match the filter.
///
/// # Errors
/// Returns an error message if the file cannot be read, the filter is invalid, or an event or time does not exist.
pub(crate) fn events(terms: &Events) -> Result<(), String> {
    let filter = terms.filter();
    EventTerms::parse(&filter).map_err(|error| format!("{filter}: {error}"))?;
    let mut snapshot = OpenSnapshot::open(&terms.source)?;
    let range = events_between(&mut snapshot, terms.from, terms.to)?;
    let filter = EventsFilter { text: filter, actions: 0, range: Some(range) };
    let mut out = BufWriter::new(standard_output());
    ignore_broken_pipe(write(&mut out, &mut snapshot, &terms.output, &filter))
}

/// Returns the range of events from one position in the trace to another, whose event is included: the first event, and
/// the exclusive end. By default, it starts with the first event and ends with the last.
///
/// # Errors
/// Returns an error message if there is no such event or time, or if the range would end before it starts.
pub(crate) fn events_between(
    snapshot: &mut OpenSnapshot,
    from: Option<TracePosition>,
    to: Option<TracePosition>,
) -> Result<[u32; 2], String> {
    let from = from.map_or(Ok(0), |when| first_event(snapshot, when))?;
    let to = to.map_or(Ok(u32::MAX), |when| end_event(snapshot, when))?;
    if from > to { Err("--from is after --to".to_owned()) } else { Ok([from, to]) }
}

/// Returns the index of the first event at or after a position in the trace.
pub(crate) fn first_event(snapshot: &mut OpenSnapshot, when: TracePosition) -> Result<u32, String> {
    match when {
        TracePosition::Time(clock) => {
            let us = snapshot.time(clock)?;
            let moment = snapshot.at_time(us, Edge::Excluded)?;
            Ok(snapshot.moment_facts(moment)?.moment)
        }
        when => Ok(snapshot.facts_at(when)?.moment.saturating_sub(1)),
    }
}

/// Returns the exclusive end of a range of events that ends with a position in the trace.
pub(crate) fn end_event(snapshot: &mut OpenSnapshot, when: TracePosition) -> Result<u32, String> {
    Ok(snapshot.facts_at(when)?.moment)
}

fn fetch_page(snapshot: &mut OpenSnapshot, filter: &EventsFilter, rows: [u32; 2]) -> io::Result<EventsPage> {
    let question = EventsQuestion { filter: filter.clone(), rows, ..EventsQuestion::default() };
    let page = ask_device!(snapshot, Events(Box::new(question)));
    page.map(|page| *page).ok_or_else(|| io::Error::other("the events could not be listed"))
}

fn write(
    out: &mut dyn Write,
    snapshot: &mut OpenSnapshot,
    output: &OutputArgs,
    filter: &EventsFilter,
) -> io::Result<()> {
    let mut next = fetch_page(snapshot, filter, [0, output.top.min(PAGE_ROWS)])?;
    let (listed, wanted) = (next.listed, output.top.min(next.listed));
    let head = json!({
        "filter": filter.text,
        "from": filter.range.map(|[from, _]| from),
        "to": filter.range.map(|[_, beyond]| i64::from(beyond.min(snapshot.device.events as u32)) - 1),
        "events": next.total,
        "listed": listed,
        "rows_left_out": listed - wanted,
    });
    if output.json {
        // The rows come last, one per line.
        let head = escape_json(&snapshot.document(head).to_string());
        write!(out, "{},\n\"rows\": [", head.trim_end_matches('}'))?;
    } else {
        write_head(out, snapshot, &filter.text, &next)?;
    }
    let mut done = 0;
    let (sites, totals) = (SiteCache::default(), TotalsCache::default());
    loop {
        if output.json {
            let first = snapshot.side().map(|side| Row::new(side, &sites, &totals));
            for (index, row) in next.rows.iter().enumerate() {
                let before = if done == 0 && index == 0 { "\n" } else { ",\n" };
                let all = first.map(|first| row_as_json(ExportTable::Events, &first.at(row.event)));
                write!(out, "{before}{}", escape_json(&as_json(all.unwrap_or_default(), row).to_string()))?;
            }
        } else {
            write_rows(out, &next.rows, snapshot.device.time_us.map(|(first, _)| first), done == 0)?;
        }
        done += next.rows.len() as u32;
        if done >= wanted || next.rows.is_empty() {
            break;
        }
        next = fetch_page(snapshot, filter, [done, (wanted - done).min(PAGE_ROWS)])?;
    }
    if output.json {
        writeln!(out, "\n]}}")?;
    } else {
        out.write_all(
            wrap_to_terminal(&(more_rows_line(listed - wanted) + &snapshot.other_devices_line())).as_bytes(),
        )?;
    }
    out.flush()
}

fn write_head(out: &mut dyn Write, snapshot: &OpenSnapshot, filter: &str, page: &EventsPage) -> io::Result<()> {
    let filter = if filter.is_empty() { String::new() } else { format!(", {}", printable(filter)) };
    let all = pluralize(page.total.into(), "event");
    let head = format!("{}{filter}: {} of {all}\n", snapshot.heading(), group_digits(page.listed.into()));
    out.write_all(wrap_to_terminal(&head).as_bytes())?;
    if page.listed > 0 { out.write_all(b"\n") } else { Ok(()) }
}

fn action(row: &EventRow) -> &'static str {
    Action::ALL.get(usize::from(row.action)).map_or("", |action| action.name())
}

/// Numeric columns after the address, with their minimum widths.
const NUMBERS: [(&str, usize); 6] =
    [("allocation", 11), ("stream", 6), ("pool", 6), ("live", 10), ("awaiting free", 13), ("reserved", 10)];

/// Writes rows, preceded by headings if `has_headings`. Times are printed relative to `first`, the time of the first
/// event in µs since 1970.
fn write_rows(out: &mut dyn Write, rows: &[EventRow], first: Option<i64>, has_headings: bool) -> io::Result<()> {
    let mut columns = columns([("event", 11), ("time", 11), ("Δt", 8)], []);
    columns.extend([name_column("action").uncut(14), number_column("bytes", 15), name_column("address").uncut(18)]);
    columns.extend(table::columns(NUMBERS, ["call site"]));
    let mut table = Table::new(0, columns);
    rows.iter().for_each(|row| table.push(cells(row, first)));
    let texts = table.texts();
    texts.iter().skip(usize::from(!has_headings || rows.is_empty())).try_for_each(|text| out.write_all(text.as_bytes()))
}

fn cells(row: &EventRow, first: Option<i64>) -> [String; 13] {
    let unless = |text: Option<String>| text.unwrap_or_default();
    let short = |bytes: u64| Bytes(bytes).to_string();
    [
        group_digits(row.event.into()),
        unless(row.time_us.zip(first).map(|(us, first)| format!("{:.6} s", us.saturating_sub(first) as f64 / 1e6))),
        unless(row.since_us.map(duration_us)),
        action(row).to_owned(),
        group_digits(row.size),
        unless(row.address.map(|address| versioned(address, row.version))),
        unless(row.allocation.map(|id| "#".to_owned() + &group_digits(id.into()))),
        unless(row.stream.map(|stream| format!("{stream:#x}"))),
        unless(row.pool.map(|(first, second)| format!("({first}, {second})"))),
        short(row.active),
        short(row.awaiting_free),
        short(row.reserved),
        match row.device_free {
            Some(free) => format!("{} free on the device", Bytes(free)),
            None => row.call_site.clone(),
        },
    ]
}

/// Converts an event to JSON. `all` has all columns of the event.
fn as_json(all: Value, row: &EventRow) -> Value {
    let fields = json!({
        "since_us": row.since_us,
        "address": row.address.map(|address| format!("0x{address:x}")),
        "block": row.address.map(|address| versioned(address, row.version)),
        "device_free_bytes": row.device_free,
        "pool": row.pool,
        "call_site": row.call_site,
    });
    with_fields(all, fields)
}
