//! The GPU's capacity, as somebody types it: a line across the picture.

use super::shared::Shared;
use engine::protocol::CAPACITY;

/// Bytes of a GiB, the unit it is typed in.
const GIB: f64 = (1u64 << 30) as f64;
/// More than this is a slip of the finger.
const MOST_GIB: f64 = 1024.0 * 1024.0;

impl Shared {
    /// What the GPU has at least, in bytes: what was free and what was reserved when memory ran out, or what was reserved at most. `None` when it never did.
    pub fn least_capacity(&self) -> Option<u64> {
        let marks = self.around.marks.latest()?;
        let device = self.device().filter(|device| device.knows_reserved())?;
        let least = marks.out_of_memory.iter().map(|mark| mark.device_free.saturating_add(mark.reserved)).max()?;
        // Other programs may have had more of it just then.
        Some(least.max(u64::try_from(device.peak_reserved).unwrap_or(0)))
    }

    /// The same for the field, in GiB.
    pub fn capacity_hint(&self) -> String {
        let recorded = self.device().and_then(|device| device.recorded(CAPACITY));
        if let Some(bytes) = recorded {
            return format!("{:.2}", bytes as f64 / GIB);
        }
        self.least_capacity().map_or_else(|| "–".to_owned(), |bytes| format!("≥ {:.2}", bytes as f64 / GIB))
    }

    /// Something was typed in the field: a number of GiB, or nothing, which takes the line away. All else changes nothing.
    pub(super) fn type_capacity(&mut self, text: &str) {
        let text = text.trim();
        let typed = text.parse::<f64>().ok().filter(|gib| *gib > 0.0 && *gib <= MOST_GIB);
        if typed.is_none() && !text.is_empty() {
            return;
        }
        self.raise(|state| state.tools.capacity = typed.map(|gib| (gib * GIB) as u64));
    }

    /// Changes how high the picture is. Who looked at everything wants to see that as well; who did not stays where they are.
    pub(super) fn raise(&mut self, change: impl FnOnce(&mut Shared)) {
        let showed_all = self.plane().zip(self.view).is_some_and(|(plane, view)| plane.whole(view) == view);
        change(self);
        self.navigate(|plane, view| if showed_all { plane.whole(view) } else { plane.moved(view, 0.0, 0.0) });
    }
}
