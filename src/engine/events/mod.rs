//! The list of events: without a filter a row is an event, and any jump costs the rows it shows; with one the events that pass are looked for
//! in slices and kept until another list is asked for.

mod listing;
mod rows;

use super::copying::Copying;
use super::open::OpenFile;
use super::protocol::{Answer, EventsPage, EventsQuestion, Reply};
use listing::Listing;
use std::collections::VecDeque;

/// Rows of a reply: more than any screen shows.
const MOST_ROWS: u32 = 512;

/// The list that was asked for last, and the questions about it that are not answered.
#[derive(Default)]
pub(super) struct Events {
    asked: Option<Box<Asked>>,
    copying: Option<Box<(Asked, Copying)>>,
    listing: Option<Box<Listing>>,
}

struct Asked {
    serial: u32,
    device: i64,
    question: EventsQuestion,
}

impl Events {
    /// A part of a list is wanted; it overtakes the one before.
    pub(super) fn ask(&mut self, serial: u32, device: i64, question: EventsQuestion) {
        self.asked = Some(Box::new(Asked { serial, device, question }));
    }

    /// Rows of a list are wanted as text.
    pub(super) fn copy(&mut self, serial: u32, device: i64, question: EventsQuestion) {
        self.copying = Some(Box::new((Asked { serial, device, question }, Copying::default())));
    }

    /// Categories are told anew.
    pub(super) fn forget_categories(&mut self) {
        self.listing = None;
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
            let page = self.page(file, &asked).map(Box::new);
            replies.extend(page.map(|page| Reply::Answer { serial: asked.serial, answer: Answer::Events(page) }));
        }
        true
    }

    /// Makes the list that is asked for: `true` when it is there.
    fn list(&mut self, file: &mut OpenFile, asked: &Asked, has_time: &mut dyn FnMut() -> bool) -> bool {
        let Asked { device, ref question, .. } = *asked;
        if !self.listing.as_ref().is_some_and(|it| it.is_of(device, &question.filter)) {
            self.listing = Some(Box::new(Listing::new(file, device, question.filter.clone())));
        }
        let Some(listing) = &mut self.listing else { return true };
        file.version(device, has_time) && listing.step(file, has_time)
    }

    fn page(&self, file: &mut OpenFile, asked: &Asked) -> Option<EventsPage> {
        let Asked { device, ref question, .. } = *asked;
        let listing = self.listing.as_ref()?;
        let history = file.history(device)?;
        let (all, counts) = (history.event_count(), history.action_counts);
        let [first, count] = question.rows;
        let wanted = first..first.saturating_add(count.min(MOST_ROWS)).min(listing.len());
        let events: Vec<u32> = wanted.filter_map(|row| listing.event(row)).collect();
        Some(EventsPage {
            all,
            listed: listing.len(),
            first,
            rows: events.into_iter().filter_map(|event| rows::row(file, device, event, question.find)).collect(),
            revealed: question.reveal.and_then(|event| listing.row_of(event)),
            actions: counts.iter().map(|&count| u32::try_from(count).unwrap_or(u32::MAX)).collect(),
        })
    }

    fn copy_on(
        &self,
        file: &mut OpenFile,
        asked: &Asked,
        parts: &mut Copying,
        replies: &mut VecDeque<Reply>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        let Some(listing) = &self.listing else { return true };
        let Asked { serial, device, ref question } = *asked;
        let mut write = |text: &mut String, row: u32| {
            let event = listing.event(row);
            event.into_iter().for_each(|event| rows::write_line(text, file, device, event));
        };
        parts.step((serial, rows::HEAD), (&question.chosen, listing.len()), &mut write, replies, has_time)
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.listing.as_ref().map_or(0, |listing| listing.heap_bytes())
    }
}
