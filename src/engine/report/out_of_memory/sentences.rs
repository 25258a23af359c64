//! What is said of a refused request: each sentence only where the numbers bear it.

use super::refused::{Facts, Refused, refused};
use super::rooms::Room;
use crate::protocol::{Evidence, ReportQuestion, Span, Threshold, Tone};
use crate::report::writing::{Writing, allocation, at, bytes};
use crate::state::{Pages, from_the_driver, is_small};
use base::units::{Bytes, counted, grouped};
use history::replay::SegmentKind;

/// What is taken from the driver is a multiple of this (`kRoundLarge`).
const DRIVER_GRAIN: u64 = 2 << 20;
/// Events around the refusal that are shown.
const AROUND: u32 = 500;

/// `site`: whose request it was.
pub(super) fn write(writing: &mut Writing<'_>, facts: &Facts, told: &Refused, site: &str) {
    let (file, history) = (writing.file, writing.history);
    let moment = told.live.moment;
    let (rooms, live) = (&told.rooms.rooms, &told.live);
    let knows_room = !file.snapshot.segments.is_empty() && facts.reserved > 0;
    let asked = file.rounding.rounded(facts.asked);
    let mut text = "A request for ".to_owned();
    text.push_str(&bytes(facts.asked));
    if !site.is_empty() {
        text.push_str(" by ");
        text.push_str(site);
    }
    text.push_str(" failed (event ");
    text.push_str(&grouped(facts.event.into()));
    text.push_str("): the driver had ");
    text.push_str(&bytes(facts.driver));
    text.push_str(" left, ");
    if knows_room {
        text.push_str(&bytes(facts.reserved));
        text.push_str(" were reserved, and ");
    }
    text.push_str(&counted(live.count, "allocation"));
    text.push_str(" with ");
    text.push_str(&bytes(facts.requested));
    text.push_str(" requested were live.");
    let span =
        Span { from: moment.saturating_sub(AROUND), to: moment.saturating_add(AROUND / 10).min(history.event_count()) };
    writing.say(Tone::Alarm, text, Some(Evidence { span: Some(span), ..at(moment) }));

    let labels = file.snapshot.labels.labels(history.events.labels(facts.event));
    let is_own = |kind: &SegmentKind| {
        kind.pool == Some(labels.pool.unwrap_or_default())
            && kind.stream == Some(labels.stream.unwrap_or_default())
            && kind.small == is_small(asked)
    };
    let own = || rooms.iter().filter(|room| is_own(&room.kind));
    let (own_free, all_free) = (sum_of(own(), |room| room.sums.free), sum_of(rooms.iter(), |room| room.sums.free));
    let largest = own().map(|room| room.sums.largest_free).max().unwrap_or(0);
    let blocks = sum_of(own(), |room| room.sums.free_blocks.into());
    // Before it gives up, PyTorch gives segments without a live block back to the driver, and free pages of expandable ones
    // (`release_cached_blocks`); those of private pools stay.
    let given_back = sum_of(rooms.iter().filter(|room| room.kind.pool == Some((0, 0))), |room| {
        if room.kind.expandable { room.sums.free } else { room.whole_bytes }
    });
    let fits = largest.max(facts.driver.saturating_add(given_back) / DRIVER_GRAIN * DRIVER_GRAIN);
    let is_expandable = own().any(|room| room.kind.expandable);
    let pages = if is_expandable { Pages::Expandable } else { Pages::Fixed };
    if knows_room {
        let mut text = "At most ".to_owned();
        text.push_str(&bytes(fits));
        text.push_str(" would have fitted: the largest free block that may serve such a request had at most ");
        text.push_str(&bytes(largest));
        text.push_str(", the driver ");
        text.push_str(&bytes(facts.driver));
        if fits > largest && !facts.driver.saturating_add(given_back).is_multiple_of(DRIVER_GRAIN) {
            text.push_str(" (memory is taken from the driver in multiples of 2 MiB)");
        }
        if given_back > 0 {
            text.push_str(" and up to ");
            text.push_str(&bytes(given_back));
            text.push_str(" of segments without a live block, which PyTorch gives back to it before it gives up");
        }
        text.push('.');
        writing.say(Tone::Fact, text, Some(at(moment)));
        let mut text;
        let mut tone = Tone::Fact;
        if fits >= asked {
            text = "So there may have been room: what was free is known as an upper bound only, and a limit \
                    (set_per_process_memory_fraction) may stand below it."
                .to_owned();
        } else if own_free >= asked {
            tone = Tone::Alarm;
            text = "It is fragmented: up to ".to_owned();
            text.push_str(&bytes(own_free));
            text.push_str(" were free where this request is served, in ");
            text.push_str(&counted(blocks, "block"));
            text.push_str(", none of them large enough.");
            if !is_expandable {
                text.push_str(" PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True lets such space be used.");
            }
        } else if all_free.saturating_add(facts.driver) < asked {
            text = "No arrangement would have made room: even with all that was reserved and not in use, at most "
                .to_owned();
            text.push_str(&bytes(all_free));
            text.push_str(", and what the driver had, ");
            text.push_str(&bytes(asked - all_free.saturating_add(facts.driver)));
            text.push_str(" were missing. Less has to be live, or be asked for.");
        } else {
            text = "Up to ".to_owned();
            text.push_str(&bytes(all_free));
            text.push_str(" were reserved and not in use, of which ");
            text.push_str(&bytes(own_free));
            text.push_str(" where this request is served; the rest belongs to other pools, streams or sizes.");
        }
        writing.say(tone, text, Some(at(moment)));
    }
    if facts.driver >= from_the_driver(asked, pages) {
        let text = "The driver had more left than such a request takes from it: look for a limit \
             (set_per_process_memory_fraction), or fragmentation of the driver's own."
            .to_owned();
        writing.say(Tone::Fact, text, None);
    }
    if facts.pending > 0 {
        let mut text = bytes(facts.pending);
        text.push_str(" had been freed by the program and were still in use by a stream (record_stream).");
        writing.say(Tone::Fact, text, Some(at(moment)));
    }
    if let Some((sites, largest)) = live.heaviest(file, history) {
        let mut text = Bytes(live.bytes).to_string();
        text.push_str(" were live: ");
        text.push_str(&sites);
        writing.say(Tone::Fact, text, Some(allocation(largest, Some(moment))));
    }
    if live.early > 0 {
        let mut text = bytes(live.early);
        text.push_str(" of that were there before the trace began.");
        writing.say(Tone::Fact, text, Some(at(0)));
    }
    if knows_room && told.state.astray.bytes > 0 {
        let mut text = bytes(told.state.astray.bytes);
        text.push_str(
            " of live blocks lie in no segment that is known to have been there: what was free is less certain.",
        );
        writing.say(Tone::Fact, text, None);
    }
    let count = refused(history).count();
    if count > 1 {
        let mut text = counted(count as u64, "request");
        text.push_str(" failed in this trace.");
        writing.say(Tone::Alarm, text, None);
    }
}

/// What is said of memory that the allocator does not know of, where the file says what was reserved.
pub(super) fn write_outside(writing: &mut Writing<'_>, facts: &Facts, question: &ReportQuestion, capacity: &Threshold) {
    if facts.reserved == 0 {
        return;
    }
    let outside = capacity.value.saturating_sub(facts.accounted());
    let is_asked = question.thresholds.iter().any(|(key, _)| *key == capacity.key);
    let mut text = if outside > 0 {
        let bound = if is_asked { "" } else { "At least " };
        [bound, &bytes(outside), " of device memory was in use outside the allocator"].concat()
    } else {
        let accounted = bytes(facts.accounted());
        ["Reserved and free memory add up to ", &accounted, ": what the GPU has beyond that was in use outside the allocator"]
            .concat()
    };
    text.push_str(" (CUDA context, NCCL, other processes).");
    writing.say(Tone::Fact, text, None);
}

fn sum_of<'a>(rooms: impl Iterator<Item = &'a Room>, of: impl Fn(&Room) -> u64) -> u64 {
    rooms.fold(0, |sum, room| sum.saturating_add(of(room)))
}
