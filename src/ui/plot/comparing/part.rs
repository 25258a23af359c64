//! Requests to the worker for a comparison: the alignment of moments, the moment aligned with the cursor, and the
//! difference in live bytes over the window.

use crate::plot::comparing::lanes::map_position;
use crate::scope::cursor;
use crate::state::change::AskPhase;
use crate::state::compared_at::ComparedAt;
use crate::state::comparing::SecondFile;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::range::ViewScope;
use crate::state::shared::Shared;
use protocol::{Answer, PairAnswer, PairMoments, PairQuestion, Pairing, Plot, Question};
use std::rc::Rc;

/// Maximum number of aligned moments to request. It exceeds the number of columns of a window.
const MAX_MAP_POINTS: u32 = 4096;

/// Callbacks of the comparison.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::BeforeScene, ask), (AskPhase::Last, ask_curve)], take };

/// Requests the alignment of moments, and the moment aligned with the cursor.
fn ask(state: &mut Shared, _: i64, out: &mut Outbox) {
    let Some((a, pairing)) = pairing(state) else { return };
    let map = |(_, pairing)| Question::Pair(PairQuestion::Map(pairing, MAX_MAP_POINTS));
    let is_b = is_b_shown(state);
    let inputs = (state.load, pairing.paths);
    if pairing.paths != 0 && state.comparing.sent_paths != inputs {
        state.comparing.sent_paths = inputs;
        let paths = PairQuestion::PathPrefixes(pairing.paths, state.comparing.paths.clone());
        out.ask(a, Question::Pair(paths));
    }
    let comparing = &mut state.comparing;
    comparing.map.ask((a, pairing), a, out, map);
    let cursor = (a, pairing, is_b, state.cursor.moment);
    let aligned = |(_, pairing, is_b, moment)| Question::Pair(PairQuestion::Aligned(pairing, is_b, moment));
    comparing.aligned.ask(cursor, a, out, aligned);
}

/// Requests the difference in live bytes over A's window.
fn ask_curve(state: &mut Shared, _: i64, out: &mut Outbox) {
    if state.plot_settings.plot != Plot::Stack {
        return;
    }
    let Some(((a, pairing), view)) = pairing(state).zip(window_of_a(state)) else { return };
    let curve = |((_, pairing), view)| Question::Pair(PairQuestion::Curve(pairing, view));
    state.comparing.curve.ask(((a, pairing), view), a, out, curve);
}

fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    let Answer::Pair(answer) = answer else { return Some(answer) };
    match *answer {
        PairAnswer::Map(map) => drop(state.comparing.map.take(serial, Rc::new(map))),
        PairAnswer::Aligned(a, b, live_a, live_b) => {
            state.comparing.aligned.take(serial, ([a, b], [live_a, live_b]));
        }
        PairAnswer::Curve(curve) => drop(state.comparing.curve.take(serial, Rc::from(curve))),
    }
    None
}

/// Returns the ordinal of A and its pairing with B. The pairing omits the compared moments and the match key, which
/// only the insight uses.
pub(crate) fn pairing(state: &Shared) -> Option<(i64, Pairing)> {
    let [a, b] = state.comparing.pair?.map(|index| state.device_at(index));
    let (align, paths) = (state.comparing.align, state.comparing.paths_hash());
    Some((a?.device, Pairing { b: b?.device, align, paths, ..Pairing::default() }))
}

/// Returns whether two devices, or the two ends of a range, are being compared.
pub fn is_compared(state: &Shared) -> bool {
    state.comparing.is_active() || compared_ends(state).is_some()
}

/// Returns the ordinal of the shown device, and a pairing of the device with itself that compares both ends of the
/// range. `None` unless the views show the change over a range.
fn compared_ends(state: &Shared) -> Option<(i64, Pairing)> {
    let range = state.cursor.range.filter(|_| cursor::view_scope(state) == ViewScope::Change)?;
    let device = state.device()?.device;
    Some((device, Pairing { b: device, at: PairMoments::Both(range.from, range.to), ..Pairing::default() }))
}

/// Returns the ordinal of A and the pairing for the insight, including the compared moments and the match key.
/// `None` until the worker has returned the moment aligned with the cursor.
pub(crate) fn insight_pairing(state: &Shared) -> Option<(i64, Pairing)> {
    let Some((a, pairing)) = pairing(state) else { return compared_ends(state) };
    let at = match state.comparing.at {
        ComparedAt::Peaks => PairMoments::Peaks,
        ComparedAt::PeakOfA => PairMoments::PeakOfA,
        ComparedAt::PeakOfB => PairMoments::PeakOfB,
        ComparedAt::Start => PairMoments::Start,
        ComparedAt::End => PairMoments::End,
        ComparedAt::Range => match range_of_a(state) {
            Some([from, to]) => PairMoments::Range(from, to),
            None => PairMoments::Peaks,
        },
        ComparedAt::Cursor if is_b_shown(state) => PairMoments::Moment(aligned_cursor(state)?.0[0]),
        ComparedAt::Cursor => PairMoments::Moment(state.cursor.moment),
    };
    Some((a, Pairing { at, key: state.comparing.key, ..pairing }))
}

/// Returns both ends of the range as moments of A. If the range is one of B, its ends are converted to the aligned
/// moments of A.
fn range_of_a(state: &Shared) -> Option<[u32; 2]> {
    let range = state.cursor.range?;
    let ends = [range.from, range.to];
    if !is_b_shown(state) {
        return Some(ends);
    }
    let map = state.comparing.map.latest()?;
    Some(ends.map(|moment| map_position(map, f64::from(moment), false).round() as u32))
}

/// Returns whether `load` is the id of the current load of the first or the second file.
pub fn is_current_load(state: &Shared, load: u32) -> bool {
    state.load == load || matches!(&state.comparing.second, SecondFile::Loading(_, second_load) if *second_load == load)
}

/// Returns whether the shown device is B.
pub(crate) fn is_b_shown(state: &Shared) -> bool {
    state.comparing.pair.is_some_and(|[_, b]| b == state.device_index)
}

/// Returns the moments of A and B at the cursor, and the live bytes of A and B at these moments. The moments are
/// aligned, unless the peaks are compared and the cursor is at one of them.
pub(crate) fn aligned_cursor(state: &Shared) -> Option<([u32; 2], [u64; 2])> {
    let (a, pairing) = pairing(state)?;
    let aligned = || state.comparing.aligned.answer_to(&(a, pairing, is_b_shown(state), state.cursor.moment)).copied();
    compared_peaks(state).or_else(aligned)
}

/// Returns the moments and bytes of both peaks. `None` unless they are compared and the cursor is at one of them.
fn compared_peaks(state: &Shared) -> Option<([u32; 2], [u64; 2])> {
    let [a, b] = state.comparing.pair?.map(|index| state.device_at(index));
    let peaks = [a?, b?];
    let moments = peaks.map(|device| device.peak_moment().0);
    let is_at_peak = moments[usize::from(is_b_shown(state))] == state.cursor.moment;
    (is_at_peak && state.comparing.at == ComparedAt::Peaks).then(|| (moments, peaks.map(|device| device.drawn_peak)))
}

/// Returns the window that A's scene was drawn for.
fn window_of_a(state: &Shared) -> Option<picture::timeline::View> {
    let index = state.comparing.pair?[0];
    state.shown_lanes().find(|lane| lane.index == index)?.geometry.scene.as_ref().map(|scene| scene.view)
}
