//! Tables of a report, added to the page in pieces over several frames. Adding a whole report at once takes too long
//! for a frame.

use super::report::{add_row, new_sheet};
use crate::dom::{Dom, append};
use std::iter::Enumerate;
use std::vec::IntoIter;
use ui::features::insights::view::{ColumnKind, SheetRowView, SheetView};
use web_sys::Element;

/// Number of rows in the first piece. Each further piece has one and a half times as many, so even a table of a
/// thousand rows takes at most twelve frames.
const FIRST_ROWS: usize = 6;

/// Tables that are not on the page completely, in order.
pub(super) struct Pieces {
    sheets: Enumerate<IntoIter<SheetView>>,
    partial: Option<PartialTable>,
    /// Number of rows in the next piece.
    rows: usize,
}

/// A table whose first rows are on the page already.
struct PartialTable {
    body: Element,
    columns: Vec<(String, ColumnKind)>,
    rows: IntoIter<SheetRowView>,
}

impl Default for Pieces {
    fn default() -> Self {
        Pieces::new(Vec::new())
    }
}

impl Pieces {
    /// Creates a queue of tables to add to the page.
    pub(super) fn new(sheets: Vec<SheetView>) -> Pieces {
        Pieces { sheets: sheets.into_iter().enumerate(), partial: None, rows: FIRST_ROWS }
    }

    /// Returns whether all tables are on the page completely.
    pub(super) fn is_done(&self) -> bool {
        self.sheets.len() == 0 && self.partial.as_ref().is_none_or(|partial| partial.rows.len() == 0)
    }

    /// Adds the next piece to the page. The title and header of a table count as one row.
    pub(super) fn show(&mut self, dom: &Dom, to: &Element) {
        let mut left = self.rows;
        self.rows = self.rows.saturating_add(self.rows / 2);
        while left > 0 {
            let row = self.partial.as_mut().and_then(|partial| partial.rows.next());
            if let (Some(partial), Some(row)) = (&self.partial, row) {
                add_row(dom, &partial.body, &partial.columns, &row);
            } else {
                let Some((place, sheet)) = self.sheets.next() else { return };
                let (table, body) = new_sheet(dom, place, &sheet);
                append(to, &table);
                let SheetView { columns, rows, .. } = sheet;
                self.partial = body.map(|body| PartialTable { body, columns, rows: rows.into_iter() });
            }
            left -= 1;
        }
    }

    /// Adds all remaining rows to the page.
    pub(super) fn show_all(&mut self, dom: &Dom, to: &Element) {
        self.rows = usize::MAX;
        self.show(dom, to);
    }
}
