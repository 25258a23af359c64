//! Writes JSON values as pickles of protocol 4, with Python objects for plain values.

use serde_json::Value;

/// Python types of the values.
#[derive(Clone, Copy)]
pub(crate) struct Types {
    /// Instructions that push an empty dict or list.
    pub(crate) dict: &'static [u8],
    pub(crate) list: &'static [u8],
    /// Writes tuples in place of lists.
    pub(crate) tuples: bool,
    /// Instruction that pushes NumPy's constructor of numbers. Empty for plain integers.
    pub(crate) numbers: &'static [u8],
    /// Writes floats in place of integers.
    pub(crate) floats: bool,
    /// Writes bytes in place of strings.
    pub(crate) bytes: bool,
}

impl Default for Types {
    fn default() -> Types {
        Types { dict: b"}", list: b"]", tuples: false, numbers: b"", floats: false, bytes: false }
    }
}

pub(crate) fn pickle(value: &Value, types: Types) -> Vec<u8> {
    let mut out = vec![0x80, 4];
    write(value, types, &mut out);
    out.push(b'.');
    out
}

fn write(value: &Value, types: Types, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(b'N'),
        Value::Bool(value) => out.push(if *value { 0x88 } else { 0x89 }),
        Value::String(text) => write_text(text, types.bytes, out),
        Value::Number(number) => match number.as_i64() {
            Some(integer) if types.floats => write_float(integer as f64, out),
            Some(integer) if !types.numbers.is_empty() => {
                out.extend_from_slice(types.numbers);
                out.extend_from_slice(b"cnumpy\ndtype\n\x8c\x02i8\x89\x88\x87R");
                out.extend_from_slice(b"(K\x03\x8c\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tbC\x08");
                out.extend_from_slice(&integer.to_le_bytes());
                out.extend_from_slice(b"\x86R");
            }
            Some(integer) => {
                out.extend_from_slice(b"\x8a\x08");
                out.extend_from_slice(&integer.to_le_bytes());
            }
            None => write_float(number.as_f64().unwrap_or_default(), out),
        },
        Value::Array(values) if types.tuples => {
            out.push(b'(');
            values.iter().for_each(|value| write(value, types, out));
            out.push(b't');
        }
        Value::Array(values) => {
            out.extend_from_slice(types.list);
            out.push(b'(');
            values.iter().for_each(|value| write(value, types, out));
            out.push(b'e');
        }
        Value::Object(pairs) => {
            out.extend_from_slice(types.dict);
            out.push(b'(');
            for (key, value) in pairs {
                write_text(key, false, out);
                write(value, types, out);
            }
            out.push(b'u');
        }
    }
}

fn write_float(value: f64, out: &mut Vec<u8>) {
    out.push(b'G');
    out.extend_from_slice(&value.to_be_bytes());
}

fn write_text(text: &str, is_bytes: bool, out: &mut Vec<u8>) {
    out.push(if is_bytes { b'B' } else { b'X' });
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}
