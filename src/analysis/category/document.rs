//! Parsed JSON or YAML documents whose values know their line.

use history::json::{Limits, Parser};
use history::pickle::Builder;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// Maximum nesting depth. A set with size comparisons has far fewer levels.
const DEEPEST: usize = 16;

/// Index of a value in its document.
pub type ValueId = u32;

/// A document and its outermost value, or the line and message of a syntax error.
pub type ParsedDocument = Result<(Document, ValueId), (u32, String)>;

/// Kind of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ValueKind {
    Text(String),
    Number(i64),
    /// Any other scalar.
    Other,
    List(Vec<ValueId>),
    /// Pairs in the order of the text. Keys are strings.
    Dict(Vec<(ValueId, ValueId)>),
}

/// Values of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    values: Vec<(u32, ValueKind)>,
    /// Containers that are not complete yet.
    #[serde(skip)]
    open: Vec<(u32, ValueKind)>,
    #[serde(skip)]
    line: u32,
}

impl Document {
    /// Parses JSON. Returns the document and its outermost value.
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

    /// Adds a value that starts on the given line. Returns its id.
    pub fn push(&mut self, line: u32, kind: ValueKind) -> ValueId {
        self.values.push((line, kind));
        self.values.len() as ValueId - 1
    }

    /// Returns the line of a value, from 1, and its kind.
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
