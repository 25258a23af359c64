//! Parsed JSON or YAML documents whose values know their line.

use history::json::{Limits, Machine};
use history::pickle::Builder;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// Maximum nesting depth: a size comparison in a rule in the list of a set.
const DEEPEST: usize = 16;

/// Index of a value in its document.
pub type Id = u32;

/// A document and its outermost value, or the line and message of a syntax error.
pub type ReadDocument = Result<(Document, Id), (u32, String)>;

/// Kind of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kind {
    Text(String),
    Number(i64),
    /// Any other scalar.
    Other,
    List(Vec<Id>),
    /// Pairs in the order of the text. Keys are strings.
    Dict(Vec<(Id, Id)>),
}

/// Values of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    values: Vec<(u32, Kind)>,
    /// Containers that are not complete yet.
    #[serde(skip)]
    open: Vec<(u32, Kind)>,
    #[serde(skip)]
    line: u32,
}

impl Document {
    /// Parses JSON. Returns the document and its outermost value.
    pub(super) fn of_json(text: &str) -> ReadDocument {
        let mut machine = Machine::new(Document::default(), Limits { nesting: DEEPEST, ..Limits::default() });
        for line in text.split_inclusive('\n') {
            machine.builder_mut().line += 1;
            let number = machine.builder().line;
            machine.feed(line.as_bytes()).map_err(|wrong| (number, wrong.kind.to_string()))?;
        }
        let last = machine.builder().line.max(1);
        machine.finish().map_err(|wrong| (last, wrong.kind.to_string()))
    }

    /// Adds a value that starts on this line.
    pub fn push(&mut self, line: u32, kind: Kind) -> Id {
        self.values.push((line, kind));
        self.values.len() as Id - 1
    }

    /// Returns the line of a value, from 1, and its kind.
    pub fn value(&self, id: Id) -> (u32, &Kind) {
        self.values.get(id as usize).map_or((0, &Kind::Other), |(line, kind)| (*line, kind))
    }

    fn leaf(&mut self, kind: Kind) -> Result<Id, Infallible> {
        Ok(self.push(self.line, kind))
    }

    fn begin(&mut self, slot: u32, kind: Kind) {
        self.open.truncate(slot as usize);
        self.open.push((self.line, kind));
    }
}

impl Builder for Document {
    type Value = Id;
    type Error = Infallible;

    fn open_handle(&self, slot: u32) -> Id {
        slot
    }

    fn open_slot(&self, _: Id) -> Option<u32> {
        None
    }

    fn none(&mut self) -> Result<Id, Infallible> {
        self.leaf(Kind::Other)
    }

    fn bool(&mut self, _: bool) -> Result<Id, Infallible> {
        self.leaf(Kind::Other)
    }

    fn int(&mut self, value: i64) -> Result<Id, Infallible> {
        self.leaf(Kind::Number(value))
    }

    fn big_int(&mut self, _: &[u8]) -> Result<Id, Infallible> {
        self.leaf(Kind::Other)
    }

    fn float(&mut self, _: f64) -> Result<Id, Infallible> {
        self.leaf(Kind::Other)
    }

    fn string(&mut self, bytes: &[u8]) -> Result<Id, Infallible> {
        self.leaf(Kind::Text(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn bytes(&mut self, _: &[u8]) -> Result<Id, Infallible> {
        self.leaf(Kind::Other)
    }

    fn tuple(&mut self, _: &[Id]) -> Result<Id, Infallible> {
        self.leaf(Kind::Other)
    }

    fn open_list(&mut self, slot: u32) {
        self.begin(slot, Kind::List(Vec::new()));
    }

    fn open_dict(&mut self, slot: u32) {
        self.begin(slot, Kind::Dict(Vec::new()));
    }

    fn append(&mut self, slot: u32, items: &[Id]) -> Result<(), (usize, Infallible)> {
        if let Some((_, Kind::List(list))) = self.open.get_mut(slot as usize) {
            list.extend_from_slice(items);
        }
        Ok(())
    }

    fn set_items(&mut self, slot: u32, pairs: &[Id]) -> Result<(), (usize, Infallible)> {
        if let (Some((_, Kind::Dict(dict))), &[key, value]) = (self.open.get_mut(slot as usize), pairs) {
            dict.push((key, value));
        }
        Ok(())
    }

    fn finish(&mut self, _: u32) -> Result<Id, Infallible> {
        let (line, kind) = self.open.pop().unwrap_or((0, Kind::Other));
        Ok(self.push(line, kind))
    }

    fn open_len(&self, _: u32) -> u64 {
        0
    }

    fn key_text(&self, _: Id) -> Option<String> {
        None
    }
}
