//! Parser of category rules in YAML. Values know their lines. Aliases are shared and counted, merge keys work as in
//! PyYAML. A text has a single document.
//!
//! The command line calls [`parse`]. The page parses YAML in a worker with its own wasm, since few users have such
//! rules.

use analysis::category::{CategorySet, Document, Id, Kind, ReadDocument, SetError};
use base::units::grouped;
use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Maximum nesting depth of lists and mappings.
const DEEPEST: usize = 16;
/// Maximum number of values that all aliases of a text expand to. Otherwise, a few lines could expand to billions of
/// values.
const MOST_ALIASED: usize = 100_000;

/// Error in a text: line (starting at 1) and sentence.
type Wrong = (u32, String);

/// List or mapping that is being read.
struct Open {
    line: u32,
    anchor: usize,
    /// Items of a list, or alternating keys and values of a mapping.
    items: Vec<Id>,
    is_mapping: bool,
    /// Number of values that were counted before it.
    counted: usize,
}

#[derive(Default)]
struct Reader {
    document: Document,
    open: Vec<Open>,
    /// Values by anchor, with the number of values that each contains.
    anchors: BTreeMap<usize, (Id, usize)>,
    /// Number of values, including those that aliases expand to.
    counted: usize,
    aliased: usize,
    outermost: Option<Id>,
}

/// Parses a set of rules from JSON or YAML.
///
/// # Errors
/// All errors by line, or only the first one if nothing can be read after it.
pub fn parse(text: &str) -> Result<CategorySet, Vec<SetError>> {
    if CategorySet::is_json(text) {
        CategorySet::parse(text)
    } else {
        CategorySet::of(read(CategorySet::checked(text)?))
    }
}

/// Parses a text. Returns the document and its root value.
///
/// # Errors
/// Line and description of the first error.
pub fn read(text: &str) -> ReadDocument {
    let mut reader = Reader::default();
    let last = text.lines().count().max(1);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|wrong| (wrong.marker().line().min(last) as u32, wrong.info().to_owned()))?;
        reader.take(event, span)?;
    }
    let Reader { mut document, outermost, .. } = reader;
    let outermost = outermost.unwrap_or_else(|| document.push(1, Kind::Other));
    Ok((document, outermost))
}

impl Reader {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Wrong> {
        let line = span.start.line() as u32;
        match event {
            Event::DocumentStart(_) if self.outermost.is_some() => {
                return Err((line, "more than one document".to_owned()));
            }
            Event::Scalar(text, style, anchor, tag) => {
                let kind = self.scalar(text, style, tag.as_deref()).map_err(|wrong| (line, wrong))?;
                self.counted += 1;
                self.push(line, kind, anchor, 1);
            }
            Event::SequenceStart(anchor, tag) => self.begin(line, anchor, tag.as_deref(), false)?,
            Event::MappingStart(anchor, tag) => self.begin(line, anchor, tag.as_deref(), true)?,
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { line, anchor, items, is_mapping, counted }) = self.open.pop() {
                    let kind = if is_mapping { self.mapping(&items)? } else { Kind::List(items) };
                    self.push(line, kind, anchor, self.counted - counted);
                }
            }
            Event::Alias(anchor) => {
                let Some(&(value, count)) = self.anchors.get(&anchor) else {
                    return Err((line, "an alias inside its own anchor".to_owned()));
                };
                self.counted += count;
                self.aliased += count;
                if self.aliased > MOST_ALIASED {
                    return Err((line, format!("aliases expand to more than {} values", grouped(MOST_ALIASED as u64))));
                }
                self.hand_over(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, line: u32, anchor: usize, tag: Option<&Tag>, is_mapping: bool) -> Result<(), Wrong> {
        if self.open.len() >= DEEPEST {
            return Err((line, "nested too deep".to_owned()));
        }
        known(tag, if is_mapping { "map" } else { "seq" }).map_err(|wrong| (line, wrong))?;
        self.open.push(Open { line, anchor, items: Vec::new(), is_mapping, counted: self.counted });
        self.counted += 1;
        Ok(())
    }

    /// Determines the kind of a scalar. Keys, quoted scalars and those tagged `!!str` are strings.
    fn scalar(&self, text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Result<Kind, String> {
        let is_key = self.open.last().is_some_and(|open| open.is_mapping && open.items.len().is_multiple_of(2));
        let is_number = known(tag, "int").is_ok() && tag.is_some();
        known(tag.filter(|_| !is_number), "str")?;
        let is_text = tag.is_some() || is_key || style != ScalarStyle::Plain;
        Ok(match &*text {
            _ if is_text && !is_number => Kind::Text(text.into_owned()),
            "" | "~" | "null" | "Null" | "NULL" | "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Kind::Other,
            plain => plain.parse().map_or_else(|_| Kind::Text(plain.to_owned()), Kind::Number),
        })
    }

    /// Builds a mapping. Its own pairs follow those merged with `<<`, so that they take precedence.
    fn mapping(&self, items: &[Id]) -> Result<Kind, Wrong> {
        let (mut merged, mut own) = (Vec::new(), Vec::new());
        for pair in items.chunks_exact(2) {
            let &[key, value] = pair else { continue };
            match self.document.value(key) {
                (_, Kind::Text(name)) if name == "<<" => self.merge(value, &mut merged)?,
                (_, Kind::Text(_)) => own.push((key, value)),
                (line, _) => return Err((line, "a key must be a string".to_owned())),
            }
        }
        merged.append(&mut own);
        Ok(Kind::Dict(merged))
    }

    fn merge(&self, from: Id, merged: &mut Vec<(Id, Id)>) -> Result<(), Wrong> {
        match self.document.value(from) {
            (_, Kind::Dict(pairs)) => merged.extend_from_slice(pairs),
            // The first mapping takes precedence, so it is added last.
            (_, Kind::List(items)) => {
                for &item in items.iter().rev() {
                    match self.document.value(item) {
                        (_, Kind::Dict(pairs)) => merged.extend_from_slice(pairs),
                        (line, _) => return Err((line, "\"<<\" must be mappings".to_owned())),
                    }
                }
            }
            (line, _) => return Err((line, "\"<<\" must be a mapping".to_owned())),
        }
        Ok(())
    }

    fn push(&mut self, line: u32, kind: Kind, anchor: usize, count: usize) {
        let value = self.document.push(line, kind);
        if anchor > 0 {
            self.anchors.insert(anchor, (value, count));
        }
        self.hand_over(value);
    }

    fn hand_over(&mut self, value: Id) {
        match self.open.last_mut() {
            Some(open) => open.items.push(value),
            None => self.outermost = Some(value),
        }
    }
}

/// Accepts only tags that state the kind the value has anyway.
fn known(tag: Option<&Tag>, name: &str) -> Result<(), String> {
    match tag.filter(|tag| !tag.is_yaml_core_schema() || tag.suffix != name) {
        Some(tag) => Err(format!("unsupported tag {tag}")),
        None => Ok(()),
    }
}
