//! A builder whose values are digests of their contents, so that two readings of a pickle can be compared in linear
//! time even if containers are shared. The number of values created does not matter, since a shortcut may create unused
//! ones.

use memscape::json;
use memscape::pickle::{Builder, Constructed, Limits, Unpickler};

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Returns the digest of a pickle, or its error, in one line.
pub(crate) fn read(pickle: &[u8], limits: Limits, chunk: usize) -> String {
    let mut machine = Unpickler::new(Digests::default(), limits);
    for piece in pickle.chunks(chunk) {
        if let Err(error) = machine.feed(piece) {
            return format!("{error:?}: {error}");
        }
    }
    match machine.finish() {
        Ok((_, value)) => format!("{:x}", value.0),
        Err(error) => format!("{error:?}: {error}"),
    }
}

/// Returns the digest of a JSON text, or its error, in one line.
pub(crate) fn read_json(text: &[u8], limits: json::Limits, chunk: usize) -> String {
    let mut machine = json::Parser::new(Digests::default(), limits);
    for piece in text.chunks(chunk) {
        if let Err(error) = machine.feed(piece) {
            return format!("{error:?}: {error}");
        }
    }
    match machine.finish() {
        Ok((_, value)) => format!("{:x}", value.0),
        Err(error) => format!("{error:?}: {error}"),
    }
}

/// The digest of a value, or the slot of an open container with [`OPEN`] set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest(u64);

const OPEN: u64 = 1 << 63;

fn digest(what: impl Hash) -> Digest {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    Digest(hasher.finish() & !OPEN)
}

enum Open {
    Nothing,
    List(Vec<u64>),
    Dict(BTreeMap<u64, u64>),
}

/// Builds [`Digest`]s.
#[derive(Default)]
struct Digests {
    open: Vec<Open>,
}

impl Digests {
    fn open(&mut self, slot: u32, what: Open) {
        let slot = slot as usize;
        while self.open.len() <= slot {
            self.open.push(Open::Nothing);
        }
        assert!(matches!(self.open[slot], Open::Nothing), "container {slot} is still open");
        self.open[slot] = what;
    }

    fn check(&self, items: &[Digest]) {
        assert!(items.iter().all(|item| item.0 & OPEN == 0), "an open container is used as a value");
    }
}

impl Builder for Digests {
    type Value = Digest;
    type Error = &'static str;

    fn open_handle(&self, slot: u32) -> Digest {
        Digest(OPEN | u64::from(slot))
    }
    fn open_slot(&self, value: Digest) -> Option<u32> {
        (value.0 & OPEN != 0).then_some(value.0 as u32)
    }
    fn none(&mut self) -> Result<Digest, &'static str> {
        Ok(digest("none"))
    }
    fn bool(&mut self, value: bool) -> Result<Digest, &'static str> {
        Ok(digest(("bool", value)))
    }
    fn int(&mut self, value: i64) -> Result<Digest, &'static str> {
        Ok(digest(("int", value)))
    }
    fn big_int(&mut self, little_endian: &[u8]) -> Result<Digest, &'static str> {
        Ok(digest(("big", little_endian)))
    }
    fn float(&mut self, value: f64) -> Result<Digest, &'static str> {
        Ok(digest(("float", value.to_bits())))
    }
    fn string(&mut self, bytes: &[u8]) -> Result<Digest, &'static str> {
        // Lets the builder fail, to compare the offsets of its errors.
        if bytes == b"refuse" { Err("refused") } else { Ok(digest(("string", bytes))) }
    }
    fn bytes(&mut self, bytes: &[u8]) -> Result<Digest, &'static str> {
        Ok(digest(("bytes", bytes)))
    }
    fn tuple(&mut self, items: &[Digest]) -> Result<Digest, &'static str> {
        self.check(items);
        Ok(digest(("tuple", items.iter().map(|item| item.0).collect::<Vec<_>>())))
    }
    fn global(&mut self, module: &str, name: &str, _: Option<Digest>) -> Option<Digest> {
        (module == "collections").then(|| digest(("global", name)))
    }
    fn construct(&mut self, constructor: Digest, arguments: Digest) -> Option<Constructed<Digest>> {
        self.check(&[constructor, arguments]);
        let named = |name: &str| constructor == digest(("global", name));
        match () {
            () if named("OrderedDict") => Some(Constructed::Dict),
            () if named("deque") => Some(Constructed::List),
            () if named("Counter") => Some(Constructed::Value(digest(("counter", arguments.0)))),
            () => None,
        }
    }
    fn with_state(&mut self, value: Digest, state: Digest) -> Option<Digest> {
        self.check(&[value, state]);
        Some(value)
    }
    fn open_list(&mut self, slot: u32) {
        self.open(slot, Open::List(Vec::new()));
    }
    fn open_dict(&mut self, slot: u32) {
        self.open(slot, Open::Dict(BTreeMap::new()));
    }
    fn append(&mut self, slot: u32, items: &[Digest]) -> Result<(), (usize, &'static str)> {
        self.check(items);
        if let Some(at) = items.iter().position(|&item| item == digest(("bytes", b"refuse".as_slice()))) {
            return Err((at, "refused in a list"));
        }
        let Some(Open::List(list)) = self.open.get_mut(slot as usize) else { panic!("slot {slot} has no open list") };
        list.extend(items.iter().map(|item| item.0));
        Ok(())
    }
    fn set_items(&mut self, slot: u32, pairs: &[Digest]) -> Result<(), (usize, &'static str)> {
        self.check(pairs);
        assert!(pairs.len().is_multiple_of(2), "a key without its value");
        let Some(Open::Dict(dict)) = self.open.get_mut(slot as usize) else { panic!("slot {slot} has no open dict") };
        dict.extend(pairs.chunks(2).map(|pair| (pair[0].0, pair[1].0)));
        Ok(())
    }
    fn finish(&mut self, slot: u32) -> Result<Digest, &'static str> {
        match std::mem::replace(&mut self.open[slot as usize], Open::Nothing) {
            Open::List(items) => Ok(digest(("list", items))),
            Open::Dict(pairs) => Ok(digest(("dict", pairs))),
            Open::Nothing => panic!("slot {slot} is finished twice"),
        }
    }
    fn build_dict(&mut self, keys: &[Digest], values: &[Digest]) -> Option<Digest> {
        self.check(keys);
        self.check(values);
        // Refuses some, as the product's builder does. Then the reader must build the same dict in the ordinary way.
        let pairs: BTreeMap<u64, u64> = keys.iter().zip(values).map(|(key, value)| (key.0, value.0)).collect();
        let refused = keys.len() != values.len() || pairs.values().any(|value| value % 8 == 0);
        (!refused).then(|| digest(("dict", pairs)))
    }
    fn drop_list(&mut self, slot: u32) {
        let abandoned = std::mem::replace(&mut self.open[slot as usize], Open::Nothing);
        assert!(matches!(abandoned, Open::List(items) if items.is_empty()), "only an empty list is abandoned");
    }
    fn open_len(&self, slot: u32) -> u64 {
        match self.open.get(slot as usize) {
            Some(Open::List(items)) => items.len() as u64,
            _ => 0,
        }
    }
    fn key_text(&self, key: Digest) -> Option<String> {
        Some(format!("{:x}", key.0))
    }
}
