//! Memory by file and line of the user's own code, computed in time slices.

use super::device::DeviceData;
use super::open::OpenFile;
use super::source_lines::{SortBy, SourceLines};
use super::stack_trees::{Selection, clamp_scope};
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use protocol::{LocationWeight, Scope, SourcesPage, Weight};

/// Time-sliced computation of a [`SourcesPage`].
#[derive(Default)]
pub(super) struct Sources {
    /// Number of stacks that were assigned to a call site so far, for the scope and for the peak.
    next: [usize; 2],
    /// Weight of each frame. The frames are added up to lines and files at the end.
    lines: SourceLines,
    page: SourcesPage,
}

base::heap_bytes!(Sources: lines);

impl Sources {
    /// Continues computing the page and returns it once complete. It is empty if the file does not have the device.
    pub(super) fn page(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        scope: Scope,
        slice: &mut TimeSlice,
    ) -> SliceResult<SourcesPage> {
        let OpenFile { snapshot, histories, groups, rounding, found, stack_trees, sites, .. } = file;
        let Some(history) = histories.iter().find(|history| history.device == device) else {
            return Ok(SourcesPage::default());
        };
        let open = DeviceData { snapshot, history, groups, rounding, found: found.as_ref() };
        let at_peak = Scope::At(Moment::after_event_or_minus_one(history.numbers.peak_event).0);
        let selection = |scope| Selection { device, scope: clamp_scope(history, scope), found: None };
        let scopes = match scope {
            Scope::Change(span) => {
                self.lines.by = SortBy::Change;
                [span.to, span.from].map(Scope::At)
            }
            _ => [scope, at_peak],
        };
        let selections = scopes.map(selection);
        let now = stack_trees.total(open, selections[0], slice)?;
        let peak = stack_trees.total(open, selections[1], slice)?;
        self.page.total = LocationWeight { now, peak };
        let (frames, count) = (&mut self.lines.frames, snapshot.frames.len());
        frames.reserve_exact(count - frames.len());
        let mut frame_count = frames.len();
        while let Some(part) = slice.next_range(&mut frame_count, count, 1)? {
            frames.resize(part.end, LocationWeight::default());
        }
        let fields: [fn(&mut LocationWeight) -> &mut Weight; 2] = [|it| &mut it.now, |it| &mut it.peak];
        for ((next, selection), field) in self.next.iter_mut().zip(selections).zip(fields) {
            // Weight 16, because some stacks have thousands of frames.
            while let Some(part) = slice.next_range(next, stack_trees.stack_count(selection), 16)? {
                let (frames, elsewhere) = (&mut self.lines.frames, &mut self.page.elsewhere);
                stack_trees.visit_stacks(selection, part, &mut |stack, weight| {
                    let frame = stack.and_then(|stack| sites.user_frame(snapshot, stack));
                    let location = frame.and_then(|frame| frames.get_mut(frame.0 as usize)).unwrap_or(elsewhere);
                    field(location).add(weight);
                });
            }
        }
        let (files, left_out) = self.lines.step(snapshot, slice)?;
        let page = std::mem::take(&mut self.page);
        Ok(SourcesPage { files, left_out, ..page })
    }
}
