//! Annotations by name, numbers aside: which of them are the steps.

use super::found::{How, Steps};
use super::placed::Placed;
use crate::protocol::Span;
use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StringId};

/// Bytes of a name that are looked at.
const LONGEST_NAME: usize = 200;
/// What the annotations of steps are called.
const WORDS: [&str; 3] = ["step", "iter", "batch"];

/// Annotations whose names are equal but for their numbers.
struct Family {
    /// Without numbers: `step_#`.
    stem: String,
    name: StringId,
    /// Whether another has another name, and whether another has the same.
    varies: bool,
    repeats: bool,
    /// Whether one was over before the trace began: then one that is under way where the trace begins has lost its own beginning.
    began_before: bool,
    count: u32,
    covered: u64,
    first: Span,
    last: Span,
}

/// The families of a device.
#[derive(Default)]
pub(super) struct Families {
    families: Vec<Family>,
    by_stem: HashMap<String, u32, foldhash::fast::RandomState>,
    by_name: HashMap<StringId, u32, foldhash::fast::RandomState>,
    /// Rows outside the trace that were looked at, then places.
    next: usize,
    /// The family of each place; [`NONE`] for one that can't be a step.
    of_place: Vec<u32>,
    /// The family that are the steps, once all are known, and how many places were looked through for it.
    chosen: Option<Option<u32>>,
    gathered: usize,
    spans: Vec<Span>,
    rows: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Families {
    /// Sorts annotations into families.
    pub(super) fn step(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        placed: &Placed,
        slice: &mut Slice,
    ) -> Sliced {
        let outside = placed.outside.len();
        while self.next < outside + placed.places.len() {
            slice.spend(2)?;
            let at = self.next;
            let place = at.checked_sub(outside).and_then(|at| Some((placed.places.get(at)?, *placed.spans.get(at)?)));
            let row = placed.outside.get(at).copied().or(place.map(|(place, _)| place.row));
            self.next += 1;
            let Some(range) = row.and_then(|row| history.annotations.get(row as usize)) else { continue };
            let family = self.family(snapshot, range.name);
            let Some(known) = self.families.get_mut(family as usize) else { continue };
            known.varies |= known.name != range.name;
            let Some((_, span)) = place else {
                known.began_before |= history.numbers.time_us.is_some_and(|(first, _)| range.start_us < first);
                continue;
            };
            let is_cut = known.began_before && history.numbers.time_us.is_some_and(|(first, _)| range.start_us < first);
            let overlaps = known.count > 0 && span.from < known.last.to;
            if range.end_us.is_none() || is_cut || overlaps {
                self.of_place.push(NONE);
                continue;
            }
            known.repeats |= known.count > 0 && known.name == range.name;
            if known.count == 0 {
                known.first = span;
            }
            known.count += 1;
            known.covered += u64::from(span.to - span.from);
            known.last = span;
            self.of_place.push(family);
        }
        if self.chosen.is_none() {
            self.chosen = Some(self.best());
        }
        let chosen = self.chosen.flatten();
        if chosen.is_some() {
            let places = placed.places.iter().zip(&placed.spans);
            for (&family, (place, &span)) in self.of_place.iter().zip(places).skip(self.gathered) {
                slice.tick()?;
                self.gathered += 1;
                if Some(family) == chosen {
                    self.rows.push(place.row);
                    self.spans.push(span);
                }
            }
        }
        Ok(())
    }

    fn family(&mut self, snapshot: &Snapshot, name: StringId) -> u32 {
        if let Some(&known) = self.by_name.get(&name) {
            return known;
        }
        let text = snapshot.strings.bytes(name);
        let stem = stem(&String::from_utf8_lossy(text.get(..LONGEST_NAME).unwrap_or(text)));
        let next = self.families.len() as u32;
        let family = *self.by_stem.entry(stem.clone()).or_insert(next);
        if family == next {
            let none = Span { from: 0, to: 0 };
            let (varies, repeats, began_before) = Default::default();
            let (count, covered, first, last) = (0, 0, none, none);
            self.families.push(Family { stem, name, varies, repeats, began_before, count, covered, first, last });
        }
        self.by_name.insert(name, family);
        family
    }

    /// The family that are the steps; of several the one that says so, then the one that covers most, then the first.
    fn best(&self) -> Option<u32> {
        let ranked =
            (0u32..).zip(&self.families).filter_map(|(at, family)| Some((family.rank()?, family.covered, !at)));
        ranked.max().map(|(_, _, at)| !at)
    }

    /// The steps by annotations, if there are any; told once.
    pub(super) fn take_steps(&mut self) -> Option<Steps> {
        let family = self.families.get(self.chosen.take().flatten()? as usize)?;
        let (spans, rows) = (std::mem::take(&mut self.spans), std::mem::take(&mut self.rows));
        // What is between them is a part of no step.
        if family.varies || family.covered * 10 >= 9 * u64::from(family.last.to - family.first.from) {
            return Some(Steps { spans, rows, found: How::Annotations(family.stem.clone()) });
        }
        let ends = spans.iter().zip(spans.iter().skip(1));
        let spans = ends.map(|(one, next)| Span { from: one.to, to: next.to }).collect();
        Some(Steps { spans, rows: Vec::new(), found: How::Between(family.stem.clone()) })
    }
}

impl Family {
    /// How much it looks like steps; `None`: not at all.
    fn rank(&self) -> Option<u32> {
        let stem = self.stem.to_ascii_lowercase();
        let says_so = WORDS.iter().any(|word| stem.contains(word));
        match (self.varies, self.repeats, says_so) {
            // One is enough where it says so.
            (true, false, true) if self.count > 0 => Some(3),
            // `h.0`, `h.1`… are the layers of a model.
            (true, false, false) if self.count > 1 && !stem.contains(".#") => Some(2),
            (false, _, true) if self.count > 1 => Some(1),
            (false, _, false) if self.count > 1 => Some(0),
            _ => None,
        }
    }
}

/// A name with `#` for each number in it.
fn stem(name: &str) -> String {
    let mut stem = String::new();
    for letter in name.chars() {
        match letter.is_ascii_digit() {
            true if stem.ends_with('#') => {}
            true => stem.push('#'),
            false => stem.push(letter),
        }
    }
    stem
}

#[cfg(test)]
#[path = "../../../../tests/units/engine/report/steps/families.rs"]
mod tests;
