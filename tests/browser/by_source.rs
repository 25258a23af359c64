//! The view "By source": files, lines, keys, a dropped source file, and the selection made by a line.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::cursor::is_visible;
use crate::fixtures::{halves, write_file};
use crate::opening::open_empty_page;
use crate::page::{Page, SHIFT};
use crate::screenshots::{save_screenshot, settled_timeline};
use crate::site::Site;
use serde_json::{Value, json};
use std::path::PathBuf;

const MIB: u64 = 1 << 20;
const MODEL: &str = "/home/user/project/model.py";

/// A snapshot whose allocations come from lines of `model.py`, called by `train.py` and by itself: 64 MiB in line 30,
/// which calls torch; 16 MiB in line 7; 8 MiB in line 12 of `train.py`; 4 MiB without a frame of the user's code; and 2
/// MiB in line 9, freed before the end.
fn project_snapshot() -> PathBuf {
    let frame = |name: &str, file: &str, line: u64| json!({ "name": name, "filename": file, "line": line });
    let torch = || frame("linear", "/usr/lib/python3/site-packages/torch/nn.py", 114);
    let main = || frame("main", "/home/user/project/train.py", 12);
    let stacks = [
        (64, vec![torch(), frame("forward", MODEL, 30), frame("call", MODEL, 7), main()]),
        (16, vec![frame("call", MODEL, 7), main()]),
        (8, vec![torch(), main()]),
        (4, vec![torch()]),
        (2, vec![frame("step", MODEL, 9), main()]),
    ];
    let event = |action: &str, place: usize| {
        let (size, frames) = &stacks[place];
        json!({ "action": action, "addr": (place as u64 + 1) << 32, "size": size * MIB, "stream": 0, "frames": frames })
    };
    let mut trace: Vec<Value> = (0..stacks.len()).map(|place| event("alloc", place)).collect();
    trace.extend(["free_requested", "free_completed"].map(|action| event(action, stacks.len() - 1)));
    let block = |place: usize| {
        let (size, frames) = &stacks[place];
        json!({ "address": (place as u64 + 1) << 32, "total_size": size * MIB, "allocated_size": size * MIB, "stream": 0, "device": 0,
            "active_size": size * MIB, "requested_size": size * MIB, "segment_type": "large", "frames": [],
            "blocks": [{ "address": (place as u64 + 1) << 32, "size": size * MIB, "requested_size": size * MIB,
                         "state": "active_allocated", "frames": frames }] })
    };
    let segments: Vec<Value> = (0..stacks.len() - 1).map(block).collect();
    let value = json!({ "segments": segments, "device_traces": [trace] });
    write_file("project.pickle", &serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).expect("plain data"))
}

/// The source of `model.py`: 200 lines. One contains a script element and one an image element, which must not be
/// parsed as HTML.
fn model_source() -> PathBuf {
    let line = |number: u32| match number {
        3 => "<script>window.evil = 1</script>".to_owned(),
        4 => "<img src=x onerror=\"window.evil = 1\">".to_owned(),
        number => format!("    line_{number} = {number}  # ä"),
    };
    let text: String = (1..=200).map(|number| line(number) + "\n").collect();
    write_file("model.py", text.as_bytes())
}

/// Rows of the table: label, exact bytes, exact bytes at the peak, and `aria-pressed` or `aria-current` if set.
fn rows(page: &Page) -> Vec<String> {
    let rows = page.evaluate(
        "[...document.querySelectorAll('#sources-rows tr')].map(row => {
            const button = row.querySelector('button');
            const marks = ['aria-pressed', 'aria-current'].filter(name => button?.getAttribute(name) === 'true');
            return [row.querySelector('th').innerText, row.querySelector('.bytes').title.replace(' B requested', ''),
                row.querySelector('.peak').title.replace(' B requested', ''), ...marks].join(' | ');
        })",
    );
    rows.as_array().expect("a list").iter().map(|row| row.as_str().unwrap_or_default().to_owned()).collect()
}

fn focused_label(page: &Page) -> String {
    page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText")
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn field_value(page: &Page, selector: &str) -> String {
    page.evaluate(&format!("document.querySelector('{selector}').value")).as_str().unwrap_or_default().to_owned()
}

/// Lines of the dropped file that have bytes, with the numbers beside them.
fn annotated_lines(page: &Page) -> Value {
    page.evaluate(
        "[...document.querySelectorAll('#source-lines button')].map(button =>
            [button.dataset.beside, ...[...button.children].map(cell => cell.innerText)].join(' | '))",
    )
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_navigate_files_and_lines_and_dropped_source_is_shown() {
    let page = open_empty_page();
    // Two snapshots, so that the other one can still be chosen after the source is dropped.
    page.drop_files(&[&project_snapshot(), &halves()]);
    page.wait_for_state("ready");
    // Two snapshots are compared at first; this test needs one.
    page.click("#compare-end");
    page.wait_until("only the first snapshot is open", || page.attribute("#compare", "hidden").is_some());
    page.wait_for(&Some((94 * MIB).to_string()), || page.attribute("#moment", "data-live-requested"));
    page.press_with("S", SHIFT);
    let at_peak = [
        "model.py | 85,983,232 | 85,983,232",
        "30 | 67,108,864 | 67,108,864",
        "7 | 16,777,216 | 16,777,216",
        "9 | 2,097,152 | 2,097,152",
        "train.py | 8,388,608 | 8,388,608",
        "no frame in your code | 4,194,304 | 4,194,304",
    ]
    .map(str::to_owned)
    .to_vec();
    page.wait_for(&at_peak, || rows(&page));
    page.wait_for(&"model.py".to_owned(), || focused_label(&page));
    page.press("ArrowLeft");
    page.wait_until("the file is collapsed", || rows(&page).len() == 3);
    page.press("ArrowRight");
    page.wait_for(&at_peak, || rows(&page));
    page.press("End");
    page.wait_for(&"train.py".to_owned(), || focused_label(&page));
    page.press("ArrowUp");
    page.wait_for(&"line 9".to_owned(), || focused_label(&page));
    page.press("Home");
    page.press("ArrowDown");
    page.wait_for(&"line 30".to_owned(), || focused_label(&page));
    page.evaluate("document.activeElement.click()");
    page.wait_for(&format!("@\"{MODEL}:30 \""), || field_value(&page, "#find"));
    // The exact bytes of line 30, although line 7 is an outer frame of the same stack.
    page.wait_for(&Some((64 * MIB).to_string()), || page.attribute("#find-status", "data-requested"));
    page.wait_until("the line is pressed", || rows(&page)[1].ends_with("aria-pressed"));
    page.wait_for(&"line 30".to_owned(), || focused_label(&page));

    // A dropped source file is not opened as a snapshot.
    page.drop_files(&[&model_source()]);
    page.wait_for(&json!(["7 | 16.0 MiB | 16.0 MiB", "9 | 2.00 MiB | 2.00 MiB", "30 | 64.0 MiB | 64.0 MiB"]), || {
        annotated_lines(&page)
    });
    assert_eq!((page.state().as_str(), page.text("#source-name").as_str()), ("ready", MODEL));
    assert!(!is_visible(&page, "#source-note"));
    assert_eq!(page.evaluate("document.querySelectorAll('#source-lines > div').length"), 200);
    let third = page.evaluate("document.querySelectorAll('#source-lines > div')[2].innerText");
    assert_eq!(third, "<script>window.evil = 1</script>");
    assert_eq!(page.evaluate("document.querySelectorAll('#source script, #source img').length + !!window.evil"), 0);
    let (pane, line) = (page.bounding_box("#source"), page.bounding_box("[data-beside='30']"));
    assert!(line.top > pane.top + 20.0 && line.top + line.height < pane.top + pane.height, "{line:?} in {pane:?}");
    page.wait_for(&Some("true".into()), || page.attribute("[data-beside='30']", "aria-pressed"));
    page.evaluate("document.querySelector('[data-beside=\"30\"]').focus()");
    page.press("ArrowUp");
    page.wait_until("the previous line with bytes has the focus", || {
        focused_label(&page).starts_with("Line 9: 2,097,152 B requested")
    });
    page.press("ArrowUp");
    page.evaluate("document.activeElement.click()");
    page.wait_for(&format!("@\"{MODEL}:7 \""), || field_value(&page, "#find"));
    page.wait_for(&Some((16 * MIB).to_string()), || page.attribute("#find-status", "data-requested"));
    page.wait_until("the line is pressed in the table", || {
        rows(&page).get(2).is_some_and(|row| row.ends_with("aria-pressed"))
    });

    // At the end, line 9 has only its bytes at the peak.
    page.click("#at-end");
    page.wait_for(&json!(["7 | 16.0 MiB | 16.0 MiB", "9 |  | 2.00 MiB", "30 | 64.0 MiB | 64.0 MiB"]), || {
        annotated_lines(&page)
    });

    // The line of the selected allocation is marked: the lowest one has 64 MiB.
    settled_timeline(&page);
    let (x, y) = page.bounding_box("canvas#timeline").at(0.9, 0.8);
    page.click_at(x, y);
    page.wait_until("its line is marked", || rows(&page).get(1).is_some_and(|row| row.ends_with("aria-current")));
    page.wait_for(&Some("true".into()), || page.attribute("[data-beside='30']", "aria-current"));

    // So is the file of the selected tree node, whose lines are not shown.
    page.click("#tab-tree");
    let main = "[...document.querySelectorAll('#tree-space .row')].find(row => row.innerText.includes('train.py:12'))";
    page.wait_until("the row exists", || page.evaluate(&format!("!!{main}")) == true);
    // Row elements are reused while the list loads.
    let row = page.wait_until_settled("the row exists", || page.evaluate(&format!("{main}?.id")));
    page.click(&format!("#{} .name", row.as_str().expect("the row has an id")));
    page.wait_until("the node is selected", || {
        page.evaluate("!!document.querySelector('#tree-space .selected')") == true
    });
    page.click("#tab-sources");
    page.wait_until("the node's file is marked", || rows(&page)[4].ends_with("aria-current"));

    // A source file without allocations.
    page.drop_files(&[&write_file("nothing.py", b"import torch\n")]);
    page.wait_until("the note is shown", || page.text("#source-note").contains("No allocation comes from"));
    assert_eq!((annotated_lines(&page), page.state()), (json!([]), "ready".to_owned()));
    page.click("#source-close");
    page.wait_until("the source is closed", || !is_visible(&page, "#source"));

    // The other snapshot that was dropped can still be chosen.
    page.evaluate("{ const list = document.querySelector('#snapshot'); list.selectedIndex = 1; list.dispatchEvent(new Event('change')) }");
    page.wait_for(&Some(((2 << 30) + 512 + MIB).to_string()), || page.attribute("#moment", "data-live-requested"));
    page.wait_until("the only line is listed", || {
        rows(&page) == ["train.py | 2,148,532,736 | 2,148,532,736", "12 | 2,148,532,736 | 2,148,532,736"]
    });
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn files_of_real_snapshots_sum_to_live_bytes() {
    let Some(files) = real_files() else { return };
    // Sums of the rows of files, in both columns.
    let sums =
        "['.bytes', '.peak'].map(column => [...document.querySelectorAll('#sources-rows tr:not(.line) ' + column)]
        .reduce((sum, cell) => sum + parseInt(cell.title.replaceAll(',', '')), 0)).join()";
    let wanted =
        ["train-fp32-1185-segments.pickle", "anonymised-annotations-compile-context.pickle", "torch-2.10-small.pickle"];
    for file in files.iter().filter(|file| wanted.iter().any(|name| file.path.ends_with(name))) {
        let page = open_empty_page();
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        page.click("#tab-sources");
        let expected = |name: &str| file.devices[0][name].as_u64().expect("a number");
        let (peak, end) = (expected("peak_requested"), expected("end_requested"));
        page.wait_for(&json!(format!("{peak},{peak}")), || page.evaluate(sums));
        page.click("#at-end");
        page.wait_for(&json!(format!("{end},{peak}")), || page.evaluate(sums));
        let torch = page.evaluate("[...document.querySelectorAll('#sources-rows .path')].filter(it => /site-packages.torch/.test(it.title)).length");
        assert_eq!(torch, 0, "torch is not the user's code, on Windows either");
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_sources_are_saved() {
    let Some(files) = real_files() else { return };
    let Some(training) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    let source = |name: &str, lines: u32| {
        let line = |number| {
            match number % 9 {
            0 => String::new(),
            1 => format!("    def method_{number}(self, gradients, state, learning_rate=1e-3):"),
            2 => "        # The moment estimates live as long as the optimizer does; they are twice as large as all parameters together, in fp32".to_owned(),
            _ => format!("        state[\"moment_{number}\"] = torch.zeros_like(parameter) * {number}"),
        }
        };
        let text: String = (1..=lines).map(|number| line(number) + "\n").collect();
        write_file(name, text.as_bytes())
    };
    let (optimizer, unknown) = (source("optimizer.py", 140), source("unknown.py", 20));
    let long = {
        let frame = |part: &str, line: u32| json!({ "name": "forward", "filename": format!("/home/user/{part}.py"), "line": line });
        let names = [
            "a-very-long-folder-name/".repeat(9) + "module",
            "m".repeat(180),
            "<b>bold</b> & \u{202e}evil".to_owned(),
            "short".to_owned(),
        ];
        let event = |place: usize| {
            json!({ "action": "alloc", "addr": (place + 1) << 32, "size": 1_000_000 * (place + 1) * (place + 1),
            "stream": 0, "frames": [frame(&names[place % 4], 10 + place as u32 * 1_000_003)] })
        };
        let trace: Vec<Value> = (0..12).map(event).collect();
        let value = json!({ "segments": [], "device_traces": [trace] });
        write_file(
            "long-names.pickle",
            &serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).expect("plain data"),
        )
    };
    for (scheme, width, height) in [("light", 1280, 900), ("dark", 1280, 900), ("light", 600, 900)] {
        let page = Page::blank(Chromium::shared(Adapter::Missing));
        page.prefer_color_scheme(scheme);
        page.resize(width, height);
        page.navigate(&Site::shared().page());
        page.wait_for_state("empty");
        let settle = |name: &str| {
            page.wait_until_idle();
            save_screenshot(&page, &format!("sources-{name}-{scheme}-{width}"));
            let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
            assert_eq!(wide, false, "{name} {width} scrolls sideways");
        };
        page.drop_files(&[&training.path]);
        page.wait_for_state("ready");
        page.press_with("S", SHIFT);
        page.wait_until("rows are shown", || !rows(&page).is_empty());
        page.evaluate("document.querySelector('#sources').scrollIntoView()");
        settle("alone");
        page.drop_files(&[&optimizer]);
        page.wait_until("the source is shown", || is_visible(&page, "#source"));
        page.evaluate("document.querySelector('#sources-rows .line button').click()");
        settle("beside");
        page.drop_files(&[&unknown]);
        page.wait_until("the note is shown", || is_visible(&page, "#source-note"));
        settle("unknown");
        page.click("#source-close");
        page.drop_files(&[&long]);
        page.wait_until("rows of the other file are shown", || {
            rows(&page).first().is_some_and(|row| row.contains("module") || row.contains("short"))
        });
        settle("long-names");
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}
