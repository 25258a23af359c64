//! Conversion of positions to both horizontal axes, and the facts about a moment.

use base::units::{EventIdx, Moment};
use history::replay::{AnnotationRange, Curve, DeviceHistory, TimeAxis};
use history::snapshot::Action;
use picture::timeline::Axis;
use protocol::{AxisPoint, MomentFacts, MomentSpec, NamedAction, NamedEvent, Span};

/// Returns the facts about a moment. Positions outside the trace are clamped. `None` if the moment refers to an unknown
/// event.
pub(super) fn moment_facts(history: &DeviceHistory, at: MomentSpec) -> Option<MomentFacts> {
    let at = match at {
        MomentSpec::After(named) => MomentSpec::Moment(Moment::after(find_event(history, named)?).0),
        MomentSpec::PeakReserved => MomentSpec::Moment(history.reserved_peak().0),
        MomentSpec::OutOfMemory => MomentSpec::Moment(Moment::after(EventIdx(history.oom_events().last()?)).0),
        at => at,
    };
    let clock = history.events.times.time_axis();
    let start_of = |moment: u32| clock.map_or(0, |clock| clock.x(moment));
    let position = match at {
        MomentSpec::Moment(moment) => {
            let moment = moment.min(history.event_count()).max(history.events.first());
            AxisPoint { events: f64::from(moment), time: start_of(moment) }
        }
        MomentSpec::X(Axis::Events, x) => {
            let events = x.clamp(f64::from(history.events.first()), f64::from(history.event_count()) + 1.0);
            let moment = (events as u32).min(history.event_count());
            let [from, to] = clock.map_or([0, 0], |clock| moment_span(history, clock, moment));
            let part = (to - from) as f64 * (events - f64::from(moment)).min(1.0);
            AxisPoint { events, time: from.saturating_add(part.round() as u64).min(to) }
        }
        MomentSpec::X(Axis::Time, x) => clock.map_or_else(AxisPoint::default, |clock| point_at_time(history, clock, x)),
        MomentSpec::After(_) | MomentSpec::PeakReserved | MomentSpec::OutOfMemory => return None,
    };
    let moment = match (at, clock) {
        (MomentSpec::X(Axis::Time, x), Some(clock)) => clock.events_before(x.next_up()),
        _ => (position.events as u32).min(history.event_count()),
    };
    let pending = |event| history.awaiting_free_change(event);
    let positive = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    Some(MomentFacts {
        moment,
        position,
        start: start_of(moment),
        time_us: Moment(moment).event().and_then(|event| history.events.times.at(event.0)),
        requested: positive(history.drawn_at(Moment(moment))),
        reserved: positive(history.reserved_at(Moment(moment))),
        awaiting_free: positive(Curve::new(&history.awaiting_free, &pending).at(Moment(moment))),
        count: history.live_count_at(Moment(moment)),
    })
}

/// Returns the time between two events in µs, or `None` if either has no timestamp. It is measured on the time axis,
/// so it is never negative, even if the clock was set back.
pub(super) fn elapsed_us(history: &DeviceHistory, from: EventIdx, to: EventIdx) -> Option<i64> {
    let times = &history.events.times;
    let [from, to] = [from, to].map(|event| times.at(event.0).and(times.time_axis()).map(|clock| clock.x(event.0 + 1)));
    from.zip(to).map(|(from, to)| i64::try_from(to.saturating_sub(from)).unwrap_or(i64::MAX))
}

/// Finds an event by action, address and version. Scans all events, which is acceptable because only the command line
/// uses it.
fn find_event(history: &DeviceHistory, named: NamedEvent) -> Option<EventIdx> {
    let wanted = match named.action {
        NamedAction::Alloc => Action::Alloc,
        NamedAction::FreeCompleted => Action::FreeCompleted,
    };
    let mut freed = 0;
    (0..history.event_count()).map(EventIdx).find(|&event| {
        let action = history.events.action(event.0);
        if !matches!(action, Action::Alloc | Action::FreeCompleted)
            || history.address_and_size(event).0 != named.address
        {
            return false;
        }
        let found = action == wanted && freed == named.version;
        freed += u32::from(action == Action::FreeCompleted);
        found
    })
}

/// Converts `x` on the time axis to a position on both axes. Between two events, the event axis is interpolated by
/// time.
pub(super) fn point_at_time(history: &DeviceHistory, clock: TimeAxis<'_>, x: f64) -> AxisPoint {
    let x = x.clamp(0.0, clock.width() as f64);
    let moment = clock.events_before(x.next_up());
    let [from, to] = moment_span(history, clock, moment);
    let part = if to > from { (x - from as f64) / (to - from) as f64 } else { 0.0 };
    AxisPoint { events: f64::from(moment) + part.clamp(0.0, 1.0), time: x.round() as u64 }
}

/// Returns the start and end of a moment on the time axis, in µs.
fn moment_span(history: &DeviceHistory, clock: TimeAxis<'_>, moment: u32) -> [u64; 2] {
    let from = clock.x(moment);
    let to = if moment < history.event_count() { clock.x(moment + 1) } else { clock.width() };
    [from, to.max(from)]
}

/// Returns the range of an annotation, from the moment before its first event to the moment after its last one. Events
/// exactly at its start or end are included. An annotation that never ends lasts until the end of the trace.
pub(super) fn annotation_span(history: &DeviceHistory, clock: TimeAxis<'_>, range: &AnnotationRange) -> Span {
    let from = clock.events_before_us(range.start_us);
    let to = match range.end_us {
        Some(end) => clock.events_before_us(end.max(range.start_us).saturating_add(1)),
        None => history.event_count(),
    };
    Span { from, to: to.max(from) }
}
