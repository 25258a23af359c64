//! Adds up the weights of frames by line and by file. This is done in time slices, because a file may have millions of
//! lines.

use super::radix::MultiKeySort;
use base::column::Column;
use base::slice::{STEPS_PER_CHECK, SliceResult, TimeSlice};
use history::snapshot::{Frame, FrameId, Snapshot};
use protocol::{LocationWeight, SourceFile, SourceLine};

/// Maximum number of files in a result. Real projects have fewer files.
const MAX_FILES: usize = 2000;
const MAX_LINES: usize = 20_000;
/// Maximum length of a path in a result, in bytes.
const MAX_PATH_LEN: usize = 1000;

/// Maximum length of the source text of a line, in bytes.
const MAX_CODE_LEN: usize = 200;
/// Maximum length of the source text of all lines together, in bytes.
const MAX_CODE: usize = 1 << 20;

/// A source file: one of its frames, its total weight, and the index of its first line.
#[derive(Clone, Copy)]
struct File {
    frame: u32,
    weights: LocationWeight,
    first: u32,
}

/// Sort criterion for files and lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SortBy {
    /// Bytes in the scope.
    #[default]
    Weight,
    /// Difference between the bytes at the start and at the end of the range of a change.
    Change,
}

/// Time-sliced sums of the weights of frames, by line and file.
#[derive(Default)]
pub(super) struct SourceLines {
    pub(super) frames: Vec<LocationWeight>,
    pub(super) by: SortBy,
    /// Number of frames examined so far. `used` contains the examined frames whose weight is nonzero.
    next_frame: usize,
    used: Vec<u32>,
    /// The frames in `used`, sorted by file and line. The first `grouped` frames were already added to `lines` and
    /// `files`.
    by_line: Option<MultiKeySort>,
    grouped: usize,
    /// For each line, one of its frames and the weight of the line.
    lines: Column<(u32, LocationWeight)>,
    files: Column<File>,
    /// Files in descending order of weight. The first `done` files are complete.
    by_weight: Option<MultiKeySort>,
    done: usize,
    /// Lines of the next file, in descending order of weight.
    of_file: Option<MultiKeySort>,
    line_count: usize,
    code_bytes: usize,
    sent: Vec<SourceFile>,
    left_out: LocationWeight,
}

base::heap_bytes!(SourceLines: frames, used, by_line, by_weight, of_file, lines, files);

impl SourceLines {
    /// Continues adding up. Once complete, returns the files, heaviest first, and the total of the files that are left
    /// out.
    pub(super) fn step(
        &mut self,
        snapshot: &Snapshot,
        slice: &mut TimeSlice,
    ) -> SliceResult<(Vec<SourceFile>, LocationWeight)> {
        while let Some(part) = slice.next_range(&mut self.next_frame, self.frames.len(), 1)? {
            let part = part.clone().zip(self.frames.get(part).unwrap_or_default());
            self.used.extend(part.filter(|(_, weights)| weights.has_weight()).map(|(id, _)| id as u32));
        }
        let frame = |id: u32| snapshot.frames.frame(FrameId(id));
        // Adjacent frames with the same file and line belong to the same line.
        let mut line_key = |part: usize, id: u32| match (part, frame(id)) {
            (0, Frame { line, .. }) => line.cast_unsigned() as u64,
            (1, Frame { line, .. }) => (line.cast_unsigned() >> u64::BITS) as u64,
            (_, Frame { filename, .. }) => filename.0.into(),
        };
        let by_line = self.by_line.get_or_insert_with(|| MultiKeySort::new(std::mem::take(&mut self.used)));
        by_line.step((3, 1), &mut line_key, slice)?;
        while let Some(part) = slice.next_range(&mut self.grouped, by_line.ids().len(), 1)? {
            for &id in by_line.ids().get(part).unwrap_or_default() {
                let weights = self.frames.get(id as usize).copied().unwrap_or_default();
                let mut file = self.files.len().checked_sub(1).and_then(|last| self.files.get(last));
                file = file.filter(|file| frame(file.frame).filename == frame(id).filename);
                let is_new_file = file.is_none();
                let mut file = file.unwrap_or(File { frame: id, weights, first: self.lines.len() as u32 });
                let line = self.lines.len().checked_sub(1).filter(|_| !is_new_file);
                let line = line.and_then(|last| Some((last, self.lines.get(last)?)));
                match line.filter(|(_, (known, _))| frame(*known).line == frame(id).line) {
                    Some((last, (known, mut sum))) => {
                        sum.add(weights);
                        self.lines.set(last, (known, sum));
                    }
                    None => self.lines.push((id, weights)),
                }
                if is_new_file {
                    self.files.push(file);
                } else {
                    file.weights.add(weights);
                    self.files.set(self.files.len() - 1, file);
                }
            }
        }
        let file = |index: u32| self.files.get(index as usize);
        let mut weight = |part: usize, index: u32| file(index).map_or(0, |file| sort_key(file.weights, part, self.by));
        let files = self.by_weight.get_or_insert_with(|| MultiKeySort::new((0..self.files.len() as u32).collect()));
        files.step((2, 1), &mut weight, slice)?;
        while let Some(&index) = files.ids().get(self.done) {
            let Some(File { frame: known, weights, first }) = file(index) else { break };
            if self.sent.len() < MAX_FILES {
                let end = file(index + 1).map_or(self.lines.len() as u32, |next| next.first);
                let line = |index: u32| self.lines.get(index as usize);
                let mut weight =
                    |part: usize, index: u32| line(index).map_or(0, |(_, weights)| sort_key(weights, part, self.by));
                let room = MAX_LINES - self.line_count;
                let lines = self.of_file.get_or_insert_with(|| {
                    MultiKeySort::new(if room > 0 { (first..end).collect() } else { Vec::new() })
                });
                lines.step((2, 1), &mut weight, slice)?;
                let lines = lines.ids().iter().take(room).filter_map(|&index| line(index));
                let text = |id: u32| frame(id).line.to_string();
                let source =
                    snapshot.recorder.source(snapshot.strings.bytes(frame(known).filename)).unwrap_or_default();
                let starts = line_starts(source);
                let mut code_bytes = self.code_bytes;
                let mut code = |id: u32| {
                    let code =
                        if code_bytes < MAX_CODE { line_text(source, &starts, frame(id).line) } else { String::new() };
                    code_bytes += code.len();
                    code
                };
                let lines: Vec<SourceLine> =
                    lines.map(|(id, weights)| SourceLine { line: text(id), weights, code: code(id) }).collect();
                self.line_count += lines.len();
                self.code_bytes = code_bytes;
                let left_out = (end - first) - lines.len() as u32;
                let path = display_path(snapshot.strings.bytes(frame(known).filename));
                self.sent.push(SourceFile { path, weights, lines, left_out });
                self.of_file = None;
            } else {
                self.left_out.add(weights);
            }
            self.done += 1;
            slice.spend(if self.sent.len() < MAX_FILES { STEPS_PER_CHECK } else { 1 })?;
        }
        Ok((std::mem::take(&mut self.sent), self.left_out))
    }
}

/// Returns the byte offset at which each line of the source starts.
fn line_starts(source: &[u8]) -> Vec<u32> {
    let mut starts = Vec::new();
    let mut is_new = true;
    for (offset, &byte) in (0u32..).zip(source) {
        if is_new {
            starts.push(offset);
        }
        is_new = byte == b'\n';
    }
    starts
}

/// Returns the trimmed text of a line. Empty if the source has no such line.
fn line_text(source: &[u8], starts: &[u32], line: i128) -> String {
    let start = usize::try_from(line).ok().and_then(|line| starts.get(line.checked_sub(1)?));
    let text = start.and_then(|&start| source.get(start as usize..)).unwrap_or_default();
    let end = text.iter().take(MAX_CODE_LEN).position(|&byte| byte == b'\n').unwrap_or(MAX_CODE_LEN.min(text.len()));
    String::from_utf8_lossy(text.get(..end).unwrap_or_default()).trim().to_owned()
}

/// Returns a path as text. If the path is very long, only its end is returned, which contains the file name.
fn display_path(bytes: &[u8]) -> String {
    let (mark, end) = match bytes.len().checked_sub(MAX_PATH_LEN) {
        Some(cut) if cut > 0 => ("…", bytes.get(cut..).unwrap_or(bytes)),
        _ => ("", bytes),
    };
    mark.to_owned() + &String::from_utf8_lossy(end)
}

/// Returns a key that sorts the heaviest or most changed item first. Part 0 of the key is less significant than part 1.
fn sort_key(weights: LocationWeight, part: usize, by: SortBy) -> u64 {
    !match (part, by) {
        (0, _) => weights.peak.bytes,
        (_, SortBy::Weight) => weights.now.bytes,
        (_, SortBy::Change) => weights.now.bytes.abs_diff(weights.peak.bytes),
    }
}
