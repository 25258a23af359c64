//! Table of training steps, and the statement on growth from step to step.

use super::sheets::{facts_columns, name_text};
use crate::report::column::{self, sheet};
use crate::report::ranges::RangeTotals;
use crate::report::step_finder::{StepRule, Steps, WARM_UP_STEPS};
use crate::report::writer::{ReportWriter, bytes_text, evidence_row, range_evidence, statement};
use crate::side::Side;
use base::units::{group_digits, pluralize};
use protocol::{Cell, Span, Statement, Tone};

/// Minimum number of steps after the baseline that is required for a statement on growth.
const MIN_STEPS: usize = 3;

/// Returns the change in live bytes from the end of the previous step to the end of each step. The first step is
/// compared with its own start.
fn growths(facts: &[RangeTotals]) -> impl Iterator<Item = i64> + '_ {
    let mut before = facts.first().map_or(0, |first| first.at_begin);
    facts.iter().map(move |facts| {
        let growth = i128::from(facts.at_end) - i128::from(std::mem::replace(&mut before, facts.at_end));
        i64::try_from(growth).unwrap_or(i64::MAX)
    })
}

/// Writes the table of training steps.
pub(super) fn write_steps(writer: &mut ReportWriter<'_>, steps: &Steps, facts: &[RangeTotals]) {
    let Side { file, history } = writer.side;
    let growths: Vec<i64> = growths(facts).take(steps.spans.len()).collect();
    let mut sums = [0u64; 2];
    for facts in facts.iter().take(steps.spans.len()) {
        sums = [sums[0].saturating_add(facts.allocated), sums[1].saturating_add(facts.freed)];
    }
    type Row = (usize, (Span, RangeTotals), i64);
    let name = |index: usize| {
        let row = steps.annotation_rows.get(index)?;
        Some(name_text(&file.snapshot, history.annotations.get(*row as usize)?.name))
    };
    let mut columns = vec![column::text("step", "step", |(index, ..): Row| {
        name(index).unwrap_or_else(|| group_digits(index as u64))
    })];
    columns.extend(facts_columns(|(_, facts, _): Row| facts));
    columns.extend([
        column::cell("growth_bytes", "growth", |(.., growth): Row| Cell::Change(growth)),
        column::bytes("kept_bytes", "kept", |(_, (_, facts), _): Row| facts.kept),
        column::bytes("never_freed_bytes", "never freed", |(_, (_, facts), _): Row| facts.never_freed),
    ]);
    let mut note = steps.describe();
    if !steps.spans.is_empty() {
        note.push_str(
            " Growth: change in live bytes since the end of the previous step; growth per step is measured from the end of the second step. Kept: allocated in the step and live at its end.",
        );
    }
    let mut sheet = sheet(["steps", "Steps", &note], &columns);
    let rows = steps.spans.iter().zip(facts).zip(growths).enumerate();
    let rows: Vec<Row> = rows.map(|(index, ((&span, &facts), growth))| (index, (span, facts), growth)).collect();
    if !rows.is_empty() && writer.max_rows() > 0 {
        sheet.total = vec![Cell::Empty; columns.len()];
        sheet.total.splice(7..9, [Cell::Bytes(sums[0]), Cell::Bytes(sums[1])]);
    }
    writer.add_sheet(sheet, &columns, &rows, |_, (_, (span, facts), _)| {
        evidence_row(range_evidence(span, facts.peak_moment))
    });
}

/// Returns a statement on growth from step to step, or `None` if there are too few steps.
///
/// Memory grows if each step after the [baseline](Steps::growth_moments) ends with more live bytes than the one before,
/// and leaves allocations that are never freed. The second condition is needed because steps with batches of different
/// sizes may end with more and more live bytes for a while. Bytes that await their free do not count, because the
/// program has freed them: `awaiting_free` has them for each of the moments `ends`. If steps were inferred from stacks,
/// a last step that ends at moment `end`, the end of the trace, is ignored: it may not have freed its memory yet.
pub(super) fn growth(
    steps: &Steps,
    facts: &[RangeTotals],
    end: u32,
    mut ends: Vec<u32>,
    awaiting_free: &[i64],
) -> Option<Statement> {
    if matches!(steps.rule, StepRule::Stack(..)) && ends.last() == Some(&end) {
        ends.pop();
    }
    let (&from, &to) = (ends.first()?, ends.last()?);
    let settled = facts.get(WARM_UP_STEPS..WARM_UP_STEPS + ends.len() - 1)?;
    let late = growths(facts.get(..WARM_UP_STEPS + settled.len())?).skip(WARM_UP_STEPS);
    let waits = awaiting_free.windows(2).map(|waits| match waits {
        &[before, after] => after.saturating_sub(before),
        _ => 0,
    });
    let growths: Vec<i64> = late.zip(waits).map(|(growth, waits)| growth.saturating_sub(waits)).collect();
    if growths.len() < MIN_STEPS || steps.spans.is_empty() {
        return None;
    }
    let evidence = range_evidence(Span { from, to }, to);
    let (_, without_last) = settled.split_last()?;
    let settled = pluralize(growths.len() as u64, "step");
    if !(growths.iter().all(|&growth| growth > 0) && without_last.iter().all(|facts| facts.never_freed > 0)) {
        let text = format!(
            "Memory does not grow with every step ({settled} after the first two). See Leaks & waste for each call site."
        );
        return Some(statement(Tone::Good, text, Some(evidence)));
    }
    let sum: i64 = growths.iter().fold(0, |sum, &growth| sum.saturating_add(growth));
    let min = growths.iter().min().copied().unwrap_or(0);
    let mean = sum / growths.len().max(1) as i64;
    let text = format!(
        "Memory grows with every step: {} per step (mean, at least {}), {} over {settled} after the first two. See Leaks & waste for the call sites.",
        bytes_text(mean.unsigned_abs()),
        bytes_text(min.unsigned_abs()),
        bytes_text(sum.unsigned_abs())
    );
    Some(statement(Tone::Alarm, text, Some(evidence)))
}
