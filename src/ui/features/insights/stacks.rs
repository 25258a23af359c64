//! Call stacks below the rows of a report.

use crate::features::insights::{InsightsTab, ReportItem};
use protocol::Report;

/// Returns the call stack of a table row. `None` if the item is not a row of the report.
pub(super) fn row_stacks(report: &Report, item: &ReportItem) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let sheet = report.sheets.iter().find(|sheet| Some(&sheet.key) == item.sheet.as_ref())?;
    sheet.rows.get(item.row).map(|row| (row.stack.clone(), row.other_stacks.clone()))
}

pub(super) fn toggle_stack(tab: &mut InsightsTab, index: usize) {
    let Some(item) = tab.items().into_iter().nth(index) else { return };
    tab.active = index;
    match tab.open_stacks.iter().position(|(topic, of, _)| *topic == tab.topic && *of == item) {
        Some(at) => drop(tab.open_stacks.remove(at)),
        None => tab.open_stacks.push((tab.topic, item, 0)),
    }
}

pub(super) fn step_active_stack(tab: &mut InsightsTab, by: isize) {
    step_stack(tab, tab.active, by);
}

/// Shows another stack of a row, with wrap-around. Opens the row if its stacks are hidden.
pub(super) fn step_stack(tab: &mut InsightsTab, index: usize, by: isize) {
    let Some(item) = tab.items().into_iter().nth(index) else { return };
    let Some(count) = tab.report().and_then(|report| row_stacks(report, &item)).map(|(_, others)| 1 + others.len())
    else {
        return;
    };
    tab.active = index;
    match tab.open_stacks.iter_mut().find(|(topic, of, _)| *topic == tab.topic && *of == item) {
        Some((.., shown)) => *shown = shown.wrapping_add_signed(by).wrapping_add(count) % count,
        None => tab.open_stacks.push((tab.topic, item, 0)),
    }
}
