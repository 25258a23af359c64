//! The Events list. Without a filter, each event is a row, and only the requested rows are computed. With a filter, the
//! events that pass are collected in time slices and cached until another list is requested.

mod listing;
mod rows;

use super::copying::CopyProgress;
use super::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use listing::Listing;
use protocol::{EventsPage, EventsQuestion, TableText};

/// Maximum number of rows in a reply. More than fit on any screen.
const MAX_ROWS: u32 = 512;

/// Cache for the most recent list of events, and the progress of copying its rows.
#[derive(Default)]
pub(super) struct EventLists {
    copying: CopyProgress,
    listing: Option<Box<Listing>>,
}

base::heap_bytes!(EventLists: listing);

impl EventLists {
    /// Resets the copy progress, so that rows are copied from the beginning.
    pub(super) fn start_copying(&mut self) {
        self.copying = CopyProgress::default();
    }

    /// Drops the cached list, because a change of the categories may affect its filter.
    pub(super) fn invalidate(&mut self) {
        self.listing = None;
    }

    /// Continues building the requested list, unless it is cached.
    fn update_listing(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &EventsQuestion,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if !self.listing.as_ref().is_some_and(|it| it.is_for(device, &question.filter)) {
            self.listing = Some(Box::new(Listing::new(file, device, question.filter.clone())));
        }
        let Some(listing) = &mut self.listing else { return Ok(()) };
        file.compute_versions(device, slice)?;
        listing.step(file, slice)
    }

    /// Continues building the requested list and returns the requested rows once complete. `None` if the file has no
    /// such device.
    pub(super) fn page(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &EventsQuestion,
        slice: &mut TimeSlice,
    ) -> SliceResult<Option<EventsPage>> {
        self.update_listing(file, device, question, slice)?;
        let Some((listing, history)) = self.listing.as_ref().zip(file.history(device)) else { return Ok(None) };
        let (all, counts) = (history.event_count(), history.action_counts);
        let [first, count] = question.rows;
        let wanted = first..first.saturating_add(count.min(MAX_ROWS)).min(listing.len());
        let events: Vec<u32> = wanted.filter_map(|row| listing.event(row)).collect();
        Ok(Some(EventsPage {
            total: all,
            listed: listing.len(),
            first,
            rows: events
                .into_iter()
                .filter_map(|event| rows::row(file, device, event, question.search_serial))
                .collect(),
            revealed: question.reveal.and_then(|event| listing.row_of(event)),
            actions: counts.iter().map(|&count| u32::try_from(count).unwrap_or(u32::MAX)).collect(),
        }))
    }

    /// Continues sending rows of a list as text, in parts.
    pub(super) fn copy_text(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &EventsQuestion,
        send: &mut dyn FnMut(TableText),
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.update_listing(file, device, question, slice)?;
        let Some(listing) = &self.listing else { return Ok(()) };
        let mut write = |text: &mut String, row: u32| {
            let event = listing.event(row);
            event.into_iter().for_each(|event| rows::write_line(text, file, device, event));
        };
        self.copying.step(rows::HEADER, (&question.selected, listing.len()), &mut write, send, slice)
    }
}
