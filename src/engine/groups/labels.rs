//! Labels of groups.

use super::{AGE_COUNT, CLASS_BITS, CLASS_COUNT, Groups, MIN_CLASS_BITS};
use crate::protocol::Grouping;
use analysis::site;
use base::units::{Bytes, byte_range, group_digits};
use history::replay::DeviceHistory;
use history::snapshot::Snapshot;

impl Groups {
    /// Returns the label of a group. For call sites, it is the frame on one line.
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
                let frame = self.call_sites.get(place as usize).map(|&frame| snapshot.frames.frame(frame));
                frame.map_or_else(String::new, |frame| site::short(snapshot, frame))
            }
            Grouping::Size => {
                let end = 1u64.checked_shl(MIN_CLASS_BITS + place * CLASS_BITS).unwrap_or(u64::MAX);
                if place == 0 { format!("≤ {}", Bytes(end)) } else { byte_range(end >> CLASS_BITS, end) }
            }
            Grouping::Lifetime if place == CLASS_COUNT + 1 => "never freed".to_owned(),
            Grouping::Lifetime if place == CLASS_COUNT => "allocated before recording".to_owned(),
            Grouping::Lifetime if place == 0 => "1 event".to_owned(),
            Grouping::Lifetime => {
                let end = 1u64 << (place * CLASS_BITS).min(63);
                format!("{}–{} events", group_digits((end >> CLASS_BITS) + 1), group_digits(end))
            }
            Grouping::Age if place == 0 => "allocated before recording".to_owned(),
            Grouping::Age => {
                // A part ends before the first event of the next one.
                let first =
                    |part: u32| (u64::from(part) * u64::from(history.event_count())).div_ceil(u64::from(AGE_COUNT));
                let last = first(place).saturating_sub(1);
                format!("allocated at events {}–{}", group_digits(first(place - 1)), group_digits(last))
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
