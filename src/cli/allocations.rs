//! `memscape allocations`: the allocations that match a search, largest first.

use super::common_args::{AtArg, OutputArgs, SnapshotArgs};
use super::open_snapshot::{OpenSnapshot, ask_device, fetch_rows};
use super::output::{more_rows_line, printable, to_pretty_json, with_fields};
use super::report_json::row_as_json;
use super::table::{Table, columns};
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, Moment, group_digits, moment_text, pluralize};
use clap::Args;
use engine::tables::{Row, SiteCache, TotalsCache};
use protocol::{
    ExportTable, Filter, MomentFacts, NO_STACK, NO_STACK_BEFORE_RECORDING, QueryError, Scope, TENSOR_SEPARATOR,
    TENSORS_FOUND, TableFilter, TablePage, TableQuestion, TableRow, TableSort,
};
use serde_json::{Value, json};

const PATTERN: &str = "Search, as on the page; all allocations if omitted:

text, /regex/             text or regular expression in any frame of the stack, or in the name that
                          a recorder gives the tensor
@text                     text in the call site
@category activation      category
@metadata kv cache        text or /regex/ in the user metadata
stream:0, pool:0,1        stream; memory pool
freed, never-freed        freed in the trace, or live at its end
#12                       allocation number
0x7f89b4000000            address inside the block
>=1MiB, 1MiB..2MiB        size
age>1000, life<10         age or lifetime in events
model.py & >=1MiB         all of several terms";

/// Arguments of `memscape allocations`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Allocations {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Search, as on the page: text, /regex/, @text, #number, an address, a size; all allocations if omitted
    #[arg(long_help = PATTERN)]
    pub(crate) pattern: Option<String>,
    #[command(flatten)]
    pub(crate) at: AtArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Runs `memscape allocations` and returns its output.
///
/// # Errors
/// Returns an error message if the file cannot be read, the search is invalid, or the cursor position does not exist.
pub(crate) fn allocations(arguments: &Allocations) -> Result<String, String> {
    let Allocations { source, pattern, at, output } = arguments;
    if let Some(pattern) = pattern {
        let readable = match Filter::parse(pattern) {
            Ok(filter) if filter.terms.is_empty() => Err(QueryError::Empty),
            read => read.map(drop),
        };
        readable.map_err(|error| format!("{pattern}: {error}"))?;
    }
    let pattern = pattern.as_deref().unwrap_or_default();
    let mut snapshot = OpenSnapshot::open(source)?;
    let facts = at.when.map(|when| snapshot.facts_at(when)).transpose()?;
    let scope = facts.map_or(Scope::All, |facts| Scope::At(facts.moment));
    let page = largest(&mut snapshot, pattern, scope, output.top).ok_or("the allocations could not be listed")?;
    if !output.json {
        return Ok(as_text(&snapshot, pattern, facts, &page));
    }
    let tensors = tensors(&mut snapshot, &page);
    // Categories are known only when the background work is done.
    snapshot.prepare();
    Ok(as_json(&snapshot, pattern, facts, &page, &tensors))
}

/// Returns the allocations in `scope` that match a filter, largest first, at most `limit`.
pub(crate) fn largest(snapshot: &mut OpenSnapshot, filter: &str, scope: Scope, limit: u32) -> Option<Box<TablePage>> {
    fetch_rows(limit, rows_and_count, |rows| {
        let question = TableQuestion {
            scope,
            filter: TableFilter { text: filter.to_owned(), ..TableFilter::default() },
            sort: TableSort::default(),
            rows,
            reveal: None,
            selected: Vec::new(),
            search_serial: None,
        };
        ask_device!(snapshot, Table(Box::new(question)))
    })
}

fn rows_and_count(page: &mut TablePage) -> (&mut Vec<TableRow>, u32) {
    (&mut page.rows, page.listed.count)
}

/// Returns the tensor of each listed allocation, or `None` if no tensor was recorded for it. Empty if the snapshot
/// contains no tensors at all.
fn tensors(snapshot: &mut OpenSnapshot, page: &TablePage) -> Vec<Option<Value>> {
    if snapshot.device.recorder_value(TENSORS_FOUND).is_none_or(|found| found == 0) {
        return Vec::new();
    }
    let details = |row: &TableRow| ask_device!(snapshot, Details(row.allocation))?;
    page.rows.iter().map(details).map(|details| details?.tensors.first().map(|text| parse_tensor(text))).collect()
}

/// Parses a tensor description into JSON. Splits at the last separators, because the name may contain them.
fn parse_tensor(text: &str) -> Value {
    let mut parts = text.rsplitn(4, TENSOR_SEPARATOR);
    let [dtype, shape, kind, name] = [(); 4].map(|()| parts.next().unwrap_or_default());
    json!({"name": name, "kind": kind, "shape": shape, "dtype": dtype})
}

fn as_json(
    snapshot: &OpenSnapshot,
    pattern: &str,
    facts: Option<MomentFacts>,
    page: &TablePage,
    tensors: &[Option<Value>],
) -> String {
    let tensors = tensors.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    let (sites, totals) = (SiteCache::default(), TotalsCache::default());
    let first = snapshot.side().map(|side| Row::new(side, &sites, &totals));
    let row = |(row, tensor): (&TableRow, Option<&Value>)| {
        let all = first.map(|first| row_as_json(ExportTable::Allocations, &first.at(row.allocation)));
        // `number` is the former name of `id`.
        let fields =
            json!({"number": row.allocation, "pool": row.pool(), "call_site": row.call_site, "tensor": tensor});
        with_fields(all.unwrap_or_default(), fields)
    };
    let fields = json!({
        "pattern": pattern,
        "event": facts.map(|facts| Moment(facts.moment).event_or_minus_one()),
        "requested_bytes": page.listed.bytes,
        "count": page.listed.count,
        "rows": page.rows.iter().zip(tensors).map(row).collect::<Vec<Value>>(),
        "rows_left_out": page.listed.count.saturating_sub(page.rows.len() as u32),
    });
    to_pretty_json(&snapshot.document(fields))
}

fn as_text(snapshot: &OpenSnapshot, pattern: &str, facts: Option<MomentFacts>, page: &TablePage) -> String {
    let when = facts.map_or_else(String::new, |facts| [", live ", &moment_text(facts.moment)].concat());
    let mut text = format!(
        "{}: {}{when}\n  {} of {}, {} ({} B) requested{}\n",
        snapshot.heading(),
        if pattern.is_empty() { "allocations".to_owned() } else { printable(pattern) },
        group_digits(page.listed.count.into()),
        pluralize(page.scope.count.into(), "allocation"),
        Bytes(page.listed.bytes),
        group_digits(page.listed.bytes),
        if facts.is_none() { " over the whole trace" } else { "" },
    );
    let numbers =
        [("requested", 10), ("bytes", 19), ("number", 11), ("allocated at", 12), ("freed at", 11), ("address", 14)];
    let mut table = Table::new(0, columns(numbers, ["call site"]));
    for row in &page.rows {
        let event = |event: Option<u32>, none: &str| event.map_or(none.to_owned(), |event| group_digits(event.into()));
        table.push([
            Bytes(row.requested).to_string(),
            group_digits(row.requested),
            format!("#{}", group_digits(row.allocation.into())),
            event(row.allocated_at, "before"),
            event(row.freed, "never"),
            row.address().map_or_else(String::new, |address| format!("{address:x}")),
            match (row.call_site.is_empty(), row.allocated_at) {
                (false, _) => row.call_site.clone(),
                (true, Some(_)) => NO_STACK.to_owned(),
                (true, None) => NO_STACK_BEFORE_RECORDING.to_owned(),
            },
        ]);
    }
    text += &table.paragraph();
    let more = more_rows_line(page.listed.count.saturating_sub(page.rows.len() as u32));
    wrap_to_terminal(&(text + &more + &snapshot.other_devices_line()))
}
