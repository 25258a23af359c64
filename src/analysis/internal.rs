//! Rules for internal frames, which are left out of call trees and lists of frames. One rule per line.
//!
//! ```text
//! file:/torch/         frames whose path contains the text; backslashes count as slashes
//! name:_call_impl      frames of this function
//! name:at::*           functions that start with the text; `*` in front: end with it; on both sides: contain it
//! native               frames without a Python file
//! ```

use super::id_set::IdSet;
use super::site::{Sites, call_site};
use history::snapshot::{Frame, FrameId, Snapshot, StackId, StringId};

/// Default rules. They match files of PyTorch, Python and installed packages, the calls around a module's `forward`,
/// and C++ frames.
pub const DEFAULT_RULES: &[&str] = &[
    "file:site-packages/torch/",
    "file:dist-packages/torch/",
    "file:/lib/python3",
    "file:<frozen",
    "file:<string>",
    "name:_call_impl",
    "name:_wrapped_call_impl",
    "native",
];

/// Maximum number of rules, and maximum length of a rule in bytes. Every frame is matched against every rule.
const MOST: usize = 1000;
/// Maximum length of a name or path that is tested, in bytes.
const MAX_NAME_LEN: usize = 4096;

/// An invalid rule, with its line number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {cause}")]
pub struct RuleError {
    /// Line number, counted from 1.
    pub line: u32,
    pub cause: RuleProblem,
}

/// Reason why a rule is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// The line does not start with a known keyword.
    #[error("a rule must be file:TEXT, name:TEXT or native")]
    Unknown,
    /// There is no text after the keyword.
    #[error("the text is missing")]
    Empty,
    /// The rule is too long, or there are too many rules.
    #[error("the limit is 1,000 rules of 1,000 bytes")]
    TooMany,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    File(String),
    /// Function name to match. The edges say whether the text must be at the start and at the end of the name.
    Name(String, [Edge; 2]),
    Native,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Anchored,
    Free,
}

/// Parsed rules for internal frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalRules {
    rules: Vec<Rule>,
}

impl Default for InternalRules {
    fn default() -> InternalRules {
        InternalRules::parse_leniently(DEFAULT_RULES)
    }
}

impl InternalRules {
    /// Parses rules, one per line, and ignores empty lines.
    ///
    /// # Errors
    /// Returns the first invalid line.
    pub fn parse(lines: &[impl AsRef<str>]) -> Result<InternalRules, RuleError> {
        let mut rules = Vec::new();
        for (line, text) in (1..).zip(lines) {
            rules.extend(parse_rule(text.as_ref(), rules.len()).map_err(|cause| RuleError { line, cause })?);
        }
        Ok(InternalRules { rules })
    }

    /// Parses rules, one per line, and skips invalid lines.
    pub fn parse_leniently(lines: &[impl AsRef<str>]) -> InternalRules {
        let mut rules = Vec::new();
        for text in lines {
            rules.extend(parse_rule(text.as_ref(), rules.len()).ok().flatten());
        }
        InternalRules { rules }
    }

    /// Returns true if a rule matches the file or name of a frame. Results are cached in `known`.
    pub fn is_internal(&self, snapshot: &Snapshot, frame: &Frame, known: &mut RuleCache) -> bool {
        let RuleCache { files, names } = known;
        files.of(snapshot, frame.filename, || self.is_internal_file(snapshot, frame.filename))
            || names.of(snapshot, frame.name, || self.is_internal_name(snapshot, frame.name))
    }

    /// Returns the frames of a stack that lists of frames show, innermost first: those that no rule matches. If all are
    /// internal, returns the call site and its callers, because the frames inside the call site belong to the allocator
    /// and the recorder. Consecutive frames of the same line, as in recursion, are one frame.
    pub fn shown_frames(&self, snapshot: &Snapshot, stack: StackId, known: &mut RuleCache) -> Vec<FrameId> {
        let mut shown: Vec<FrameId> = Vec::new();
        let position = |id: FrameId| {
            let frame = snapshot.frames.frame(id);
            (frame.filename, frame.name, frame.line)
        };
        let mut add = |id: FrameId| {
            if shown.last().is_none_or(|&last| position(last) != position(id)) {
                shown.push(id);
            }
        };
        let mut is_shown = |id: FrameId| !self.is_internal(snapshot, snapshot.frames.frame(id), known);
        let frames = || snapshot.stacks.frames(stack);
        match frames().any(&mut is_shown) {
            true => frames().filter(|&id| is_shown(id)).for_each(&mut add),
            false => {
                let site = call_site(snapshot, stack);
                frames().skip_while(|&id| Some(id) != site).for_each(&mut add);
            }
        }
        shown
    }

    fn is_internal_file(&self, snapshot: &Snapshot, file: StringId) -> bool {
        let path = cut(snapshot.strings.bytes(file));
        self.rules.iter().any(|rule| match rule {
            Rule::File(text) => is_in_file(path, text.as_bytes()),
            Rule::Name(..) => false,
            Rule::Native => Sites::is_native(snapshot, file),
        })
    }

    fn is_internal_name(&self, snapshot: &Snapshot, name: StringId) -> bool {
        let name = cut(snapshot.strings.bytes(name));
        let by_name = |rule: &Rule| matches!(rule, Rule::Name(text, edges) if is_named(name, text.as_bytes(), *edges));
        self.rules.iter().any(by_name)
    }
}

/// Cached results for files and names, since many frames share them.
#[derive(Debug, Default)]
pub struct RuleCache {
    files: CachedSet,
    names: CachedSet,
}

/// Cached results, indexed by string id.
#[derive(Debug, Default)]
struct CachedSet {
    known: IdSet,
    internal: IdSet,
}

impl CachedSet {
    fn of(&mut self, snapshot: &Snapshot, id: StringId, look: impl FnOnce() -> bool) -> bool {
        if self.known.count() == 0 {
            let none = || IdSet::with_bound(snapshot.strings.len());
            (self.known, self.internal) = (none(), none());
        }
        if !self.known.contains(id.0) {
            self.known.insert(id.0);
            if look() {
                self.internal.insert(id.0);
            }
        }
        self.internal.contains(id.0)
    }
}

/// Parses one line. Returns `None` if the line is empty. `known` is the number of rules parsed so far.
fn parse_rule(line: &str, known: usize) -> Result<Option<Rule>, RuleProblem> {
    let line = line.trim();
    if line.len() > MOST || known >= MOST {
        return Err(RuleProblem::TooMany);
    }
    let rule = match line.split_once(':') {
        None if line.is_empty() => return Ok(None),
        None if line == "native" => Rule::Native,
        Some(("file", text)) => Rule::File(text.trim().to_owned()),
        Some(("name", text)) => {
            let (text, start) = match text.trim().strip_prefix('*') {
                Some(text) => (text, Edge::Free),
                None => (text.trim(), Edge::Anchored),
            };
            let (text, end) = match text.strip_suffix('*') {
                Some(text) => (text, Edge::Free),
                None => (text, Edge::Anchored),
            };
            Rule::Name(text.to_owned(), [start, end])
        }
        _ => return Err(RuleProblem::Unknown),
    };
    match &rule {
        Rule::File(text) | Rule::Name(text, _) if text.is_empty() => Err(RuleProblem::Empty),
        _ => Ok(Some(rule)),
    }
}

fn cut(text: &[u8]) -> &[u8] {
    text.get(..MAX_NAME_LEN).unwrap_or(text)
}

fn is_in_file(file: &[u8], text: &[u8]) -> bool {
    let slashed = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
    file.windows(text.len().max(1)).any(|window| window.iter().map(slashed).eq(text.iter().map(slashed)))
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len().max(1)).any(|window| window == text)
}

fn is_named(name: &[u8], text: &[u8], edges: [Edge; 2]) -> bool {
    match edges {
        [Edge::Anchored, Edge::Anchored] => name == text,
        [Edge::Anchored, Edge::Free] => name.starts_with(text),
        [Edge::Free, Edge::Anchored] => name.ends_with(text),
        [Edge::Free, Edge::Free] => contains(name, text),
    }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/internal.rs"]
mod tests;
