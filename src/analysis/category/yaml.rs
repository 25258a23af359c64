//! The part of YAML that lists of rules are written in → values: mappings and lists by indentation, plain and quoted texts, comments.
//!
//! What it does not know (anchors, tags, flow style, texts over several lines) is refused, with its line: nothing is guessed.

use super::document::{Document, Id, Kind};

/// Blocks in each other.
const DEEPEST: u32 = 16;

/// Why a text is not of this form: its line, from 1, and a sentence.
type Wrong = (u32, String);

struct Line<'a> {
    number: u32,
    indent: usize,
    rest: &'a str,
}

struct Reader<'a> {
    document: Document,
    lines: Vec<Line<'a>>,
    /// The line that is read next.
    next: usize,
    depth: u32,
}

/// Reads a text: the document and its outermost value.
pub(super) fn read(text: &str) -> Result<(Document, Id), Wrong> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        let rest = rest.trim_end();
        if rest.is_empty() || rest.starts_with('#') || (indent == 0 && matches!(rest, "---" | "...")) {
            continue;
        }
        if rest.starts_with('\t') {
            return Err((number, "a tab stands where spaces should".to_owned()));
        }
        lines.push(Line { number, indent, rest });
    }
    let mut reader = Reader { document: Document::default(), lines, next: 0, depth: 0 };
    let first = reader.lines.first().map_or(0, |line| line.indent);
    let outermost = reader.block(first)?;
    match reader.lines.get(reader.next) {
        Some(line) => Err((line.number, "its indentation fits no line above".to_owned())),
        None => Ok((reader.document, outermost)),
    }
}

impl<'a> Reader<'a> {
    fn at(&self, indent: usize) -> Option<(u32, &'a str)> {
        self.lines.get(self.next).filter(|line| line.indent == indent).map(|line| (line.number, line.rest))
    }

    /// What stands from the next line on, as far as it is indented so.
    fn block(&mut self, indent: usize) -> Result<Id, Wrong> {
        let Some((line, rest)) = self.at(indent) else {
            return Ok(self.document.push(1, Kind::Other));
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((line, "it is nested too deep".to_owned()));
        }
        let kind = if item(rest).is_some() { self.list(indent)? } else { self.mapping(indent)? };
        self.depth -= 1;
        Ok(self.document.push(line, kind))
    }

    fn list(&mut self, indent: usize) -> Result<Kind, Wrong> {
        let mut items = Vec::new();
        while let Some((line, rest)) = self.at(indent)
            && let Some(inner) = item(rest)
        {
            let is_block = item(inner).is_some() || key(inner, line)?.is_some();
            items.push(if is_block && let Some(place) = self.lines.get_mut(self.next) {
                // The item is a block of its own, as if the dash were a space.
                place.indent += rest.len() - inner.len();
                place.rest = inner;
                let indent = place.indent;
                self.block(indent)?
            } else {
                self.next += 1;
                self.value(indent, inner, line)?
            });
        }
        Ok(Kind::List(items))
    }

    fn mapping(&mut self, indent: usize) -> Result<Kind, Wrong> {
        let mut pairs = Vec::new();
        while let Some((line, rest)) = self.at(indent) {
            let Some((name, value)) = key(rest, line)? else {
                return Err((line, "a key and a colon should stand here".to_owned()));
            };
            self.next += 1;
            let name = self.document.push(line, Kind::Text(name));
            // A list may stand as far left as its key.
            let is_list = value.is_empty() && self.at(indent).is_some_and(|(_, rest)| item(rest).is_some());
            let value = if is_list { self.block(indent)? } else { self.value(indent, value, line)? };
            pairs.push((name, value));
        }
        Ok(Kind::Dict(pairs))
    }

    /// What stands behind a key or a dash: on the same line, or indented below it.
    fn value(&mut self, indent: usize, text: &str, line: u32) -> Result<Id, Wrong> {
        if !text.is_empty() {
            let kind = scalar(text, line)?;
            return Ok(self.document.push(line, kind));
        }
        match self.lines.get(self.next).map(|next| next.indent).filter(|&next| next > indent) {
            Some(deeper) => self.block(deeper),
            None => Ok(self.document.push(line, Kind::Other)),
        }
    }
}

/// What stands behind a dash, if a line begins with one.
fn item(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix('-')?;
    if inner.is_empty() || inner.starts_with(' ') { Some(uncommented(inner.trim_start())) } else { None }
}

/// Key and value of a line, if it has a key.
fn key(rest: &str, line: u32) -> Result<Option<(String, &str)>, Wrong> {
    let (name, behind) = if rest.starts_with(['"', '\'']) {
        let (name, behind) = quoted(rest, line)?;
        (name, behind.trim_start().strip_prefix(':'))
    } else {
        let colon = rest.find(": ").or_else(|| rest.ends_with(':').then(|| rest.len() - 1));
        let split = colon.and_then(|colon| rest.split_at_checked(colon));
        split.map_or((String::new(), None), |(name, behind)| (name.trim_end().to_owned(), behind.strip_prefix(':')))
    };
    Ok(behind
        .filter(|behind| behind.is_empty() || behind.starts_with(' '))
        .map(|it| (name, uncommented(it.trim_start()))))
}

/// Nothing where there is but a comment.
fn uncommented(text: &str) -> &str {
    if text.starts_with('#') { "" } else { text }
}

fn scalar(text: &str, line: u32) -> Result<Kind, Wrong> {
    if text.starts_with(['"', '\'']) {
        let (value, behind) = quoted(text, line)?;
        let behind = behind.trim_start();
        return match behind.is_empty() || behind.starts_with('#') {
            true => Ok(Kind::Text(value)),
            false => Err((line, "something stands behind the closing quote".to_owned())),
        };
    }
    let plain = text.find(" #").and_then(|comment| text.get(..comment)).unwrap_or(text).trim_end();
    if plain.starts_with(['[', '{', '&', '*', '!', '|', '>', '%', '@', '`', ']', '}', ',']) {
        return Err((line, "a text that begins with such a sign stands in quotes".to_owned()));
    }
    Ok(plain.parse().map_or_else(|_| Kind::Text(plain.to_owned()), Kind::Number))
}

/// A text in quotes, and what stands behind it.
fn quoted(text: &str, line: u32) -> Result<(String, &str), Wrong> {
    let mut letters = text.chars();
    let quote = letters.next();
    let mut value = String::new();
    loop {
        match letters.next() {
            None => return Err((line, "a quote is not closed on its line".to_owned())),
            // In single quotes two of them are one.
            letter if letter == quote => match (quote, letters.as_str().strip_prefix('\'')) {
                (Some('\''), Some(rest)) => {
                    value.push('\'');
                    letters = rest.chars();
                }
                _ => return Ok((value, letters.as_str())),
            },
            Some('\\') if quote == Some('"') => match letters.next() {
                Some(letter @ ('"' | '\\' | '/')) => value.push(letter),
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                _ => {
                    return Err((
                        line,
                        "an unknown sign follows a \\; in single quotes it stands for itself".to_owned(),
                    ));
                }
            },
            Some(letter) => value.push(letter),
        }
    }
}
