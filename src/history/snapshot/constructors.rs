//! Constructors of plain values that a pickle may name, and the values that stand for their results. None is called.

use super::store::Store;
use super::strings::StringId;
use super::value::{Kind, Value};
use crate::pickle::Constructed;

/// Constructor of plain values, by what its result is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Constructor {
    /// A dict, empty or the first argument.
    Dict,
    /// A list, empty or the first argument.
    List,
    /// The first argument itself.
    First,
    /// The bytes of a text in Latin-1. Protocols before 3 write bytes as such a text.
    Encode,
    /// A NumPy number, from its type and its bytes.
    Number,
    NumberType,
    /// Data that is no part of a snapshot, such as a NumPy array, a tensor or a date. It is read as None.
    Opaque,
    /// An instance of a subclass of dict, which is read as the dict.
    Subclass,
    /// A class that is only an argument of other constructors.
    Class,
}

use Constructor::{Class, Dict, Encode, First, List, Number, NumberType, Opaque, Subclass};

/// Modules, names in them, and how their results are read.
const KNOWN: [(&[&str], &[&str], Constructor); 19] = [
    (&["collections"], &["OrderedDict", "defaultdict", "Counter"], Dict),
    (&["collections"], &["deque"], List),
    (&["builtins", "__builtin__"], &["dict"], Dict),
    (&["builtins", "__builtin__"], &["list", "tuple", "set", "frozenset"], List),
    (
        &["builtins", "__builtin__"],
        &["int", "long", "float", "bool", "str", "unicode", "bytes", "bytearray", "complex"],
        First,
    ),
    (&["builtins", "__builtin__"], &["object"], Class),
    (&["_codecs"], &["encode"], Encode),
    (&["numpy.core.multiarray", "numpy._core.multiarray"], &["scalar"], Number),
    (&["numpy.core.multiarray", "numpy._core.multiarray"], &["_reconstruct"], Opaque),
    (&["numpy.core.numeric", "numpy._core.numeric"], &["_frombuffer"], Opaque),
    (&["datetime"], &["datetime", "date", "time", "timedelta", "timezone"], Opaque),
    (&["pathlib", "pathlib._local"], &["PosixPath", "WindowsPath", "PurePosixPath", "Path"], Opaque),
    (&["argparse"], &["Namespace"], Opaque),
    (&["torch"], &["device", "Size"], Opaque),
    (
        &["torch._utils"],
        &[
            "_rebuild_tensor",
            "_rebuild_tensor_v2",
            "_rebuild_tensor_v3",
            "_rebuild_parameter",
            "_rebuild_sparse_tensor",
        ],
        Opaque,
    ),
    (&["torch.serialization"], &["_get_layout"], Opaque),
    (&["torch.storage"], &["UntypedStorage", "TypedStorage"], Class),
    (&["numpy"], &["dtype"], NumberType),
    (&["copyreg", "copy_reg"], &["_reconstructor"], Subclass),
];

const CONSTRUCTORS: [Constructor; 9] = [Dict, List, First, Encode, Number, NumberType, Opaque, Subclass, Class];

impl Store {
    /// Returns the reference to a known constructor. `below` is the value before it: any class may be the first
    /// argument of the constructor of a subclass of dict, and of that of an array. Storage types and dtypes of tensors,
    /// such as `torch.FloatStorage` and `torch.float32`, are arguments as well.
    pub(super) fn constructor(&self, module: &str, name: &str, below: Option<Value>) -> Option<Value> {
        let known = KNOWN.iter().find(|(modules, names, _)| modules.contains(&module) && names.contains(&name));
        let is_type = || name.ends_with("Storage") || name.starts_with(|letter: char| letter.is_ascii_lowercase());
        let is_argument =
            || module == "torch" && is_type() || matches!(below.and_then(constructor_of), Some(Subclass | Opaque));
        let constructor = known.map(|&(.., constructor)| constructor).or_else(|| is_argument().then_some(Class))?;
        Some(Value::new(Kind::Constructor, constructor as u32))
    }

    /// Returns what a constructor makes of `arguments`, or `None` if this is not plain data.
    pub(super) fn construct(&mut self, constructor: Value, arguments: Value) -> Option<Constructed<Value>> {
        if arguments.kind() != Kind::Tuple {
            return None;
        }
        let [first, second, third] = {
            let mut values = self.values(arguments);
            [values.next(), values.next(), values.next()]
        };
        let value = match constructor_of(constructor)? {
            Dict => match first.map(Value::kind) {
                // The function that makes missing values of a defaultdict.
                None | Some(Kind::Constructor | Kind::Constant) => return Some(Constructed::Dict),
                Some(kind) if is_dict(kind) => first,
                Some(_) => None,
            },
            List => match first {
                Some(list) if !list.is_sequence() => None,
                Some(list)
                    if !matches!(list.kind(), Kind::List | Kind::Tuple) || self.values(list).next().is_some() =>
                {
                    Some(list)
                }
                _ => return Some(Constructed::List),
            },
            First => first,
            Encode => {
                let text = std::str::from_utf8(self.text(first?)?).ok()?;
                let bytes =
                    text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect::<Option<Vec<u8>>>()?;
                self.intern_text(&bytes)
            }
            Number => self.number(first?.as_kind(Kind::NumberType)?, second?),
            NumberType => number_type(self.text(first?)?),
            Opaque => Some(Value::NONE),
            Subclass => third.filter(|state| is_dict(state.kind())),
            Class => None,
        };
        value.map(Constructed::Value)
    }

    /// Returns a value after its state was set, which is dropped. Returns `None` for the byte order of old machines.
    pub(super) fn with_state(&self, value: Value, state: Value) -> Option<Value> {
        let is_big_endian = || self.values(state).nth(1).and_then(|order| self.text(order)) == Some(b">");
        match value.kind() {
            Kind::Constructor => None,
            Kind::NumberType if is_big_endian() => None,
            _ => Some(value),
        }
    }

    fn text(&self, value: Value) -> Option<&[u8]> {
        value.as_kind(Kind::String).map(|id| self.strings.bytes(StringId(id)))
    }

    fn intern_text(&mut self, bytes: &[u8]) -> Option<Value> {
        self.strings.intern(bytes).map(|id| Value::new(Kind::String, id.0))
    }

    /// Returns the value of a NumPy number (or text) of this type, from its little-endian bytes.
    fn number(&mut self, number_type: u32, bytes: Value) -> Option<Value> {
        let bytes = self.text(bytes)?;
        let (kind, size) = ((number_type >> 24) as u8, (number_type & 0xff_ffff) as usize);
        match kind {
            b'S' | b'a' => {
                let text = bytes.to_vec();
                return self.intern_text(text.trim_ascii_end());
            }
            b'U' => {
                let letters = bytes.as_chunks::<4>().0.iter().map(|letter| char::from_u32(u32::from_le_bytes(*letter)));
                let text: String = letters.collect::<Option<_>>()?;
                return self.intern_text(text.trim_end_matches('\0').as_bytes());
            }
            _ if bytes.len() != size || size > 8 => return None,
            _ => {}
        }
        let is_negative = kind == b'i' && bytes.last().is_some_and(|&top| top >= 0x80);
        let mut word = [if is_negative { 0xff } else { 0 }; 16];
        word.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
        let integer = i128::from_le_bytes(word);
        match (kind, size) {
            (b'i' | b'u', _) => self.integer(integer).ok(),
            (b'b' | b'?', _) => Some(if integer == 0 { Value::FALSE } else { Value::TRUE }),
            (b'f', 8) => self.float(f64::from_bits(integer as u64)).ok(),
            (b'f', 4) => self.float(f32::from_bits(integer as u32).into()).ok(),
            (b'f', 2) => self.float(half_to_f64(integer as u16)).ok(),
            _ => None,
        }
    }
}

/// Converts a number with 16 bits: a sign, 5 bits of the exponent and 10 of the fraction.
fn half_to_f64(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

fn constructor_of(value: Value) -> Option<Constructor> {
    CONSTRUCTORS.get(value.as_kind(Kind::Constructor)? as usize).copied()
}

/// Parses the name of a NumPy type: `i8`, `<f4`, `U12`.
fn number_type(name: &[u8]) -> Option<Value> {
    let name = name.strip_prefix(b"<").or_else(|| name.strip_prefix(b"|")).unwrap_or(name);
    let (&kind, size) = name.split_first()?;
    let size: u32 = std::str::from_utf8(size).ok()?.parse().ok().filter(|&size| size <= 0xff_ffff)?;
    Some(Value::new(Kind::NumberType, u32::from(kind) << 24 | size))
}

/// Returns whether values of this kind are dicts in the file.
fn is_dict(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Dict | Kind::Event | Kind::Frame | Kind::Block | Kind::Segment | Kind::Annotation | Kind::HistoryEntry
    )
}
