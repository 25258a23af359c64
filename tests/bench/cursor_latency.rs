//! Latency of the views when the cursor moves: from the key to the frame that shows the new values.

use crate::chromium::{Adapter, Chromium};
use crate::figure::Figure;
use crate::page::Page;
use crate::site::Site;
use std::path::Path;
use std::time::{Duration, Instant};

/// Window size in CSS pixels, with a device pixel ratio of 1.
const WINDOW_PX: (u32, u32) = (1280, 900);
/// Timeout of opening a file.
const TIMEOUT: Duration = Duration::from_secs(180);
/// Number of cursor positions that are measured in each view.
const MOMENTS: u32 = 40;

/// Script that enters an event and waits, frame by frame, until the cursor's panel and the view show the same bytes.
const FOLLOW_SCRIPT: &str = r"
    window.follow = (event, view) => new Promise((done) => {
        const at = document.getElementById('at'), moment = document.getElementById('moment');
        const says = {
            tree: () => document.getElementById('tree-rows').dataset.total,
            table: () => document.getElementById('table-status').dataset.bytes,
        }[view];
        const start = performance.now();
        at.value = String(event);
        at.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
        const look = () => {
            const { event: told, liveRequested } = moment.dataset;
            if (told === String(event) && says() === liveRequested) done(performance.now() - start);
            else if (performance.now() - start > 20000) done(-1);
            else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    })";

/// Milliseconds from the key to the frame, for each view.
pub(crate) struct CursorLatency {
    pub(crate) tree: Figure,
    pub(crate) table: Figure,
}

/// Opens the file in a new page and moves the cursor to events across the trace.
pub(crate) fn measure(file: &Path, events: u64) -> CursorLatency {
    let page = Page::blank(Chromium::shared(Adapter::Software));
    page.resize(WINDOW_PX.0, WINDOW_PX.1);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.choose_files("input#file", &[file]);
    let deadline = Instant::now() + TIMEOUT;
    while page.state() != "ready" {
        assert!(Instant::now() < deadline, "timeout opening the file; {:#?}", page.errors());
        std::thread::sleep(Duration::from_millis(100));
    }
    page.evaluate(FOLLOW_SCRIPT);
    let times = |view: &str, tab: &str| {
        page.evaluate(&format!("document.getElementById('{tab}').click()"));
        // The first move is not counted: it waits for data that is computed once per file.
        let moments = (0..=u64::from(MOMENTS)).map(|place| events * (place * 37 % 101) / 101);
        let took =
            moments.map(|event| page.evaluate(&format!("follow({event}, '{view}')")).as_f64().expect("a number"));
        took.inspect(|took| assert!(*took >= 0.0, "{view} never showed the cursor's values"))
            .skip(1)
            .collect::<Figure>()
    };
    CursorLatency { tree: times("tree", "tab-tree"), table: times("table", "tab-table") }
}
