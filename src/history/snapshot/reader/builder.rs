//! The reader as the builder of a pickle or JSON parser.

use super::{Mode, Reader, TraceRead};
use crate::pickle::{Builder, Constructed};
use crate::snapshot::error::ReadError;
use crate::snapshot::event::EventSink;
use crate::snapshot::limits::MAX_TRACES;
use crate::snapshot::store::clipped;
use crate::snapshot::strings::StringId;
use crate::snapshot::value::{Kind, Value};

impl<S: EventSink> Builder for Reader<S> {
    type Value = Value;
    type Error = ReadError;

    #[inline(always)]
    fn open_handle(&self, slot: u32) -> Value {
        Value::new(Kind::Open, slot)
    }

    #[inline(always)]
    fn open_slot(&self, value: Value) -> Option<u32> {
        value.as_kind(Kind::Open)
    }

    fn none(&mut self) -> Result<Value, ReadError> {
        Ok(Value::NONE)
    }

    fn bool(&mut self, value: bool) -> Result<Value, ReadError> {
        Ok(if value { Value::TRUE } else { Value::FALSE })
    }

    #[inline]
    fn int(&mut self, value: i64) -> Result<Value, ReadError> {
        match Value::int(value) {
            Some(value) => Ok(value),
            None => self.store.integer(i128::from(value)),
        }
    }

    fn big_int(&mut self, little_endian: &[u8]) -> Result<Value, ReadError> {
        let negative = little_endian.last().is_some_and(|byte| byte & 0x80 != 0);
        let filler = if negative { 0xff } else { 0 };
        let mut bytes = [filler; 16];
        for (index, &byte) in little_endian.iter().enumerate() {
            match bytes.get_mut(index) {
                Some(slot) => *slot = byte,
                None if byte == filler => {}
                None => return Err(ReadError::IntegerTooLarge(little_endian.len())),
            }
        }
        let value = i128::from_le_bytes(bytes);
        if (value < 0) != negative {
            return Err(ReadError::IntegerTooLarge(little_endian.len()));
        }
        self.store.integer(value)
    }

    fn float(&mut self, value: f64) -> Result<Value, ReadError> {
        self.store.float(value)
    }

    fn string(&mut self, bytes: &[u8]) -> Result<Value, ReadError> {
        let id = self.store.strings.intern(bytes).ok_or(ReadError::Strings)?;
        Ok(Value::new(Kind::String, id.0))
    }

    /// Names may be bytes: PyTorch's C++ pickler and other exporters do not distinguish them from strings.
    fn bytes(&mut self, bytes: &[u8]) -> Result<Value, ReadError> {
        self.string(bytes)
    }

    fn tuple(&mut self, items: &[Value]) -> Result<Value, ReadError> {
        match items.first().map(|first| first.kind()) {
            // Some programs write tuples for lists.
            Some(Kind::Frame) if items.iter().all(|item| item.is(Kind::Frame)) => self.finish_list(Mode::Frames, items),
            Some(Kind::Event) if self.traces.len() < MAX_TRACES => {
                let trace = self.begin_trace();
                self.append_events(trace, 0, items).map_err(|(_, error)| error)?;
                Ok(Value::new(Kind::Trace, trace))
            }
            _ => self.store.tuple(Kind::Tuple, items),
        }
    }

    fn global(&mut self, module: &str, name: &str, below: Option<Value>) -> Option<Value> {
        self.store.constructor(module, name, below)
    }

    fn construct(&mut self, constructor: Value, arguments: Value) -> Option<Constructed<Value>> {
        self.store.construct(constructor, arguments)
    }

    fn with_state(&mut self, value: Value, state: Value) -> Option<Value> {
        self.store.with_state(value, state)
    }

    fn open_list(&mut self, slot: u32) {
        self.start_container(slot, Mode::List);
    }

    fn open_dict(&mut self, slot: u32) {
        self.start_container(slot, Mode::Dict);
    }

    fn append(&mut self, slot: u32, items: &[Value]) -> Result<(), (usize, ReadError)> {
        let Some(open) = self.open.get_mut(slot as usize) else { return Ok(()) };
        if open.mode == Mode::List && open.items.is_empty() {
            match items.first().map(|first| first.kind()) {
                Some(Kind::Frame) => open.mode = Mode::Frames,
                Some(Kind::Event) if self.traces.len() < MAX_TRACES => {
                    open.mode = Mode::Events(self.traces.len() as u32);
                    self.traces.push(TraceRead::default());
                }
                _ => {}
            }
        }
        match open.mode {
            Mode::Events(trace) => {
                let before = open.item_count;
                self.append_events(trace, before, items)?;
            }
            mode => {
                if mode == Mode::Frames && items.iter().any(|item| !item.is(Kind::Frame)) {
                    open.mode = Mode::List;
                }
                open.push_items(items)?;
            }
        }
        if let Some(open) = self.open.get_mut(slot as usize) {
            open.item_count += items.len() as u64;
        }
        Ok(())
    }

    fn set_items(&mut self, slot: u32, pairs: &[Value]) -> Result<(), (usize, ReadError)> {
        if let Some(open) = self.open.get_mut(slot as usize) {
            open.push_items(pairs)?;
            open.item_count += pairs.len() as u64 / 2;
        }
        Ok(())
    }

    fn finish(&mut self, slot: u32) -> Result<Value, ReadError> {
        let Some(open) = self.open.get_mut(slot as usize) else { return Ok(Value::NONE) };
        let (mode, items) = (open.mode, std::mem::take(&mut open.items));
        let value = match mode {
            Mode::Dict => self.finish_dict(&items),
            mode => self.finish_list(mode, &items),
        };
        // Return the buffer for the next container in this slot, unless it is very large.
        if let Some(open) = self.open.get_mut(slot as usize).filter(|_| items.capacity() <= 1 << 16) {
            open.items = items;
        }
        value
    }

    fn build_dict(&mut self, keys: &[Value], values: &[Value]) -> Option<Value> {
        self.finish_keys_values(keys, values).ok()
    }

    /// Returns true for stacks and frames, which have no identity. Events are not shareable, because each event is
    /// passed to the sink exactly once.
    fn is_shareable(&self, value: Value) -> bool {
        value.is(Kind::Frame) || value.is(Kind::Stack)
    }

    fn open_len(&self, slot: u32) -> u64 {
        self.open.get(slot as usize).map_or(0, |open| open.item_count)
    }

    fn key_text(&self, key: Value) -> Option<String> {
        match key.kind() {
            Kind::String => Some(clipped(self.store.strings.bytes(StringId(key.index())))),
            Kind::Int | Kind::WideInt => self.store.as_integer(key).map(|key| key.to_string()),
            _ => None,
        }
    }
}
