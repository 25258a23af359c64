//! Which frames are internal: rules as data, one a line, that say what is left out of a tree of stacks.
//!
//! ```text
//! file:/torch/         frames whose file holds the text; a backslash is a slash, as on Windows
//! name:_call_impl      frames of that function
//! name:at::*           functions that begin so; `*` at the other end: that end so; at both: that hold the text
//! native               frames without a Python file
//! ```

use super::id_set::IdSet;
use super::site::Sites;
use history::snapshot::{Frame, Snapshot, StringId};

/// What is left out when nobody says otherwise: torch's and Python's own files with all packages beside them, what calls a module's
/// `forward`, and C++.
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

/// Rules that are heeded, and bytes of a rule: each frame of a file is held against each of them.
const MOST: usize = 1000;
/// Bytes of a name that are looked at: no real one is longer.
const LONGEST_NAME: usize = 4096;

/// Why a line is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {cause}")]
pub struct RuleError {
    /// Which line, from 1.
    pub line: u32,
    pub cause: RuleProblem,
}

/// What can be wrong with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// It begins with none of the words.
    #[error("a rule must be file:TEXT, name:TEXT or native")]
    Unknown,
    /// There is no text.
    #[error("the text is missing")]
    Empty,
    /// It is too long, or one of too many.
    #[error("the limit is 1,000 rules of 1,000 bytes")]
    TooMany,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    File(String),
    /// The text, and whether it must be where the name begins and where it ends.
    Name(String, [Edge; 2]),
    Native,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Here,
    Anywhere,
}

/// Rules that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalRules {
    rules: Vec<Rule>,
}

impl Default for InternalRules {
    fn default() -> InternalRules {
        InternalRules::heeded(DEFAULT_RULES)
    }
}

impl InternalRules {
    /// Reads rules, one a line; empty lines say nothing.
    ///
    /// # Errors
    /// The first line that is no rule.
    pub fn parse(lines: &[impl AsRef<str>]) -> Result<InternalRules, RuleError> {
        let mut rules = Vec::new();
        for (line, text) in (1..).zip(lines) {
            rules.extend(read(text.as_ref(), rules.len()).map_err(|cause| RuleError { line, cause })?);
        }
        Ok(InternalRules { rules })
    }

    /// The same without the lines that are no rules.
    pub fn heeded(lines: &[impl AsRef<str>]) -> InternalRules {
        let mut rules = Vec::new();
        for text in lines {
            rules.extend(read(text.as_ref(), rules.len()).ok().flatten());
        }
        InternalRules { rules }
    }

    /// Whether a frame is internal: by its file or by its name, each of which is looked at once.
    pub fn is_internal(&self, snapshot: &Snapshot, frame: &Frame, known: &mut Verdicts) -> bool {
        let Verdicts { files, names } = known;
        files.of(snapshot, frame.filename, || self.is_internal_file(snapshot, frame.filename))
            || names.of(snapshot, frame.name, || self.is_internal_name(snapshot, frame.name))
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

/// What the rules say of the files and names that were looked at: many frames share one.
#[derive(Debug, Default)]
pub struct Verdicts {
    files: Verdict,
    names: Verdict,
}

/// By string: whether it was looked at, and whether frames of it are internal.
#[derive(Debug, Default)]
struct Verdict {
    known: IdSet,
    internal: IdSet,
}

impl Verdict {
    fn of(&mut self, snapshot: &Snapshot, id: StringId, look: impl FnOnce() -> bool) -> bool {
        if self.known.count() == 0 {
            let none = || IdSet::below(snapshot.strings.len());
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

/// A line as a rule; nothing for an empty one.
fn read(line: &str, known: usize) -> Result<Option<Rule>, RuleProblem> {
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
                Some(text) => (text, Edge::Anywhere),
                None => (text.trim(), Edge::Here),
            };
            let (text, end) = match text.strip_suffix('*') {
                Some(text) => (text, Edge::Anywhere),
                None => (text, Edge::Here),
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
    text.get(..LONGEST_NAME).unwrap_or(text)
}

fn is_in_file(file: &[u8], text: &[u8]) -> bool {
    let slashed = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
    file.windows(text.len().max(1)).any(|window| window.iter().map(slashed).eq(text.iter().map(slashed)))
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len().max(1)).any(|window| window == text)
}

fn is_named(name: &[u8], text: &[u8], edges: [Edge; 2]) -> bool {
    match edges {
        [Edge::Here, Edge::Here] => name == text,
        [Edge::Here, Edge::Anywhere] => name.starts_with(text),
        [Edge::Anywhere, Edge::Here] => name.ends_with(text),
        [Edge::Anywhere, Edge::Anywhere] => holds(name, text),
    }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/internal.rs"]
mod tests;
