//! The comparison of two devices, and answers to queries about it.

use crate::alignment::{Alignment, peaks_in};
use crate::comparing::Comparer;
use crate::delta::Delta;
use crate::report::report;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use engine::{Answer, Question, Side};
use protocol::{Align, PairAnswer, PairMap, PairMoments, PairQuestion, Pairing};

/// The comparison of two devices, and data derived from it.
pub(super) struct ActiveComparison {
    pub(super) a: i64,
    pub(super) b: i64,
    pub(super) align: Option<Align>,
    pub(super) paths: u32,
    pub(super) comparing: Comparer,
    delta: Delta,
}

impl ActiveComparison {
    pub(super) fn new(a: i64, pairing: Pairing, comparing: Comparer) -> ActiveComparison {
        let Pairing { b, align, paths, .. } = pairing;
        ActiveComparison { a, b, align, paths, comparing, delta: Delta::default() }
    }

    pub(super) fn answer(
        &mut self,
        [a, b]: [&Side; 2],
        pairing: Pairing,
        what: &Question,
        slice: &mut TimeSlice,
    ) -> SliceResult<Option<Answer>> {
        self.comparing.align(a, b, slice)?;
        let pair = |answer| Some(Answer::Pair(Box::new(answer)));
        let alignment = self.comparing.alignment();
        Ok(match what {
            Question::Pair(PairQuestion::Map(_, places)) => {
                let places = alignment.sampled_anchors(*places as usize);
                pair(PairAnswer::Map(PairMap { align: self.comparing.method(), moments: places }))
            }
            Question::Pair(PairQuestion::Aligned(_, is_of_b, moment)) => {
                let moment = Moment(*moment);
                let (one, other) = match is_of_b {
                    false => (moment, alignment.to_b(moment)),
                    true => (alignment.to_a(moment), moment),
                };
                let live = |side: &Side, moment| u64::try_from(side.history.drawn_at(moment)).unwrap_or(0);
                pair(PairAnswer::Aligned(one.0, other.0, live(a, one), live(b, other)))
            }
            Question::Pair(PairQuestion::Curve(_, view)) => {
                let curve = self.delta.curve([a, b], alignment, *view, slice)?;
                pair(PairAnswer::Curve(Box::new(curve)))
            }
            Question::Comparison(_, rows) => {
                let moments = moments([a, b], pairing.at, alignment);
                self.comparing.set_options(pairing.key, moments);
                let comparison = self.comparing.step(a, b, slice)?;
                Some(Answer::Report(Box::new(report(&comparison, *rows as usize))))
            }
            _ => None,
        })
    }
}

/// Returns the moments to compare. A moment that is `None` is aligned with the other one. If both are `None`, the peaks
/// are compared.
fn moments([a, b]: [&Side; 2], at: PairMoments, alignment: &Alignment) -> (Option<Moment>, Option<Moment>) {
    let end = |side: &Side| Some(Moment(side.history.event_count()));
    match at {
        PairMoments::Peaks => (None, None),
        PairMoments::PeakOfA => (Some(a.history.live_peak().0), None),
        PairMoments::PeakOfB => (None, Some(b.history.live_peak().0)),
        PairMoments::Start => (Some(Moment::START), Some(Moment::START)),
        PairMoments::End => (end(a), end(b)),
        PairMoments::Moment(moment) => (Some(Moment(moment)), None),
        PairMoments::Both(one, other) => (Some(Moment(one)), Some(Moment(other))),
        PairMoments::Range(from, to) => peaks_in([a, b], alignment, [from, to].map(Moment)),
    }
}
