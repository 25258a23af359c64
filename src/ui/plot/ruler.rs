//! The ruler, which measures events, time and bytes between two points.

pub(crate) use crate::state::ruler::{FixResult, Removed, SecondEnd};
pub use crate::state::ruler::{Mode, Ruler};

use crate::plot::{plots, tools};
use crate::state::point::Point;
use crate::state::shared::Shared;
use base::units::{Bytes, duration_us, group_digits, pluralize};
use picture::timeline::Axis;
use protocol::MomentSpec;

/// Distances between the two ends of the ruler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    pub events: Option<i64>,
    /// Distance in microseconds. `None` if the file has no timestamps, or until the worker has sent them.
    pub time_us: Option<i64>,
    /// Distance in bytes, negative if the ruler points downwards. In the plot of addresses, the difference between two
    /// addresses.
    pub bytes: i64,
}

impl Measured {
    /// Formats the distances as one short line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Some(events) = self.events {
            text.push_str(sign(events));
            text.push_str(&pluralize(events.unsigned_abs(), "event"));
            text.push_str(" · ");
        }
        if let Some(time_us) = self.time_us {
            text.push_str(&duration_us(time_us));
            text.push_str(" · ");
        }
        text.push_str(sign(self.bytes));
        text.push_str(&Bytes(self.size()).to_string());
        text
    }

    /// Formats the exact distance in bytes.
    pub fn exact_bytes(&self) -> String {
        format!("{}{} B", sign(self.bytes), group_digits(self.size()))
    }

    fn size(&self) -> u64 {
        self.bytes.unsigned_abs()
    }
}

fn sign(value: i64) -> &'static str {
    if value < 0 { "−" } else { "" }
}

/// Returns the distances between the ruler's ends. `None` if no ruler is drawn.
pub fn measured(state: &Shared) -> Option<Measured> {
    let [from, to] = state.tools.ruler.ends.as_ref()?;
    let events = to.moment().zip(from.moment()).map(|(to, from)| i64::from(to) - i64::from(from));
    let first = state.surroundings.marks.latest().and_then(|marks| marks.clock).map(|clock| clock.margin);
    let time = |point: &Point| {
        let us = match point.at {
            MomentSpec::X(Axis::Time, x) => x.round() as u64,
            // Positions before the first event have no time.
            _ => point.facts?.start.max(first?),
        };
        i64::try_from(us).ok()
    };
    let timed = state.device().is_some_and(|device| device.time_us.is_some());
    let time_us = time(to).zip(time(from)).map(|(to, from)| to - from).filter(|_| timed);
    Some(Measured { events, time_us, bytes: plots::axis::height_between(state, from.byte, to.byte) })
}

/// Turns the ruler mode on or off. If there is a crosshair, a ruler starts there, and its second end follows the
/// crosshair.
pub(crate) fn toggle(state: &mut Shared) {
    if state.tools.ruler.mode == Mode::On {
        (state.tools.ruler.mode, state.tools.ruler.second_end) = (Mode::Off, SecondEnd::Fixed);
        return;
    }
    state.tools.ruler.mode = Mode::On;
    if let Some(start) = crosshair_point(state) {
        measure_from(state, start);
        state.tools.ruler.second_end = SecondEnd::FollowsCrosshair;
    }
}

/// Starts a ruler at `from`, replacing the previous one.
pub(crate) fn measure_from(state: &mut Shared, from: Point) {
    state.tools.ruler.ends = Some([from; 2]);
    state.tools.ruler.second_end = SecondEnd::Fixed;
}

/// Moves the second end of the ruler to `point`.
pub(crate) fn measure_to(state: &mut Shared, point: Point) {
    if let Some([_, to]) = &mut state.tools.ruler.ends
        && (to.at, to.byte) != (point.at, point.byte)
    {
        *to = point;
    }
}

/// Moves the second end of the ruler to the crosshair, if it follows the crosshair.
pub(crate) fn update_end(state: &mut Shared) {
    if state.tools.ruler.second_end == SecondEnd::FollowsCrosshair
        && let Some(crosshair) = crosshair_point(state)
    {
        measure_to(state, crosshair);
    }
}

/// Fixes the second end of the ruler at its position, if it follows the crosshair.
pub(crate) fn fix(state: &mut Shared) -> FixResult {
    if state.tools.ruler.second_end == SecondEnd::Fixed {
        return FixResult::Already;
    }
    update_end(state);
    (state.tools.ruler.mode, state.tools.ruler.second_end) = (Mode::Off, SecondEnd::Fixed);
    FixResult::Now
}

/// Removes the ruler. Returns whether there was one.
pub(crate) fn remove(state: &mut Shared) -> Removed {
    let had_ruler = state.tools.ruler.ends.is_some() || state.tools.ruler.mode == Mode::On;
    state.tools.ruler = Ruler::default();
    if had_ruler { Removed::Yes } else { Removed::NothingThere }
}

/// Returns the position of the crosshair: the exact position of the pointer, or the moment and height set by keys.
fn crosshair_point(state: &Shared) -> Option<Point> {
    match (state.tools.crosshair.by_keys, state.pointer) {
        (Some(keys), _) => Some(Point::new(MomentSpec::Moment(keys.moment), keys.byte)),
        (None, pointer) => tools::point_at(state, pointer?),
    }
}
