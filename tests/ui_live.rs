//! Files that change while the page is open: what is offered, what is followed, what is compared with, and what a failure leaves.
#![allow(clippy::unwrap_used, clippy::panic, reason = "how a test fails")]

use crate::follower::{PRINT, Page};
use memscape::engine::protocol::Reply;
use memscape::ui::features::FeatureCommand;
use memscape::ui::features::live::{Heard, LiveAction, LiveStep};
use memscape::ui::reloading::{LiveView, asks, follows, view};
use memscape::ui::stage::Stage;
use memscape::ui::{Action, Command};

impl Page {
    fn live(&mut self, action: LiveAction) {
        self.act(Action::of(action));
    }

    /// `memscape serve` tells of these files.
    fn told(&mut self, lines: &str) {
        self.live(LiveAction::Told(Heard::parse(lines, 100_000.0)));
    }

    fn step(&mut self, step: LiveStep) {
        self.act(Action::Command(Command::Feature(FeatureCommand::Live(step))));
    }

    fn seen(&self) -> Option<LiveView> {
        view(&self.state, 100_000.0)
    }

    fn names(&self) -> Vec<String> {
        self.state.snapshots.iter().map(|choice| choice.file.clone()).collect()
    }
}

/// Two ranks are served, and rank 0 is open at event 12.
fn served() -> Page {
    let mut page = Page::of("url=0/rank0_a.pickle&url=1/rank1_a.pickle&at=12");
    let load = page.state.load;
    page.live(LiveAction::Fetched { load, version: "\"1-1-gzip\"".into() });
    page.told("0 1-1 60000 0/rank0_a.pickle\n1 1-1 60000 1/rank1_a.pickle");
    page.loads.clear();
    page
}

#[test]
fn what_changed_after_it_was_read_and_before_the_server_told_is_offered() {
    let mut page = Page::of("url=0/rank0_a.pickle&url=1/rank1_a.pickle&at=12");
    let load = page.state.load;
    page.live(LiveAction::Fetched { load, version: "\"1-1-gzip\"".into() });
    page.told("0 2-2 12000 0/rank0_a.pickle\n1 1-1 60000 1/rank1_a.pickle");
    let seen = page.seen().unwrap();
    assert_eq!([&*seen.text, seen.button], ["rank0_a.pickle changed", "Reload"]);
}

#[test]
fn what_changed_before_the_server_knew_it_to_be_whole_is_offered() {
    // The file is being written: at first the server tells of none, and what the page has read is said after that.
    for (told, offered) in [("1-1", None), ("2-2", Some("rank0_a.pickle changed"))] {
        let mut page = Page::of("url=0/rank0_a.pickle&at=12");
        let load = page.state.load;
        page.told("files");
        page.live(LiveAction::Fetched { load, version: "\"1-1-gzip\"".into() });
        assert_eq!(page.seen(), None);
        page.told(&format!("files\n0 {told} 1000 0/rank0_a.pickle"));
        assert_eq!(page.seen().map(|seen| seen.text).as_deref(), offered);
    }
}

#[test]
fn lines_that_are_none_are_left_out() {
    let heard = Heard::parse("files\n0 a-b 2000 0/x y.pickle\n\nodd\n- c x 1/a\n- d 5 1/b", 10_000.0);
    let of = |heard: &Heard| (heard.address.clone(), heard.version.clone(), heard.rank, heard.changed_ms);
    let expected = [("0/x y.pickle", "a-b", Some(0), 8000.0), ("1/b", "d", None, 9995.0)];
    let expected = expected.map(|(address, version, rank, ms)| (address.to_owned(), version.to_owned(), rank, ms));
    assert_eq!(heard.iter().map(of).collect::<Vec<_>>(), expected);
}

#[test]
fn a_file_that_changed_is_offered_and_reloaded_at_the_same_view() {
    let mut page = served();
    assert_eq!((follows(&page.state), page.seen()), (Some(false), None), "nothing is newer");
    page.told("0 2-2 12000 0/rank0_a.pickle\n1 1-1 72000 1/rank1_a.pickle");
    let seen = page.seen().unwrap();
    assert_eq!([&*seen.text, &*seen.ago, seen.button], ["rank0_a.pickle changed", "12 s ago", "Reload"]);
    assert!(page.loads.is_empty(), "a person decides");
    page.step(LiveStep::Reload);
    assert!(page.state.live.holds_the_screen(1.0), "what is open is seen until its newer version is there");
    assert!(!page.state.live.holds_the_screen(60_000.0), "but not for ever");
    page.open();
    assert_eq!(page.loads, ["Link(\"0/rank0_a.pickle\")"]);
    assert!(page.fragment().contains("&at=12&"), "{}", page.fragment());
    assert_eq!((page.seen(), page.state.linked.notice.clone()), (None, None));
    // The same again is no news.
    page.told("0 2-2 13000 0/rank0_a.pickle\n1 1-1 73000 1/rank1_a.pickle");
    assert_eq!(page.seen(), None);
    page.step(LiveStep::Reload);
    assert_eq!(page.state.remark.as_deref(), Some("Nothing newer to reload."));
}

#[test]
fn a_new_file_of_the_same_rank_is_offered_and_any_is_listed() {
    let mut page = served();
    page.told("1 1-1 1000 3/rank1_b.pickle\n0 1-1 60000 0/rank0_a.pickle\n1 1-1 60000 1/rank1_a.pickle");
    assert_eq!((page.seen(), page.names().len()), (None, 3), "it is another rank's");
    page.told("0 1-1 3000 4/rank0_c.pickle\n0 1-1 5000 2/rank0_b.pickle\n1 1-1 1000 3/rank1_b.pickle\n0 1-1 60000 0/rank0_a.pickle");
    let seen = page.seen().unwrap();
    assert_eq!([&*seen.text, &*seen.ago, seen.button], ["rank0_c.pickle is new", "3 s ago", "Open"]);
    assert_eq!(
        page.names(),
        ["rank0_a.pickle", "rank1_a.pickle", "rank1_b.pickle", "rank0_c.pickle", "rank0_b.pickle"]
    );
    assert_eq!(page.state.ranks.status(), "The server can survey these 5 files.");
    let names: Vec<&str> = seen.compared.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["rank0_c.pickle", "rank0_b.pickle"], "the newest of the rank, without the open one");
    page.step(LiveStep::Reload);
    page.open();
    assert_eq!(page.loads, ["Link(\"4/rank0_c.pickle\")"]);
    assert!(page.fragment().contains("&open=3&") && page.fragment().contains("&at=12&"), "{}", page.fragment());
    // Closed, it says nothing until something else is newer.
    page.told("0 9-9 0 0/rank0_a.pickle\n0 1-1 3000 4/rank0_c.pickle");
    assert!(page.seen().is_some());
    page.live(LiveAction::Dismissed);
    page.told("0 9-9 100 0/rank0_a.pickle\n0 1-1 3100 4/rank0_c.pickle");
    assert_eq!(page.seen(), None);
}

#[test]
fn followed_files_open_by_themselves_and_wait_for_what_is_on_its_way() {
    let mut page = served();
    page.step(LiveStep::Follow);
    assert_eq!(page.seen().unwrap().text, "Following rank0_a.pickle");
    page.told("0 2-2 0 0/rank0_a.pickle");
    assert_eq!(page.loads, ["Link(\"0/rank0_a.pickle\")"]);
    // Another one comes before that is read.
    page.told("0 1-1 0 5/rank0_b.pickle\n0 2-2 100 0/rank0_a.pickle");
    assert_eq!(page.loads.len(), 1);
    page.open();
    page.live(LiveAction::Waited);
    assert_eq!(page.loads[1..], ["Link(\"5/rank0_b.pickle\")"]);
    page.open();
    let seen = page.seen().unwrap();
    assert_eq!([&*seen.text, &*seen.ago], ["Following rank0_b.pickle", "changed 0 s ago"]);
    page.step(LiveStep::Follow);
    assert_eq!((follows(&page.state), page.seen()), (Some(false), None));
}

#[test]
fn a_followed_file_that_cannot_be_read_says_nothing_and_leaves_what_is_open() {
    let mut page = served();
    page.step(LiveStep::Follow);
    let before = page.fragment();
    page.told("0 2-2 0 0/rank0_a.pickle");
    page.reply(Reply::Failed { message: "cut off".into() });
    assert!(matches!(page.state.stage, Stage::Ready(_)) && page.state.toast.is_none());
    assert_eq!(page.fragment(), before);
    page.told("0 2-2 1000 0/rank0_a.pickle");
    page.live(LiveAction::Waited);
    assert_eq!(page.loads.len(), 1, "it is tried again when it changes");
    page.told("0 3-3 0 0/rank0_a.pickle");
    assert_eq!(page.loads.len(), 2);
    // A person who asks is told.
    page.reply(Reply::Failed { message: "cut off".into() });
    page.step(LiveStep::Follow);
    page.told("0 4-4 0 0/rank0_a.pickle");
    page.step(LiveStep::Reload);
    page.reply(Reply::Failed { message: "cut off".into() });
    assert!(page.state.toast.is_some());
}

#[test]
fn what_is_from_elsewhere_is_left_alone() {
    let mut page = served();
    page.step(LiveStep::Follow);
    page.drop_file(PRINT);
    page.told("0 2-2 0 0/rank0_a.pickle\n0 1-1 0 5/rank0_b.pickle");
    assert_eq!((page.names(), page.loads.as_slice()), (vec!["a.pickle".to_owned()], &["File(0)".to_owned()][..]));
    assert_eq!((follows(&page.state), page.seen()), (None, None));
    // What is open may be removed: newer ones of its rank are newer all the same.
    let mut page = served();
    page.told("1 1-1 60000 1/rank1_a.pickle");
    page.told("1 1-1 60000 1/rank1_a.pickle\n1 1-1 0 6/rank1_b.pickle");
    assert_eq!(page.seen(), None);
    page.told("1 1-1 60000 1/rank1_a.pickle\n1 1-1 9 6/rank1_b.pickle\n0 1-1 0 7/rank0_b.pickle");
    assert_eq!(page.seen().map(|seen| seen.text).as_deref(), Some("rank0_b.pickle is new"));
}

#[test]
fn the_first_snapshot_of_an_empty_folder_is_offered() {
    let mut page = Page::new();
    page.told("files");
    page.step(LiveStep::Follow);
    assert_eq!(page.seen().unwrap().text, "Waiting for a snapshot");
    page.told("2 1-1 0 0/rank2_a.pickle");
    assert_eq!(page.loads, ["Link(\"0/rank2_a.pickle\")"]);
    page.reply(Reply::Failed { message: "cut off".into() });
    assert!(matches!(page.state.stage, Stage::Empty), "no error flashes");
}

#[test]
fn a_server_that_does_not_tell_is_asked_about_the_open_file() {
    let heard =
        |version: &str| Heard { address: "a.pickle".into(), version: version.into(), rank: None, changed_ms: 99_000.0 };
    let mut page = Page::of("url=a.pickle&at=12");
    assert_eq!((asks(&page.state), follows(&page.state)), (None, None), "it said nothing to hold the answer against");
    let load = page.state.load;
    page.live(LiveAction::Fetched { load, version: "one".into() });
    assert_eq!(asks(&page.state).as_deref(), Some("a.pickle"));
    page.live(LiveAction::Asked(heard("one")));
    assert_eq!(page.seen(), None);
    page.live(LiveAction::Asked(heard("two")));
    assert_eq!(page.seen().unwrap().text, "a.pickle changed");
    page.step(LiveStep::Reload);
    let load = page.state.load;
    page.live(LiveAction::Fetched { load, version: "two".into() });
    page.reply(Reply::Failed { message: "cut off".into() });
    assert_eq!(asks(&page.state).as_deref(), Some("a.pickle"), "what came back is asked about again");
    page.live(LiveAction::Asked(heard("two")));
    assert_eq!(page.seen(), None, "that could not be read");
    page.live(LiveAction::Asked(heard("three")));
    assert!(page.seen().is_some());
    page.live(LiveAction::Silent("a.pickle".into()));
    assert_eq!((asks(&page.state), page.seen()), (None, None));
    // What ships with the page does not change under it.
    let mut page = Page::of("url=leak.pickle.gz");
    let load = page.state.load;
    page.live(LiveAction::Fetched { load, version: "one".into() });
    assert_eq!(asks(&page.state), None);
}
