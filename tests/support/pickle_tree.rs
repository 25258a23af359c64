//! A builder that keeps every value of a pickle in a tree with shared nodes, for comparisons in tests.

use memscape::pickle::{Builder, Limits, PickleError, Unpickler};

/// Decodes a pickle in one chunk. Returns all values and the id of the root.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Trees, Id), PickleError<String>> {
    decode_with(bytes, Limits::default())
}

/// Like [`decode`], with other limits.
pub(crate) fn decode_with(bytes: &[u8], limits: Limits) -> Result<(Trees, Id), PickleError<String>> {
    let mut machine = Unpickler::new(Trees::default(), limits);
    machine.feed(bytes)?;
    machine.finish()
}

/// Index of a value in [`Trees`], or slot of an open container with [`OPEN`] set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(u64);

const OPEN: u64 = 1 << 63;

#[derive(Clone, Debug)]
enum Node {
    Leaf(String),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
}

/// All values of a pickle. To test errors of a builder, it fails for an item `refuse me` and for a finished dict with
/// the key `never finished`.
#[derive(Default)]
pub(crate) struct Trees {
    nodes: Vec<Node>,
    open: Vec<Option<Node>>,
    /// Maximum number of containers that were open at once.
    pub(crate) max_open: usize,
    /// Number of dicts created by `whole_dict`.
    pub(crate) whole_dicts: u64,
    /// Maximum length of a batch passed at once.
    pub(crate) longest_batch: usize,
}

impl Trees {
    /// Returns the value like Python's `repr`, with dicts sorted by the text of their keys.
    pub(crate) fn text(&self, id: Id) -> String {
        let list = |items: &[Id]| items.iter().map(|&item| self.text(item)).collect::<Vec<_>>().join(", ");
        match &self.nodes[id.0 as usize] {
            Node::Leaf(text) => text.clone(),
            Node::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
            Node::Tuple(items) => format!("({})", list(items)),
            Node::List(items) => format!("[{}]", list(items)),
            Node::Dict(pairs) => {
                let mut pairs: Vec<_> =
                    pairs.iter().map(|&(key, value)| format!("{}: {}", self.text(key), self.text(value))).collect();
                pairs.sort();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }

    /// Returns the items of a list or tuple, or the values of a dict. Equal ids mean shared values.
    pub(crate) fn items(&self, id: Id) -> Vec<Id> {
        match &self.nodes[id.0 as usize] {
            Node::Leaf(_) => Vec::new(),
            Node::Tuple(items) | Node::List(items) => items.clone(),
            Node::Dict(pairs) => pairs.iter().map(|&(_, value)| value).collect(),
        }
    }

    fn leaf(&self, id: Id) -> Option<&str> {
        match &self.nodes[id.0 as usize] {
            Node::Leaf(text) => Some(text),
            _ => None,
        }
    }

    fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        Id(self.nodes.len() as u64 - 1)
    }

    fn open(&mut self, slot: u32, node: Node) {
        let slot = slot as usize;
        self.open.resize(self.open.len().max(slot + 1), None);
        assert!(self.open[slot].is_none(), "slot {slot} is in use");
        self.open[slot] = Some(node);
        self.max_open = self.max_open.max(self.open.iter().flatten().count());
    }

    fn check(&mut self, items: &[Id]) -> Result<(), (usize, String)> {
        self.longest_batch = self.longest_batch.max(items.len());
        assert!(items.iter().all(|item| self.open_slot(*item).is_none()), "an item is still open");
        match items.iter().position(|&item| self.leaf(item) == Some("'refuse me'")) {
            Some(at) => Err((at, "refused".to_owned())),
            None => Ok(()),
        }
    }
}

impl Builder for Trees {
    type Value = Id;
    type Error = String;

    fn open_handle(&self, slot: u32) -> Id {
        Id(OPEN | u64::from(slot))
    }
    fn open_slot(&self, value: Id) -> Option<u32> {
        (value.0 & OPEN != 0).then_some(value.0 as u32)
    }
    fn none(&mut self) -> Result<Id, String> {
        Ok(self.add(Node::Leaf("None".to_owned())))
    }
    fn bool(&mut self, value: bool) -> Result<Id, String> {
        Ok(self.add(Node::Leaf(if value { "True" } else { "False" }.to_owned())))
    }
    fn int(&mut self, value: i64) -> Result<Id, String> {
        Ok(self.add(Node::Leaf(value.to_string())))
    }
    fn big_int(&mut self, little_endian: &[u8]) -> Result<Id, String> {
        Ok(self.add(Node::Leaf(hexadecimal(little_endian))))
    }
    fn float(&mut self, value: f64) -> Result<Id, String> {
        Ok(self.add(Node::Leaf(format!("{value:?}"))))
    }
    fn string(&mut self, bytes: &[u8]) -> Result<Id, String> {
        Ok(self.add(Node::Leaf(quoted(bytes))))
    }
    fn bytes(&mut self, bytes: &[u8]) -> Result<Id, String> {
        Ok(self.add(Node::Leaf(format!("b{}", quoted(bytes)))))
    }
    fn tuple(&mut self, items: &[Id]) -> Result<Id, String> {
        self.check(items).map_err(|(_, error)| error)?;
        Ok(self.add(Node::Tuple(items.to_vec())))
    }
    fn open_list(&mut self, slot: u32) {
        self.open(slot, Node::List(Vec::new()));
    }
    fn open_dict(&mut self, slot: u32) {
        self.open(slot, Node::Dict(Vec::new()));
    }
    fn append(&mut self, slot: u32, items: &[Id]) -> Result<(), (usize, String)> {
        self.check(items)?;
        match &mut self.open[slot as usize] {
            Some(Node::List(list)) => list.extend(items),
            other => panic!("append to {other:?}"),
        }
        Ok(())
    }
    fn set_items(&mut self, slot: u32, pairs: &[Id]) -> Result<(), (usize, String)> {
        self.check(pairs)?;
        let mut taken = self.open[slot as usize].take();
        let Some(Node::Dict(dict)) = &mut taken else { panic!("set_items on {taken:?}") };
        for pair in pairs.chunks(2) {
            let found = dict.iter_mut().find(|(key, _)| match (self.leaf(*key), self.leaf(pair[0])) {
                (Some(one), Some(other)) => one == other,
                _ => *key == pair[0],
            });
            match found {
                Some((_, value)) => *value = pair[1],
                None => dict.push((pair[0], pair[1])),
            }
        }
        self.open[slot as usize] = taken;
        Ok(())
    }
    fn finish(&mut self, slot: u32) -> Result<Id, String> {
        let node = self.open[slot as usize].take().expect("only an open container is finished");
        if let Node::Dict(pairs) = &node
            && pairs.iter().any(|&(key, _)| self.leaf(key) == Some("'never finished'"))
        {
            return Err("this dict can't be".to_owned());
        }
        Ok(self.add(node))
    }
    fn build_dict(&mut self, keys: &[Id], values: &[Id]) -> Option<Id> {
        assert_eq!(keys.len(), values.len());
        let slot = self.open.len() as u32;
        self.open_dict(slot);
        let pairs: Vec<Id> = keys.iter().zip(values).flat_map(|(&key, &value)| [key, value]).collect();
        let made = self.set_items(slot, &pairs).ok().and_then(|()| self.finish(slot).ok());
        self.open.truncate(slot as usize);
        self.whole_dicts += u64::from(made.is_some());
        made
    }
    fn drop_list(&mut self, slot: u32) {
        let node = self.open[slot as usize].take();
        assert!(matches!(node, Some(Node::List(items)) if items.is_empty()), "only an empty list is abandoned");
    }
    fn open_len(&self, slot: u32) -> u64 {
        match &self.open[slot as usize] {
            Some(Node::List(items)) => items.len() as u64,
            _ => 0,
        }
    }
    fn key_text(&self, key: Id) -> Option<String> {
        self.leaf(key).map(|text| text.trim_matches('\'').to_owned())
    }
}

/// Returns a string approximately like Python's `repr`.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    format!("'{}'", bytes.escape_ascii())
}

/// Returns a large integer in hexadecimal two's complement, with the fewest bytes that keep its sign.
pub(crate) fn hexadecimal(little_endian: &[u8]) -> String {
    let sign = if little_endian.last().is_some_and(|&top| top >= 0x80) { 0xff } else { 0 };
    let mut bytes = little_endian.to_vec();
    while bytes.len() > 1 && bytes[bytes.len() - 1] == sign && (bytes[bytes.len() - 2] >= 0x80) == (sign != 0) {
        bytes.pop();
    }
    bytes.iter().rev().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}
