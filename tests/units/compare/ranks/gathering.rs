//! Unit tests of `src/compare/ranks/gathering.rs`.

use super::*;
use crate::ranks::RankSurvey;

fn gathering(files: usize) -> SurveyProgress {
    SurveyProgress::new((0..files).map(|rank| format!("rank{rank}.pickle")).collect())
}

fn surveyed(gathering: &mut SurveyProgress, places: std::ops::Range<u32>) {
    let of = FileSurveys {
        devices: vec![RankSurvey { peak_requested: 1 << 30, ..RankSurvey::default() }],
        ..FileSurveys::default()
    };
    places.for_each(|place| gathering.add(place, Ok(of.clone())));
}

#[test]
fn ranks_not_scanned_yet_are_not_missing() {
    let mut gathering = gathering(6);
    surveyed(&mut gathering, 4..6);
    let of = gathering.ranks();
    assert_eq!(of.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [Some(4), Some(5)]);
    assert_eq!(of.verdict, ["The 2 surveyed ranks are alike: peak 1.00 GiB requested."]);
    assert_eq!(of.notes, ["2 of 6 files surveyed so far."]);
    surveyed(&mut gathering, 0..4);
    let of = gathering.ranks();
    assert_eq!((of.verdict, of.notes), (vec!["All ranks alike: peak 1.00 GiB requested.".to_owned()], Vec::new()));
}

#[test]
fn ranks_omitted_from_truncated_list_are_not_missing() {
    let mut gathering = SurveyProgress::new(vec!["rank7.pickle".to_owned(), "rank9.pickle".to_owned()]);
    surveyed(&mut gathering, 0..2);
    assert_eq!(gathering.ranks().ranks.len(), 10, "ranks 0 to 6 and 8 have no file");
    gathering.set_omitted_note("100 files are not listed.".to_owned());
    let of = gathering.ranks();
    assert_eq!((of.ranks.len(), of.notes), (2, vec!["100 files are not listed.".to_owned()]));
    assert!(
        of.verdict.iter().all(|text| !text.contains("No file of") && !text.contains("All ranks")),
        "{:?}",
        of.verdict
    );
}
