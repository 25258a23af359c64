//! State of the Allocations tab and of the histograms.

use crate::features::histograms;
use crate::features::histograms::{Chart, ClickMode, Histogram, Measure};
use crate::features::rows::{Copying, RowSelection, SelectMode};
use crate::plot::scroll::Scroll;
use crate::state::latest::Latest;
use protocol::{
    ColumnKind, Filter, QueryError, SortDirection, TableColumn, TableFilter, TablePage, TableQuestion, TableSort,
    Weight,
};
use std::rc::Rc;

/// State of the Allocations tab and of the histograms.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Text of the filter field.
    pub text: String,
    pub error: Option<QueryError>,
    /// The last valid filter text.
    pub(super) filter: String,
    pub sort: TableSort,
    /// First and last size class of the range selected in the histogram.
    pub sizes: Option<[u8; 2]>,
    /// First and last lifetime class of the range selected in the histogram.
    pub lifetimes: Option<[u8; 2]>,
    /// Quantity on the vertical axis of the histograms.
    pub measure: Measure,
    /// Selected rows and the active row.
    pub selected_rows: RowSelection,
    pub scroll: Scroll,
    pub(super) answer: Latest<TableQuestion, Rc<TablePage>>,
    /// The allocation whose row was requested and scrolled to last.
    pub(super) revealed_allocation: Option<u32>,
    /// True if the table had no row for `revealed_allocation`.
    pub(super) has_no_row: bool,
    pub(super) copying: Copying,
}

impl Table {
    /// Returns the last page of rows, which is shown until the next one arrives.
    pub fn page(&self) -> Option<&TablePage> {
        self.answer.latest().map(|page| &**page)
    }

    /// Returns the serial number of the search whose matches are included in the last page.
    pub(crate) fn find_serial(&self) -> Option<u32> {
        self.answer.answered_question().and_then(|known| known.search_serial)
    }

    /// Returns the bars and labels of a histogram.
    pub fn chart(&self, histogram: Histogram) -> Chart {
        let Some(page) = self.page() else { return Chart::default() };
        let chosen = if histogram == Histogram::Sizes { self.sizes } else { self.lifetimes };
        histograms::chart(histogram, weights(page, histogram), chosen, self.measure)
    }

    /// Returns true if a filter, rather than just the scope, restricts the rows.
    pub fn is_filtered(&self) -> bool {
        self.answer.answered_question().is_some_and(|question| question.filter != TableFilter::default())
    }
}

/// User input in the table and in the histograms.
#[derive(Clone, Debug, PartialEq)]
pub enum TableAction {
    /// Scroll offset and visible height in CSS pixels.
    Scrolled(f64, f64),
    RowClicked(u32, SelectMode),
    /// A column header was clicked.
    SortChosen(TableColumn),
    /// Text of the filter field.
    FilterTyped(String),
    /// A part of the filter was removed.
    FilterPartRemoved(FilterPart),
    /// A bar was clicked. Holds the histogram, the class of the bar, and the kind of click.
    BarClicked(Histogram, u8, ClickMode),
}

/// A part of the filter that can be removed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterPart {
    Sizes,
    Lifetimes,
    Node,
}

impl Table {
    /// Sets the text of the filter field.
    pub(super) fn set_filter(&mut self, text: String) {
        self.error = Filter::parse(&text).err();
        if self.error.is_none() {
            text.trim().clone_into(&mut self.filter);
        }
        self.text = text;
    }

    /// Sorts by a column. Reverses the order if the table is already sorted by this column.
    pub(super) fn sort_by(&mut self, column: TableColumn) {
        let current = self.sort;
        // For these columns the largest values are of interest first.
        let first = match column.texts().kind {
            ColumnKind::Bytes | ColumnKind::Events => SortDirection::Descending,
            _ => SortDirection::Ascending,
        };
        let reversed = if current.direction == SortDirection::Ascending {
            SortDirection::Descending
        } else {
            SortDirection::Ascending
        };
        self.sort = TableSort { column, direction: if current.column == column { reversed } else { first } };
        self.scroll.scroll_to_px(0.0);
    }
}

pub(super) fn weights(page: &TablePage, histogram: Histogram) -> &[Weight] {
    if histogram == Histogram::Sizes { &page.sizes } else { &page.lifetimes }
}
