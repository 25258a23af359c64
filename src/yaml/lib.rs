//! Parser of category rules in YAML. It records the line of each value. Aliases share their value and are limited in
//! number. Merge keys (`<<`) work as in PyYAML. A text must contain a single document.
//!
//! The command line calls [`parse`]. The page parses YAML in a worker with its own wasm, since few users have rules in
//! YAML.

use analysis::category::{CategorySet, Document, ParsedDocument, SetError, ValueId, ValueKind};
use base::units::group_digits;
use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Maximum nesting depth of lists and mappings.
const MAX_DEPTH: usize = 16;
/// Maximum number of values that all aliases of a text expand to. Without a limit, a few lines could expand to billions
/// of values.
const MAX_ALIASED: usize = 100_000;

/// Error in a text: line number (starting at 1) and message.
type LineError = (u32, String);

/// List or mapping whose end has not been read yet.
struct OpenContainer {
    line: u32,
    anchor: usize,
    /// Items of a list, or alternating keys and values of a mapping.
    items: Vec<ValueId>,
    is_mapping: bool,
    /// Number of values that had been read before this container was opened.
    count_before: usize,
}

#[derive(Default)]
struct Reader {
    document: Document,
    open: Vec<OpenContainer>,
    /// Values that have an anchor, by anchor id: the value, and the number of values inside.
    anchors: BTreeMap<usize, (ValueId, usize)>,
    /// Number of values read so far. Each alias counts all values that it expands to.
    value_count: usize,
    aliased_count: usize,
    root: Option<ValueId>,
}

/// Parses a set of category rules from JSON or YAML.
///
/// # Errors
/// Returns all errors with their lines, or only a syntax error that prevents reading the rest.
pub fn parse(text: &str) -> Result<CategorySet, Vec<SetError>> {
    if CategorySet::is_json(text) {
        CategorySet::parse(text)
    } else {
        CategorySet::from_document(read(CategorySet::check_length(text)?))
    }
}

/// Parses a JSON or YAML text. Returns the document and its root value.
///
/// # Errors
/// Returns the line and the message of the first error.
pub fn read(text: &str) -> ParsedDocument {
    let mut reader = Reader::default();
    let last = text.lines().count().max(1);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|wrong| (wrong.marker().line().min(last) as u32, wrong.info().to_owned()))?;
        reader.on_event(event, span)?;
    }
    let Reader { mut document, root, .. } = reader;
    let outermost = root.unwrap_or_else(|| document.push(1, ValueKind::Other));
    Ok((document, outermost))
}

impl Reader {
    fn on_event(&mut self, event: Event<'_>, span: Span) -> Result<(), LineError> {
        let line = span.start.line() as u32;
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                return Err((line, "more than one document".to_owned()));
            }
            Event::Scalar(text, style, anchor, tag) => {
                let kind = self.scalar(text, style, tag.as_deref()).map_err(|wrong| (line, wrong))?;
                self.value_count += 1;
                self.push(line, kind, anchor, 1);
            }
            Event::SequenceStart(anchor, tag) => self.open_container(line, anchor, tag.as_deref(), false)?,
            Event::MappingStart(anchor, tag) => self.open_container(line, anchor, tag.as_deref(), true)?,
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(OpenContainer { line, anchor, items, is_mapping, count_before }) = self.open.pop() {
                    let kind = if is_mapping { self.mapping(&items)? } else { ValueKind::List(items) };
                    self.push(line, kind, anchor, self.value_count - count_before);
                }
            }
            Event::Alias(anchor) => {
                let Some(&(value, count)) = self.anchors.get(&anchor) else {
                    return Err((line, "an alias inside its own anchor".to_owned()));
                };
                self.value_count += count;
                self.aliased_count += count;
                if self.aliased_count > MAX_ALIASED {
                    return Err((
                        line,
                        format!("aliases expand to more than {} values", group_digits(MAX_ALIASED as u64)),
                    ));
                }
                self.add_value(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn open_container(
        &mut self,
        line: u32,
        anchor: usize,
        tag: Option<&Tag>,
        is_mapping: bool,
    ) -> Result<(), LineError> {
        if self.open.len() >= MAX_DEPTH {
            return Err((line, "nested too deep".to_owned()));
        }
        check_tag(tag, if is_mapping { "map" } else { "seq" }).map_err(|wrong| (line, wrong))?;
        self.open.push(OpenContainer { line, anchor, items: Vec::new(), is_mapping, count_before: self.value_count });
        self.value_count += 1;
        Ok(())
    }

    /// Determines the type of a scalar. Keys, quoted scalars and scalars tagged `!!str` are strings.
    fn scalar(&self, text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Result<ValueKind, String> {
        let is_key = self.open.last().is_some_and(|open| open.is_mapping && open.items.len().is_multiple_of(2));
        let is_number = check_tag(tag, "int").is_ok() && tag.is_some();
        check_tag(tag.filter(|_| !is_number), "str")?;
        let is_text = tag.is_some() || is_key || style != ScalarStyle::Plain;
        Ok(match &*text {
            _ if is_text && !is_number => ValueKind::Text(text.into_owned()),
            "" | "~" | "null" | "Null" | "NULL" | "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => {
                ValueKind::Other
            }
            plain => plain.parse().map_or_else(|_| ValueKind::Text(plain.to_owned()), ValueKind::Number),
        })
    }

    /// Builds a mapping. Pairs that are merged with `<<` come first, so that the mapping's own pairs override them.
    fn mapping(&self, items: &[ValueId]) -> Result<ValueKind, LineError> {
        let (mut merged, mut pairs) = (Vec::new(), Vec::new());
        for pair in items.chunks_exact(2) {
            let &[key, value] = pair else { continue };
            match self.document.value(key) {
                (_, ValueKind::Text(name)) if name == "<<" => self.merge(value, &mut merged)?,
                (_, ValueKind::Text(_)) => pairs.push((key, value)),
                (line, _) => return Err((line, "a key must be a string".to_owned())),
            }
        }
        merged.append(&mut pairs);
        Ok(ValueKind::Dict(merged))
    }

    fn merge(&self, from: ValueId, merged: &mut Vec<(ValueId, ValueId)>) -> Result<(), LineError> {
        match self.document.value(from) {
            (_, ValueKind::Dict(pairs)) => merged.extend_from_slice(pairs),
            // The first mapping takes precedence, so it is added last.
            (_, ValueKind::List(items)) => {
                for &item in items.iter().rev() {
                    match self.document.value(item) {
                        (_, ValueKind::Dict(pairs)) => merged.extend_from_slice(pairs),
                        (line, _) => return Err((line, "\"<<\" must be mappings".to_owned())),
                    }
                }
            }
            (line, _) => return Err((line, "\"<<\" must be a mapping".to_owned())),
        }
        Ok(())
    }

    fn push(&mut self, line: u32, kind: ValueKind, anchor: usize, count: usize) {
        let value = self.document.push(line, kind);
        if anchor > 0 {
            self.anchors.insert(anchor, (value, count));
        }
        self.add_value(value);
    }

    fn add_value(&mut self, value: ValueId) {
        match self.open.last_mut() {
            Some(open) => open.items.push(value),
            None => self.root = Some(value),
        }
    }
}

/// Returns an error if a value has a tag other than `name`, the type that it has without a tag.
fn check_tag(tag: Option<&Tag>, name: &str) -> Result<(), String> {
    match tag.filter(|tag| !tag.is_yaml_core_schema() || tag.suffix != name) {
        Some(tag) => Err(format!("unsupported tag {tag}")),
        None => Ok(()),
    }
}
