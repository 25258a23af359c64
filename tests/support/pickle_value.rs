//! Random values written by [`Writer`], with the text that a reader must produce for them.

use crate::pickle_tree::{hexadecimal, quoted};
use crate::pickle_writer::{Reference, Style, Writer};
use proptest::prelude::*;
use serde_pickle::HashableValue;
use std::io;

/// A value to write.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    /// A new string object.
    Text(String),
    Pair(u8, u8),
    List(Vec<Value>),
    Dict(Vec<(String, Value)>),
    /// Another reference to the container that was completed as the given number. Written as `None` if there is no such
    /// container.
    Shared(usize),
}

/// Returns the pickle of a value and its text.
pub(crate) fn pickled(value: &Value, style: Style) -> (Vec<u8>, String) {
    let mut writer = Writer::new(Vec::new(), style).unwrap();
    let text = write(value, style, &mut writer, &mut Vec::new()).unwrap();
    (writer.finish().unwrap(), text)
}

/// Builds a value like a snapshot of one device, with shared frames and stacks, and an empty list shared while its
/// parent is open.
pub(crate) fn snapshot(events: usize) -> Value {
    let name = |text: &str| text.to_owned();
    let frame = |line| {
        let fields = [("filename", Value::Text(name("train.py"))), ("line", Value::Int(line))];
        Value::Dict(fields.map(|(key, value)| (name(key), value)).into())
    };
    let entry = |at: usize| {
        let frames = match at {
            0 => Value::List(vec![frame(7), Value::Shared(6), frame(8), Value::Shared(6)]),
            _ => Value::List(vec![Value::Shared(6), Value::Shared(7)]),
        };
        let fields = [
            ("action", Value::Text(name("alloc"))),
            ("addr", Value::Int(0x7f00_0000_0000 + 512 * at as i128)),
            ("pool_id", Value::Pair(0, 0)),
            ("frames", frames),
        ];
        Value::Dict(fields.map(|(key, value)| (name(key), value)).into())
    };
    let block = Value::Dict(vec![(name("size"), Value::Int(512)), (name("frames"), Value::Shared(0))]);
    let segment = [("frames", Value::List(Vec::new())), ("blocks", Value::List(vec![block]))];
    let segment = Value::Dict(segment.map(|(key, value)| (name(key), value)).into());
    let trace = Value::List((0..events).map(entry).collect());
    Value::Dict(vec![
        (name("segments"), Value::List(vec![segment])),
        (name("device_traces"), Value::List(vec![Value::List(Vec::new()), trace])),
    ])
}

/// Generates any value.
pub(crate) fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => plain_leaves(),
        1 => any::<i128>().prop_map(|value| Value::Int(value >> 32)),
        1 => any::<u64>().prop_map(|value| Value::Int(value.into())),
        3 => (0..4usize).prop_map(Value::Shared),
    ];
    nested(leaf.boxed())
}

/// Generates values without sharing and large integers, which `serde-pickle` can read in any style.
pub(crate) fn plain_values() -> impl Strategy<Value = Value> {
    nested(plain_leaves().boxed())
}

/// Returns a `serde-pickle` value in the format of [`crate::pickle_tree::Trees::text`].
pub(crate) fn serde_text(value: &serde_pickle::Value) -> String {
    use serde_pickle::Value as Theirs;
    let list = |items: &[Theirs]| items.iter().map(serde_text).collect::<Vec<_>>().join(", ");
    match value {
        Theirs::None => "None".to_owned(),
        Theirs::Bool(true) => "True".to_owned(),
        Theirs::Bool(false) => "False".to_owned(),
        Theirs::I64(value) => value.to_string(),
        Theirs::Int(value) => value.to_string(),
        Theirs::F64(value) => format!("{value:?}"),
        Theirs::Bytes(bytes) => format!("b{}", quoted(bytes)),
        Theirs::String(text) => quoted(text.as_bytes()),
        Theirs::List(items) => format!("[{}]", list(items)),
        Theirs::Tuple(items) => format!("({})", list(items)),
        Theirs::Dict(pairs) => dict_text(pairs.iter().map(|(key, value)| match key {
            HashableValue::String(key) => (quoted(key.as_bytes()), serde_text(value)),
            other => panic!("the tests write no such key: {other:?}"),
        })),
        other => panic!("the tests write no such value: {other:?}"),
    }
}

fn plain_leaves() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::None),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => any::<i64>().prop_map(|value| Value::Int(value.into())),
        2 => any::<i16>().prop_map(|value| Value::Int(value.into())),
        1 => any::<u32>().prop_map(|value| Value::Int(value.into())),
        1 => (-1e9..1e9f64).prop_map(Value::Float),
        3 => "[a-d]{0,2}|é".prop_map(Value::Text),
        1 => (0..3u8, 0..3u8).prop_map(|(first, second)| Value::Pair(first, second)),
    ]
}

fn nested(leaf: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::vec(("[a-d]", inner), 0..5).prop_map(Value::Dict),
        ]
    })
}

/// Writes a value and returns its text. `shared` holds the containers completed so far and their texts.
fn write(
    value: &Value,
    style: Style,
    writer: &mut Writer<Vec<u8>>,
    shared: &mut Vec<(Reference, String)>,
) -> io::Result<String> {
    Ok(match value {
        Value::None => {
            writer.none()?;
            "None".to_owned()
        }
        Value::Bool(value) => {
            writer.bool(*value)?;
            if *value { "True" } else { "False" }.to_owned()
        }
        Value::Int(value) => {
            writer.int(*value)?;
            match (i64::try_from(*value), style) {
                (Ok(value), _) => value.to_string(),
                (Err(_), Style::Cpp) => (*value as i64).to_string(),
                (Err(_), Style::Python { .. }) => hexadecimal(&value.to_le_bytes()),
            }
        }
        Value::Float(value) => {
            writer.float(*value)?;
            format!("{value:?}")
        }
        Value::Text(text) => {
            writer.text(text)?;
            quoted(text.as_bytes())
        }
        Value::Pair(first, second) => {
            writer.pair(*first, *second)?;
            format!("({first}, {second})")
        }
        Value::List(items) => {
            writer.list(items.len() as u64)?;
            let items: Vec<String> =
                items.iter().map(|item| write(item, style, writer, shared)).collect::<io::Result<_>>()?;
            let text = format!("[{}]", items.join(", "));
            shared.push((writer.end_shared()?, text.clone()));
            text
        }
        Value::Dict(pairs) => {
            writer.dict(pairs.len() as u64)?;
            let mut texts = Vec::new();
            for (key, value) in pairs {
                writer.name(key)?;
                texts.push((quoted(key.as_bytes()), write(value, style, writer, shared)?));
            }
            let text = dict_text(texts.into_iter());
            shared.push((writer.end_shared()?, text.clone()));
            text
        }
        Value::Shared(number) => match shared.get(*number).cloned() {
            Some((reference, text)) => {
                writer.reference(reference)?;
                text
            }
            None => {
                writer.none()?;
                "None".to_owned()
            }
        },
    })
}

/// Returns the text of a dict, sorted by key. The last of equal keys wins.
fn dict_text(pairs: impl Iterator<Item = (String, String)>) -> String {
    let pairs: std::collections::BTreeMap<String, String> = pairs.collect();
    let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", pairs.join(", "))
}
