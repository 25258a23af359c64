//! User-defined file name patterns, such as `{host}_{rank}_iter{step}.pickle`.

use super::endings::strip_endings;

/// Maximum number of fields and literal texts in a pattern.
const MAX_PARTS: usize = 64;
/// Maximum length of a field name.
const LONGEST: usize = 16;

/// A file name pattern. `*` and `{host}` match anything within a path component. `{rank}`, `{step}` and coordinates
/// such as `{pp}` match numbers. A pattern without `/` is matched against the last path component. Extensions such as
/// `.pickle.gz` may be omitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
    /// Number of path components that the pattern is matched against.
    folders: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Any text within a path component. Contains the name of the field, which is empty for `*`.
    Word(&'static str),
    Number(String),
}

impl Pattern {
    /// Parses a file name pattern.
    ///
    /// # Errors
    /// Returns an error message if the pattern is invalid.
    pub fn parse(typed: &str) -> Result<Pattern, String> {
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = strip_endings(typed.trim());
        while !rest.is_empty() {
            let (part, after) = match rest.find(['*', '{']) {
                Some(0) if rest.starts_with('*') => (Part::Word(""), rest.get(1..)),
                Some(0) => {
                    let end = rest.find('}').ok_or("the pattern has no } for its {")?;
                    let name = rest.get(1..end).unwrap_or_default();
                    let is_name = |letter: u8| letter.is_ascii_lowercase() || letter == b'_';
                    if name.is_empty() || name.len() > LONGEST || !name.bytes().all(is_name) {
                        return Err(format!(
                            "{{{name}}} is no field: use {{rank}}, {{step}}, {{host}} or a coordinate such as {{pp}}"
                        ));
                    }
                    let part = if name == "host" { Part::Word("host") } else { Part::Number(name.to_owned()) };
                    (part, rest.get(end + 1..))
                }
                found => {
                    let end = found.unwrap_or(rest.len());
                    (Part::Text(rest.get(..end).unwrap_or_default().to_owned()), rest.get(end..))
                }
            };
            parts.push(part);
            rest = after.unwrap_or_default();
        }
        if parts.len() > MAX_PARTS {
            return Err("the pattern is too long".to_owned());
        }
        if !parts.iter().any(|part| matches!(part, Part::Number(_) | Part::Word("host"))) {
            return Err("the pattern has no field: write {rank} where the rank stands".to_owned());
        }
        Ok(Pattern { parts, folders: typed.trim().matches('/').count() + 1 })
    }

    /// Matches a path. Returns the names and values of the fields, or `None` if the path does not match.
    pub fn match_path<'a>(&'a self, path: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
        let stem = strip_endings(path);
        let from = stem.rmatch_indices('/').nth(self.folders - 1).map_or(0, |(index, _)| index + 1);
        let mut rest = stem.get(from..)?;
        let mut fields = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let is_last_but_one = index + 2 == self.parts.len();
            let length = match part {
                Part::Text(text) => rest.starts_with(&**text).then_some(text.len())?,
                Part::Number(_) => rest.bytes().take_while(u8::is_ascii_digit).count(),
                // Ends where the next part begins. Before the last part, at its last occurrence.
                Part::Word(_) => {
                    let end = rest.find('/').unwrap_or(rest.len());
                    match self.parts.get(index + 1) {
                        None => end,
                        Some(Part::Text(text)) if is_last_but_one => rest.len().checked_sub(text.len())?,
                        // A text may extend into the next path component.
                        Some(Part::Text(text)) => {
                            rest.match_indices(&**text).map(|(index, _)| index).find(|&index| index <= end)?
                        }
                        Some(Part::Number(_)) => rest.get(..end)?.find(|letter: char| letter.is_ascii_digit())?,
                        Some(Part::Word(_)) => 0,
                    }
                }
            };
            let (value, after) = rest.split_at_checked(length)?;
            match part {
                Part::Number(_) if value.is_empty() => return None,
                Part::Word(_) if value.contains('/') => return None,
                Part::Number(name) => fields.push((&**name, value)),
                Part::Word("host") => fields.push(("host", value)),
                Part::Word(_) | Part::Text(_) => {}
            }
            rest = after;
        }
        rest.is_empty().then_some(fields)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/compare/ranks/pattern.rs"]
mod tests;
