//! Survey of many ranks: start, end, the insight it leads to, and broken files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::face::opened_reply;
use crate::follower::{Page, devices};
use memscape::compare::ranks::{self, Group, Order, Outlier, Rank, Ranks};
use memscape::protocol::{
    Align, Answer, Chart, DeviceSummary, Evidence, HeatMap, HeatMapRow, MatchKey, Reply, Report, Statement, Tone, Topic,
};
use memscape::ui::features::insights::InsightsAction;
use memscape::ui::features::watch::{FileVersion, WatchAction};
use memscape::ui::plot::comparing::view::{bar, mark_line};
use memscape::ui::session::ranks::unlisted_note;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::compared_at::ComparedAt;
use memscape::ui::state::comparing::{ComparingAction, SecondFile};
use memscape::ui::state::effect::{Effect, FileToSurvey, GivenFile, Origin, RanksEffect};
use memscape::ui::state::link::Link;
use memscape::ui::state::ranks::{RanksAction, ServedFiles, Survey};
use memscape::ui::state::stage::Stage;
use memscape::ui::text::tab::Tab;
use memscape::ui::update;

/// Opens `count` files and returns the effects on their survey.
fn open_files(page: &mut Page, count: usize) -> Vec<RanksEffect> {
    let file = |rank: usize| GivenFile { name: format!("rank{rank}.pickle"), bytes: 12 };
    ranks_effects(page, Action::FilesGiven((0..count).map(file).collect()))
}

fn ranks_effects(page: &mut Page, action: Action) -> Vec<RanksEffect> {
    let effects = update(&mut page.state, action, 0.0);
    effects
        .into_iter()
        .filter_map(|effect| if let Effect::Ranks(effect) = effect { Some(effect) } else { None })
        .collect()
}

fn fail_load(page: &mut Page) {
    page.reply(Reply::Failed { message: "cut off".to_owned() });
}

#[test]
fn three_files_are_scanned_and_two_are_compared() {
    let mut page = Page::new();
    let file =
        |place: usize| FileToSurvey { origin: Origin::File(place), member: None, name: format!("rank{place}.pickle") };
    assert_eq!(open_files(&mut page, 3), [RanksEffect::Survey((0..3).map(file).collect())]);
    page.open();
    assert_eq!((page.state.insights.topic, &page.state.ranks.stage), (Topic::Ranks, &Survey::Running));
    assert_eq!(page.state.ranks.status(), "0 of 3 files surveyed.");
    // Opening other files ends the survey.
    assert_eq!(open_files(&mut page, 2), [RanksEffect::End]);
    page.open();
    assert_eq!((page.state.insights.topic == Topic::Ranks, &page.state.ranks.stage), (false, &Survey::None));
    assert!(open_files(&mut page, 1).is_empty());
}

/// Answers all requests for the report on ranks. Its first sentence is an alarm about the file at `index`.
fn reply_with_failed_rank(page: &mut Page, index: u32) {
    let evidence = Some(Evidence { open: Some((index, None)), ..Evidence::default() });
    let first = Statement { tone: Tone::Alarm, evidence, ..Statement::default() };
    reply_with(page, &Report { topic: Topic::Ranks, statements: vec![first], ..Report::default() });
}

/// Answers all requests for the report on ranks.
fn reply_with(page: &mut Page, report: &Report) {
    // An answer to an outdated request is followed by a newer request.
    for serial in (0..2).flat_map(|_| 0..=page.state.serial + 1).collect::<Vec<u32>>() {
        let answer = Answer::Report(Box::new(report.clone()));
        page.act(Action::Ranks(RanksAction::Reply(Reply::Answer { serial, answer })));
    }
}

#[test]
fn rank_is_compared_where_it_stands_out() {
    let rank = |number: u32| Rank { rank: Some(number), place: Some(number), group: Some(0), ..Rank::default() };
    let outlier = |at| Outlier { at, delta: 1, deviation: 1 };
    let all = Ranks {
        ranks: (0..4).map(rank).collect(),
        groups: vec![Group { ranks: vec![0, 1, 2, 3], ..Group::default() }],
        outliers: vec![outlier(1)],
        end_outliers: vec![outlier(2)],
        ..Ranks::default()
    };
    let mut page = Page::new();
    open_files(&mut page, 4);
    page.open();
    page.act(Action::Ranks(RanksAction::Surveyed(4)));
    reply_with(&mut page, &ranks::report(&all, 10, Order::default()));
    for (row, expected) in [(1, ComparedAt::End), (0, ComparedAt::Peaks)] {
        page.act(Action::feature(InsightsAction::ItemClicked(row)));
        assert_eq!(page.state.comparing.at, expected, "row {row}");
        assert!(page.state.comparing.is_active());
    }
}

#[test]
fn rank_of_map_is_compared_as_chosen_before() {
    let mut page = Page::new();
    open_files(&mut page, 4);
    page.open();
    page.act(Action::Ranks(RanksAction::Surveyed(4)));
    let row = |index| HeatMapRow { file_index: Some(index), ..HeatMapRow::default() };
    let map = HeatMap { rows: (0..4).map(row).collect(), ..HeatMap::default() };
    let first = Statement { chart: Some(Chart::HeatMap(map)), ..Statement::default() };
    let report = Report { topic: Topic::Ranks, statements: vec![first], ..Report::default() };
    let click = |page: &mut Page, row, is_compared| {
        page.act(Action::feature(InsightsAction::TopicChosen(Topic::Ranks)));
        reply_with(page, &report);
        page.act(Action::feature(InsightsAction::RankClicked(row, is_compared)));
    };
    let shift_click = |page: &mut Page, row| {
        click(page, row, true);
        let SecondFile::Loading(_, load) = page.state.comparing.second else { panic!("row {row} is not loaded") };
        page.act(Action::Replied { load, reply: opened_reply(devices()) });
        assert!(page.state.comparing.pair.is_some(), "row {row} is compared");
    };
    shift_click(&mut page, 1);
    assert_eq!(page.state.comparing.at, ComparedAt::Peaks);
    for action in [
        ComparingAction::AtChosen(ComparedAt::End),
        ComparingAction::KeyChosen(Some(MatchKey::ALL[1])),
        ComparingAction::AlignChosen(Some(Align::ALL[1])),
        ComparingAction::PathsTyped("/a/=/b/".to_owned()),
    ] {
        page.act(Action::Comparing(action));
    }
    shift_click(&mut page, 2);
    // Another rank is opened, and compared with the next.
    click(&mut page, 3, false);
    page.open();
    shift_click(&mut page, 1);
    let comparing = &page.state.comparing;
    assert_eq!(
        (comparing.at, comparing.key, comparing.align, comparing.paths.as_str()),
        (ComparedAt::End, Some(MatchKey::ALL[1]), Some(Align::ALL[1]), "/a/=/b/")
    );
}

#[test]
fn compared_peaks_are_those_of_both_sides() {
    let mut page = Page::new();
    let [a, b] = &devices()[..] else { panic!("two devices") };
    page.devices = vec![a.clone(), DeviceSummary { peak_event: 20, drawn_peak: 5 << 20, ..b.clone() }];
    open_files(&mut page, 1);
    page.open();
    page.act(Action::Comparing(ComparingAction::DeviceChosen(3)));
    page.act(Action::GoToEntered("10".to_owned()));
    assert_eq!(bar(&page.state).unwrap().cursor_exact, "", "the worker has not aligned this event");
    page.act(Action::Comparing(ComparingAction::AtChosen(ComparedAt::Peaks)));
    assert_eq!(
        bar(&page.state).unwrap().cursor_exact,
        "A, event 7: 1,073,741,824 B live (requested). B, event 20: 5,242,880 B."
    );
    page.act(Action::Comparing(ComparingAction::AtChosen(ComparedAt::PeakOfA)));
    assert_eq!(bar(&page.state).unwrap().cursor_exact, "", "the moment of B is aligned");
}

#[test]
fn file_that_ran_out_of_memory_is_opened_once_all_are_surveyed() {
    let surveyed = |done| Action::Ranks(RanksAction::Surveyed(done));
    let mut page = Page::new();
    open_files(&mut page, 12);
    page.open();
    page.loads.clear();
    page.act(surveyed(11));
    reply_with_failed_rank(&mut page, 10);
    assert!(page.loads.is_empty(), "another rank may have failed first");
    page.act(surveyed(12));
    reply_with_failed_rank(&mut page, 11);
    assert_eq!(page.loads, ["File(11)"]);
    page.open();
    assert_eq!((page.state.snapshot_index, page.state.insights.topic), (11, Topic::Ranks));
    // Not if the user has chosen a file.
    let mut page = Page::new();
    open_files(&mut page, 12);
    page.open();
    page.act(Action::SnapshotChosen(3));
    page.open();
    page.act(Action::feature(InsightsAction::TopicChosen(Topic::Ranks)));
    page.loads.clear();
    page.act(surveyed(12));
    reply_with_failed_rank(&mut page, 11);
    assert!(page.loads.is_empty());
}

#[test]
fn archive_members_are_scanned_but_linked_archive_is_not() {
    let mut page = Page::new();
    assert!(open_files(&mut page, 1).is_empty());
    page.list_members(&["rank0.pickle", "rank1.pickle"]);
    assert_eq!((page.state.ranks.files, &page.state.ranks.stage), (2, &Survey::Running));
    let mut page = Page::new();
    page.follow("url=a.zip");
    page.list_members(&["rank0.pickle", "rank1.pickle"]);
    assert_eq!(page.state.ranks.stage, Survey::None);
}

#[test]
fn chosen_archive_member_stays_open() {
    let members = ["rank0.pickle", "rank1.pickle", "rank2.pickle"];
    let mut page = Page::new();
    open_files(&mut page, 1);
    page.list_members(&members);
    page.open();
    page.act(Action::Ranks(RanksAction::Surveyed(3)));
    page.act(Action::SnapshotChosen(1));
    // Each member that is opened lists the members of its archive again.
    page.list_members(&members);
    page.open();
    page.act(Action::feature(InsightsAction::TopicChosen(Topic::Ranks)));
    page.loads.clear();
    page.act(Action::Ranks(RanksAction::Surveyed(3)));
    reply_with_failed_rank(&mut page, 2);
    assert!(page.loads.is_empty(), "{:?}", page.loads);
    assert_eq!(page.state.snapshot_index, 1);
}

#[test]
fn scan_is_cancelled_resumed_and_completed() {
    let mut page = Page::new();
    open_files(&mut page, 3);
    page.open();
    let toggled = || Action::Ranks(RanksAction::Toggled);
    ranks_effects(&mut page, Action::Ranks(RanksAction::Surveyed(1)));
    assert!(ranks_effects(&mut page, toggled()).contains(&RanksEffect::Cancel));
    assert_eq!(page.state.ranks.status(), "Cancelled: 1 of 3 files surveyed.");
    assert!(ranks_effects(&mut page, toggled()).contains(&RanksEffect::Resume));
    ranks_effects(&mut page, Action::Ranks(RanksAction::Surveyed(3)));
    assert_eq!((&page.state.ranks.stage, &*page.state.ranks.status()), (&Survey::Done, "3 files surveyed."));
    assert!(ranks_effects(&mut page, toggled()).is_empty());
    ranks_effects(&mut page, Action::Ranks(RanksAction::Failed("no wasm".to_owned())));
    assert_eq!(page.state.ranks.status(), "no wasm");
}

#[test]
fn unreadable_file_is_skipped_unless_user_chose_it() {
    let mut page = Page::new();
    open_files(&mut page, 3);
    page.loads.clear();
    fail_load(&mut page);
    assert_eq!(page.loads, ["File(1)"]);
    page.open();
    page.act(Action::SnapshotChosen(0));
    fail_load(&mut page);
    assert!(page.state.snapshot_index != 1 || page.state.toast.is_some(), "error is shown and the open file stays");
    // All files are broken.
    let mut page = Page::new();
    open_files(&mut page, 3);
    (0..3).for_each(|_| fail_load(&mut page));
    assert!(matches!(page.state.stage, Stage::Failed(_)));
}

#[test]
fn served_files_are_scanned_on_request() {
    let served = "url=0/rank0.pickle&url=1/a%252Frank1.pickle&url=2/rank2.pickle";
    let mut page = Page::new();
    page.follow(served);
    page.open();
    assert_eq!((page.state.ranks.files, &page.state.ranks.stage), (3, &Survey::Offered));
    assert!(page.state.insights.topic != Topic::Ranks, "the survey is only offered");
    assert_eq!(ranks_effects(&mut page, Action::Ranks(RanksAction::Toggled)), [RanksEffect::List]);
    assert_eq!(page.state.ranks.status(), "Listing the files of the server…");
    let effects = ranks_effects(&mut page, all_listed("1/a%2Frank1.pickle\n2/rank2.pickle\n0/rank0.pickle\n"));
    let [RanksEffect::Survey(files), ..] = &*effects else { panic!("{effects:?}") };
    let origins: Vec<&Origin> = files.iter().map(|file| &file.origin).collect();
    let link = |link: &str| Origin::Link(link.to_owned());
    assert_eq!(origins, [&link("0/rank0.pickle"), &link("1/a%2Frank1.pickle"), &link("2/rank2.pickle")]);
    assert_eq!(page.state.ranks.stage, Survey::Running);
    // Two served files, or files elsewhere, are not surveyed.
    for other in ["url=0/a.pickle&url=1/b.pickle", "url=x/a.pickle&url=1/b.pickle&url=2/c.pickle"] {
        let mut page = Page::new();
        page.follow(other);
        page.open();
        assert_eq!(page.state.ranks.stage, Survey::None, "{other}");
    }
}

fn all_listed(text: &str) -> Action {
    Action::Ranks(RanksAction::Listed(Ok(ServedFiles::parse(text))))
}

/// A served folder of seven files whose newest three are listed.
fn folder_of_seven() -> Page {
    let mut page = Page::new();
    page.follow("url=0/rank4.pickle&url=1/rank5.pickle&url=2/rank6.pickle");
    page.open();
    page.act(Action::feature(WatchAction::CountReported(7)));
    page
}

#[test]
fn scan_includes_files_not_listed_on_page() {
    let mut page = folder_of_seven();
    assert_eq!(unlisted_note(&page.state).as_deref(), Some("Showing the 3 newest of 7"));
    assert_eq!(page.state.ranks.status(), "The server can survey these 7 files.");
    ranks_effects(&mut page, Action::Ranks(RanksAction::Toggled));
    let others = "3/rank0.pickle\n4/rank1.pickle\n5/rank2.pickle\n6/rank3.pickle\n";
    let effects =
        ranks_effects(&mut page, all_listed(&format!("0/rank4.pickle\n1/rank5.pickle\n2/rank6.pickle\n{others}")));
    let [RanksEffect::Survey(files), ..] = &*effects else { panic!("{effects:?}") };
    let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
    assert_eq!((files.len(), names[0], names[3], names[6]), (7, "rank4.pickle", "rank0.pickle", "rank3.pickle"));
    // Evidence opens a file by its index in the survey.
    assert_eq!((page.state.snapshots.len(), page.state.snapshots[3].file.as_str()), (7, "rank0.pickle"));
    assert_eq!((unlisted_note(&page.state), page.state.ranks.status().as_str()), (None, "0 of 7 files surveyed."));
    // A repeated or unexpected list is ignored.
    assert!(ranks_effects(&mut page, all_listed("9/other.pickle")).is_empty());
    assert_eq!(page.state.snapshots.len(), 7);
}

#[test]
fn insight_is_requested_after_scan_has_files() {
    let mut page = folder_of_seven();
    page.act(Action::Ranks(RanksAction::Toggled));
    page.act(Action::feature(InsightsAction::TopicChosen(Topic::Ranks)));
    // Workers asked now would be stopped when the list arrives.
    assert!(ranks_effects(&mut page, Action::Command(commands::show(Tab::Insights))).is_empty());
    let effects = ranks_effects(&mut page, all_listed("0/rank4.pickle\n1/rank5.pickle\n2/rank6.pickle\n"));
    assert!(matches!(&*effects, [RanksEffect::Survey(_), RanksEffect::Ask(..)]), "{effects:?}");
}

#[test]
fn truncated_or_missing_list_is_noted() {
    let mut page = folder_of_seven();
    ranks_effects(&mut page, Action::Ranks(RanksAction::Toggled));
    let effects = ranks_effects(
        &mut page,
        all_listed("! Only the first 2,000,000 files and folders were searched.\n0/rank4.pickle\n"),
    );
    let cut = RanksEffect::NoteOmitted("Only the first 2,000,000 files and folders were searched.".to_owned());
    assert!(effects.contains(&cut), "{effects:?}");
    let mut page = folder_of_seven();
    ranks_effects(&mut page, Action::Ranks(RanksAction::Toggled));
    let effects = ranks_effects(&mut page, Action::Ranks(RanksAction::Listed(Err("offline".to_owned()))));
    let [RanksEffect::Survey(files), RanksEffect::NoteOmitted(cut), ..] = &*effects else { panic!("{effects:?}") };
    assert_eq!((files.len(), cut.as_str()), (3, "Only the files that the page lists are surveyed (offline)."));
    // A dropped folder that was only read in part.
    let mut page = Page::new();
    open_files(&mut page, 3);
    let cut = "Only the first 10,000 files and folders were read.".to_owned();
    let effects = ranks_effects(&mut page, Action::Ranks(RanksAction::FilesSkipped(cut.clone())));
    assert!(effects.contains(&RanksEffect::NoteOmitted(cut.clone())) && page.state.remark == Some(cut), "{effects:?}");
}

#[test]
fn newer_files_are_counted_and_can_be_scanned() {
    let mut page = folder_of_seven();
    ranks_effects(&mut page, Action::Ranks(RanksAction::Toggled));
    ranks_effects(&mut page, all_listed("0/rank4.pickle\n1/rank5.pickle\n2/rank6.pickle\n"));
    ranks_effects(&mut page, Action::Ranks(RanksAction::Surveyed(3)));
    assert_eq!((page.state.ranks.toggle(), page.state.ranks.status().as_str()), (None, "3 files surveyed."));
    let newer = "files 8\n7 1-1 0 7/rank7.pickle";
    page.act(Action::feature(WatchAction::FilesReported(FileVersion::parse(newer, 0.0))));
    assert_eq!(page.state.ranks.status(), "3 files surveyed. Not surveyed: 1 newer file.");
    assert_eq!(page.state.ranks.toggle(), Some("Survey again"));
    assert_eq!(ranks_effects(&mut page, Action::Ranks(RanksAction::Toggled)), [RanksEffect::List]);
}

#[test]
fn link_contains_only_open_file_if_there_are_too_many() {
    let mut page = folder_of_seven();
    ranks_effects(&mut page, Action::Ranks(RanksAction::Toggled));
    let all: String = (0..5000).map(|rank| format!("{rank}/rank{}.pickle\n", (rank + 4) % 5000)).collect();
    ranks_effects(&mut page, all_listed(&all));
    assert_eq!(page.state.snapshots.len(), 5000);
    let link = Link::from_state(&page.state).unwrap();
    assert_eq!((link.urls.as_slice(), link.snapshot), (&["0/rank4.pickle".to_owned()][..], 0));
    // Going back to it keeps the list.
    page.follow(&link.fragment());
    assert_eq!(page.state.snapshots.len(), 5000);
}

#[test]
fn changed_order_and_name_pattern_are_requested() {
    let mut page = Page::new();
    open_files(&mut page, 3);
    page.open();
    ranks_effects(&mut page, Action::Ranks(RanksAction::Surveyed(3)));
    let names = ranks_effects(&mut page, Action::Ranks(RanksAction::NamesTyped("{rank}".to_owned())));
    assert!(names.contains(&RanksEffect::SetNamePattern("{rank}".to_owned())), "{names:?}");
    let mut page = Page::new();
    open_files(&mut page, 3);
    page.open();
    let before = page.state.ranks.clone();
    ranks_effects(&mut page, Action::Ranks(RanksAction::OrderChosen(3)));
    assert_eq!((page.state.ranks.order, page.state.ranks != before), (3, true));
}

#[test]
fn line_of_a_mark_crosses_no_label() {
    let labels = [[[10.0, 60.0], [0.0, 12.0]], [[40.0, 90.0], [28.0, 40.0]]];
    for (x, line) in [(5.0, [0.0, 40.0]), (20.0, [12.0, 40.0]), (50.0, [12.0, 28.0]), (60.0, [0.0, 28.0])] {
        assert_eq!(mark_line(x, 40.0, &labels), line, "{x}");
    }
}
