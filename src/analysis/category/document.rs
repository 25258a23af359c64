//! Parsed JSON or YAML documents. Each value records its line number for error messages.

use history::json::{Limits, Parser};
use history::pickle::Builder;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// Maximum nesting depth. A valid set of rules needs far fewer levels.
const DEEPEST: usize = 16;

/// Index of a value in its document.
pub type ValueId = u32;

/// A document and the id of its root value, or the line number and message of a syntax error.
pub type ParsedDocument = Result<(Document, ValueId), (u32, String)>;

/// A JSON or YAML value. Containers store the ids of their elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ValueKind {
    Text(String),
    Number(i64),
    /// A scalar that is neither text nor an integer, such as `null`.
    Other,
    List(Vec<ValueId>),
    /// Key-value pairs in document order. Keys are strings.
    Dict(Vec<(ValueId, ValueId)>),
}

/// All values of a parsed document. A [`ValueId`] is an index into them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    values: Vec<(u32, ValueKind)>,
    /// Stack of containers that are not closed yet, each with its line number.
    #[serde(skip)]
    open: Vec<(u32, ValueKind)>,
    #[serde(skip)]
    line: u32,
}

impl Document {
    /// Parses JSON. Returns the document and the id of its root value.
    pub(super) fn parse_json(text: &str) -> ParsedDocument {
        let mut machine = Parser::new(Document::default(), Limits { nesting: DEEPEST, ..Limits::default() });
        for line in text.split_inclusive('\n') {
            machine.builder_mut().line += 1;
            let number = machine.builder().line;
            machine.feed(line.as_bytes()).map_err(|wrong| (number, wrong.kind.to_string()))?;
        }
        let last = machine.builder().line.max(1);
        machine.finish().map_err(|wrong| (last, wrong.kind.to_string()))
    }

    /// Adds a value that starts on the given line, and returns its id.
    pub fn push(&mut self, line: u32, kind: ValueKind) -> ValueId {
        self.values.push((line, kind));
        self.values.len() as ValueId - 1
    }

    /// Returns the line number of a value, counted from 1, and the value.
    pub fn value(&self, id: ValueId) -> (u32, &ValueKind) {
        self.values.get(id as usize).map_or((0, &ValueKind::Other), |(line, kind)| (*line, kind))
    }

    fn leaf(&mut self, kind: ValueKind) -> Result<ValueId, Infallible> {
        Ok(self.push(self.line, kind))
    }

    fn open_container(&mut self, slot: u32, kind: ValueKind) {
        self.open.truncate(slot as usize);
        self.open.push((self.line, kind));
    }
}

impl Builder for Document {
    type Value = ValueId;
    type Error = Infallible;

    fn open_handle(&self, slot: u32) -> ValueId {
        slot
    }

    fn open_slot(&self, _: ValueId) -> Option<u32> {
        None
    }

    fn none(&mut self) -> Result<ValueId, Infallible> {
        self.leaf(ValueKind::Other)
    }

    fn bool(&mut self, _: bool) -> Result<ValueId, Infallible> {
        self.leaf(ValueKind::Other)
    }

    fn int(&mut self, value: i64) -> Result<ValueId, Infallible> {
        self.leaf(ValueKind::Number(value))
    }

    fn big_int(&mut self, _: &[u8]) -> Result<ValueId, Infallible> {
        self.leaf(ValueKind::Other)
    }

    fn float(&mut self, _: f64) -> Result<ValueId, Infallible> {
        self.leaf(ValueKind::Other)
    }

    fn string(&mut self, bytes: &[u8]) -> Result<ValueId, Infallible> {
        self.leaf(ValueKind::Text(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn bytes(&mut self, _: &[u8]) -> Result<ValueId, Infallible> {
        self.leaf(ValueKind::Other)
    }

    fn tuple(&mut self, _: &[ValueId]) -> Result<ValueId, Infallible> {
        self.leaf(ValueKind::Other)
    }

    fn open_list(&mut self, slot: u32) {
        self.open_container(slot, ValueKind::List(Vec::new()));
    }

    fn open_dict(&mut self, slot: u32) {
        self.open_container(slot, ValueKind::Dict(Vec::new()));
    }

    fn append(&mut self, slot: u32, items: &[ValueId]) -> Result<(), (usize, Infallible)> {
        if let Some((_, ValueKind::List(list))) = self.open.get_mut(slot as usize) {
            list.extend_from_slice(items);
        }
        Ok(())
    }

    fn set_items(&mut self, slot: u32, pairs: &[ValueId]) -> Result<(), (usize, Infallible)> {
        if let (Some((_, ValueKind::Dict(dict))), &[key, value]) = (self.open.get_mut(slot as usize), pairs) {
            dict.push((key, value));
        }
        Ok(())
    }

    fn finish(&mut self, _: u32) -> Result<ValueId, Infallible> {
        let (line, kind) = self.open.pop().unwrap_or((0, ValueKind::Other));
        Ok(self.push(line, kind))
    }

    fn open_len(&self, _: u32) -> u64 {
        0
    }

    fn key_text(&self, _: ValueId) -> Option<String> {
        None
    }
}
