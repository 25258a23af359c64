//! Reads a pickle into a tree and writes it in other formats.

use memscape::pickle::{Builder, Limits, Unpickler};
use std::collections::HashMap;

/// A value with shared parts, as in a pickle.
#[derive(Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    open: Vec<Vec<Id>>,
    root: Id,
}

/// Index of a node in the tree, or slot of an open container with [`OPEN`] set.
pub(crate) type Id = u64;

const OPEN: u64 = 1 << 63;

#[derive(Clone)]
enum Node {
    /// `null`, `true`, `12` or `0.5`. JSON and Python only differ in the words.
    Scalar(String),
    Text(Vec<u8>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Dict(Vec<Id>),
}

/// Whitespace of JSON output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `json.dump(…, separators=(",", ":"))`
    Compact,
    /// `json.dump(…, indent=4)`
    Pretty,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Text,
    Binary,
}

impl Tree {
    /// Reads a pickle.
    pub(crate) fn from_pickle(pickle: &[u8]) -> Tree {
        let mut machine = Unpickler::new(Tree::default(), Limits::default());
        machine.feed(pickle).expect("a pickle");
        let (mut tree, root) = machine.finish().expect("a whole pickle");
        tree.root = root;
        tree
    }

    /// Returns the value as JSON. Shared parts are written each time.
    pub(crate) fn json(&self, layout: Layout) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_json(self.root, layout, 0, &mut out);
        out
    }

    fn write_json(&self, id: Id, layout: Layout, depth: usize, out: &mut Vec<u8>) {
        let line = |out: &mut Vec<u8>, depth: usize| {
            if layout == Layout::Pretty {
                out.push(b'\n');
                out.extend(std::iter::repeat_n(b' ', 4 * depth));
            }
        };
        let (items, is_dict) = match &self.nodes[id as usize] {
            Node::Scalar(text) => return out.extend(text.as_bytes()),
            Node::Text(bytes) => {
                let text = std::str::from_utf8(bytes).expect("real files hold UTF-8");
                return out.extend(serde_json::to_vec(text).unwrap());
            }
            Node::List(items) | Node::Tuple(items) => (items, false),
            Node::Dict(items) => (items, true),
        };
        out.push(if is_dict { b'{' } else { b'[' });
        for (at, &item) in items.iter().enumerate() {
            if is_dict && at % 2 == 1 {
                out.extend(if layout == Layout::Pretty { &b": "[..] } else { b":" });
            } else {
                out.extend((at > 0).then_some(b','));
                line(out, depth + 1);
            }
            match &self.nodes[item as usize] {
                Node::Scalar(key) if is_dict && at % 2 == 0 => out.extend(format!("\"{key}\"").as_bytes()),
                _ => self.write_json(item, layout, depth + 1, out),
            }
        }
        if !items.is_empty() {
            line(out, depth);
        }
        out.push(if is_dict { b'}' } else { b']' });
    }

    /// Returns the value as Python's `pickle.dumps(…, 0)` writes it, in text, with shared values in the memo.
    pub(crate) fn protocol_0(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_protocol(self.root, Protocol::Text, &mut HashMap::new(), &mut out);
        out.push(b'.');
        out
    }

    /// Returns the value as `pickle.dumps(…, 1)` writes it, in binary, except that integers beyond 32 bits are text.
    pub(crate) fn protocol_1(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_protocol(self.root, Protocol::Binary, &mut HashMap::new(), &mut out);
        out.push(b'.');
        out
    }

    fn write_protocol(&self, id: Id, protocol: Protocol, memo: &mut HashMap<Id, usize>, out: &mut Vec<u8>) {
        let is_text = protocol == Protocol::Text;
        if let Some(slot) = memo.get(&id) {
            return match u8::try_from(*slot) {
                _ if is_text => out.extend(format!("g{slot}\n").bytes()),
                Ok(slot) => out.extend([b'h', slot]),
                Err(_) => out.extend([&b"j"[..], &(*slot as u32).to_le_bytes()].concat()),
            };
        }
        let put = |memo: &mut HashMap<Id, usize>, out: &mut Vec<u8>| {
            let slot = memo.len();
            memo.insert(id, slot);
            match u8::try_from(slot) {
                _ if is_text => out.extend(format!("p{slot}\n").bytes()),
                Ok(slot) => out.extend([b'q', slot]),
                Err(_) => out.extend([&b"r"[..], &(slot as u32).to_le_bytes()].concat()),
            }
        };
        match &self.nodes[id as usize] {
            Node::Scalar(word) => match (word.as_str(), word.parse::<i32>()) {
                ("null", _) => out.push(b'N'),
                ("true", _) => out.extend(b"I01\n"),
                ("false", _) => out.extend(b"I00\n"),
                (_, Ok(small)) if is_text => out.extend(format!("I{small}\n").bytes()),
                (_, Ok(small)) => out.extend([&b"J"[..], &small.to_le_bytes()].concat()),
                (float, _) if float.contains(['.', 'e', 'i', 'N']) => out.extend(format!("F{float}\n").bytes()),
                (large, _) => out.extend(format!("L{large}L\n").bytes()),
            },
            Node::Text(bytes) if is_text => {
                out.push(b'V');
                for character in std::str::from_utf8(bytes).expect("real files hold UTF-8").chars() {
                    match u32::from(character) {
                        point @ (0 | 0x0a | 0x0d | 0x1a | 0x5c | 0x100..0x10000) => {
                            out.extend(format!("\\u{point:04x}").bytes());
                        }
                        point @ 0x10000.. => out.extend(format!("\\U{point:08x}").bytes()),
                        point => out.push(point as u8),
                    }
                }
                out.push(b'\n');
                put(memo, out);
            }
            Node::Text(bytes) => {
                out.extend([&b"X"[..], &(bytes.len() as u32).to_le_bytes(), bytes].concat());
                put(memo, out);
            }
            Node::Tuple(items) => {
                out.push(b'(');
                items.iter().for_each(|&item| self.write_protocol(item, protocol, memo, out));
                out.push(b't');
                put(memo, out);
            }
            Node::List(items) => {
                out.extend(if is_text { &b"(l"[..] } else { b"]" });
                put(memo, out);
                self.write_batches(items, 1, protocol, memo, out);
            }
            Node::Dict(items) => {
                out.extend(if is_text { &b"(d"[..] } else { b"}" });
                put(memo, out);
                self.write_batches(items, 2, protocol, memo, out);
            }
        }
    }

    /// Writes items one by one in text, or in batches of 1000 in binary. An item has `width` values.
    fn write_batches(
        &self,
        items: &[Id],
        width: usize,
        protocol: Protocol,
        memo: &mut HashMap<Id, usize>,
        out: &mut Vec<u8>,
    ) {
        let most = if protocol == Protocol::Text { 1 } else { 1000 };
        for batch in items.chunks(most * width) {
            let is_single = batch.len() == width;
            out.extend((!is_single).then_some(b'('));
            batch.iter().for_each(|&item| self.write_protocol(item, protocol, memo, out));
            out.push(match (width, is_single) {
                (1, true) => b'a',
                (1, false) => b'e',
                (_, true) => b's',
                (_, false) => b'u',
            });
        }
    }

    fn add(&mut self, node: Node) -> Result<Id, String> {
        self.nodes.push(node);
        Ok(self.nodes.len() as u64 - 1)
    }

    fn scalar(&mut self, text: impl ToString) -> Result<Id, String> {
        self.add(Node::Scalar(text.to_string()))
    }

    fn open(&mut self, slot: u32, kind: Node) {
        let slot = slot as usize;
        self.open.resize(self.open.len().max(slot + 1), Vec::new());
        self.open[slot].clear();
        // The first entry is the node to fill when the container is finished.
        let kind = self.add(kind).expect("adding a node cannot fail");
        self.open[slot].push(kind);
    }
}

impl Builder for Tree {
    type Value = Id;
    type Error = String;

    fn open_handle(&self, slot: u32) -> Id {
        OPEN | u64::from(slot)
    }
    fn open_slot(&self, value: Id) -> Option<u32> {
        (value & OPEN != 0).then_some(value as u32)
    }
    fn none(&mut self) -> Result<Id, String> {
        self.scalar("null")
    }
    fn bool(&mut self, value: bool) -> Result<Id, String> {
        self.scalar(value)
    }
    fn int(&mut self, value: i64) -> Result<Id, String> {
        self.scalar(value)
    }
    fn big_int(&mut self, little_endian: &[u8]) -> Result<Id, String> {
        let sign = if little_endian.last().is_some_and(|&top| top >= 0x80) { 0xff } else { 0 };
        let mut bytes = [sign; 16];
        bytes[..little_endian.len()].copy_from_slice(little_endian);
        self.scalar(i128::from_le_bytes(bytes))
    }
    fn float(&mut self, value: f64) -> Result<Id, String> {
        self.scalar(format!("{value:?}"))
    }
    fn string(&mut self, bytes: &[u8]) -> Result<Id, String> {
        self.add(Node::Text(bytes.to_vec()))
    }
    fn bytes(&mut self, _: &[u8]) -> Result<Id, String> {
        Err("no snapshot holds bytes".to_owned())
    }
    fn tuple(&mut self, items: &[Id]) -> Result<Id, String> {
        self.add(Node::Tuple(items.to_vec()))
    }
    fn open_list(&mut self, slot: u32) {
        self.open(slot, Node::List(Vec::new()));
    }
    fn open_dict(&mut self, slot: u32) {
        self.open(slot, Node::Dict(Vec::new()));
    }
    fn append(&mut self, slot: u32, items: &[Id]) -> Result<(), (usize, String)> {
        self.open[slot as usize].extend(items);
        Ok(())
    }
    fn set_items(&mut self, slot: u32, pairs: &[Id]) -> Result<(), (usize, String)> {
        self.append(slot, pairs)
    }
    fn finish(&mut self, slot: u32) -> Result<Id, String> {
        let (kind, items) =
            self.open[slot as usize].split_first().map(|(kind, items)| (*kind, items.to_vec())).unwrap();
        match &mut self.nodes[kind as usize] {
            Node::List(list) => *list = items,
            Node::Dict(dict) => *dict = items,
            _ => return Err("neither a list nor a dict".to_owned()),
        }
        Ok(kind)
    }
    fn open_len(&self, slot: u32) -> u64 {
        self.open[slot as usize].len() as u64 - 1
    }
    fn key_text(&self, _: Id) -> Option<String> {
        None
    }
    fn is_shareable(&self, _: Id) -> bool {
        false
    }
}
