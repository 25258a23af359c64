//! Unit tests of `src/ui/first_group.rs`.

use super::*;
use protocol::Weight;

fn entries(bytes: &[u64]) -> Vec<LegendEntry> {
    let entry = |(slot, &peak_requested)| LegendEntry {
        slot,
        label: String::new(),
        groups: 1,
        peak_requested,
        peak_count: 1,
        at: Weight::default(),
    };
    (0..).zip(bytes).map(entry).collect()
}

#[test]
fn mostly_classified_peak_is_grouped_by_category() {
    assert!(is_classified(&entries(&[50, 30, 20])));
    assert!(!is_classified(&entries(&[50, 29, 21])));
    assert!(!is_classified(&entries(&[100])), "all bytes are unclassified");
    assert!(!is_classified(&entries(&[0, 0])));
    assert!(!is_classified(&[]));
}

#[test]
fn grouping_chosen_by_user_is_kept() {
    let mut state = Shared::default();
    for (stacking, expected) in [(None, Some(Grouping::Category)), (Some(Grouping::Size), Some(Grouping::Size))] {
        state.plot_settings.stacking = stacking;
        super::request(&mut state);
        let mut out = Outbox::default();
        ask(&mut state, 0, &mut out);
        assert_eq!(out.effects.len(), 1);
        let serial = out.serial;
        assert!(
            take(&mut state, serial + 1, Answer::Legend(entries(&[9, 1])), &mut out).is_some(),
            "the answer to another question is ignored"
        );
        assert!(take(&mut state, serial, Answer::Legend(entries(&[9, 1])), &mut out).is_none());
        assert_eq!(state.plot_settings.stacking, expected);
        ask(&mut state, 0, &mut out);
        assert_eq!(out.effects.len(), 1, "one question per file");
    }
}
