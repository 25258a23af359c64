//! What groups are called.

use super::{AGES, CLASS_BITS, CLASSES, Groups, SMALLEST_CLASS_BITS};
use crate::protocol::Grouping;
use analysis::site;
use base::units::{BYTE_UNITS, grouped};
use history::replay::DeviceHistory;
use history::snapshot::Snapshot;

impl Groups {
    /// What a group is called; for call sites the frame on one line.
    pub(crate) fn label(&self, snapshot: &Snapshot, history: &DeviceHistory, by: Grouping, group: u32) -> String {
        match by {
            Grouping::Annotation => return self.regions.annotation_label(snapshot, group),
            Grouping::CompileContext => return self.regions.context_label(snapshot, group),
            _ => {}
        }
        let Some(place) = group.checked_sub(1) else {
            return match by {
                Grouping::CallSite => "no stack",
                _ => "not recorded",
            }
            .to_owned();
        };
        match by {
            Grouping::CallSite => {
                let frame = self.ranked.get(place as usize).map(|&frame| snapshot.frames.frame(frame));
                frame.map_or_else(String::new, |frame| site::short(snapshot, frame))
            }
            Grouping::Size => {
                let bits = SMALLEST_CLASS_BITS + place * CLASS_BITS;
                let (end, unit) = power_of_two(bits);
                match bits.checked_sub(CLASS_BITS).filter(|_| place > 0).map(power_of_two) {
                    None => format!("≤ {end} {unit}"),
                    Some((from, of)) if of == unit => format!("{from}–{end} {unit}"),
                    Some((from, of)) => format!("{from} {of}–{end} {unit}"),
                }
            }
            Grouping::Lifetime if place == CLASSES + 1 => "live at the end".to_owned(),
            Grouping::Lifetime if place == CLASSES => "born before recording".to_owned(),
            Grouping::Lifetime if place == 0 => "1 event".to_owned(),
            Grouping::Lifetime => {
                let end = 1u64 << (place * CLASS_BITS).min(63);
                format!("{}–{} events", grouped((end >> CLASS_BITS) + 1), grouped(end))
            }
            Grouping::Age if place == 0 => "born before recording".to_owned(),
            Grouping::Age => {
                // The first event of a part: a part ends before the next one begins.
                let first = |part: u32| {
                    (u64::from(part) * u64::from(history.event_count())).div_ceil(u64::from(AGES))
                };
                let (from, last) = (first(place - 1), first(place).saturating_sub(1));
                match from < last {
                    true => format!("allocated at events {}–{}", grouped(from), grouped(last)),
                    false => format!("allocated at event {}", grouped(from)),
                }
            }
            Grouping::Stream => match self.streams.get(place as usize) {
                Some(0) => "default stream".to_owned(),
                stream => format!("stream {:#x}", stream.copied().unwrap_or(0)),
            },
            Grouping::Pool => self.pool_label(self.pools.get(place as usize).copied().unwrap_or_default()),
            Grouping::Category => self.categories.set().categories().get(place as usize).cloned().unwrap_or_default(),
            Grouping::Annotation | Grouping::CompileContext => String::new(),
        }
    }
}

/// Two to the power of so many, as a number and its unit.
fn power_of_two(bits: u32) -> (u64, &'static str) {
    (1 << (bits % 10), BYTE_UNITS.get(bits as usize / 10).unwrap_or(&"B"))
}
