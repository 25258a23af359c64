//! Display labels of allocation groups.

use super::{AGE_COUNT, CLASS_BITS, CLASS_COUNT, Groups, MIN_CLASS_BITS};
use analysis::site;
use base::units::{Bytes, byte_range, group_digits};
use history::replay::DeviceHistory;
use history::snapshot::Snapshot;
use protocol::Grouping;

/// Label of the allocations without a pool, if the file records pools. Older versions of PyTorch record the pool of a
/// segment only in the list of segments, which has those that exist at the end of the trace.
pub const UNKNOWN_POOL: &str = "pool unknown: its segment was freed";

impl Groups {
    /// Returns the display label of a group. For call sites, the label is the frame on one line.
    pub(crate) fn label(&self, snapshot: &Snapshot, history: &DeviceHistory, by: Grouping, group: u32) -> String {
        match by {
            Grouping::Annotation => return self.regions.annotation_label(snapshot, group),
            Grouping::CompileContext => return self.regions.context_label(snapshot, group),
            Grouping::Metadata => return self.regions.metadata_label(snapshot, group),
            _ => {}
        }
        let Some(index) = group.checked_sub(1) else {
            return match by {
                Grouping::CallSite => site::NO_STACK,
                Grouping::Pool if self.has_pools() => UNKNOWN_POOL,
                _ => "not recorded",
            }
            .to_owned();
        };
        match by {
            Grouping::CallSite => {
                let frame = self.call_sites.get(index as usize).map(|&frame| snapshot.frames.frame(frame));
                frame.map_or_else(String::new, |frame| site::short(snapshot, frame))
            }
            Grouping::Size => {
                let end = 1u64.checked_shl(MIN_CLASS_BITS + index * CLASS_BITS).unwrap_or(u64::MAX);
                if index == 0 { format!("≤ {}", Bytes(end)) } else { byte_range(end >> CLASS_BITS, end) }
            }
            Grouping::Lifetime if index == CLASS_COUNT + 1 => "never freed".to_owned(),
            Grouping::Lifetime if index == CLASS_COUNT => "allocated before recording".to_owned(),
            Grouping::Lifetime if index == 0 => "1 event".to_owned(),
            Grouping::Lifetime => {
                let end = 1u64 << (index * CLASS_BITS).min(63);
                format!("{}–{} events", group_digits((end >> CLASS_BITS) + 1), group_digits(end))
            }
            Grouping::Age if index == 0 => "allocated before recording".to_owned(),
            Grouping::Age => {
                // A part ends before the first event of the next one.
                let first =
                    |part: u32| (u64::from(part) * u64::from(history.event_count())).div_ceil(u64::from(AGE_COUNT));
                let last = first(index).saturating_sub(1);
                format!("allocated at events {}–{}", group_digits(first(index - 1)), group_digits(last))
            }
            Grouping::Stream => match self.streams.get(index as usize) {
                Some(0) => "default stream".to_owned(),
                stream => format!("stream {:#x}", stream.copied().unwrap_or(0)),
            },
            Grouping::Pool => self.pool_label(self.pools.get(index as usize).copied().unwrap_or_default()),
            Grouping::Category => self.categories.set().categories().get(index as usize).cloned().unwrap_or_default(),
            Grouping::Annotation | Grouping::CompileContext | Grouping::Metadata => String::new(),
        }
    }
}
