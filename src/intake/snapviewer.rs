//! Reader for SnapViewer's `allocations.json`, which has the start and end of each allocation. The events are in
//! `elements.json`, see `event_sink.rs`.
//!
//! ```text
//! allocations.json   [{"elem": 1, "timesteps": [0, 7], "offsets": [0, 0], "size": 512, "color": …}, …]   drawing order
//! elements.json      [{"action": "free_completed", "addr": …, "frames": […]}, {"action": "alloc", …}, …]  time order
//! ```
//!
//! `elem` is the index into the elements. There is one element for each alloc, and one for each free of a block
//! without an alloc. SnapViewer itself uses the element at the same index as the allocation, which is wrong once
//! there is such a free. The first timestep is the alloc and the last one is the free. An allocation that reaches the
//! last timestep of the file counts as live at the end. Only the timesteps are kept, because the polygons may have
//! many more points than there are allocations.

use super::event_sink::RecordingSink;
use super::spans::{JoinError, Span, Spans};
use history::json::{Limits, Parser};
use history::pickle::Builder;
use history::snapshot::Reader;

/// Names of the two members in SnapViewer archives.
pub(super) const DRAWING: &str = "allocations.json";
pub(super) const ELEMENTS: &str = "elements.json";

/// Returns whether the JSON text is the beginning of an `allocations.json` file, whose items have the key `timesteps`.
pub(super) fn is_drawing(text: &[u8]) -> bool {
    let key = b"\"timesteps\"";
    text.get(..1000).unwrap_or(text).windows(key.len()).any(|part| part == key)
}

/// Builder for the content of `allocations.json`. It collects the lifetime of each allocation.
#[derive(Default)]
pub(super) struct Drawing {
    open: Vec<Open>,
    spans: Spans,
}

base::heap_bytes!(Drawing: spans);

/// A list or dict whose end was not read yet.
#[derive(Clone, Copy, Default)]
struct Open {
    items: u64,
    /// First and last number of a list. For a dict, first and last number in its `timesteps`.
    ends: Option<(i64, i64)>,
    elem: Option<i64>,
    size: Option<i64>,
}

/// A JSON value, reduced to the parts that this reader uses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Other,
    Open(u32),
    Key(Key),
    Number(i64),
    /// First and last number of a list.
    Ends(i64, i64),
    Allocation,
}

/// Dict keys that this reader uses. All other keys are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Elem,
    Timesteps,
    Size,
}

impl Builder for Drawing {
    type Value = Value;
    type Error = JoinError;

    fn open_handle(&self, slot: u32) -> Value {
        Value::Open(slot)
    }

    fn open_slot(&self, value: Value) -> Option<u32> {
        if let Value::Open(slot) = value { Some(slot) } else { None }
    }

    fn none(&mut self) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn bool(&mut self, _: bool) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn int(&mut self, value: i64) -> Result<Value, JoinError> {
        Ok(Value::Number(value))
    }

    fn big_int(&mut self, _: &[u8]) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn float(&mut self, _: f64) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn string(&mut self, bytes: &[u8]) -> Result<Value, JoinError> {
        Ok(match bytes {
            b"elem" => Value::Key(Key::Elem),
            b"timesteps" => Value::Key(Key::Timesteps),
            b"size" => Value::Key(Key::Size),
            _ => Value::Other,
        })
    }

    fn bytes(&mut self, _: &[u8]) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn tuple(&mut self, _: &[Value]) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn open_list(&mut self, slot: u32) {
        let slot = slot as usize;
        if self.open.len() <= slot {
            self.open.resize(slot + 1, Open::default());
        }
        if let Some(open) = self.open.get_mut(slot) {
            *open = Open::default();
        }
    }

    fn open_dict(&mut self, slot: u32) {
        self.open_list(slot);
    }

    fn append(&mut self, slot: u32, items: &[Value]) -> Result<(), (usize, JoinError)> {
        let Some(open) = self.open.get_mut(slot as usize) else { return Ok(()) };
        for (index, &item) in items.iter().enumerate() {
            match item {
                Value::Number(step) => {
                    open.ends = Some((open.ends.map_or(step, |(first, _)| first), step));
                }
                // The outermost list may only hold allocations.
                Value::Allocation => {}
                _ if slot == 0 => return Err((index, JoinError::NotAnAllocation(open.items as usize + index))),
                _ => {}
            }
        }
        open.items += items.len() as u64;
        Ok(())
    }

    fn set_items(&mut self, slot: u32, pairs: &[Value]) -> Result<(), (usize, JoinError)> {
        let Some(open) = self.open.get_mut(slot as usize) else { return Ok(()) };
        for pair in pairs.chunks_exact(2) {
            match pair {
                [Value::Key(Key::Elem), Value::Number(elem)] => open.elem = Some(*elem),
                [Value::Key(Key::Size), Value::Number(size)] => open.size = Some(*size),
                [Value::Key(Key::Timesteps), Value::Ends(first, last)] => {
                    open.ends = Some((*first, *last));
                }
                _ => {}
            }
        }
        open.items += pairs.len() as u64 / 2;
        Ok(())
    }

    fn finish(&mut self, slot: u32) -> Result<Value, JoinError> {
        let Some(&Open { ends, elem, size, .. }) = self.open.get(slot as usize) else { return Ok(Value::Other) };
        Ok(match (ends, elem.and_then(|elem| u32::try_from(elem).ok()), size) {
            (Some((first, last)), Some(elem), Some(_)) => match Span::new(first, last) {
                Some(span) => {
                    self.spans.insert(elem, span)?;
                    Value::Allocation
                }
                None => Value::Other,
            },
            (Some((first, last)), None, None) => Value::Ends(first, last),
            _ => Value::Other,
        })
    }

    fn open_len(&self, slot: u32) -> u64 {
        self.open.get(slot as usize).map_or(0, |open| open.items)
    }

    fn key_text(&self, key: Value) -> Option<String> {
        let Value::Key(key) = key else { return None };
        Some(match key {
            Key::Elem => "elem".to_owned(),
            Key::Timesteps => "timesteps".to_owned(),
            Key::Size => "size".to_owned(),
        })
    }
}

impl Drawing {
    /// Creates a parser for `allocations.json`.
    pub(super) fn machine() -> Parser<Drawing> {
        Parser::new(Drawing::default(), Limits::default())
    }

    /// Creates a parser for `elements.json`. It merges the elements with the frees of the allocations in this drawing.
    ///
    /// # Errors
    /// Returns an error if an allocation refers to an element that cannot exist.
    pub(super) fn elements(self) -> Result<Parser<Reader<RecordingSink>>, JoinError> {
        self.spans.check()?;
        Ok(Parser::new(Reader::new(RecordingSink::for_elements(self.spans)), Limits::default()))
    }
}
