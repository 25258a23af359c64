//! Groups annotations whose names differ only in numbers into families, to find the family that marks the training
//! steps.

use super::named::{FamilyKind, NamedSteps};
use super::placed::PlacedAnnotations;
use super::rule::{StepRule, Steps};
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StringId};
use protocol::Span;

/// Maximum number of bytes of a name that are compared with other names.
const MAX_NAME_LEN: usize = 200;
/// Words in an annotation name that suggest that the annotation is a step.
const STEP_WORDS: [&str; 3] = ["step", "iter", "batch"];
/// Words that suggest that it is a part of a step: at the start of a word, and at the end of one.
const PART_WORDS: [&str; 7] = ["layer", "block", "stage", "micro", "expert", "shard", "bucket"];
const NORM: &str = "norm";
/// Word for a part of the training with many steps.
const EPOCH_WORD: &str = "epoch";

/// Annotations whose names differ only in their numbers.
struct Family {
    /// Common name of the family, with `#` in place of numbers, such as `step_#`.
    name_pattern: String,
    name: StringId,
    /// True if the family has several different names. `names_repeat` is true if a name occurs more than once.
    names_differ: bool,
    names_repeat: bool,
    /// True if an annotation of the family ended before the first event. Then an annotation that is open at the first
    /// event is a partial step.
    has_earlier: bool,
    count: u32,
    covered_events: u64,
    first: Span,
    last: Span,
}

/// Annotation families of a device.
#[derive(Default)]
pub(super) struct Families {
    families: Vec<Family>,
    by_name_pattern: HashMap<String, u32, foldhash::fast::RandomState>,
    by_name: HashMap<StringId, u32, foldhash::fast::RandomState>,
    /// Index of the next annotation to process. First [`PlacedAnnotations::outside_rows`] is processed, then
    /// [`PlacedAnnotations::annotations`].
    next_annotation: usize,
    /// Index of the family of each annotation that overlaps the trace. [`NO_FAMILY`] if the annotation cannot be a
    /// step.
    family_of: Vec<u32>,
    /// Index of the family that marks the steps, if any. The outer `None` means that the annotations are still being
    /// read. `places_collected` is the number of annotations that were checked for being steps afterwards.
    step_family: Option<Option<u32>>,
    places_collected: usize,
    spans: Vec<Span>,
    rows: Vec<u32>,
}

const NO_FAMILY: u32 = u32::MAX;

impl Families {
    /// Continues assigning annotations to families, and then collecting the steps.
    pub(super) fn step(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        placed: &PlacedAnnotations,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let outside = placed.outside_rows.len();
        while self.next_annotation < outside + placed.annotations.len() {
            slice.spend(2)?;
            let next = self.next_annotation;
            let inside = next.checked_sub(outside);
            let inside = inside.and_then(|index| Some((placed.annotations.get(index)?, *placed.spans.get(index)?)));
            let row = placed.outside_rows.get(next).copied().or(inside.map(|(annotation, _)| annotation.row));
            self.next_annotation += 1;
            let Some(range) = row.and_then(|row| history.annotations.get(row as usize)) else { continue };
            let family = self.intern_family(snapshot, range.name);
            let Some(known) = self.families.get_mut(family as usize) else { continue };
            known.names_differ |= known.name != range.name;
            let Some((_, span)) = inside else {
                known.has_earlier |= history.numbers.time_us.is_some_and(|(first, _)| range.start_us < first);
                continue;
            };
            let is_cut = known.has_earlier && history.numbers.time_us.is_some_and(|(first, _)| range.start_us < first);
            let overlaps = known.count > 0 && span.from < known.last.to;
            if range.end_us.is_none() || is_cut || overlaps {
                self.family_of.push(NO_FAMILY);
                continue;
            }
            known.names_repeat |= known.count > 0 && known.name == range.name;
            if known.count == 0 {
                known.first = span;
            }
            known.count += 1;
            known.covered_events += u64::from(span.to - span.from);
            known.last = span;
            self.family_of.push(family);
        }
        if self.step_family.is_none() {
            self.step_family = Some(self.best_family());
        }
        let chosen = self.step_family.flatten();
        if chosen.is_some() {
            let annotations = placed.annotations.iter().zip(&placed.spans);
            for (&family, (annotation, &span)) in self.family_of.iter().zip(annotations).skip(self.places_collected) {
                slice.tick()?;
                self.places_collected += 1;
                if Some(family) == chosen {
                    self.rows.push(annotation.row);
                    self.spans.push(span);
                }
            }
        }
        Ok(())
    }

    fn intern_family(&mut self, snapshot: &Snapshot, name: StringId) -> u32 {
        if let Some(&known) = self.by_name.get(&name) {
            return known;
        }
        let text = snapshot.strings.bytes(name);
        let name_pattern = name_pattern(&String::from_utf8_lossy(text.get(..MAX_NAME_LEN).unwrap_or(text)));
        let next = self.families.len() as u32;
        let family = *self.by_name_pattern.entry(name_pattern.clone()).or_insert(next);
        if family == next {
            let none = Span { from: 0, to: 0 };
            let (names_differ, names_repeat, has_earlier) = Default::default();
            let (count, covered_events, first, last) = (0, 0, none, none);
            self.families.push(Family {
                name_pattern,
                name,
                names_differ,
                names_repeat,
                has_earlier,
                count,
                covered_events,
                first,
                last,
            });
        }
        self.by_name.insert(name, family);
        family
    }

    /// Returns the family that marks the steps: that of the most likely kind. If several families have this kind, the
    /// one that covers the most events is used, or otherwise the first.
    fn best_family(&self) -> Option<u32> {
        let ranked =
            (0u32..).zip(&self.families).filter_map(|(index, it)| Some((it.kind()?, it.covered_events, !index)));
        ranked.max().map(|(_, _, index)| !index)
    }

    /// Returns the steps. Without spans if no family marks steps. Later calls return no steps.
    pub(super) fn take_steps(&mut self) -> NamedSteps {
        let family = self.step_family.take().flatten().and_then(|family| self.families.get(family as usize));
        let Some(family) = family else { return NamedSteps::default() };
        let (marks, rows) = (std::mem::take(&mut self.spans), std::mem::take(&mut self.rows));
        // Events between the annotations belong to no step.
        let is_covering = family.covered_events * 10 >= 9 * u64::from(family.last.to - family.first.from);
        let steps = match family.names_differ || is_covering {
            true => Steps {
                spans: marks.clone(),
                annotation_rows: rows,
                rule: StepRule::Annotations(family.name_pattern.clone()),
            },
            false => Steps {
                spans: marks
                    .iter()
                    .zip(marks.iter().skip(1))
                    .map(|(it, next)| Span { from: it.to, to: next.to })
                    .collect(),
                annotation_rows: Vec::new(),
                rule: StepRule::BetweenAnnotations(family.name_pattern.clone()),
            },
        };
        NamedSteps::new(steps, marks, family.kind().unwrap_or_default())
    }
}

impl Family {
    /// Returns the kind of the family. `None` if it cannot mark steps.
    fn kind(&self) -> Option<FamilyKind> {
        let name_pattern = self.name_pattern.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name_pattern.contains(word));
        if is_part(&self.name_pattern) {
            return None;
        }
        match (self.names_differ, self.names_repeat, has(&STEP_WORDS)) {
            // With a word for steps in the name, one annotation is enough.
            (true, false, true) if self.count > 0 => Some(FamilyKind::NumberedStep),
            _ if self.count < 2 => None,
            // The numbers start again in each epoch.
            (true, true, true) | (false, _, true) => Some(FamilyKind::Step),
            // `h.0`, `h.1`, … are layers of a model.
            (true, false, false) if has(&[EPOCH_WORD]) => Some(FamilyKind::Epoch),
            (true, false, false) if !name_pattern.contains(".#") => Some(FamilyKind::Numbered),
            (false, _, false) => Some(FamilyKind::Repeated),
            _ => None,
        }
    }
}

/// Returns whether a name suggests a part of a step, as `DecoderLayer_#` does. `player_step #` and `normal step #` do
/// not.
fn is_part(name_pattern: &str) -> bool {
    let lower = name_pattern.to_ascii_lowercase();
    let is_letter = |at: usize| lower.as_bytes().get(at).is_some_and(u8::is_ascii_alphabetic);
    let is_upper = |at: usize| name_pattern.as_bytes().get(at).is_some_and(u8::is_ascii_uppercase);
    let starts = |at: usize| is_upper(at) || !at.checked_sub(1).is_some_and(is_letter);
    PART_WORDS.iter().any(|word| lower.match_indices(word).any(|(at, _)| starts(at)))
        || lower.match_indices(NORM).any(|(at, _)| !is_letter(at + NORM.len()))
}

/// Replaces each number in a name with `#`.
fn name_pattern(name: &str) -> String {
    let mut name_pattern = String::new();
    for letter in name.chars() {
        match letter.is_ascii_digit() {
            true if name_pattern.ends_with('#') => {}
            true => name_pattern.push('#'),
            false => name_pattern.push(letter),
        }
    }
    name_pattern
}

#[cfg(test)]
#[path = "../../../../tests/units/engine/report/step_finder/families.rs"]
mod tests;
