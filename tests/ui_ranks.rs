//! The survey of many ranks: when it begins and ends, what it leads to, and what a broken file changes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "how a test fails")]

use crate::follower::Page;
use memscape::engine::protocol::{Reply, Topic};
use memscape::ui::effect::{FileToSurvey, GivenFile, Origin, RanksEffect};
use memscape::ui::ranks::{RanksAction, Survey};
use memscape::ui::stage::Stage;
use memscape::ui::{Action, Effect, update};

/// Files of so many ranks are given; what is to be done about their survey.
fn given(page: &mut Page, count: usize) -> Vec<RanksEffect> {
    let file = |rank: usize| GivenFile { name: format!("rank{rank}.pickle"), bytes: 12 };
    of_ranks(page, Action::FilesGiven((0..count).map(file).collect()))
}

fn of_ranks(page: &mut Page, action: Action) -> Vec<RanksEffect> {
    let effects = update(&mut page.state, action, 0.0);
    effects
        .into_iter()
        .filter_map(|effect| if let Effect::Ranks(effect) = effect { Some(effect) } else { None })
        .collect()
}

fn failed(page: &mut Page) {
    page.reply(Reply::Failed { message: "cut off".to_owned() });
}

#[test]
fn three_files_are_surveyed_and_two_compared() {
    let mut page = Page::new();
    let file =
        |place: usize| FileToSurvey { origin: Origin::File(place), member: None, name: format!("rank{place}.pickle") };
    assert_eq!(given(&mut page, 3), [RanksEffect::Begin((0..3).map(file).collect())]);
    page.open();
    assert_eq!((page.state.why.topic, &page.state.ranks.stage), (Topic::Ranks, &Survey::Running));
    assert_eq!(page.state.ranks.status(), "0 of 3 files surveyed.");
    // Other files end it.
    assert_eq!(given(&mut page, 2), [RanksEffect::End]);
    page.open();
    assert_eq!((page.state.why.topic == Topic::Ranks, &page.state.ranks.stage), (false, &Survey::None));
    assert!(given(&mut page, 1).is_empty());
}

#[test]
fn what_an_archive_holds_is_surveyed_and_what_a_link_leads_to_is_not() {
    let mut page = Page::new();
    assert!(given(&mut page, 1).is_empty());
    page.list(&["rank0.pickle", "rank1.pickle"]);
    assert_eq!((page.state.ranks.files, &page.state.ranks.stage), (2, &Survey::Running));
    let mut page = Page::new();
    page.go("url=a.zip");
    page.list(&["rank0.pickle", "rank1.pickle"]);
    assert_eq!(page.state.ranks.stage, Survey::None);
}

#[test]
fn it_is_cancelled_resumed_and_done() {
    let mut page = Page::new();
    given(&mut page, 3);
    page.open();
    let toggled = || Action::Ranks(RanksAction::Toggled);
    of_ranks(&mut page, Action::Ranks(RanksAction::Surveyed(1)));
    assert!(of_ranks(&mut page, toggled()).contains(&RanksEffect::Cancel));
    assert_eq!(page.state.ranks.status(), "Cancelled: 1 of 3 files surveyed.");
    assert!(of_ranks(&mut page, toggled()).contains(&RanksEffect::Resume));
    of_ranks(&mut page, Action::Ranks(RanksAction::Surveyed(3)));
    assert_eq!((&page.state.ranks.stage, &*page.state.ranks.status()), (&Survey::Done, "3 files surveyed."));
    assert!(of_ranks(&mut page, toggled()).is_empty());
    of_ranks(&mut page, Action::Ranks(RanksAction::Failed("no wasm".to_owned())));
    assert_eq!(page.state.ranks.status(), "no wasm");
}

#[test]
fn a_file_that_cannot_be_read_gives_way_to_the_next_unless_a_person_chose_it() {
    let mut page = Page::new();
    given(&mut page, 3);
    page.loads.clear();
    failed(&mut page);
    assert_eq!(page.loads, ["File(1)"]);
    page.open();
    page.act(Action::SnapshotChosen(0));
    failed(&mut page);
    assert!(page.state.chosen != 1 || page.state.toast.is_some(), "it is said, and the open one stays");
    // All of them are broken.
    let mut page = Page::new();
    given(&mut page, 3);
    (0..3).for_each(|_| failed(&mut page));
    assert!(matches!(page.state.stage, Stage::Failed(_)));
}

#[test]
fn what_memscape_serves_is_surveyed_once_a_person_wants_it() {
    let served = "url=0/rank0.pickle&url=1/a%252Frank1.pickle&url=2/rank2.pickle";
    let mut page = Page::new();
    page.go(served);
    page.open();
    assert_eq!((page.state.ranks.files, &page.state.ranks.stage), (3, &Survey::Offered));
    assert!(page.state.why.topic != Topic::Ranks, "it is offered, no more");
    let effects = of_ranks(&mut page, Action::Ranks(RanksAction::Toggled));
    let [RanksEffect::Begin(files), ..] = &*effects else { panic!("{effects:?}") };
    let origins: Vec<&Origin> = files.iter().map(|file| &file.origin).collect();
    let link = |link: &str| Origin::Link(link.to_owned());
    assert_eq!(origins, [&link("0/rank0.pickle"), &link("1/a%2Frank1.pickle"), &link("2/rank2.pickle")]);
    assert_eq!(page.state.ranks.stage, Survey::Running);
    // Two, or files that are anywhere else, are not.
    for other in ["url=0/a.pickle&url=1/b.pickle", "url=x/a.pickle&url=1/b.pickle&url=2/c.pickle"] {
        let mut page = Page::new();
        page.go(other);
        page.open();
        assert_eq!(page.state.ranks.stage, Survey::None, "{other}");
    }
}

#[test]
fn another_order_and_other_names_are_asked_for() {
    let mut page = Page::new();
    given(&mut page, 3);
    page.open();
    of_ranks(&mut page, Action::Ranks(RanksAction::Surveyed(3)));
    let names = of_ranks(&mut page, Action::Ranks(RanksAction::NamesTyped("{rank}".to_owned())));
    assert!(names.contains(&RanksEffect::Names("{rank}".to_owned())), "{names:?}");
    let mut page = Page::new();
    given(&mut page, 3);
    page.open();
    let before = page.state.ranks.clone();
    of_ranks(&mut page, Action::Ranks(RanksAction::OrderChosen(3)));
    assert_eq!((page.state.ranks.order, page.state.ranks != before), (3, true));
}
