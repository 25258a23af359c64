//! Memory totals for a range of the trace, computed in time slices.

use super::open::OpenFile;
use super::stack_trees::{Selection, clamp_scope};
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::Curve;
use protocol::{RangeFacts, Scope, Span, Weight};

/// Continues computing the totals for the range `span` and returns them once complete. They are zero if the file does
/// not have the device.
pub(super) fn range_facts(
    file: &mut OpenFile,
    device: i64,
    span: Span,
    slice: &mut TimeSlice,
) -> SliceResult<RangeFacts> {
    let Some((data, answers)) = file.device_with_trees(device) else {
        let (none, peak_moment) = (Weight::default(), span.from);
        return Ok(RangeFacts {
            span,
            allocated: none,
            freed: none,
            still_live: none,
            peak: 0,
            peak_moment,
            live_at_start: 0,
            live_at_end: 0,
        });
    };
    let history = data.history;
    let span = match clamp_scope(history, Scope::Allocated(span)) {
        Scope::Allocated(span) => span,
        _ => span,
    };
    let mut total = |scope: Scope| answers.total(data, Selection { device, scope, found: None }, slice);
    let allocated = total(Scope::Allocated(span))?;
    let freed = total(Scope::Freed(span))?;
    let kept = total(Scope::StillLive(span))?;
    let positive = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    let change = |event| history.drawn_change(event);
    let peak = Curve::new(&history.drawn, &change).max_in(span.from..span.to.saturating_add(1));
    let (peak_moment, peak) = peak.map_or((span.from, 0), |(moment, bytes)| (moment.0, positive(bytes)));
    let at = |moment: u32| positive(history.drawn_at(Moment(moment)));
    Ok(RangeFacts {
        span,
        allocated,
        freed,
        still_live: kept,
        peak,
        peak_moment,
        live_at_start: at(span.from),
        live_at_end: at(span.to),
    })
}
