//! Functions that memscape adds to SQL.

use crate::source::Source;
use analysis::frame_line;
use base::units::Bytes;
use hashbrown::HashMap;
use history::snapshot::FrameId;
use regex_lite::{Regex, RegexBuilder};
use sqlite::{Cell, Database, Error, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Call syntax and description of each function.
pub(crate) const FUNCTIONS: [(&str, &str); 3] = [
    ("human(bytes)", "bytes for people: 1.46 GiB"),
    ("frame_match(stack, 'regex')", "1 where a frame of the stack, as file:line function, matches"),
    ("site(stack)", "the call site of a stack: the innermost frame of your own code"),
];

/// Maximum number of compiled patterns that are cached.
const PATTERNS: usize = 8;
/// Maximum size of a compiled pattern in bytes.
const MAX_PATTERN: usize = 1 << 20;

/// Compiled pattern with cached match results.
struct Pattern {
    text: String,
    regex: Regex,
    /// Match results by file and frame.
    frames: HashMap<(usize, FrameId), bool, foldhash::fast::RandomState>,
    /// Match results by the id of a stack in SQL.
    stacks: HashMap<i64, bool, foldhash::fast::RandomState>,
}

/// Registers the functions in a database.
pub(crate) fn add(database: &Database, source: &Rc<Source>) -> Result<(), Error> {
    database.add_function("human", 1, |values| Ok(values.first().copied().map_or(Cell::Null, human)))?;
    let sites = source.clone();
    database.add_function("site", 1, move |values| {
        let stack = values.first().and_then(|value| value.integer()).and_then(|number| sites.stack(number));
        Ok(stack.and_then(|(file, stack)| sites.site_text(file, stack)).into())
    })?;
    let (source, patterns) = (source.clone(), RefCell::new(Vec::new()));
    database.add_function("frame_match", 2, move |values| {
        let [stack, pattern] = values else { return Ok(Cell::Null) };
        let Some(pattern) = pattern.text() else { return Ok(Cell::Null) };
        let Some(stack) = stack.integer() else { return Ok(Cell::Null) };
        matches(&source, &mut patterns.borrow_mut(), stack, pattern).map(Cell::from)
    })
}

fn human(value: Value<'_>) -> Cell<'static> {
    let signed = |is_negative: bool, bytes: u64| {
        let sign = if is_negative { "−" } else { "" };
        format!("{sign}{}", Bytes(bytes)).into()
    };
    match value {
        Value::Integer(bytes) => signed(bytes < 0, bytes.unsigned_abs()),
        // The result of a float sum or an average.
        Value::Real(bytes) if bytes.is_finite() => signed(bytes < 0.0, bytes.abs().round() as u64),
        _ => Cell::Null,
    }
}

fn matches(source: &Source, patterns: &mut Vec<Pattern>, number: i64, text: &str) -> Result<bool, String> {
    let at = match patterns.iter().position(|pattern| pattern.text == text) {
        Some(at) => at,
        None => {
            let regex = RegexBuilder::new(text).size_limit(MAX_PATTERN).build();
            let regex = regex.map_err(|error| format!("frame_match: {error}"))?;
            if patterns.len() >= PATTERNS {
                patterns.remove(0);
            }
            let (frames, stacks) = Default::default();
            patterns.push(Pattern { text: text.to_owned(), regex, frames, stacks });
            patterns.len() - 1
        }
    };
    let Some(Pattern { regex, frames, stacks, .. }) = patterns.get_mut(at) else { return Ok(false) };
    if let Some(&known) = stacks.get(&number) {
        return Ok(known);
    }
    let Some((file, stack)) = source.stack(number) else { return Ok(false) };
    let Some(snapshot) = source.snapshot(file) else { return Ok(false) };
    let mut line = String::new();
    let is_match = snapshot.stacks.frames(stack).any(|frame| {
        *frames.entry((file, frame)).or_insert_with(|| {
            frame_line::write(&mut line, snapshot, snapshot.frames.frame(frame));
            regex.is_match(&line)
        })
    });
    stacks.insert(number, is_match);
    Ok(is_match)
}
