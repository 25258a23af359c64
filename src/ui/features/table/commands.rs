//! Commands of the histograms. The commands for rows are the same in all lists ([`crate::shell::commands::rows`]).

use crate::features::command::{rows, tab_row};
use crate::features::histograms::Measure;
use crate::features::table::clear_filters;
use crate::text::tab::Tab::Histograms;

rows! {
    pub(crate) ROWS:
    TOGGLE_MEASURE = tab_row(Histograms, &["m"], "Switch the bars between bytes and counts", "measure", |state, _| {
        let is_bytes = state.table.measure == Measure::Bytes;
        state.table.measure = if is_bytes { Measure::Count } else { Measure::Bytes };
    });
    CLEAR_BARS = tab_row(Histograms, &["Delete", "Backspace"], "Clear the selected bars", "histograms-clear",
        |state, out| clear_filters(&mut state.table, out));
}
