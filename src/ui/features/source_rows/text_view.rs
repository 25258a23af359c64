//! The dropped source file, and the bytes beside its lines.

use super::{Highlight, HighlightCriteria, file_name, is_change, unit};
use crate::features::sources::{SourceText, Sources};
use crate::state::shared::Shared;
use crate::text::amount::per_mille;
use base::units::{Bytes, group_digits, pluralize};
use protocol::LocationWeight;
use std::rc::Rc;

/// Maximum number of lines shown of a source file.
pub const MAX_TEXT_LINES: usize = 20_000;

/// Bytes beside a line of the dropped file.
#[derive(Clone, Debug, PartialEq)]
pub struct LineBytes {
    /// Line number, from 1.
    pub line: u32,
    /// Bytes in the scope, abbreviated. Empty if there are none.
    pub now: String,
    pub peak: String,
    /// Exact values of `now` and `peak`.
    pub exact: String,
    pub per_mille: u32,
    pub highlight: Highlight,
}

/// The dropped source file, with the bytes of its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct TextView {
    pub text: Rc<SourceText>,
    /// Path in the snapshot, or the name of the dropped file.
    pub title: String,
    /// Warning about a mismatch between the file and the snapshot. Empty if they match.
    pub note: String,
    /// Lines with bytes, largest first.
    pub lines: Vec<LineBytes>,
}

/// Returns the dropped file with the bytes of its lines. `None` if no file was dropped.
pub fn text_view(sources: &Sources, shared: &Shared) -> Option<TextView> {
    let text = sources.text.clone()?;
    let file = sources.text_file();
    let title = file.map_or_else(|| file_name(&text.name).to_owned(), |file| file.path.clone());
    let lines = file.map_or(&[][..], |file| &file.lines);
    let length = text.text.lines().count();
    let lines_beyond_end =
        lines.iter().filter(|line| line.line.parse::<usize>().is_ok_and(|line| line > length)).count() as u64;
    let note = match file {
        None if sources.page.latest().is_none() => String::new(),
        None => "No allocation comes from a file with this name.".to_owned(),
        Some(_) if length > MAX_TEXT_LINES => {
            ["Only the first ", &group_digits(MAX_TEXT_LINES as u64), " lines are shown."].concat()
        }
        Some(_) if lines_beyond_end > 0 => {
            let lines_beyond_end = pluralize(lines_beyond_end, "line");
            ["This file is too short for ", &lines_beyond_end, " in the snapshot. Is it another version?"].concat()
        }
        Some(_) => String::new(),
    };
    let criteria = HighlightCriteria::from_state(shared);
    let max_bytes = lines.iter().map(|line| line.weights.now.bytes).max().unwrap_or(0).max(1);
    let margins = lines.iter().filter_map(|line| {
        let LocationWeight { now, peak } = line.weights;
        let short = |count: u32, bytes: u64| if count > 0 { Bytes(bytes).to_string() } else { String::new() };
        let other = if is_change(sources) { "; at A " } else { "; at the peak " };
        let exact = [group_digits(now.bytes).as_str(), unit(sources), other, &group_digits(peak.bytes), " B"].concat();
        Some(LineBytes {
            line: line.line.parse().ok()?,
            now: short(now.count, now.bytes),
            peak: short(peak.count, peak.bytes),
            exact,
            per_mille: per_mille(now.bytes, max_bytes),
            highlight: file.map(|file| criteria.highlight(&file.path, &line.line)).unwrap_or_default(),
        })
    });
    Some(TextView { lines: margins.collect(), text, title, note })
}
