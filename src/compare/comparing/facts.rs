//! Facts about the two sides of a comparison: sizes, common moments, and differing settings.

use crate::alignment::Alignment;
use crate::answer::{END, MomentPair, PEAK_RESERVED, PerSide, SideFacts};
use base::units::Moment;
use engine::{Side, is_default_setting};
use hashbrown::HashMap;
use history::replay::{Curve, DeviceHistory};

pub(super) fn facts(side: &Side, moment: Moment) -> SideFacts {
    let history = side.history;
    SideFacts {
        file: side.name(),
        device: history.device,
        backend: side.backend(),
        events: history.event_count(),
        moment: moment.0,
        live_bytes: live(history, moment),
        reserved_bytes: history.reserved_at(moment),
    }
}

pub(super) fn live(history: &DeviceHistory, moment: Moment) -> u64 {
    u64::try_from(history.drawn_at(moment)).unwrap_or(0)
}

fn awaiting_free(history: &DeviceHistory, moment: Moment) -> u64 {
    let change = |event| history.awaiting_free_change(event);
    u64::try_from(Curve::new(&history.awaiting_free, &change).at(moment)).unwrap_or(0)
}

pub(super) fn two(sides: [&Side; 2], value: impl Fn(&Side) -> u64) -> PerSide {
    let [a, b] = sides.map(value);
    PerSide { a, b }
}

/// Returns the pairs of moments that every comparison lists, such as the peaks.
pub(super) fn moment_pairs(a: &DeviceHistory, b: &DeviceHistory, alignment: &Alignment) -> Vec<MomentPair> {
    let (peak_a, peak_b) = (a.live_peak().0, b.live_peak().0);
    let knows_reserved = |history: &DeviceHistory| history.numbers.peak_reserved > 0;
    let knows_reserved = knows_reserved(a) && knows_reserved(b);
    let mut pairs = vec![
        ("peak with peak", peak_a, peak_b),
        ("A's peak", peak_a, alignment.to_b(peak_a)),
        ("B's peak", alignment.to_a(peak_b), peak_b),
        ("baseline", Moment::START, Moment::START),
        (END, Moment(a.event_count()), Moment(b.event_count())),
    ];
    if knows_reserved {
        pairs.push((PEAK_RESERVED, a.reserved_peak(), b.reserved_peak()));
    }
    let pair = |(title, one, other): (&str, Moment, Moment)| {
        let reserved = |history: &DeviceHistory, moment| u64::try_from(history.reserved_at(moment)).unwrap_or(0);
        MomentPair {
            title: title.to_owned(),
            moments: (one.0, other.0),
            live: PerSide { a: live(a, one), b: live(b, other) },
            awaiting_free: PerSide { a: awaiting_free(a, one), b: awaiting_free(b, other) },
            reserved: knows_reserved.then(|| PerSide { a: reserved(a, one), b: reserved(b, other) }),
        }
    };
    pairs.into_iter().map(pair).collect()
}

/// Returns the settings that differ, with their values in A and B: settings of A first, then those that only B has.
pub(super) fn settings(a: &Side, b: &Side) -> Vec<(String, Option<String>, Option<String>)> {
    let (of_a, of_b) = (&a.snapshot().settings, &b.snapshot().settings);
    // Maps to positions instead of values, because the WebAssembly file already contains a map of this type.
    type Places<'a> = HashMap<&'a str, usize, foldhash::fast::RandomState>;
    let [known_a, known_b]: [Places; 2] =
        [of_a, of_b].map(|of| of.iter().enumerate().map(|(at, (key, _))| (&**key, at)).collect());
    // A file without recorded settings cannot be compared.
    if known_a.is_empty() || known_b.is_empty() {
        return Vec::new();
    }
    let value =
        |of: &[(String, String)], known: &Places, key: &str| of.get(*known.get(key)?).map(|(_, value)| value.clone());
    let new_in_b = of_b.iter().filter(|(key, _)| !known_a.contains_key(&**key));
    let all = of_a.iter().chain(new_in_b).map(|(key, _)| key);
    let both = all.map(|key| (key.clone(), value(of_a, &known_a, key), value(of_b, &known_b, key)));
    // Newer versions of PyTorch record more settings.
    let is_new = |key: &str, a: &Option<String>, b: &Option<String>| match (a, b) {
        (None, Some(value)) | (Some(value), None) => is_default_setting(key, value),
        _ => false,
    };
    both.filter(|(key, a, b)| a != b && !is_new(key, a, b)).collect()
}
