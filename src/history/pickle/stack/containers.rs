//! Passes values from the stack on to open containers, and finishes the containers.

use super::{Stack, StackResult};
use crate::pickle::builder::Builder;
use crate::pickle::error::ErrorKind;
use crate::pickle::fault::{Fault, fault};
use crate::pickle::open::Kind;

impl<B: Builder> Stack<B> {
    /// Passes the values from position `from` on to the container directly below them, which must be of `kind`.
    pub(super) fn pass_from(&mut self, kind: Kind, from: usize) -> StackResult<B> {
        let owner = self.container_below(kind, from)?;
        // Most batches contain no open container. Scanning the slice is far cheaper than a checked access to each
        // position.
        let items = self.values.get(from..).unwrap_or_default();
        if items.iter().any(|&item| self.builder.open_slot(item).is_some()) {
            for position in from..self.values.len() {
                if let Some(number) = self.open_at(position) {
                    if number == owner {
                        return Err(fault(ErrorKind::ContainsItself, position));
                    }
                    self.finish(number, position)?;
                }
            }
        }
        self.pass_items(kind, owner, from, self.values.len())?;
        self.values.truncate(from);
        Ok(())
    }

    /// Returns the slot of the open container directly below position `from`. Fails if the container is not of `kind`.
    fn container_below(&self, kind: Kind, from: usize) -> StackResult<B, u32> {
        let below = from.saturating_sub(1);
        match self.open_at(below).filter(|&number| self.open.get(number).is_some_and(|open| open.kind == kind)) {
            Some(number) => Ok(number),
            None if kind == Kind::List => Err(fault(ErrorKind::NotAnOpenList, below)),
            None => Err(fault(ErrorKind::NotAnOpenDict, below)),
        }
    }

    /// Passes the finished values at the positions `from..to` to the open container in slot `owner`. The values stay on
    /// the stack.
    pub(in crate::pickle) fn pass_items(&mut self, kind: Kind, owner: u32, from: usize, to: usize) -> StackResult<B> {
        self.leave_fast_path(owner);
        let items = self.values.get(from..to).unwrap_or_default();
        match kind {
            Kind::List => {
                let length_before = self.builder.open_len(owner);
                self.builder.append(owner, items).map_err(|(item, error)| {
                    let index = Some(length_before.saturating_add(item as u64));
                    Box::new(Fault { kind: ErrorKind::Builder(error), at: from + item, index })
                })?;
            }
            Kind::Dict if items.len() % 2 == 1 => return Err(fault(ErrorKind::KeyWithoutValue, to)),
            Kind::Dict => {
                let result = self.builder.set_items(owner, items);
                result.map_err(|(item, error)| fault(ErrorKind::Builder(error), from + item))?;
            }
        }
        if let Some(open) = self.open.get_mut(owner) {
            open.changed = true;
        }
        Ok(())
    }

    pub(super) fn tuple_from(&mut self, from: usize) -> StackResult<B> {
        for position in from..self.values.len() {
            if let Some(number) = self.open_at(position) {
                self.finish(number, position)?;
            }
        }
        let items = self.values.get(from..).unwrap_or_default();
        let tuple = self.builder.tuple(items).map_err(|error| fault(ErrorKind::Builder(error), from))?;
        self.values.truncate(from);
        self.push(tuple)
    }

    /// Finishes the container in slot `number`, which is at stack position `at`, and replaces all references by its
    /// final handle.
    pub(in crate::pickle) fn finish(&mut self, number: u32, at: usize) -> StackResult<B> {
        let value = self.finished_value(number).map_err(|error| fault(ErrorKind::Builder(error), at))?;
        let Some(open) = self.open.get(number) else { return Ok(()) };
        for &slot in &open.slots {
            // The slot may have been overwritten.
            if self.memo.get(slot).and_then(|named| self.builder.open_slot(named)) == Some(number) {
                self.memo.replace(slot, value);
            }
        }
        for &at in open.copies.iter().chain([&open.position]) {
            if let Some(place) = self.values.get_mut(at) {
                *place = value;
            }
        }
        self.open.release(number);
        Ok(())
    }
}
