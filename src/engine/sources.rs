//! What the files and lines of the user's own code weigh, in slices.

use super::answers::{Selection, within};
use super::open::{Open, OpenFile};
use super::protocol::{Scope, SourceFile, SourceLine, SourcesPage, Standing, Weight};
use crate::sorted::{pair, sorted_by_key};
use crate::units::Moment;

/// Stacks between two questions for the time: some are thousands of frames long.
const STACKS_PER_CHECK: usize = 128;
/// Files and lines that are sent; no project has more, and a file may claim millions.
const MOST_FILES: usize = 2000;
const MOST_LINES: usize = 20_000;
/// Bytes of a path that are sent.
const LONGEST_PATH: usize = 1000;

/// The question, and how far its answer is.
pub(super) struct Sources {
    serial: u32,
    device: i64,
    scope: Scope,
    /// Of the scope, then of the peak, how many kinds of stacks are attributed.
    next: [usize; 2],
    /// By frame.
    frames: Vec<Standing>,
    page: SourcesPage,
}

fn add(to: &mut Weight, more: Weight) {
    to.bytes = to.bytes.saturating_add(more.bytes);
    to.count = to.count.saturating_add(more.count);
}

fn join(to: &mut Standing, more: Standing) {
    add(&mut to.now, more.now);
    add(&mut to.peak, more.peak);
}

/// A path, of a very long one the end: it has the file's name.
fn path(bytes: &[u8]) -> String {
    let (mark, end) = match bytes.len().checked_sub(LONGEST_PATH) {
        Some(cut) if cut > 0 => ("…", bytes.get(cut..).unwrap_or(bytes)),
        _ => ("", bytes),
    };
    mark.to_owned() + &String::from_utf8_lossy(end)
}

/// A file by its name, and its lines.
type Lines = (u32, Standing, Vec<(i128, Standing)>);

impl Sources {
    pub(super) fn new(serial: u32, device: i64, scope: Scope) -> Sources {
        Sources { serial, device, scope, next: [0; 2], frames: Vec::new(), page: SourcesPage::default() }
    }

    /// The serial and the answer, when done; on a device that the file does not have, nothing at once.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        has_time: &mut dyn FnMut() -> bool,
    ) -> Option<(u32, SourcesPage)> {
        let OpenFile { snapshot, histories, groups, found, answers, sites, .. } = file;
        let Some(history) = histories.iter().find(|history| history.device == self.device) else {
            return Some((self.serial, SourcesPage::default()));
        };
        let open = Open { snapshot, history, groups, found: found.as_ref() };
        let at_peak = Scope::At(Moment::after_event_or_minus_one(history.numbers.peak_event).0);
        let selection = |scope| Selection { device: self.device, scope: within(history, scope), found: None };
        let of = [self.scope, at_peak].map(selection);
        let now = answers.total(open, of[0], has_time)?;
        let peak = answers.total(open, of[1], has_time)?;
        self.page.total = Standing { now, peak };
        if self.frames.is_empty() {
            self.frames = vec![Standing::default(); snapshot.frames.len()];
        }
        let part: [fn(&mut Standing) -> &mut Weight; 2] = [|it| &mut it.now, |it| &mut it.peak];
        for ((next, of), part) in self.next.iter_mut().zip(of).zip(part) {
            let count = answers.stack_count(of);
            while *next < count {
                let end = count.min(*next + STACKS_PER_CHECK);
                let (frames, elsewhere) = (&mut self.frames, &mut self.page.elsewhere);
                answers.each_stack(of, *next..end, &mut |stack, weight| {
                    let frame = stack.and_then(|stack| sites.of_user(snapshot, stack));
                    let standing = frame.and_then(|frame| frames.get_mut(frame.0 as usize)).unwrap_or(elsewhere);
                    add(part(standing), weight);
                });
                *next = end;
                if !has_time() {
                    return None;
                }
            }
        }
        let mut page = std::mem::take(&mut self.page);
        page.files = self.files(open, &mut page.left_out);
        Some((self.serial, page))
    }

    /// The frames that weigh anything, put together to lines and files.
    fn files(&self, open: Open<'_>, left_out: &mut Standing) -> Vec<SourceFile> {
        let frame = |id: u32| open.snapshot.frames.frame(crate::snapshot::FrameId(id));
        let weighs = |standing: &Standing| standing.now.count > 0 || standing.peak.count > 0;
        let used = self.frames.iter().zip(0..).filter(|(standing, _)| weighs(standing));
        let used: Vec<(Standing, u32)> = used.map(|(standing, id)| (*standing, id)).collect();
        // By file, then by line: where neither changes, it is the same line.
        let used = sorted_by_key(used, |&(_, id)| frame(id).line.cast_unsigned());
        let used = sorted_by_key(used, |&(_, id)| frame(id).filename.0.into());
        let mut files: Vec<Lines> = Vec::new();
        for (standing, id) in used {
            let (name, line) = (frame(id).filename.0, frame(id).line);
            if files.last().is_none_or(|(file, ..)| *file != name) {
                files.push((name, Standing::default(), Vec::new()));
            }
            let Some((_, sum, lines)) = files.last_mut() else { continue };
            join(sum, standing);
            match lines.last_mut().filter(|(known, _)| *known == line) {
                Some((_, known)) => join(known, standing),
                None => lines.push((line, standing)),
            }
        }
        let weight = |standing: &Standing| pair(!standing.now.bytes, !standing.peak.bytes);
        let files = sorted_by_key(files, |(_, sum, _)| weight(sum));
        let mut room = MOST_LINES;
        let mut sent = Vec::new();
        for (name, standing, lines) in files {
            if sent.len() >= MOST_FILES {
                join(left_out, standing);
                continue;
            }
            let bytes = open.snapshot.strings.bytes(crate::snapshot::StringId(name));
            let path = path(bytes);
            let lines = sorted_by_key(lines, |(_, standing)| weight(standing));
            let left_out = lines.len().saturating_sub(room) as u32;
            let lines: Vec<SourceLine> = lines
                .into_iter()
                .take(room)
                .map(|(line, standing)| SourceLine { line: line.to_string(), standing })
                .collect();
            room -= lines.len();
            sent.push(SourceFile { path, standing, lines, left_out });
        }
        sent
    }
}
