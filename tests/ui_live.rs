//! Files that change while the page is open: offers to reload, following, and errors.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::follower::{FINGERPRINT, Page};
use memscape::protocol::Reply;
use memscape::ui::features::command::Command;
use memscape::ui::features::watch::{FileVersion, WatchAction};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::shell::reload::{LiveView, follows, polled_address, view};
use memscape::ui::state::stage::Stage;

impl Page {
    fn live(&mut self, action: WatchAction) {
        self.act(Action::feature(action));
    }

    /// Sends a list of files from `memscape serve`.
    fn receive_list(&mut self, lines: &str) {
        self.live(WatchAction::FilesReported(FileVersion::parse(lines, 100_000.0)));
    }

    fn step(&mut self, step: Command) {
        self.act(Action::Command(step));
    }

    fn live_view(&self) -> Option<LiveView> {
        view(&self.state, 100_000.0)
    }

    fn names(&self) -> Vec<String> {
        self.state.snapshots.iter().map(|choice| choice.file.clone()).collect()
    }
}

/// Two served ranks, with rank 0 open at event 12.
fn served() -> Page {
    let mut page = Page::following("url=0/rank0_a.pickle&url=1/rank1_a.pickle&at=12");
    let load = page.state.load;
    page.live(WatchAction::Loaded { load, version: "\"1-1-gzip\"".into() });
    page.receive_list("0 1-1 60000 0/rank0_a.pickle\n1 1-1 60000 1/rank1_a.pickle");
    page.loads.clear();
    page
}

#[test]
fn file_changed_before_first_list_shows_reload_button() {
    let mut page = Page::following("url=0/rank0_a.pickle&url=1/rank1_a.pickle&at=12");
    let load = page.state.load;
    page.live(WatchAction::Loaded { load, version: "\"1-1-gzip\"".into() });
    page.receive_list("0 2-2 12000 0/rank0_a.pickle\n1 1-1 60000 1/rank1_a.pickle");
    let seen = page.live_view().unwrap();
    assert_eq!([&*seen.text, seen.button], ["rank0_a.pickle changed", "Reload"]);
}

#[test]
fn unlisted_file_shows_reload_button_if_listed_later_with_other_version() {
    // The file is still being written: the server first lists no files, and lists the loaded version later.
    for (file_version, initial_range) in [("1-1", None), ("2-2", Some("rank0_a.pickle changed"))] {
        let mut page = Page::following("url=0/rank0_a.pickle&at=12");
        let load = page.state.load;
        page.receive_list("files");
        page.live(WatchAction::Loaded { load, version: "\"1-1-gzip\"".into() });
        assert_eq!(page.live_view(), None);
        page.receive_list(&format!("files\n0 {file_version} 1000 0/rank0_a.pickle"));
        assert_eq!(page.live_view().map(|seen| seen.text).as_deref(), initial_range);
    }
}

#[test]
fn invalid_lines_of_list_are_ignored() {
    let listed = FileVersion::parse("files\n0 a-b 2000 0/x y.pickle\n\nodd\n- c x 1/a\n- d 5 1/b", 10_000.0);
    let of = |listed: &FileVersion| (listed.address.clone(), listed.version.clone(), listed.rank, listed.changed_ms);
    let expected = [("0/x y.pickle", "a-b", Some(0), 8000.0), ("1/b", "d", None, 9995.0)];
    let expected = expected.map(|(address, version, rank, ms)| (address.to_owned(), version.to_owned(), rank, ms));
    assert_eq!(listed.iter().map(of).collect::<Vec<_>>(), expected);
}

#[test]
fn changed_file_reloads_and_keeps_view() {
    let mut page = served();
    assert_eq!((follows(&page.state), page.live_view()), (Some(false), None), "no newer file");
    page.receive_list("0 2-2 12000 0/rank0_a.pickle\n1 1-1 72000 1/rank1_a.pickle");
    let seen = page.live_view().unwrap();
    assert_eq!([&*seen.text, &*seen.ago, seen.button], ["rank0_a.pickle changed", "12 s ago", "Reload"]);
    assert!(page.loads.is_empty(), "no reload without a click");
    page.step(commands::watch::RELOAD);
    assert!(page.state.live.holds_screen(1.0), "the open file stays visible until its new version is loaded");
    assert!(!page.state.live.holds_screen(60_000.0), "the old view is dropped after a minute");
    page.open();
    assert_eq!(page.loads, ["Link(\"0/rank0_a.pickle\")"]);
    assert!(page.fragment().contains("&at=12&"), "{}", page.fragment());
    assert_eq!((page.live_view(), page.state.linked.notice.clone()), (None, None));
    // A repeated list offers nothing.
    page.receive_list("0 2-2 13000 0/rank0_a.pickle\n1 1-1 73000 1/rank1_a.pickle");
    assert_eq!(page.live_view(), None);
    page.step(commands::watch::RELOAD);
    assert_eq!(page.state.remark.as_deref(), Some("Nothing newer to reload."));
}

#[test]
fn new_file_of_open_rank_shows_open_button_and_files_of_other_ranks_are_listed() {
    let mut page = served();
    page.receive_list("1 1-1 1000 3/rank1_b.pickle\n0 1-1 60000 0/rank0_a.pickle\n1 1-1 60000 1/rank1_a.pickle");
    assert_eq!((page.live_view(), page.names().len()), (None, 3), "the new file belongs to another rank");
    page.receive_list("0 1-1 3000 4/rank0_c.pickle\n0 1-1 5000 2/rank0_b.pickle\n1 1-1 1000 3/rank1_b.pickle\n0 1-1 60000 0/rank0_a.pickle");
    let seen = page.live_view().unwrap();
    assert_eq!([&*seen.text, &*seen.ago, seen.button], ["rank0_c.pickle is new", "3 s ago", "Open"]);
    assert_eq!(
        page.names(),
        ["rank0_a.pickle", "rank1_a.pickle", "rank1_b.pickle", "rank0_c.pickle", "rank0_b.pickle"]
    );
    assert_eq!(page.state.ranks.status(), "The server can survey these 5 files.");
    let names: Vec<&str> = seen.compared.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["rank0_c.pickle", "rank0_b.pickle"], "newest files of the rank, without the open one");
    page.step(commands::watch::RELOAD);
    page.open();
    assert_eq!(page.loads, ["Link(\"4/rank0_c.pickle\")"]);
    assert!(page.fragment().contains("&open=3&") && page.fragment().contains("&at=12&"), "{}", page.fragment());
    // Once dismissed, the offer returns only for a newer file.
    page.receive_list("0 9-9 0 0/rank0_a.pickle\n0 1-1 3000 4/rank0_c.pickle");
    assert!(page.live_view().is_some());
    page.live(WatchAction::Dismissed);
    page.receive_list("0 9-9 100 0/rank0_a.pickle\n0 1-1 3100 4/rank0_c.pickle");
    assert_eq!(page.live_view(), None);
}

#[test]
fn followed_file_opens_after_current_load() {
    let mut page = served();
    page.step(commands::watch::FOLLOW);
    assert_eq!(page.live_view().unwrap().text, "Following rank0_a.pickle");
    page.receive_list("0 2-2 0 0/rank0_a.pickle");
    assert_eq!(page.loads, ["Link(\"0/rank0_a.pickle\")"]);
    // Another file arrives before that one is loaded.
    page.receive_list("0 1-1 0 5/rank0_b.pickle\n0 2-2 100 0/rank0_a.pickle");
    assert_eq!(page.loads.len(), 1);
    page.open();
    page.live(WatchAction::TimePassed);
    assert_eq!(page.loads[1..], ["Link(\"5/rank0_b.pickle\")"]);
    page.open();
    let seen = page.live_view().unwrap();
    assert_eq!([&*seen.text, &*seen.ago], ["Following rank0_b.pickle", "changed 0 s ago"]);
    page.step(commands::watch::FOLLOW);
    assert_eq!((follows(&page.state), page.live_view()), (Some(false), None));
}

#[test]
fn unreadable_followed_file_is_ignored() {
    let mut page = served();
    page.step(commands::watch::FOLLOW);
    let before = page.fragment();
    page.receive_list("0 2-2 0 0/rank0_a.pickle");
    page.reply(Reply::Failed { message: "cut off".into() });
    assert!(matches!(page.state.stage, Stage::Ready(_)) && page.state.toast.is_none());
    assert_eq!(page.fragment(), before);
    page.receive_list("0 2-2 1000 0/rank0_a.pickle");
    page.live(WatchAction::TimePassed);
    assert_eq!(page.loads.len(), 1, "file is loaded again only when it changes");
    page.receive_list("0 3-3 0 0/rank0_a.pickle");
    assert_eq!(page.loads.len(), 2);
    // An explicit reload reports the error.
    page.reply(Reply::Failed { message: "cut off".into() });
    page.step(commands::watch::FOLLOW);
    page.receive_list("0 4-4 0 0/rank0_a.pickle");
    page.step(commands::watch::RELOAD);
    page.reply(Reply::Failed { message: "cut off".into() });
    assert!(page.state.toast.is_some());
}

#[test]
fn local_file_is_not_replaced_by_served_file() {
    let mut page = served();
    page.step(commands::watch::FOLLOW);
    page.drop_file(FINGERPRINT);
    page.receive_list("0 2-2 0 0/rank0_a.pickle\n0 1-1 0 5/rank0_b.pickle");
    assert_eq!((page.names(), page.loads.as_slice()), (vec!["a.pickle".to_owned()], &["File(0)".to_owned()][..]));
    assert_eq!((follows(&page.state), page.live_view()), (None, None));
    // The open file may be removed: newer files of its rank are still offered.
    let mut page = served();
    page.receive_list("1 1-1 60000 1/rank1_a.pickle");
    page.receive_list("1 1-1 60000 1/rank1_a.pickle\n1 1-1 0 6/rank1_b.pickle");
    assert_eq!(page.live_view(), None);
    page.receive_list("1 1-1 60000 1/rank1_a.pickle\n1 1-1 9 6/rank1_b.pickle\n0 1-1 0 7/rank0_b.pickle");
    assert_eq!(page.live_view().map(|seen| seen.text).as_deref(), Some("rank0_b.pickle is new"));
}

#[test]
fn first_snapshot_of_empty_folder_opens() {
    let mut page = Page::new();
    page.receive_list("files");
    page.step(commands::watch::FOLLOW);
    assert_eq!(page.live_view().unwrap().text, "Waiting for a snapshot");
    page.receive_list("2 1-1 0 0/rank2_a.pickle");
    assert_eq!(page.loads, ["Link(\"0/rank2_a.pickle\")"]);
    page.reply(Reply::Failed { message: "cut off".into() });
    assert!(matches!(page.state.stage, Stage::Empty), "no error is shown");
}

#[test]
fn plain_server_is_polled_for_changes_of_open_file() {
    let listed = |version: &str| FileVersion {
        address: "a.pickle".into(),
        version: version.into(),
        rank: None,
        changed_ms: 99_000.0,
    };
    let mut page = Page::following("url=a.pickle&at=12");
    assert_eq!((polled_address(&page.state), follows(&page.state)), (None, None), "no version to compare with");
    let load = page.state.load;
    page.live(WatchAction::Loaded { load, version: "one".into() });
    assert_eq!(polled_address(&page.state).as_deref(), Some("a.pickle"));
    page.live(WatchAction::Polled(listed("one")));
    assert_eq!(page.live_view(), None);
    page.live(WatchAction::Polled(listed("two")));
    assert_eq!(page.live_view().unwrap().text, "a.pickle changed");
    page.step(commands::watch::RELOAD);
    let load = page.state.load;
    page.live(WatchAction::Loaded { load, version: "two".into() });
    page.reply(Reply::Failed { message: "cut off".into() });
    assert_eq!(polled_address(&page.state).as_deref(), Some("a.pickle"), "polling resumes after going back");
    page.live(WatchAction::Polled(listed("two")));
    assert_eq!(page.live_view(), None, "an unreadable version is not offered");
    page.live(WatchAction::Polled(listed("three")));
    assert!(page.live_view().is_some());
    page.live(WatchAction::PollFailed("a.pickle".into()));
    assert_eq!((polled_address(&page.state), page.live_view()), (None, None));
    // Bundled samples do not change.
    let mut page = Page::following("url=leak.pickle.gz");
    let load = page.state.load;
    page.live(WatchAction::Loaded { load, version: "one".into() });
    assert_eq!(polled_address(&page.state), None);
}
