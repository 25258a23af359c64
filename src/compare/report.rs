//! Converts a comparison to a report: the verdict as sentences, the numbers as tables.

mod sheets;

use crate::answer::{Comparison, MomentPair, PerSide, TreeRow};
use crate::verdict::{signed, unmatched_code};
use base::units::{group_digits, moment_text, percent, pluralize};
use protocol::{Chart, DeltaBox, Report, Statement, Tone, Topic};
use sheets::at;

pub(crate) use sheets::{TableBuilder, row, text};

/// Returns the report with at most `rows` rows per table.
pub fn report(comparison: &Comparison, rows: usize) -> Report {
    let say = |tone, text: &String| Statement { tone, text: text.clone(), ..Statement::default() };
    let mut statements: Vec<Statement> = comparison.verdict.iter().map(|text| say(Tone::Fact, text)).collect();
    if let Some(first) = statements.first_mut() {
        first.evidence = Some(at(comparison.a.moment));
    }
    statements.extend(comparison.warnings.iter().map(|text| say(Tone::Alarm, text)));
    if comparison.out_of_memory != PerSide::default() {
        let PerSide { a, b } = comparison.out_of_memory;
        let times = |times: u64| if times == 1 { String::new() } else { format!(" {} times", group_digits(times)) };
        let text = match (a, b) {
            (0, _) => format!("B ran out of memory{}, A did not.", times(b)),
            (_, 0) => format!("A ran out of memory{}, B did not.", times(a)),
            (1, 1) => "Both ran out of memory.".to_owned(),
            _ => format!("A ran out of memory {}, B {}.", pluralize(a, "time"), pluralize(b, "time")),
        };
        // Whether a change avoids the OOM matters more than the peaks.
        statements.insert(0, say(Tone::Alarm, &text));
    }
    // Moments of one trace need no alignment, and their peaks and steps are the same.
    let is_one_trace = is_one_trace(comparison);
    if !is_one_trace {
        statements.push(say(Tone::Fact, &comparison.alignment_detail));
    }
    // Frames of code that could not be matched would only appear twice.
    let has_frames = unmatched_code(comparison).is_none();
    let boxes = if has_frames { boxes(&comparison.flame) } else { Vec::new() };
    if let Some(last) = statements.last_mut() {
        last.chart = (!boxes.is_empty()).then(|| Chart::Delta(comparison.tree_title.clone(), boxes));
    }
    let mut tables = TableBuilder::new(rows);
    if !is_one_trace {
        tables.moments(comparison);
    }
    tables.groups(
        "groups",
        &["Live bytes (requested) by ", &comparison.key_title].concat(),
        &groups_note(comparison),
        &comparison.rows,
        comparison,
    );
    if has_frames {
        tables.tree(comparison);
    }
    if !is_one_trace {
        tables.steps(comparison);
    }
    tables.allocations(comparison);
    if !comparison.pools.is_empty() {
        tables.groups("pools", "Live bytes (requested) by pool", "", &comparison.pools, comparison);
    }
    if !is_one_trace {
        tables.scaling(comparison);
    }
    tables.lifetimes(comparison);
    tables.settings(comparison);
    Report { topic: Topic::Comparison, statements, sheets: tables.sheets, headline: None }
}

/// Returns whether A and B are moments of the same trace.
fn is_one_trace(comparison: &Comparison) -> bool {
    let (a, b) = (&comparison.a, &comparison.b);
    let is_same = |pair: &MomentPair| pair.moments.0 == pair.moments.1 && pair.live.delta() == 0;
    (&a.file, a.device, a.events) == (&b.file, b.device, b.events)
        && a.moment != b.moment
        && comparison.moments.iter().all(is_same)
}

/// Returns the flame graph that compares both sides. A box is as wide as the larger value of A and B, or as its callees
/// if they are wider. Boxes precede their callees.
fn boxes(nodes: &[TreeRow]) -> Vec<DeltaBox> {
    // Widths are summed from the innermost nodes outwards, then positions from left to right.
    let mut below: Vec<u64> = Vec::new();
    let mut widths = vec![0; nodes.len()];
    for (node, width) in nodes.iter().zip(&mut widths).rev() {
        let depth = node.depth as usize;
        below.resize(below.len().max(depth + 2), 0);
        let callees = below.get_mut(depth + 1).map_or(0, std::mem::take);
        *width = node.bytes.a.max(node.bytes.b).max(callees);
        below.get_mut(depth).into_iter().for_each(|sum| *sum = sum.saturating_add(*width));
    }
    let all = below.first().copied().unwrap_or(0);
    let part = |bytes: u64| (u128::from(bytes) * u128::from(DeltaBox::FULL_WIDTH) / u128::from(all.max(1))) as u32;
    let mut left_edges = vec![0u64; below.len()];
    let mut placed = Vec::new();
    for (node, width) in nodes.iter().zip(widths) {
        let depth = node.depth as usize;
        let left = left_edges.get(depth).copied().unwrap_or(0);
        left_edges.get_mut(depth).into_iter().for_each(|next| *next = left.saturating_add(width));
        left_edges.get_mut(depth + 1).into_iter().for_each(|next| *next = left);
        let (left, width) = (part(left), part(width));
        let PerSide { a, b } = node.bytes;
        placed.push(DeltaBox { depth: node.depth, left, width, name: node.label.clone(), a, b });
    }
    placed
}

/// Returns a note about the matched bytes and about the sum of the rows.
fn groups_note(comparison: &Comparison) -> String {
    let live = PerSide { a: comparison.a.live_bytes, b: comparison.b.live_bytes };
    let parts = comparison.matched.parts_per_million();
    let matched = match parts {
        0 => String::new(),
        _ => percent(parts, 1_000_000) + " of the bytes have a partner. ",
    };
    let (after_a, after_b) = (moment_text(comparison.a.moment), moment_text(comparison.b.moment));
    ["A ", &after_a, ", B ", &after_b, ". ", &matched, "All Δ add up to ", &signed(live.delta()), "."].concat()
}
