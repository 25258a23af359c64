//! The Allocations table, filtered and sorted. Rows are returned as data or as text.
//!
//! The table is computed in time slices and cached until another table is requested, so that scrolling is cheap.

mod listing;
mod order;
mod rows;

use super::copying::CopyProgress;
use super::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use listing::{Listing, Terms};
use order::{Order, SiteRanks};
use protocol::{TablePage, TableQuestion, TableText};

/// Maximum number of rows in a result. More than fit on any screen.
const MAX_ROWS: u32 = 512;

/// Cache for the table that was requested last, and the progress of copying rows as text.
#[derive(Default)]
pub(super) struct TableCache {
    copying: CopyProgress,
    listing: Option<Box<Listing>>,
    order: Option<Box<Order>>,
    /// Parsed terms of the filter that was used last.
    terms: Option<Terms>,
    sites: SiteRanks,
}

base::heap_bytes!(TableCache: listing, order, terms, sites);

impl TableCache {
    /// Resets the copy progress, so that rows are copied from the beginning.
    pub(super) fn reset_text(&mut self) {
        self.copying = CopyProgress::default();
    }

    /// Drops the cached table, because categories or node ids have changed.
    pub(super) fn invalidate(&mut self) {
        (self.listing, self.order) = (None, None);
    }

    /// Continues building the requested table, unless it is cached.
    fn build(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &TableQuestion,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if !self.listing.as_ref().is_some_and(|it| it.is_of(device, question.scope, &question.filter)) {
            self.listing = Some(Box::new(Listing::new(file, device, question.scope, question.filter.clone())));
            self.order = None;
        }
        let Some(listing) = &mut self.listing else { return Ok(()) };
        listing.step(file, &mut self.terms, slice)?;
        listing.weigh_found(file, question.search_serial, slice)?;
        // Histograms alone need no order.
        if question.rows[1] == 0 && question.reveal.is_none() && question.selected.is_empty() {
            return Ok(());
        }
        if self.order.as_ref().is_none_or(|order| order.by != question.sort) {
            self.order = Some(Box::new(Order::new(question.sort)));
        }
        let Some(order) = &mut self.order else { return Ok(()) };
        order.step(file, &mut self.sites, device, listing.moment(), &listing.ids, slice)?;
        order.sum_ranges(file, device, &question.selected, slice)
    }

    /// Continues building the requested table and returns the requested rows once complete. They are empty if the file
    /// does not have the device.
    pub(super) fn page(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &TableQuestion,
        slice: &mut TimeSlice,
    ) -> SliceResult<TablePage> {
        self.build(file, device, question, slice)?;
        let Some(listing) = &self.listing else { return Ok(TablePage::default()) };
        let mut page = TablePage {
            scope: listing.all,
            listed: listing.listed,
            freed: listing.freed,
            found: listing.found_total,
            first: question.rows[0],
            sizes: listing.sizes.clone(),
            lifetimes: listing.lifetimes.clone(),
            ..TablePage::default()
        };
        if let Some(order) = self.order.as_ref().filter(|order| order.by == question.sort) {
            let [first, count] = question.rows;
            let rows = order.ids.iter().skip(first as usize).take(count.min(MAX_ROWS) as usize);
            let row = |&id: &u32| rows::row(file, device, listing.moment(), id, question.search_serial);
            page.rows = rows.filter_map(row).collect();
            let row_of = |wanted: u32| order.ids.iter().position(|&id| id == wanted);
            page.revealed = question.reveal.and_then(row_of).map(|row| row as u32);
            page.selected = order.selected_total();
        }
        Ok(page)
    }

    /// Continues sending rows of the table as text, in parts.
    pub(super) fn text(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &TableQuestion,
        send: &mut dyn FnMut(TableText),
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.build(file, device, question, slice)?;
        let (Some(listing), Some(order)) = (&self.listing, &self.order) else { return Ok(()) };
        let mut write = |text: &mut String, row: u32| {
            let id = order.ids.get(row as usize);
            id.into_iter().for_each(|&id| rows::write_line(text, file, device, listing.moment(), id));
        };
        self.copying.step(&rows::header(), (&question.selected, order.ids.len() as u32), &mut write, send, slice)
    }
}
