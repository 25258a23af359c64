//! Text output of `memscape diff`.

use super::output::{after_event, more_rows_line, printable};
use super::table::{Table, columns};
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, Moment, group_digits, percent};
use compare::{Comparison, PerSide, Row, factor, factor_of, signed};
use ui::text::summary::device_name;

/// Formats the ratio of the live bytes of B to the live bytes of A.
fn ratio_text(live: PerSide) -> String {
    if live.a == 0 { "–".to_owned() } else { factor_of(live) }
}

/// Formats a comparison, with at most `top` rows per table.
pub(super) fn as_text(comparison: &Comparison, top: u32) -> String {
    let mut text = String::new();
    for (name, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        let (device, at) = (device_name(side.device), after_event(side.moment));
        let live = Bytes(side.live_bytes);
        text += &format!("{name}  {} · {device}: {live} live {at}\n", printable(&side.file));
    }
    text += "\n";
    comparison.verdict.iter().for_each(|sentence| text += &(printable(sentence) + "\n"));
    comparison.warnings.iter().for_each(|warning| text += &format!("Warning: {}\n", printable(warning)));
    text += &format!("Alignment: {}\n", printable(&comparison.alignment_detail));
    text += &["\n", &moments(comparison).text()].concat();
    let (a, b) = (comparison.matched.bytes, comparison.matched.known);
    let (of_a, of_b) = (percent(a.a, b.a), percent(a.b, b.b));
    text += &format!("\nBy {}: {of_a} of A and {of_b} of B have a partner\n", comparison.key_title);
    text += &groups(&comparison.rows, top, Some(PerSide { a: comparison.a.live_bytes, b: comparison.b.live_bytes }));
    if !comparison.pools.is_empty() {
        text += "\nBy pool\n";
        text += &groups(&comparison.pools, top, None);
    }
    text += &steps(comparison, top);
    text += &allocations(comparison, top);
    if !comparison.settings.is_empty() {
        text += "\nSettings that differ (A → B)\n";
        for (name, a, b) in comparison.settings.iter().take(top as usize) {
            let value = |value: &Option<String>| {
                value.as_deref().map_or("not recorded".to_owned(), |it| {
                    if it.is_empty() { "(empty)".to_owned() } else { printable(it) }
                })
            };
            text += &format!("  {} {} → {}\n", printable(name), value(a), value(b));
        }
    }
    let numbers = [("factor", 8), ("call sites", 11), ("pairs", 11), ("A", 12), ("B", 12)];
    let mut scaling = Table::new(0, columns(numbers, ["largest call site"]));
    for group in comparison.scaling.iter().take(top as usize) {
        let site = group.rows.first().map_or("", |row| &row.site).to_owned();
        let (factor, [a, b, _]) = (factor(group.factor), compared(group.bytes));
        scaling.push([factor, group_digits(group.sites.into()), group_digits(group.pairs), a, b, site]);
    }
    text += &scaling.paragraph();
    let numbers = [("lifetime", 24), ("allocations", 12), ("A", 12), ("B", 12)];
    let mut lifetimes = Table::new(0, columns(numbers, ["largest call site"]));
    for it in &comparison.lifetimes {
        let site = it.sites.first().map_or("", |site| &site.site).to_owned();
        let [a, b, _] = compared(it.bytes);
        lifetimes.push([it.outcome.title().to_owned(), group_digits(it.allocations), a, b, site]);
    }
    wrap_to_terminal(&(text + &lifetimes.paragraph()))
}

/// Formats the bytes of A, the bytes of B, and the difference.
fn compared(bytes: PerSide) -> [String; 3] {
    [Bytes(bytes.a).to_string(), Bytes(bytes.b).to_string(), signed(bytes.delta())]
}

fn counts(count: PerSide) -> String {
    format!("{} → {}", group_digits(count.a), group_digits(count.b))
}

/// Builds the table of compared moments. Also contains fragmentation at the peaks and the number of OOMs.
fn moments(comparison: &Comparison) -> Table {
    let mut table = Table::new(0, columns([("live", 18), ("A", 12), ("B", 12), ("Δ", 12)], ["after events"]));
    for pair in &comparison.moments {
        let event = |moment: u32| match Moment(moment).event() {
            Some(event) => group_digits(event.0.into()),
            None => "−1".to_owned(),
        };
        let events = format!("{} · {}", event(pair.moments.0), event(pair.moments.1));
        let two = pair.reserved.filter(|_| pair.title == "peak reserved").unwrap_or(pair.live);
        table.push([vec![pair.title.clone()], compared(two).to_vec(), vec![events]].concat());
    }
    if let Some((pair, reserved)) = comparison.moments.first().and_then(|pair| Some((pair, pair.reserved?))) {
        // The allocator rounds block sizes up, so the free bytes are at most the reserved bytes that are not live.
        let free = |live: u64, reserved: u64| format!("≤ {}", percent(reserved.saturating_sub(live), reserved));
        let (a, b) = (free(pair.live.a, reserved.a), free(pair.live.b, reserved.b));
        table.push(["fragmentation", &a, &b]);
    }
    if comparison.out_of_memory != PerSide::default() {
        table.push(["OOM", &comparison.out_of_memory.a.to_string(), &comparison.out_of_memory.b.to_string()]);
    }
    table
}

/// Formats the table of steps that occur in both snapshots.
fn steps(comparison: &Comparison, top: u32) -> String {
    let numbers = [("A, peak", 12), ("B, peak", 12), ("Δ", 12), ("ratio", 13)];
    let mut table = Table::new(0, columns(numbers, ["allocations", "step"]));
    for step in comparison.steps.iter().take(top as usize) {
        let cells = [ratio_text(step.peak), counts(step.allocations), step.name.clone()];
        table.push(compared(step.peak).into_iter().chain(cells));
    }
    table.paragraph() + &more_rows_line(comparison.steps.len().saturating_sub(top as usize) as u32)
}

/// Formats the table of allocations with the largest differences.
fn allocations(comparison: &Comparison, top: u32) -> String {
    let mut table = Table::new(0, columns(NUMBERS, ["allocation"]));
    // Show only a quarter of the rows: there are many, and the groups above are more informative.
    for row in comparison.allocations.rows.iter().take(top.div_ceil(4) as usize) {
        let id = |id: Option<u32>| id.map_or("–".to_owned(), |id| format!("#{id}"));
        let cells = [row.relation(), format!("{} → {} {}", id(row.ids.0), id(row.ids.1), row.site)];
        table.push(compared(row.bytes).into_iter().chain(cells));
    }
    let left_out = comparison.allocations.count.saturating_sub(top.div_ceil(4).into());
    table.paragraph() + &more_rows_line(u32::try_from(left_out).unwrap_or(u32::MAX))
}

/// Numeric columns of tables that compare groups or allocations, with their minimum widths.
const NUMBERS: [(&str, usize); 4] = [("A", 12), ("B", 12), ("Δ", 12), ("ratio", 13)];

/// Formats a table of groups of allocations, with a row of `total` bytes if given.
fn groups(rows: &[Row], top: u32, total: Option<PerSide>) -> String {
    let mut table = Table::new(0, columns(NUMBERS, ["allocations", "group"]));
    for row in rows.iter().take(top as usize) {
        let cells = [row.relation(), counts(row.count), row.label.clone()];
        table.push(compared(row.bytes).into_iter().chain(cells));
    }
    if let Some(total) = total {
        table.push(compared(total).into_iter().chain([ratio_text(total), "total".to_owned()]));
    }
    table.text() + &more_rows_line(rows.len().saturating_sub(top as usize) as u32)
}
