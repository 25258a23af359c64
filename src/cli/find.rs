//! `memscape find`: the allocations that a search finds, the largest first.

use super::asking::{Asking, Rows, whole};
use super::printable;
use super::terms::{Form, Terms};
use base::units::{Bytes, Moment, counted, grouped};
use engine::protocol::{
    Filter, MomentFacts, QueryError, Scope, SortWay, TableColumn, TableFilter, TablePage, TableQuestion, TableRow,
    TableSort,
};
use engine::{Reply, Request};
use serde_json::{Value, json};

/// The text of `memscape find`.
///
/// # Errors
/// The file can't be read, has no such moment, or what to look for can't be read: one sentence.
pub(crate) fn find(terms: &Terms) -> Result<String, String> {
    let readable = match Filter::parse(&terms.pattern) {
        Ok(filter) if filter.terms.is_empty() => Err(QueryError::Empty),
        read => read.map(drop),
    };
    readable.map_err(|error| format!("{}: {error}", terms.pattern))?;
    let mut asking = Asking::open(&terms.file, terms.device)?;
    let facts = terms.when.map(|when| asking.at(when)).transpose()?;
    let scope = facts.map_or(Scope::Ever, |facts| Scope::At(facts.moment));
    let page =
        largest(&mut asking, &terms.pattern, scope, terms.top).ok_or("the allocations could not be looked through")?;
    Ok(match terms.form {
        Form::Json => as_json(&asking, terms, facts, &page),
        Form::Text | Form::Markdown => as_text(&asking, terms, facts, &page),
    })
}

/// At most `most` allocations of a scope that pass a filter, the largest first.
pub(crate) fn largest(asking: &mut Asking, filter: &str, scope: Scope, most: u32) -> Option<Box<TablePage>> {
    let device = asking.device.device;
    whole(most, |rows| {
        let question = TableQuestion {
            scope,
            filter: TableFilter { text: filter.to_owned(), ..TableFilter::default() },
            sort: TableSort { column: TableColumn::Size, way: SortWay::Descending },
            rows,
            reveal: None,
            chosen: Vec::new(),
            find: None,
        };
        match asking.ask(Request::Table { serial: 0, device, question: Box::new(question) })? {
            Reply::Table { page, .. } => Some(page),
            _ => None,
        }
    })
}

impl Rows for TablePage {
    type Row = TableRow;

    fn rows(&mut self) -> &mut Vec<TableRow> {
        &mut self.rows
    }

    fn count(&self) -> u32 {
        self.listed.count
    }
}

fn as_json(asking: &Asking, terms: &Terms, facts: Option<MomentFacts>, page: &TablePage) -> String {
    let row = |row: &TableRow| {
        json!({
            "number": row.allocation,
            "requested": row.requested,
            "address": row.address.map(|address| format!("0x{address:x}")),
            "stream": row.stream,
            "pool": row.pool,
            "born_event": row.born,
            "born_us": row.born_us,
            "freed_event": row.freed,
            "freed_us": row.freed_us,
            "site": row.site,
        })
    };
    let value = json!({
        "schema": 1,
        "file": asking.summary.file,
        "device": asking.device.device,
        "pattern": terms.pattern,
        "event": facts.map(|facts| Moment(facts.moment).event_or_minus_one()),
        "requested": page.listed.bytes,
        "count": page.listed.count,
        "rows": page.rows.iter().map(row).collect::<Vec<Value>>(),
        "rows_left_out": page.listed.count.saturating_sub(page.rows.len() as u32),
    });
    serde_json::to_string_pretty(&value).map(|text| text + "\n").unwrap_or_default()
}

fn as_text(asking: &Asking, terms: &Terms, facts: Option<MomentFacts>, page: &TablePage) -> String {
    let device = asking.device.device;
    let device = if device < 0 { "host memory".to_owned() } else { format!("device {device}") };
    let when = facts.map_or_else(String::new, |facts| match Moment(facts.moment).event() {
        Some(event) => format!(", live after event {}", grouped(event.0.into())),
        None => ", live before the first event".to_owned(),
    });
    let mut text = format!(
        "{}, {device}: {}{when}\n  {} of {}, {} bytes requested{}\n",
        printable(&asking.summary.file),
        printable(&terms.pattern),
        grouped(page.listed.count.into()),
        counted(page.scope.count.into(), "allocation"),
        grouped(page.listed.bytes),
        if facts.is_none() { " (not all live at once)" } else { "" },
    );
    if !page.rows.is_empty() {
        text.push_str(&format!(
            "\n{:>10}  {:>19}  {:>11}  {:>11}  {:>11}  {:>14}  {}\n",
            "requested", "bytes", "number", "born", "freed", "address", "site"
        ));
    }
    for row in &page.rows {
        let event = |event: Option<u32>, none: &str| event.map_or(none.to_owned(), |event| grouped(event.into()));
        text.push_str(&format!(
            "{:>10}  {:>19}  {:>11}  {:>11}  {:>11}  {:>14}  {}\n",
            Bytes(row.requested).to_string(),
            grouped(row.requested),
            format!("#{}", grouped(row.allocation.into())),
            event(row.born, "before"),
            event(row.freed, "never"),
            row.address.map_or_else(String::new, |address| format!("{address:x}")),
            if row.site.is_empty() { "no stack was recorded".to_owned() } else { printable(&row.site) },
        ));
    }
    match page.listed.count.saturating_sub(page.rows.len() as u32) {
        0 => {}
        left_out => text.push_str(&format!("  and {} more: --top says how many\n", grouped(left_out.into()))),
    }
    text
}
