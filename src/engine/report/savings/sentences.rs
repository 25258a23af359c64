//! Statements about savings: one for each change that this trace has evidence for.

use super::kinds::{Kind, Saving};
use crate::protocol::{StateKept, Tone};
use crate::report::layout::Layout;
use crate::report::site_sums::label;
use crate::report::steps::Steps;
use crate::report::writing::{Writing, allocation, at, bytes, when};
use base::units::{counted, percent};

/// Minimum of reserved bytes for a statement.
const LEAST_RESERVED: u64 = 1 << 20;

/// Writes the report of a trace without allocations.
pub(super) fn nothing(writing: &mut Writing<'_>) {
    let text = "Nothing to save: the trace has no allocations.".to_owned();
    writing.say(Tone::Fact, text, None);
}

/// Writes one statement per change.
pub(super) fn write(writing: &mut Writing<'_>, (moment, peak): (u32, u64), savings: &[Saving], steps: &Steps) {
    let mut told: Vec<Kind> = Vec::new();
    for saving in savings {
        // All changes to optimizer state share one statement.
        let is_optimizer = |kind: Kind| matches!(kind, Kind::EightBit | Kind::Sharded | Kind::Offloaded);
        if !told.iter().any(|&kind| is_optimizer(kind) && is_optimizer(saving.kind)) {
            say(writing, (moment, peak), saving, savings);
        }
        told.push(saving.kind);
    }
    if savings.is_empty() {
        let text = "No common change lowers the peak by as much as the threshold.".to_owned();
        writing.say(Tone::Good, text, Some(at(moment)));
        writing.fix("See the call sites below, and set finer category rules where most of the peak is unknown.");
    }
    if steps.spans.len() < 2 {
        let text = [&steps.how(), " What is held over from one step into the next is unknown."].concat();
        writing.say(Tone::Fact, text, None);
    }
}

fn say(writing: &mut Writing<'_>, (moment, peak): (u32, u64), saving: &Saving, all: &[Saving]) {
    let (file, history) = (writing.file, writing.history);
    let words = saving.kind.words();
    let mut text =
        [words.what, ": ", &bytes(saving.concerned), " at the peak (", &percent(saving.concerned, peak), ")"].concat();
    let is_all = saving.most.first().is_some_and(|&(_, of_site, _)| of_site == saving.concerned);
    for (place, &(site, of_site, _)) in saving.most.iter().enumerate() {
        text.push_str(match place {
            0 if is_all => ", all by ",
            0 => ", most by ",
            _ => ", ",
        });
        text.push_str(&label(file, history, site));
        if !is_all {
            [" (", &bytes(of_site), ")"].iter().for_each(|part| text.push_str(part));
        }
    }
    text.push_str(". ");
    let is_optimizer = matches!(saving.kind, Kind::EightBit | Kind::Sharded | Kind::Offloaded);
    // Lists all changes that share the statement, in their order.
    let same = |other: &&Saving| {
        other.kind == saving.kind
            || is_optimizer && matches!(other.kind, Kind::EightBit | Kind::Sharded | Kind::Offloaded)
    };
    let ways: Vec<&Saving> = all.iter().filter(same).collect();
    for (place, way) in ways.iter().enumerate() {
        let then = way.kind.words().then;
        let begin = if place == 0 { then.to_owned() } else { ["; ", &lower(then)].concat() };
        let parts = [begin.as_str(), if place == 0 { ", the peak is " } else { ": " }, &bytes(way.without.peak), " (−"];
        parts.iter().for_each(|part| text.push_str(part));
        [&bytes(way.saved), ")"].iter().for_each(|part| text.push_str(part));
    }
    if saving.without.moment == moment {
        text.push('.');
    } else {
        [", reached ", &when(saving.without.moment), "."].iter().for_each(|part| text.push_str(part));
    }
    let evidence = saving.most.first().map_or_else(|| at(moment), |&(_, _, id)| allocation(id.0, Some(moment)));
    writing.say(Tone::Fact, text, Some(evidence));
    writing.parts(&[("peak without it", saving.without.peak), ("saved", saving.saved)]);
    let fix = match is_optimizer {
        true => {
            "Use an 8-bit optimizer, shard its state over data-parallel ranks (ZeRO-1, FSDP), or offload it to the CPU."
                .to_owned()
        }
        false => [words.fix, " ", words.unless].concat(),
    };
    writing.fix(&fix);
}

/// Converts the first letter to lower case, for use within a sentence.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    // Only the first letter, so CPU stays as it is.
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Writes statements about memory that could be released at the peak of reserved bytes.
pub(super) fn write_reserved(writing: &mut Writing<'_>, kept: &StateKept, layout: &Layout) {
    let reserved = layout.whole.reserved;
    let StateKept { empty, pinned, by_site, .. } = kept;
    if empty.bytes >= LEAST_RESERVED.max(reserved / 100) {
        let text = [
            "Reserved at its peak: ",
            &bytes(reserved),
            ", of which ",
            &counted(empty.count.into(), "empty segment"),
            " with ",
            &bytes(empty.bytes),
            " (",
            &percent(empty.bytes, reserved),
            ").",
        ];
        writing.say(Tone::Fact, text.concat(), Some(at(layout.moment)));
        writing.fix("PyTorch releases them itself before an OOM; torch.cuda.empty_cache() before this point gives them to other processes.");
    }
    let Some(first) = by_site.first() else { return };
    if pinned.bytes >= LEAST_RESERVED.max(reserved / 100) {
        let text = [
            "Reserved at its peak: ",
            &bytes(reserved),
            ", of which ",
            &bytes(pinned.bytes),
            " free (cached) in ",
            &counted(pinned.count.into(), "segment"),
            " pinned by one block each. Most by ",
            &first.site,
            " (",
            &bytes(first.free.bytes),
            ").",
        ];
        writing.say(Tone::Fact, text.concat(), Some(allocation(first.allocation, Some(layout.moment))));
        writing.fix("Set expandable_segments:True, or allocate what lives long before what is temporary.");
    }
}
