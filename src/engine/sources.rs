//! What the files and lines of the user's own code weigh, in slices.

use super::answers::{Selection, within};
use super::device::Open;
use super::open::OpenFile;
use super::protocol::{Scope, SourcesPage, Standing, Weight};
use super::source_lines::SourceLines;
use base::units::Moment;

/// Stacks between two questions for the time: some are thousands of frames long.
const STACKS_PER_CHECK: usize = 128;
/// Frames that room is made for between two questions for the time.
const FRAMES_PER_CHECK: usize = 8192;

/// How far the answer is.
#[derive(Default)]
pub(super) struct Sources {
    /// Of the scope, then of the peak, how many kinds of stacks are attributed.
    next: [usize; 2],
    /// What frames weigh, on the way to files.
    lines: SourceLines,
    page: SourcesPage,
}

impl Sources {
    /// The answer; `None` while there is no time for it. On a device that the file does not have it is empty.
    pub(super) fn page(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        scope: Scope,
        has_time: &mut dyn FnMut() -> bool,
    ) -> Option<SourcesPage> {
        let OpenFile { snapshot, histories, groups, rounding, found, answers, sites, .. } = file;
        let Some(history) = histories.iter().find(|history| history.device == device) else {
            return Some(SourcesPage::default());
        };
        let open = Open { snapshot, history, groups, rounding, found: found.as_ref() };
        let at_peak = Scope::At(Moment::after_event_or_minus_one(history.numbers.peak_event).0);
        let selection = |scope| Selection { device, scope: within(history, scope), found: None };
        let of = [scope, at_peak].map(selection);
        let now = answers.total(open, of[0], has_time)?;
        let peak = answers.total(open, of[1], has_time)?;
        self.page.total = Standing { now, peak };
        let (frames, count) = (&mut self.lines.frames, snapshot.frames.len());
        frames.reserve_exact(count - frames.len());
        while frames.len() < count {
            frames.resize(count.min(frames.len() + FRAMES_PER_CHECK), Standing::default());
            if !has_time() {
                return None;
            }
        }
        let part: [fn(&mut Standing) -> &mut Weight; 2] = [|it| &mut it.now, |it| &mut it.peak];
        for ((next, of), part) in self.next.iter_mut().zip(of).zip(part) {
            let count = answers.stack_count(of);
            while *next < count {
                let end = count.min(*next + STACKS_PER_CHECK);
                let (frames, elsewhere) = (&mut self.lines.frames, &mut self.page.elsewhere);
                answers.each_stack(of, *next..end, &mut |stack, weight| {
                    let frame = stack.and_then(|stack| sites.of_user(snapshot, stack));
                    let standing = frame.and_then(|frame| frames.get_mut(frame.0 as usize)).unwrap_or(elsewhere);
                    part(standing).add(weight);
                });
                *next = end;
                if !has_time() {
                    return None;
                }
            }
        }
        let (files, left_out) = self.lines.step(snapshot, has_time)?;
        let page = std::mem::take(&mut self.page);
        Some(SourcesPage { files, left_out, ..page })
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.lines.heap_bytes()
    }
}
