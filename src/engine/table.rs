//! The table of allocations: what a scope and a filter leave, sorted, and parts of it as rows or as text. All of it in slices, and
//! kept until another table is asked for, so that scrolling costs next to nothing.

mod listing;
mod order;
mod rows;

use super::copying::Copying;
use super::open::OpenFile;
use super::protocol::{Answer, Reply, TablePage, TableQuestion};
use listing::{Listing, Terms};
use order::{Order, SiteRanks};
use std::collections::VecDeque;

/// Rows of a reply: more than any screen shows.
const MOST_ROWS: u32 = 512;

/// The table that was asked for last, and the questions about it that are not answered.
#[derive(Default)]
pub(super) struct Tables {
    asked: Option<Box<Asked>>,
    copying: Option<Box<(Asked, Copying)>>,
    listing: Option<Box<Listing>>,
    order: Option<Box<Order>>,
    /// Those of the filter that was asked for last.
    terms: Option<Terms>,
    sites: SiteRanks,
}

struct Asked {
    serial: u32,
    device: i64,
    question: TableQuestion,
}

impl Tables {
    /// A part of a table is wanted; it overtakes the one before.
    pub(super) fn ask(&mut self, serial: u32, device: i64, question: TableQuestion) {
        self.asked = Some(Box::new(Asked { serial, device, question }));
    }

    /// Rows of a table are wanted as text.
    pub(super) fn copy(&mut self, serial: u32, device: i64, question: TableQuestion) {
        let asked = Asked { serial, device, question };
        self.copying = Some(Box::new((asked, Copying::default())));
    }

    /// Nodes are numbered anew.
    pub(super) fn forget_nodes(&mut self) {
        (self.listing, self.order) = (None, None);
    }

    /// Works while there is time: `true` when nothing is left to do.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        replies: &mut VecDeque<Reply>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        if let Some(mut copying) = self.copying.take() {
            let (asked, parts) = &mut *copying;
            let is_done = self.list(file, asked, has_time) && self.copy_on(file, asked, parts, replies, has_time);
            if !is_done {
                self.copying = Some(copying);
                return false;
            }
        }
        if let Some(asked) = self.asked.take() {
            if !self.list(file, &asked, has_time) {
                self.asked = Some(asked);
                return false;
            }
            let page = Box::new(self.page(file, &asked));
            replies.push_back(Reply::Answer { serial: asked.serial, answer: Answer::Table(page) });
        }
        true
    }

    /// Makes the table that is asked for: `true` when it is there.
    fn list(&mut self, file: &mut OpenFile, asked: &Asked, has_time: &mut dyn FnMut() -> bool) -> bool {
        let Asked { device, ref question, .. } = *asked;
        if !self.listing.as_ref().is_some_and(|it| it.is_of(device, question.scope, &question.filter)) {
            self.listing = Some(Box::new(Listing::new(file, device, question.scope, question.filter.clone())));
            self.order = None;
        }
        let Some(listing) = &mut self.listing else { return true };
        if !listing.step(file, &mut self.terms, has_time) {
            return false;
        }
        if !listing.weigh_found(file, question.find, has_time) {
            return false;
        }
        // The histograms alone want no order.
        if question.rows[1] == 0 && question.reveal.is_none() && question.chosen.is_empty() {
            return true;
        }
        if self.order.as_ref().is_none_or(|order| order.by != question.sort) {
            self.order = Some(Box::new(Order::new(question.sort)));
        }
        let Some(order) = &mut self.order else { return true };
        order.step(file, &mut self.sites, device, listing.moment(), &listing.ids, has_time)
            && order.weigh(file, device, &question.chosen, has_time)
    }

    fn page(&self, file: &mut OpenFile, asked: &Asked) -> TablePage {
        let Asked { device, ref question, .. } = *asked;
        let Some(listing) = &self.listing else { return TablePage::default() };
        let mut page = TablePage {
            scope: listing.all,
            listed: listing.listed,
            found: listing.of_found,
            first: question.rows[0],
            sizes: listing.sizes.clone(),
            lives: listing.lives.clone(),
            ..TablePage::default()
        };
        if let Some(order) = self.order.as_ref().filter(|order| order.by == question.sort) {
            let [first, count] = question.rows;
            let rows = order.ids.iter().skip(first as usize).take(count.min(MOST_ROWS) as usize);
            let row = |&id: &u32| rows::row(file, device, listing.moment(), id, question.find);
            page.rows = rows.filter_map(row).collect();
            let row_of = |wanted: u32| order.ids.iter().position(|&id| id == wanted);
            page.revealed = question.reveal.and_then(row_of).map(|row| row as u32);
            page.chosen = order.chosen();
        }
        page
    }

    /// Makes more rows text while there is time: `true` when all are.
    fn copy_on(
        &self,
        file: &mut OpenFile,
        asked: &Asked,
        parts: &mut Copying,
        replies: &mut VecDeque<Reply>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        let (Some(listing), Some(order)) = (&self.listing, &self.order) else { return true };
        let Asked { serial, device, ref question } = *asked;
        let mut write = |text: &mut String, row: u32| {
            let id = order.ids.get(row as usize);
            id.into_iter().for_each(|&id| rows::write_line(text, file, device, listing.moment(), id));
        };
        parts.step((serial, rows::HEAD), (&question.chosen, order.ids.len() as u32), &mut write, replies, has_time)
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.listing.as_ref().map_or(0, |listing| listing.heap_bytes())
            + self.order.as_ref().map_or(0, |order| order.heap_bytes())
            + self.terms.as_ref().map_or(0, Terms::heap_bytes)
            + self.sites.heap_bytes()
    }
}
