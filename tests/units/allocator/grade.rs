//! Grades of predictions: proved, from source, dependent on the start state, or departing.

use super::{WhatIfGrade as Grade, grade};
use crate::conf::parse;
use crate::verdict::DEFERRED;
use crate::{Exercised, Proof, Settings, Verdict};

#[test]
fn grade_depends_on_rules_proved_by_the_recording() {
    let exact = Proof { not_exercised: vec!["expandable_segments", "retries", DEFERRED], ..Proof::default() };
    let graded = |proof: &Proof, line: &str| grade(proof, &parse(line).unwrap().0, false, &Exercised::default());
    assert_eq!(graded(&exact, ""), Grade::Proved);
    assert_eq!(graded(&exact, "expandable_segments:True"), Grade::FromSource);
    assert_eq!(graded(&exact, "large_segment_size_mb:40"), Grade::FromSource);
    assert_eq!(graded(&exact, "roundup_power2_divisions:8"), Grade::Proved, "exercised by this recording");
    let normal = Settings::default();
    assert_eq!(grade(&exact, &normal, true, &Exercised::default()), Grade::DependsOnStart);
    assert_eq!(
        grade(&exact, &normal, false, &Exercised { retries: 1, ..Exercised::default() }),
        Grade::FromSource,
        "no retry was recorded"
    );
    assert_eq!(
        grade(&exact, &normal, false, &Exercised { completed: 1, ..Exercised::default() }),
        Grade::DependsOnWaits,
        "no free completed so early in the recording"
    );
    let waiting = Proof { not_exercised: vec!["retries"], ..exact.clone() };
    assert_eq!(graded(&waiting, ""), Grade::Proved, "the recording itself");
    assert_eq!(
        graded(&waiting, "roundup_power2_divisions:8"),
        Grade::DependsOnWaits,
        "frees wait for other streams, which may take another time in the next run"
    );
    let guessed = Proof { guesses_pools: true, ..exact.clone() };
    assert_eq!(graded(&guessed, ""), Grade::PoolsGuessed);
    let departs = Proof { verdict: Verdict { departs_at: Some(3), ..Verdict::default() }, ..exact };
    assert_eq!(graded(&departs, ""), Grade::Departs);
}
