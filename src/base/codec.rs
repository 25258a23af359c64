//! Plain data ↔ bytes: how messages cross between page and worker, which are the same build, so nothing is named or versioned.
//!
//! `#[derive(Coded)]` writes a type's fields one after the other. Small code is what this is made for: reading never fails half-way
//! (what is missing is read as zero), only as a whole, in [`decoded`].

use std::mem;

pub use memscape_derive::Coded;

/// A type that can be written as bytes and read back.
pub trait Coded {
    /// Writes it.
    fn encode(&self, writer: &mut Writer);
    /// Reads it; anything at all once [`Reader`] has met bytes that no writer wrote.
    fn decode(reader: &mut Reader) -> Self;
}

/// `value` as bytes.
pub fn encoded(value: &impl Coded) -> Vec<u8> {
    let mut writer = Writer(Vec::new());
    value.encode(&mut writer);
    writer.0
}

/// The value that these bytes are; `None` when they are no such value. Takes memory in proportion to the bytes, whatever they say.
pub fn decoded<T: Coded>(bytes: &[u8]) -> Option<T> {
    let mut reader = Reader { rest: bytes, is_sound: true };
    let value = T::decode(&mut reader);
    (reader.is_sound && reader.rest.is_empty()).then_some(value)
}

/// Bytes that grow.
#[derive(Debug)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Writes one byte.
    #[inline(never)]
    pub fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    /// Writes a number of 32 bits.
    #[inline(never)]
    pub fn word(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Writes a number of 64 bits.
    #[inline(never)]
    pub fn long(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Writes how many things follow: fewer than 2^32, as messages stay within wasm32's memory.
    fn count(&mut self, count: usize) {
        self.word(u32::try_from(count).unwrap_or(u32::MAX));
    }

    #[inline(never)]
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// Bytes that are still to be read.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    is_sound: bool,
}

impl Reader<'_> {
    /// Reads one byte.
    #[inline(never)]
    pub fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    /// Reads a number of 32 bits.
    #[inline(never)]
    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// Reads a number of 64 bits.
    #[inline(never)]
    pub fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// Reads which of `count` variants it is.
    #[inline(never)]
    pub fn tag(&mut self, count: u16) -> u8 {
        let tag = self.byte();
        self.is_sound &= u16::from(tag) < count;
        tag
    }

    /// Reads how many things follow: never more than there are bytes left, as each takes one at least.
    #[inline(never)]
    fn count(&mut self) -> usize {
        let count = self.word() as usize;
        if count > self.rest.len() {
            self.is_sound = false;
            return 0;
        }
        count
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> [u8; N] {
        match self.rest.split_first_chunk() {
            Some((bytes, rest)) => {
                self.rest = rest;
                *bytes
            }
            None => {
                self.is_sound = false;
                [0; N]
            }
        }
    }
}

/// Implements [`Coded`] for numbers that fit one of the forms.
macro_rules! coded_as {
    ($form:ident: $($number:ty),*) => {$(
        #[allow(clippy::cast_lossless, reason = "one macro for numbers that grow and those that change their sign")]
        impl Coded for $number {
            fn encode(&self, writer: &mut Writer) {
                writer.$form(*self as _);
            }

            fn decode(reader: &mut Reader) -> $number {
                reader.$form() as $number
            }
        }
    )*};
}

coded_as!(byte: u8);
coded_as!(word: u16, u32, i32);
coded_as!(long: u64, i64);

impl Coded for bool {
    fn encode(&self, writer: &mut Writer) {
        writer.byte(u8::from(*self));
    }

    fn decode(reader: &mut Reader) -> bool {
        reader.tag(2) == 1
    }
}

impl Coded for f64 {
    fn encode(&self, writer: &mut Writer) {
        writer.long(self.to_bits());
    }

    fn decode(reader: &mut Reader) -> f64 {
        f64::from_bits(reader.long())
    }
}

impl Coded for String {
    fn encode(&self, writer: &mut Writer) {
        writer.count(self.len());
        writer.bytes(self.as_bytes());
    }

    fn decode(reader: &mut Reader) -> String {
        let count = reader.count();
        let (text, rest) = reader.rest.split_at_checked(count).unwrap_or_default();
        reader.rest = rest;
        match str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(_) => {
                reader.is_sound = false;
                String::new()
            }
        }
    }
}

impl<T: Coded> Coded for Option<T> {
    fn encode(&self, writer: &mut Writer) {
        writer.byte(u8::from(self.is_some()));
        if let Some(value) = self {
            value.encode(writer);
        }
    }

    fn decode(reader: &mut Reader) -> Option<T> {
        bool::decode(reader).then(|| T::decode(reader))
    }
}

impl<T: Coded> Coded for Box<T> {
    fn encode(&self, writer: &mut Writer) {
        (**self).encode(writer);
    }

    fn decode(reader: &mut Reader) -> Box<T> {
        Box::new(T::decode(reader))
    }
}

impl<T: Coded> Coded for Vec<T> {
    fn encode(&self, writer: &mut Writer) {
        writer.count(self.len());
        for value in self {
            value.encode(writer);
        }
    }

    fn decode(reader: &mut Reader) -> Vec<T> {
        let count = reader.count();
        // No larger than the bytes at first: a broken message may promise many large values.
        let mut values = Vec::with_capacity(count.min(reader.rest.len() / mem::size_of::<T>().max(1) + 1));
        for _ in 0..count {
            if !reader.is_sound {
                break;
            }
            values.push(T::decode(reader));
        }
        values
    }
}

impl<T: Coded, const N: usize> Coded for [T; N] {
    fn encode(&self, writer: &mut Writer) {
        for value in self {
            value.encode(writer);
        }
    }

    fn decode(reader: &mut Reader) -> [T; N] {
        std::array::from_fn(|_| T::decode(reader))
    }
}

impl<A: Coded, B: Coded> Coded for (A, B) {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
        self.1.encode(writer);
    }

    fn decode(reader: &mut Reader) -> (A, B) {
        (A::decode(reader), B::decode(reader))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug, PartialEq, Coded)]
    struct Everything {
        flag: bool,
        numbers: (u8, [u16; 2]),
        pub(super) signed: [i64; 2],
        small: i32,
        real: f64,
        text: Option<String>,
        /// Commas between `<` and `>`.
        pairs: Vec<(String, Option<(u64, u32)>)>,
        choices: Vec<Choice>,
        whole: Box<Whole>,
        nothing: Unit,
    }

    #[derive(Clone, Debug, PartialEq, Coded)]
    enum Choice {
        Nothing,
        Tuple(Whole, Vec<(u32, u32)>),
        Named { one: u8, other: Option<i64> },
    }

    #[derive(Clone, Debug, PartialEq, Coded)]
    struct Whole(pub u32, String);

    #[derive(Clone, Debug, PartialEq, Coded)]
    struct Unit;

    fn everything() -> Everything {
        Everything {
            flag: true,
            numbers: (255, [65_535, 1]),
            signed: [i64::MIN, -1],
            small: -7,
            real: -0.1,
            text: Some("größer".into()),
            pairs: vec![(String::new(), None), ("b".into(), Some((u64::MAX, u32::MAX)))],
            choices: vec![
                Choice::Nothing,
                Choice::Tuple(Whole(3, "x".into()), vec![(1, 2), (3, 4)]),
                Choice::Named { one: 9, other: Some(-2) },
                Choice::Named { one: 0, other: None },
            ],
            whole: Box::new(Whole(0, "…".into())),
            nothing: Unit,
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(decoded(&encoded(&everything())), Some(everything()));
        let nan = f64::from_bits(0x7ff8_0000_0000_1234);
        assert_eq!(decoded::<f64>(&encoded(&nan)).map(f64::to_bits), Some(nan.to_bits()));
    }

    #[test]
    fn a_part_of_a_message_is_none_nor_is_more_than_one() {
        let mut bytes = encoded(&everything());
        for end in 0..bytes.len() {
            assert_eq!(decoded::<Everything>(&bytes[..end]), None, "{end}");
        }
        bytes.push(0);
        assert_eq!(decoded::<Everything>(&bytes), None);
    }

    #[test]
    fn unknown_tags_and_broken_texts_are_refused() {
        assert_eq!(decoded::<Choice>(&[3]), None);
        assert_eq!(decoded::<bool>(&[2]), None);
        assert_eq!(decoded::<Option<u8>>(&[2, 1]), None);
        assert_eq!(decoded::<String>(&[1, 0, 0, 0, 0xff]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_end_soon(bytes in prop::collection::vec(any::<u8>(), 0..200), count in any::<u32>()) {
            let _ = decoded::<Everything>(&bytes);
            let promise = [&count.to_le_bytes()[..], &bytes].concat();
            if let Some(texts) = decoded::<Vec<Vec<Whole>>>(&promise) {
                prop_assert_eq!(encoded(&texts), promise);
            }
        }
    }
}
