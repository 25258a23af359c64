//! Interpretation of the values in a snapshot's top level: segments, traces and annotations.

use super::error::{ContentError, Problem};
use super::event::EventSink;
use super::limits::MAX_TRACES;
use super::reader::Reader;
use super::top_level::{SegmentPlace, TopLevel};
use super::unknown::{SeenWords, UnknownOwner};
use super::value::{Kind, Value};

const TOO_MANY_DEVICES: Problem = Problem::Range("one of the first 1024 devices");

impl<S: EventSink> Reader<S> {
    pub(super) fn segments(
        &mut self,
        path: &'static str,
        list: Value,
        device: Option<i64>,
        top: &mut TopLevel,
    ) -> Result<(), ContentError> {
        if !matches!(list.kind(), Kind::List | Kind::Tuple) {
            return Err(type_error(path, "a list of segments", list));
        }
        let rows: Vec<Value> = self.store.values(list).collect();
        for (index, &row) in (0..).zip(&rows) {
            let place = || format!("{path}[{index}]");
            match row.kind() {
                Kind::Segment => {
                    if top.segments_taken.insert(row.index(), index).is_some() {
                        return Err(ContentError { path: place(), problem: Problem::Range("a separate segment") });
                    }
                    top.segment_places.push(SegmentPlace { list: path, index, row: row.index() });
                    if let Some(mut segment) = self.store.segments.get(row.index() as usize).cloned() {
                        segment.device = device.unwrap_or(segment.device);
                        if !segment.blocks.is_empty() && !top.devices.admit(segment.device) {
                            return Err(ContentError { path: place() + ".device", problem: TOO_MANY_DEVICES });
                        }
                        top.segments.push(segment);
                    }
                }
                _ => {
                    let error = self.incomplete_segment(row);
                    return Err(error.unwrap_or_else(|| type_error("", "a segment", row)).within(&place()));
                }
            }
        }
        Ok(())
    }

    /// Returns what prevents a dict from being a segment.
    pub(super) fn incomplete_segment(&mut self, row: Value) -> Option<ContentError> {
        let pairs = if row.kind() == Kind::Dict { self.store.pairs(row) } else { return None };
        self.store.parse_segment(&pairs, &mut SeenWords::default()).err()
    }

    /// Reads the traces of all devices: a list by device, or a dict whose keys are devices.
    pub(super) fn device_traces(&mut self, path: &str, value: Value, top: &mut TopLevel) -> Result<(), ContentError> {
        let traces: Vec<Value> = self.store.values(value).collect();
        match value.kind() {
            Kind::List | Kind::Tuple => {
                for (device, &trace) in traces.iter().enumerate() {
                    self.trace(&format!("{path}[{device}]"), device as i64, trace, top)?;
                }
            }
            Kind::Dict => {
                for pair in traces.chunks_exact(2) {
                    let device = self.store.describe(pair[0]);
                    let place = format!("{path}[{device}]");
                    let device = device.parse().map_err(|_| type_error(&place, "the number of a device", pair[0]))?;
                    self.trace(&place, device, pair[1], top)?;
                }
            }
            _ => return Err(type_error(path, "a list of lists of events", value)),
        }
        Ok(())
    }

    pub(super) fn trace(
        &mut self,
        path: &str,
        device: i64,
        list: Value,
        top: &mut TopLevel,
    ) -> Result<(), ContentError> {
        let other = match list.kind() {
            // A device without a trace.
            Kind::Constant if list == Value::NONE => None,
            Kind::Trace => {
                let other = self.traces.get(list.index() as usize).and_then(|trace| trace.other);
                if top.traces_taken.insert(list.index(), top.traces.len() as u32).is_some() {
                    return Err(ContentError { path: path.to_owned(), problem: Problem::Range("a separate list") });
                }
                if other.is_none() && !top.devices.admit(device) {
                    return Err(ContentError { path: path.to_owned(), problem: TOO_MANY_DEVICES });
                }
                if other.is_none() {
                    top.traces.push((device, list.index()));
                }
                other
            }
            Kind::List | Kind::Tuple if self.traces.len() >= MAX_TRACES && self.starts_with_an_event(list) => {
                let problem = Problem::Range("one of the first 65536 lists of events");
                return Err(ContentError { path: path.to_owned(), problem });
            }
            Kind::List | Kind::Tuple => self.store.values(list).next().map(|_| {
                let found = self.store.first_not_of(list, Kind::Event);
                found.map_or((0, list), |(index, value)| (index as u64, value))
            }),
            Kind::Stack => Some((0, Value::new(Kind::Frame, 0))),
            _ => return Err(type_error(path, "a list of events", list)),
        };
        let Some((index, value)) = other else { return Ok(()) };
        let place = format!("{path}[{index}]");
        Err(match value.kind() {
            Kind::Dict => {
                let pairs = self.store.pairs(value);
                let error = self.store.parse_event(&pairs, &mut SeenWords::default(), 0).err();
                error.unwrap_or_else(|| type_error("", "an event", value)).within(&place)
            }
            _ => type_error(&place, "an event", value),
        })
    }

    fn starts_with_an_event(&self, list: Value) -> bool {
        self.store.values(list).next().is_some_and(|first| first.kind() == Kind::Event)
    }

    pub(super) fn annotations(&mut self, list: Value, top: &mut TopLevel) -> Result<(), ContentError> {
        if !matches!(list.kind(), Kind::List | Kind::Tuple) {
            return Err(type_error("external_annotations", "a list of annotations", list));
        }
        top.marks.clear();
        if self.store.first_not_of(list, Kind::Annotation).is_none() {
            let rows = self.store.values(list).filter_map(|row| self.store.marks.get(row.index() as usize));
            top.marks.extend(rows);
            return Ok(());
        }
        let annotations: Vec<Value> = self.store.values(list).collect();
        for (index, value) in annotations.into_iter().enumerate() {
            if value.kind() == Kind::Annotation {
                top.marks.extend(self.store.marks.get(value.index() as usize));
                continue;
            }
            let place = format!("external_annotations[{index}]");
            let pairs = if value.kind() == Kind::Dict { self.store.pairs(value) } else { Vec::new() };
            if let Some(stage) = self.store.unknown_stage(&pairs) {
                self.seen.add_unknown(UnknownOwner::Stage, stage, index as u32);
                continue;
            }
            let error = if pairs.is_empty() { None } else { self.store.parse_annotation(&pairs).err() };
            return Err(error.unwrap_or_else(|| type_error("", "an annotation", value)).within(&place));
        }
        Ok(())
    }
}

fn type_error(path: &str, what: &'static str, found: Value) -> ContentError {
    ContentError { path: path.to_owned(), problem: Problem::Type(what, found.kind()) }
}
