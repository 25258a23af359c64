//! Matches stacks or metadata against a query in time slices. Each frame is tested once, and then each stack.
//!
//! A stack matches a query about frames if its innermost frame matches, or if the stack of its caller matches. It
//! matches a query about call sites if its innermost frame of the user's own code matches.

use analysis::query::FrameMatcher;
use analysis::{IdSet, Sites, frame_line};
use base::slice::{STEPS_PER_CHECK, SliceResult, TimeSlice};
use history::snapshot::{FrameId, Snapshot, StackId};
use protocol::Query;

/// Search query for stacks in a forward pass.
pub(super) const FORWARD_QUERY: &str = "/[ .]forward$/";

/// The frames, stacks and labels tested so far that match a query.
#[derive(Default)]
pub(super) struct StackMatch {
    pub(super) frames: IdSet,
    pub(super) stacks: IdSet,
    /// Rows of the label table whose user metadata matches.
    pub(super) labels: IdSet,
    next_frame: usize,
    next_stack: usize,
    line: String,
}

base::heap_bytes!(StackMatch: frames, stacks, labels);

impl StackMatch {
    /// Continues testing frames and stacks for the text of a query about frames. Does nothing for other queries.
    pub(super) fn match_query(&mut self, snapshot: &Snapshot, query: &str, slice: &mut TimeSlice) -> SliceResult {
        match Query::parse(query) {
            Ok(Query::Frame(matcher)) => self.match_frames(snapshot, &matcher, slice),
            _ => Ok(()),
        }
    }

    /// Continues testing frames and stacks for a query about frames.
    pub(super) fn match_frames(
        &mut self,
        snapshot: &Snapshot,
        matcher: &FrameMatcher,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.run(snapshot, matcher, None, slice)
    }

    /// Continues testing the call sites of stacks.
    pub(super) fn match_sites(
        &mut self,
        snapshot: &Snapshot,
        matcher: &FrameMatcher,
        sites: &mut Sites,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.run(snapshot, matcher, Some(sites), slice)
    }

    /// Continues testing the metadata of labels.
    pub(super) fn match_metadata(
        &mut self,
        snapshot: &Snapshot,
        matcher: &FrameMatcher,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let rows = snapshot.labels.rows();
        if self.next_frame == 0 {
            self.labels = IdSet::with_bound(rows.len());
        }
        // One row per part, because a regular expression may be slow.
        while let Some(part) = slice.next_range(&mut self.next_frame, rows.len(), STEPS_PER_CHECK)? {
            let text = rows.get(part.start).and_then(|labels| labels.user_metadata);
            let text = text.map(|text| snapshot.strings.text(text)).filter(|text| !text.is_empty());
            if text.is_some_and(|text| matcher.matches(&text)) {
                self.labels.insert(part.start as u32);
            }
        }
        Ok(())
    }

    /// Continues testing frames, and then stacks: their call sites if `sites` is given.
    fn run(
        &mut self,
        snapshot: &Snapshot,
        matcher: &FrameMatcher,
        mut sites: Option<&mut Sites>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let (frames, stacks) = (&snapshot.frames, &snapshot.stacks);
        if self.next_frame == 0 {
            (self.frames, self.stacks) = (IdSet::with_bound(frames.len()), IdSet::with_bound(stacks.len()));
        }
        // One frame per part, because a regular expression may be slow.
        while let Some(part) = slice.next_range(&mut self.next_frame, frames.len(), STEPS_PER_CHECK)? {
            let id = part.start as u32;
            frame_line::write(&mut self.line, snapshot, frames.frame(FrameId(id)));
            if matcher.matches(&self.line) {
                self.frames.insert(id);
            }
        }
        while let Some(part) = slice.next_range(&mut self.next_stack, stacks.len(), 1)? {
            for id in part.map(|id| id as u32) {
                // A caller's stack always has a lower number.
                let matches = |(callers, frame): (StackId, FrameId)| {
                    self.stacks.contains(callers.0) || self.frames.contains(frame.0)
                };
                let is_match = match &mut sites {
                    Some(sites) => {
                        let site = sites.user_frame(snapshot, StackId(id));
                        site.is_some_and(|site| self.frames.contains(site.0))
                    }
                    None => stacks.innermost(StackId(id)).is_some_and(matches),
                };
                if is_match {
                    self.stacks.insert(id);
                }
            }
        }
        Ok(())
    }
}
