//! Files of torch.profiler that have memory events: its traces, and raw memory timelines. Neither has call stacks.
//!
//! ```text
//! {"traceEvents": [{"name": "[memory]", "ts": µs, "args": {"Addr": …, "Bytes": ±bytes, "Total Allocated": …}}, …]}
//! [[ns, action, ±bytes, category], …]                       export_memory_timeline("….raw.json.gz")
//! [[ns, action, [tensor, version], category, bytes], …]     with the tensor's identity
//! [[ns, …], [[bytes of each category, …], …]]               export_memory_timeline("….json"): only sums, refused
//! ```

use super::contents::HOST_DEVICE;
use super::error::{ContentError, Problem};
use super::event::{Action, Event, EventSink, NO_TIME};
use super::labels::{Labels, LabelsId};
use super::reader::Reader;
use super::segments::{Block, BlockState, Segment};
use super::stacks::StackId;
use super::store::ReadBlock;
use super::top_level::TopLevel;
use super::value::{Kind, Value};
use crate::pickle::Builder;
use base::sorted::{signed_key, sorted_by_key};
use hashbrown::HashMap;

/// Categories of a raw timeline, in the order of their numbers. Later numbers are unknown.
const CATEGORIES: [&str; 7] =
    ["parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail"];
/// Action of a raw timeline, as number and as name, that frees memory.
const DESTROY: (i128, &str) = (3, "destroy");

/// Change of a device's allocated bytes.
#[derive(Clone, Copy)]
struct Change {
    time_us: i64,
    device: i64,
    address: u64,
    /// Positive for an allocation, negative for a free.
    bytes: i64,
    /// Allocated bytes after the change, if recorded.
    total: Option<i64>,
    labels: LabelsId,
}

impl<S: EventSink> Reader<S> {
    /// Reads a file of torch.profiler. Returns false if `root` is none.
    pub(super) fn read_profile(&mut self, root: Value, top: &mut TopLevel) -> Result<bool, ContentError> {
        let changes = if let Some(events) = self.trace_events(root) {
            top.profile = Some("a trace of torch.profiler");
            self.trace_changes(events)
        } else if self.is_grouped(root) {
            return Err(profile_error("a memory timeline of torch.profiler, which has only the sum of each category"));
        } else if self.is_raw(root) {
            top.profile = Some("a raw memory timeline of torch.profiler");
            self.raw_changes(root)?
        } else {
            return Ok(false);
        };
        if changes.is_empty() {
            return Err(profile_error("a trace of torch.profiler without memory events (profile_memory=True)"));
        }
        self.add_changes(&changes, top)?;
        Ok(true)
    }

    /// Returns the list of events if `root` is a trace.
    fn trace_events(&mut self, root: Value) -> Option<Value> {
        let phase = self.word("ph")?;
        match root.kind() {
            Kind::Dict => {
                let events = self.word("traceEvents")?;
                self.field(root, events).filter(|events| events.is_sequence())
            }
            Kind::List => {
                let first = self.store.values(root).next()?;
                self.field(first, phase).map(|_| root)
            }
            _ => None,
        }
    }

    /// Returns the memory changes in a trace, by time: those of accelerators, or of the CPU if there are no others.
    fn trace_changes(&mut self, events: Value) -> Vec<Change> {
        const WORDS: [&str; 9] =
            ["name", "[memory]", "args", "ts", "Bytes", "Addr", "Device Type", "Device Id", "Total Allocated"];
        let Some(labels) = self.store.labels.intern(Labels::default()) else { return Vec::new() };
        let [name, memory, args, ts, bytes, addr, device_type, device_id, total] = WORDS.map(|word| self.word(word));
        let change = |event: Value| {
            let args = (self.field(event, name?) == memory).then(|| self.field(event, args?))??;
            let number = |key: Option<Value>| self.whole(self.field(args, key?)?);
            let is_cpu = number(device_type) == Some(0);
            Some(Change {
                time_us: self.whole(self.field(event, ts?)?)?,
                device: if is_cpu { HOST_DEVICE } else { number(device_id).unwrap_or(0).max(0) },
                address: number(addr)? as u64,
                bytes: number(bytes)?,
                total: number(total),
                labels,
            })
        };
        let mut changes: Vec<Change> = self.store.values(events).filter_map(change).collect();
        if changes.iter().any(|change| change.device != HOST_DEVICE) {
            changes.retain(|change| change.device != HOST_DEVICE);
        }
        sorted_by_key(changes, |change| signed_key(change.time_us).into())
    }

    /// Returns whether `root` has only the times and the sums of a timeline.
    fn is_grouped(&self, root: Value) -> bool {
        let mut values = self.store.values(root);
        let (Some(times), Some(sizes), None) = (values.next(), values.next(), values.next()) else { return false };
        let length = |list: Value| self.store.values(list).count();
        let first = self.store.values(sizes).next();
        [root, times, sizes].iter().all(|list| list.is_sequence())
            && length(times) == length(sizes)
            && first.is_none_or(Value::is_sequence)
    }

    /// Returns whether `root` is a list of lists that begin with a time and an action.
    fn is_raw(&self, root: Value) -> bool {
        let Some(row) = self.store.values(root).next().filter(|row| root.is_sequence() && row.is_sequence()) else {
            return false;
        };
        let mut values = self.store.values(row);
        let (time, action) = (values.next(), values.next());
        time.is_some_and(|time| self.store.as_integer(time).is_some())
            && action.is_some_and(|action| matches!(action.kind(), Kind::Int | Kind::String))
            && matches!(values.count(), 2..=3)
    }

    fn raw_changes(&mut self, root: Value) -> Result<Vec<Change>, ContentError> {
        let rows: Vec<Value> = self.store.values(root).collect();
        let mut changes = Vec::with_capacity(rows.len());
        // Addresses of the live allocations with each size and category. The latest is freed first, because temporaries
        // are freed before the parameters of the same size.
        let mut live: HashMap<[u64; 2], Vec<u64>, foldhash::fast::RandomState> = HashMap::default();
        let mut next = 1u64 << 20;
        for (index, &row) in rows.iter().enumerate() {
            let expected = Problem::Type("[time, action, bytes, category]", row.kind());
            let invalid = || ContentError { path: format!("[{index}]"), problem: expected };
            let Some((time, is_free, tensor, size, category)) = self.raw_row(row) else { return Err(invalid()) };
            let Some(labels) = self.category_labels(category) else { return Err(invalid()) };
            let mut new = || {
                next = next.saturating_add(size.max(1));
                next - size.max(1)
            };
            let known = live.entry(tensor.map_or([size, category as u64], |tensor| [tensor, u64::MAX])).or_default();
            let bytes = i64::try_from(size).map_err(|_| invalid())?;
            // A tensor that is known changes its version or category, not its bytes.
            if !is_free && tensor.is_some() && !known.is_empty() {
                continue;
            }
            let address = if is_free { known.pop().unwrap_or_else(new) } else { new() };
            if !is_free {
                known.push(address);
            }
            let bytes = if is_free { -bytes } else { bytes };
            // The time of what was allocated before the profile is −1.
            let time_us = if time < 0 { NO_TIME } else { time / 1000 };
            changes.push(Change { time_us, device: 0, address, bytes, total: None, labels });
        }
        Ok(changes)
    }

    /// Parses a row of a raw timeline: the time in ns, whether it frees, the tensor if recorded, the bytes and the
    /// number of the category.
    fn raw_row(&self, row: Value) -> Option<(i64, bool, Option<u64>, u64, usize)> {
        let mut values = self.store.values(row);
        let (time, action) = (self.whole(values.next()?)?, values.next()?);
        let is_destroy = self.store.as_integer(action) == Some(DESTROY.0)
            || self.store.describe(action).to_ascii_lowercase().ends_with(DESTROY.1);
        let (mut tensor, mut category, mut numbers) = (None, None, [None; 2]);
        for value in values {
            match value.kind() {
                Kind::List | Kind::Tuple => {
                    tensor =
                        self.store.values(value).next().and_then(|id| self.store.as_integer(id)).map(|id| id as u64);
                }
                Kind::String | Kind::Constant => {
                    let name = self.store.describe(value).to_ascii_lowercase();
                    let known = CATEGORIES.iter().position(|known| name.ends_with(known));
                    category = Some(known.unwrap_or(CATEGORIES.len()));
                }
                _ => {
                    let number = self.whole(value)?;
                    *numbers.iter_mut().find(|slot| slot.is_none())? = Some(number);
                }
            }
        }
        let (bytes, number) = match numbers {
            [Some(bytes), None] => (bytes, CATEGORIES.len() as i64),
            // With the tensor, the category precedes the bytes.
            [Some(number), Some(bytes)] if tensor.is_some() => (bytes, number),
            [Some(bytes), Some(number)] => (bytes, number),
            _ => return None,
        };
        let category = category.or_else(|| usize::try_from(number).ok()).unwrap_or(CATEGORIES.len());
        let is_free = bytes < 0 || is_destroy;
        Some((time, is_free, tensor, bytes.unsigned_abs(), category.min(CATEGORIES.len())))
    }

    fn category_labels(&mut self, category: usize) -> Option<LabelsId> {
        let name = CATEGORIES.get(category).copied().unwrap_or("unknown");
        let category = self.store.strings.intern(name.as_bytes());
        self.store.labels.intern(Labels { category, ..Labels::default() })
    }

    /// Adds a trace for each device. Bytes that were allocated before it become a block.
    fn add_changes(&mut self, changes: &[Change], top: &mut TopLevel) -> Result<(), ContentError> {
        let mut devices: Vec<i64> = Vec::new();
        for change in changes {
            if !devices.contains(&change.device) && devices.len() < MAX_DEVICES {
                devices.push(change.device);
            }
        }
        for device in devices {
            let trace = self.begin_trace();
            let mut live: HashMap<u64, u32, foldhash::fast::RandomState> = HashMap::default();
            let (mut before, mut freed_before) = (None, 0i64);
            for change in changes.iter().filter(|change| change.device == device) {
                before = before.or(change.total.map(|total| total.saturating_sub(change.bytes)));
                let action = if change.bytes < 0 { Action::FreeCompleted } else { Action::Alloc };
                if action == Action::Alloc {
                    live.insert(change.address, 0);
                } else if live.remove(&change.address).is_none() {
                    freed_before = freed_before.saturating_sub(change.bytes);
                }
                let event = Event {
                    address: change.address,
                    size: change.bytes.unsigned_abs(),
                    time_us: change.time_us,
                    stack: StackId::NONE,
                    labels: change.labels,
                    action,
                };
                self.sink.event_at(trace, &event);
                if let Some(read) = self.traces.get_mut(trace as usize) {
                    read.events += 1;
                }
            }
            self.trace("traceEvents", device, Value::new(Kind::Trace, trace), top)?;
            let rest = before.map_or(0, |before| before.saturating_sub(freed_before));
            if let Some(bytes) = u64::try_from(rest).ok().filter(|&bytes| bytes > 0) {
                self.add_block(device, bytes, top);
            }
        }
        Ok(())
    }

    /// Adds a block of unknown address that is live in the whole trace.
    fn add_block(&mut self, device: i64, bytes: u64, top: &mut TopLevel) {
        let row = self.store.blocks.len() as u32;
        let (state, stack) = (BlockState::Allocated, StackId::NONE);
        let block = Block { address: 0, size: bytes, requested: bytes, state, stack };
        self.store.blocks.push(ReadBlock { block, has_address: true });
        top.segments.push(Segment { blocks: row..row + 1, ..Segment::new(device) });
    }

    fn word(&mut self, word: &str) -> Option<Value> {
        self.string(word.as_bytes()).ok()
    }

    fn field(&self, dict: Value, key: Value) -> Option<Value> {
        let mut values = self.store.values(dict);
        while let (Kind::Dict, Some(known), Some(value)) = (dict.kind(), values.next(), values.next()) {
            if known == key {
                return Some(value);
            }
        }
        None
    }

    /// Returns a number without its fraction.
    fn whole(&self, value: Value) -> Option<i64> {
        match self.store.as_integer(value) {
            Some(integer) => i64::try_from(integer).ok(),
            None => self.store.as_float(value).filter(|float| float.abs() < 9e18).map(|float| float as i64),
        }
    }
}

/// Maximum number of devices of a trace.
const MAX_DEVICES: usize = 256;

fn profile_error(what: &'static str) -> ContentError {
    ContentError { path: String::new(), problem: Problem::Profile(what) }
}
