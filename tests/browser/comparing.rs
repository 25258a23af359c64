//! Comparison of two snapshots in the page: opened together, one after the other, from a link and from a saved page.
//! Reports and values at the cursor are checked against the engine.

use crate::cursor::type_cursor;
use crate::fixtures::{self, halves};
use crate::insights::{report_as_json, shown_report};
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::{Page, SHIFT};
use crate::paired::{Worker, device};
use crate::saved::{empty_folder, open_saved, open_with_downloads, save_html};
use crate::screenshots::save_drawn_screenshot;
use crate::segments::generate_file;
use crate::site::Site;
use memscape::compare::FileSlot;
use memscape::protocol::{Align, MatchKey, PairMoments, Pairing, Report};
use memscape::units::{Bytes, Moment, group_digits};
use std::path::{Path, PathBuf};

/// Two generated runs: the second one has sequences twice as long, and leaks.
pub(crate) fn two_runs() -> [PathBuf; 2] {
    let words = "--steps 4 --layers 3 --sequence 128";
    let longer = [words, " --sequence 256 --extra-leak 3"].concat();
    [generate_file("compared-a.pickle", words), generate_file("compared-b.pickle", &longer)]
}

/// Both snapshots in a worker without a page, for expected values.
struct Expected {
    worker: Worker,
    a: i64,
    b: i64,
}

impl Expected {
    fn open(files: &[PathBuf; 2]) -> Expected {
        let mut worker = Worker::new();
        let mut open = |which, path: &Path| {
            let bytes = std::fs::read(path).expect("the file was generated");
            device(&worker.open(which, &bytes).expect("the file is valid"))
        };
        let (a, b) = (open(FileSlot::First, &files[0]), open(FileSlot::Second, &files[1]));
        Expected { worker, a, b }
    }

    fn report(&mut self, pairing: Pairing) -> Report {
        self.worker.report(self.a, Pairing { b: self.b, ..pairing }, 10)
    }

    /// Text that the page shows for the cursor at a moment of A.
    fn cursor_text(&mut self, moment: u32) -> String {
        let pairing = Pairing { b: self.b, ..Pairing::default() };
        let (moments, live) = self.worker.aligned(self.a, pairing, false, moment);
        Expected::text_of(moments, live)
    }

    /// Text that the page shows for the cursor at A's peak if the peaks are compared.
    fn peaks_text(&self) -> String {
        let peaks = [self.a, self.b]
            .map(|device| self.worker.pair.side(device).expect("the device is open").history.live_peak());
        Expected::text_of(peaks.map(|(moment, _)| moment.0), peaks.map(|(_, bytes)| bytes))
    }

    fn text_of([one, other]: [u32; 2], live: [u64; 2]) -> String {
        let event = |moment: u32| {
            Moment(moment)
                .event()
                .map_or("before event 0".to_owned(), |event| ["event ", &group_digits(event.0.into())].concat())
        };
        let [a, b] = live.map(group_digits);
        format!("A, {}: {a} B live (requested). B, {}: {b} B.", event(one), event(other))
    }

    fn peak(&self) -> u32 {
        self.worker.pair.side(self.a).expect("the device is open").history.live_peak().0.0
    }
}

/// Waits until the page shows this report.
#[track_caller]
pub(crate) fn wait_for_report(page: &Page, report: &Report) {
    page.wait_for(&report_as_json(report, 10), || shown_report(page));
}

fn select_index(page: &Page, list: &str, place: usize) {
    page.evaluate(&format!(
        "{{ const list = document.querySelector('{list}'); list.selectedIndex = {place};
            list.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
    ));
}

fn cursor(page: &Page) -> String {
    page.attribute("#compare-cursor", "title").unwrap_or_default()
}

fn lane_names(page: &Page) -> Vec<String> {
    let names = page.evaluate("[...document.querySelectorAll('#lane-labels .name')].map(name => name.textContent)");
    serde_json::from_value(names).expect("the names are strings")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn two_files_dropped_together_are_compared() {
    let files = two_runs();
    let mut beside = Expected::open(&files);
    let page = open_empty_page();
    page.drop_files(&[&files[0], &files[1]]);
    page.wait_for_state("ready");
    wait_for_report(&page, &beside.report(Pairing::default()));
    assert_eq!(lane_names(&page), ["A · compared-a.pickle · GPU 0", "B · compared-b.pickle · GPU 0"]);
    assert_eq!(page.attribute("#insights-report", "data-topic").as_deref(), Some("comparison"));
    let peak = beside.peak();
    page.wait_for(&beside.peaks_text(), || cursor(&page));
    save_drawn_screenshot(&page, "comparison");

    // The lists choose the moments, the key and the alignment.
    select_index(&page, "#compare-at", 4);
    wait_for_report(&page, &beside.report(Pairing { at: PairMoments::End, ..Pairing::default() }));
    select_index(
        &page,
        "#compare-key",
        1 + MatchKey::ALL.iter().position(|key| *key == MatchKey::Category).expect("the key is listed"),
    );
    wait_for_report(
        &page,
        &beside.report(Pairing { at: PairMoments::End, key: Some(MatchKey::Category), ..Pairing::default() }),
    );
    select_index(&page, "#compare-align", 3);
    let share = Pairing {
        at: PairMoments::End,
        key: Some(MatchKey::Category),
        align: Some(Align::Share),
        ..Pairing::default()
    };
    wait_for_report(&page, &beside.report(share));
    page.wait_until("the link contains the choices", || {
        let link = page.evaluate("location.hash");
        let link = link.as_str().unwrap_or_default();
        ["&compare=end", "&match=category", "&align=share"].iter().all(|part| link.contains(part))
    });
    for list in ["#compare-at", "#compare-key", "#compare-align"] {
        select_index(&page, list, 0);
    }

    // Keys move the cursor in both lanes, and in an insight about the cursor.
    select_index(&page, "#compare-at", 5);
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press("End");
    let end = beside.worker.live_bytes(beside.a).len() as u32 - 1;
    page.wait_for(&beside.cursor_text(end), || cursor(&page));
    page.press("@");
    page.wait_until("the field of the cursor has the focus", || page.evaluate("document.activeElement.id") == "at");
    type_cursor(&page, &(peak + 2).to_string());
    page.wait_for(&beside.cursor_text(peak + 3), || cursor(&page));
    wait_for_report(&page, &beside.report(Pairing { at: PairMoments::Moment(peak + 3), ..Pairing::default() }));
    // The peaks within the selected range of A.
    select_index(&page, "#compare-at", 6);
    wait_for_report(&page, &beside.report(Pairing::default()));
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press("p");
    page.press("q");
    page.press_with("ArrowLeft", SHIFT);
    let [from, to] = selected_range(&page);
    let range = PairMoments::Range(from, to);
    wait_for_report(&page, &beside.report(Pairing { at: range, ..Pairing::default() }));
    select_index(&page, "#compare-at", 0);
    page.press("q");
    wait_for_report(&page, &beside.report(Pairing::default()));

    // The differential flame graph has signs besides its colours.
    let boxes = "[...document.querySelectorAll('.chart.delta i')].map(box => [box.className, box.textContent])";
    let boxes: Vec<[String; 2]> = serde_json::from_value(page.evaluate(boxes)).expect("pairs of texts");
    assert!(boxes.len() > 3 && boxes.iter().any(|[class, _]| class == "more"), "{boxes:?}");
    for [class, text] in &boxes {
        assert_eq!(text.starts_with("▲ +"), class == "more", "{text}");
        assert_eq!(text.starts_with("▼ −"), class == "less", "{text}");
    }

    // Swaps A and B.
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press("~");
    page.wait_for(
        &vec!["A · compared-b.pickle · GPU 0".to_owned(), "B · compared-a.pickle · GPU 0".to_owned()],
        || lane_names(&page),
    );
    let swapped = beside.worker.report(beside.b, Pairing { b: beside.a, ..Pairing::default() }, 10);
    wait_for_report(&page, &swapped);
    page.click("#compare-swap");
    wait_for_report(&page, &beside.report(Pairing::default()));

    // Overlays B on A, then ends the comparison: the first file is shown as before.
    page.press("^");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#compare-overlay", "aria-pressed"));
    save_drawn_screenshot(&page, "comparison, overlaid");
    page.prefer_color_scheme("dark");
    save_drawn_screenshot(&page, "comparison, dark");
    page.resize(600, 900);
    save_drawn_screenshot(&page, "comparison, 600");
    // The axis is wide enough for its title, which ends 9 px before the plot, and for the mark of the focused lane.
    let room = "(() => { const text = document.createElement('canvas').getContext('2d');
        const style = getComputedStyle(document.body);
        text.font = '11px ' + style.fontFamily;
        return parseFloat(style.getPropertyValue('--axis-left')) - 9 - text.measureText('requested').width; })()";
    let room = page.evaluate(room).as_f64().expect("a number");
    assert!(room >= 3.0, "{room} px left");
    page.resize(1280, 800);
    page.press("\\");
    page.wait_until("the comparison has ended", || page.attribute("#compare", "hidden").is_some());
    assert_eq!(lane_names(&page), Vec::<String>::new());
    page.wait_for(&Some("peak".to_owned()), || page.attribute("#insights-report", "data-topic"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

/// Returns the two moments of the selected range.
fn selected_range(page: &Page) -> [u32; 2] {
    page.wait_until_idle();
    ["data-from", "data-to"].map(|end| {
        let moment = page.attribute("#range", end).expect("a range is selected");
        moment.parse().expect("a moment")
    })
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn scope_from_a_to_b_compares_two_positions_in_one_file() {
    let [file, _] = two_runs();
    let mut worker = Worker::new();
    let a = device(
        &worker
            .open(FileSlot::First, &std::fs::read(&file).expect("the file was generated"))
            .expect("the file is valid"),
    );
    let page = open_empty_page();
    page.drop_files(&[&file]);
    page.wait_for_state("ready");
    let is_hidden = "document.querySelector('[data-topic=\"comparison\"]').hasAttribute('hidden')";
    page.wait_until("there is no comparison yet", || page.evaluate(is_hidden) == true);
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    page.press("p");
    page.press("q");
    (0..9).for_each(|_| page.press_with("ArrowLeft", SHIFT));
    page.click("#scope-change");
    page.click("[data-topic='comparison']");
    let [from, to] = selected_range(&page);
    let pairing = Pairing { b: a, at: PairMoments::Both(from, to), ..Pairing::default() };
    wait_for_report(&page, &worker.report(a, pairing, 10));
    assert!(page.attribute("#compare", "hidden").is_some(), "one file has one lane");
    save_drawn_screenshot(&page, "comparison, A to B");
    // Other scopes have no comparison.
    page.click("#scope-cursor");
    page.wait_for(&Some("peak".to_owned()), || page.attribute("#insights-report", "data-topic"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn second_file_is_compared_with_open_one() {
    let files = two_runs();
    let mut beside = Expected::open(&files);
    let page = open_empty_page();
    page.drop_files(&[&files[0]]);
    page.wait_for_state("ready");
    // A file that is no snapshot leaves the open one unchanged.
    page.choose_files("input#second", &[&fixtures::write_file("second-wrong.pickle", b"\x80\x04")]);
    page.wait_until("the error is shown", || {
        page.text("#toast-text").starts_with("Could not open second-wrong.pickle")
    });
    page.wait_until("the comparison has ended", || page.attribute("#compare", "hidden").is_some());
    page.click("#toast-close");
    page.choose_files("input#second", &[&files[1]]);
    wait_for_report(&page, &beside.report(Pairing::default()));

    // The lane of differences is scaled by the largest one; a click on it moves the cursor there.
    let pairing = Pairing { b: beside.b, ..Pairing::default() };
    let last = beside.worker.live_bytes(beside.a).len() as u64;
    let view = memscape::timeline::View::fit(last, 1 << 30, 400, 100);
    let curve = beside.worker.curve(beside.a, pairing, view);
    let most = curve.largest.iter().map(|delta| delta.unsigned_abs()).max().unwrap_or(0);
    page.wait_for(&format!("B − A, live\n± {}", Bytes(most)), || page.text("#difference-text"));
    let corners = page.bounding_box("canvas#difference");
    let at = corners.at((f64::from(curve.largest_at[0]) + 0.5) / last as f64, 0.5);
    page.click_at(at.0, at.1);
    page.wait_for(&beside.cursor_text(curve.largest_at[0]), || cursor(&page));

    // The views show the second file when its lane has the focus.
    page.click("[data-lane]:not([aria-current])");
    page.wait_until("B is shown", || page.text("#lane-labels [aria-current] .name").starts_with("B · "));
    page.click("#tab-allocations");
    page.wait_until("its allocations are listed", || {
        page.evaluate("document.querySelectorAll('#table-rows > div').length > 3") == true
    });
    // Opening another file ends the comparison.
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    page.wait_until("the comparison has ended", || page.attribute("#compare", "hidden").is_some());
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_and_saved_page_open_both_files() {
    let files = two_runs();
    let mut beside = Expected::open(&files);
    let report = beside.report(Pairing { key: Some(MatchKey::Module), ..Pairing::default() });
    let folder = empty_folder("saved-comparison");
    let link = "../snapshots/compared-a.pickle&with=../snapshots/compared-b.pickle&match=module";
    let page = open_with_downloads(&Site::shared().page_with_link(link), &folder);
    page.wait_for_state("ready");
    wait_for_report(&page, &report);
    page.wait_until("the link still contains the second file", || {
        let link = page.evaluate("location.hash");
        link.as_str().is_some_and(|link| link.contains("&with=../snapshots/compared-b.pickle&match=module"))
    });
    assert_eq!(page.errors(), Vec::<String>::new());

    let page = open_saved(&save_html(&page, &folder, "compared-a.html"), &folder);
    wait_for_report(&page, &report);
    assert_eq!(lane_names(&page), ["A · compared-a.pickle · GPU 0", "B · compared-b.pickle · GPU 0"]);
    assert_eq!(page.errors(), Vec::<String>::new());
    save_drawn_screenshot(&page, "comparison, saved");
}
