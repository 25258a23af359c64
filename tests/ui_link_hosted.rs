//! Links to hosted snapshots: which one of several is loaded, how often, and what happens if loading fails.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::follower::{FINGERPRINT, Page};
use memscape::protocol::Reply;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::{commands, link};
use memscape::ui::state::effect::GivenFile;
use memscape::ui::state::stage::Stage;

const MEMBERS: [&str; 3] = ["a", "b", "c"];

impl Page {
    fn opened(&mut self) {
        self.open();
        self.reply_fingerprint(FINGERPRINT);
    }

    fn link_failed(&mut self) {
        self.act(Action::LinkFailed { load: self.state.load, status: Some(503) });
        assert!(matches!(self.state.stage, Stage::Failed(_)));
    }
}

#[test]
fn link_with_several_snapshots_lists_all_and_loads_chosen() {
    let page = Page::following("v=1&url=a.pickle&url=b.pickle&url=c.pickle&open=1&at=12");
    assert_eq!((page.loads.as_slice(), page.state.snapshots.len()), (&["Link(\"b.pickle\")".to_owned()][..], 3));
    assert!(page.fragment().starts_with("v=1&url=a.pickle&url=b.pickle&url=c.pickle&"));
    assert!(page.fragment().contains("&open=1&"));
    let page = Page::following("url=a&url=b&open=99999999999999999999");
    assert_eq!(page.loads, ["Link(\"a\")"]);
}

#[test]
fn link_into_archive_opens_its_member() {
    let mut page = Page::new();
    page.follow("v=1&url=a.zip&url=b.zip&member=2&at=12");
    page.list_members(&MEMBERS);
    page.opened();
    assert_eq!(page.loads, ["Link(\"a.zip\") member 2"], "archive is downloaded once");
    assert_eq!((page.state.snapshot_index, page.state.snapshots.len()), (2, 4));
    let fragment = page.fragment();
    assert_eq!(fragment, format!("v=1&url=a.zip&url=b.zip&print={FINGERPRINT}&member=2&device=0&at=12&tab=why"));
    // A link without a view selects the member too.
    let mut page = Page::new();
    page.follow("url=a.zip&member=1");
    page.list_members(&MEMBERS);
    page.opened();
    assert_eq!((page.loads.as_slice(), page.state.snapshot_index), (&["Link(\"a.zip\") member 1".to_owned()][..], 1));
    // The same for a file without an address.
    let mut page = Page::new();
    page.follow(&format!("v=1&name=a.pickle&print={FINGERPRINT}&member=1&at=12"));
    page.act(Action::FilesGiven(vec![GivenFile { name: "a.pickle".into(), bytes: 12 }]));
    page.list_members(&MEMBERS);
    page.opened();
    page.opened();
    assert!(page.fragment().contains("&member=1&device=0&at=12&"), "{}", page.fragment());
}

#[test]
fn going_back_to_another_member_downloads_archive_once() {
    let mut page = Page::new();
    page.follow("v=1&url=x.pickle&url=a.zip&open=1&member=2&at=12");
    page.list_members(&MEMBERS);
    page.opened();
    let before = page.fragment();
    page.act(Action::SnapshotChosen(2));
    page.opened();
    assert!(page.fragment().contains("&member=1&") && !page.fragment().contains("at="));
    page.follow(&before);
    page.opened();
    let loads = ["Link(\"a.zip\") member 2", "Link(\"a.zip\") member 1", "Link(\"a.zip\") member 2"];
    assert_eq!((page.fragment(), page.loads.as_slice()), (before, &loads.map(str::to_owned)[..]));
    assert_eq!(page.state.snapshots.len(), 4);
    // Going back to the other file keeps the archive listed.
    page.follow("v=1&url=x.pickle&url=a.zip&at=5");
    page.opened();
    assert_eq!((page.state.snapshot_index, page.state.snapshots.len(), page.loads.len()), (0, 4, 4));
    // A link with a different list of files replaces the list.
    page.follow("v=1&url=a.zip&member=2");
    assert_eq!((page.state.snapshots.len(), page.loads.len()), (1, 5));
}

#[test]
fn missing_archive_member_reports_error() {
    let mut page = Page::new();
    page.follow("v=1&url=a.zip&member=7&at=12");
    page.list_members(&MEMBERS);
    page.reply(Reply::Failed { message: "a.zip: the zip archive has no snapshot 7".into() });
    assert!(matches!(page.state.stage, Stage::Failed(_)));
    page.act(Action::SnapshotChosen(1));
    page.opened();
    assert!(!page.fragment().contains("at="), "the link is about another snapshot");
}

#[test]
fn retry_after_failure_restores_view_of_link() {
    for cause in 0..4 {
        let mut page = Page::new();
        page.follow("v=1&url=a.pickle&url=b.pickle&open=1&at=12&tab=why");
        match cause {
            0 => page.link_failed(),
            1 => page.act(Action::Command(commands::CANCEL_LOADING)),
            2 => page.act(Action::WorkerStopped("out of memory".into())),
            _ => page.reply(Reply::Failed { message: "cut".into() }),
        }
        page.act(Action::SnapshotChosen(1));
        page.opened();
        assert!(page.fragment().contains("&at=12&tab=why"), "{cause}: {}", page.fragment());
    }
    // The same for an archive member, before and after the archive was listed.
    let mut page = Page::new();
    page.follow("v=1&url=a.zip&member=2&at=12");
    page.link_failed();
    page.act(Action::SnapshotChosen(0));
    page.list_members(&MEMBERS);
    page.link_failed();
    page.act(Action::SnapshotChosen(2));
    page.opened();
    assert!(page.fragment().contains("&member=2&device=0&at=12&"), "{}", page.fragment());
    assert_eq!(page.loads, ["Link(\"a.zip\") member 2"; 3]);
}

#[test]
fn choosing_another_snapshot_drops_view_of_link() {
    let failed = || {
        let mut page = Page::new();
        page.follow("v=1&url=a.pickle&url=b.zip&open=1&member=1&at=12");
        page.list_members(&MEMBERS);
        page.link_failed();
        page
    };
    let mut page = failed();
    page.act(Action::SnapshotChosen(0));
    page.opened();
    assert!(!page.fragment().contains("at="), "another file");
    page.act(Action::SnapshotChosen(2));
    page.opened();
    assert!(!page.fragment().contains("at="), "the view is the default one");
    let mut page = failed();
    page.act(Action::SnapshotChosen(3));
    page.opened();
    assert!(!page.fragment().contains("at=") && page.fragment().contains("member=2"), "another member of the archive");
    let mut page = failed();
    page.drop_file(FINGERPRINT);
    assert!(!page.fragment().contains("at=") && !link::is_following_link(&page.state), "a local file");
}
