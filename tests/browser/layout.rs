//! Layout checks at common window widths: no view scrolls sideways, no text breaks at a wrong place or is cut off, and
//! no control is clipped.

use crate::appearance::{open_with_scheme, scrolls_sideways};
use crate::axe::VIEWS;
use crate::chromium::Adapter;
use crate::corpus::real_files;
use crate::fixtures;
use crate::plots::select_option;
use crate::screenshots::{MIN_COLOURS, Picture, save_screenshot};
use crate::segments::generate_file;
use serde_json::json;
use std::path::PathBuf;

/// Window widths in CSS pixels: a narrow window, common laptops and a desktop screen.
const WIDTHS: [u32; 5] = [600, 1280, 1366, 1440, 1920];

/// Returns what is wrong with the visible texts and controls: a line that begins with `·` or `→`, or ends with `≤`, `≥`
/// or `−`; a number and its unit on two lines; lines beyond the limit of a clamped text; a button that is clipped; red
/// on amber.
const WRONG: &str = r"(() => {
    const wrong = new Set();
    const shown = it => it.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
    const name = it => `${it.id || it.className || it.tagName} ${it.textContent.trim().slice(0, 60)}`;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node; node = walker.nextNode();) {
        const text = node.data, host = node.parentElement;
        if (host.matches('script, style, option') || !shown(host)) continue;
        const place = at => (range.setStart(node, at), range.setEnd(node, at + 1), range.getBoundingClientRect());
        const breaks = (from, to) => { const [a, b] = [place(from), place(to)]; return a.height && b.height && b.top >= a.bottom - 2; };
        for (const { index, 0: found } of text.matchAll(/\S\s+[·→]|[≤≥−]\s+\S|\d\s(?:B|KiB|MiB|GiB|TiB|s|ms|%)(?!\w)/g))
            if (breaks(index, index + found.trimEnd().search(/\S$/))) wrong.add(`breaks at ${found}: ${name(host)}`);
    }
    const channels = colour => colour.match(/^rgba?\(/) ? colour.match(/[\d.]+/g).map(Number) : null;
    for (const it of document.querySelectorAll('body *')) {
        if (!shown(it)) continue;
        const style = getComputedStyle(it);
        if (style.webkitLineClamp !== 'none' && it.scrollHeight > it.clientHeight + 1) wrong.add(`is cut: ${name(it)}`);
        if (it.matches('button, select, input')) for (let up = it.parentElement; up; up = up.parentElement) {
            const { overflowX } = getComputedStyle(up), [box, outer] = [it, up].map(of => of.getBoundingClientRect());
            if (['auto', 'scroll'].includes(overflowX)) break;
            if (['hidden', 'clip'].includes(overflowX) && box.right > outer.right + 1) wrong.add(`is clipped: ${name(it)}`);
        }
        if (![...it.childNodes].some(of => of.nodeType === 3 && of.data.trim())) continue;
        const ink = channels(style.color);
        let ground = null;
        for (let up = it; up && !(ground && ground[3] !== 0); up = up.parentElement) ground = channels(getComputedStyle(up).backgroundColor);
        const isRed = ink && ink[0] > 130 && ink[0] > ink[1] + 70 && ink[0] > ink[2] + 60;
        const isAmber = ground && ground[0] > ground[2] + 12 && ground[1] > ground[2] + 8;
        if (isRed && isAmber) wrong.add(`red on amber: ${name(it)}`);
    }
    return [...wrong];
})()";

/// A generated file, and real ones with long names, many segments and a wrapped ring buffer.
fn files() -> Vec<PathBuf> {
    let names = [
        "train-annotated-100.pickle",
        "train-fp32-1185-segments.pickle",
        "train-ring-buffer-wrapped.pickle",
        "anonymised-annotations-compile-context.pickle",
    ];
    let real = real_files().unwrap_or_default().into_iter().map(|file| file.path);
    let real = real.filter(|path| names.iter().any(|name| path.ends_with(name)));
    std::iter::once(generate_file("layout.pickle", "--devices 2 --steps 2 --layers 4 --leak --pending --oom"))
        .chain(real)
        .collect()
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn texts_break_well_and_nothing_is_clipped() {
    let mut wrong = Vec::new();
    let long = fixtures::write_file(
        "a_run_with_a_long_name_of_2026-11-27_after_the_change_rank_12.pickle",
        &std::fs::read(generate_file("layout.pickle", "--devices 2 --steps 2 --layers 4 --leak --pending --oom"))
            .expect("the file was generated"),
    );
    for file in files().into_iter().skip(1).chain([long]) {
        let page = open_with_scheme("light", Adapter::Missing);
        page.drop_files(&[&file]);
        page.wait_for_state("ready");
        page.wait_until_idle();
        for view in ["#tab-insights", "#tab-tree", "#tab-table", "#tab-segments", "#tab-events"] {
            page.resize(1280, 900);
            page.click(view);
            // The last size is 200 % zoom of a common window.
            for (width, height) in WIDTHS.map(|width| (width, 900)).into_iter().chain([(720, 450)]) {
                page.prefer_color_scheme(if width == 1280 { "dark" } else { "light" });
                page.resize(width, height);
                page.wait_until_idle();
                let place = format!("{} {view} at {width} px", file.display());
                let found = page.evaluate(WRONG);
                wrong.extend(found.as_array().into_iter().flatten().map(|it| format!("{place}: {it}")));
            }
        }
        assert_eq!(page.errors(), Vec::<String>::new());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn long_name_of_file_keeps_its_end() {
    let page = open_with_scheme("light", Adapter::Missing);
    page.resize(1280, 720);
    let name = |rank: u32| format!("a_run_with_a_long_name_of_2026-11-27_after_the_change_rank_{rank}.pickle");
    let bytes = std::fs::read(fixtures::halves()).expect("the file was written");
    let file = |rank: u32| fixtures::write_file(&name(rank), &bytes);
    page.drop_files(&[&file(1), &file(12)]);
    page.wait_for_state("ready");
    let shown = "[...document.querySelectorAll('#file-name span')].map(it => [it.textContent, it.scrollWidth > it.clientWidth])";
    page.wait_until("the end is shown and the beginning is cut", || {
        page.evaluate(shown)
            == json!([["a_run_with_a_long_name_of_2026-11-27_after_the_change_rank_", true], ["1.pickle", false]])
    });
    let [name, list] = ["#file-name", "#snapshot"].map(|it| page.bounding_box(it));
    assert!((name.width - list.width).abs() < 1.0 && (name.left - list.left).abs() < 1.0, "{name:?} {list:?}");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn tabs_of_the_views_are_above_the_sheet_of_a_narrow_window() {
    let page = open_with_scheme("light", Adapter::Missing);
    page.drop_files(&[&generate_file("layout.pickle", "--devices 2 --steps 2 --layers 4 --leak --pending --oom")]);
    page.wait_for_state("ready");
    page.resize(600, 800);
    page.wait_until_idle();
    let covered = "[...document.querySelectorAll('#tabs button')].filter(tab => { const at = tab.getBoundingClientRect(); \
         return !tab.contains(document.elementFromPoint(at.x + at.width / 2, at.bottom - 4)); }).map(tab => tab.id)";
    assert_eq!(page.evaluate(covered), json!([]));
    save_screenshot(&page, "tabs-600-800");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn name_in_legend_is_never_cut_at_both_ends() {
    let page = open_with_scheme("light", Adapter::Missing);
    page.resize(1280, 800);
    page.drop_files(&[&generate_file("layout.pickle", "--devices 2 --steps 2 --layers 4 --leak --pending --oom")]);
    page.wait_for_state("ready");
    select_option(&page, "#group", "site");
    page.wait_until("call sites are listed", || {
        page.evaluate("document.querySelector('#legend .cut') !== null") == true
    });
    let cut = "[...document.querySelectorAll('#legend .cut > :last-child')].filter(it => it.scrollWidth > it.clientWidth + 1).map(it => it.textContent)";
    assert_eq!(page.evaluate(cut), json!([]), "what differs fits beside or above the numbers");
    // In a narrower panel the shared beginning is cut, and then hidden.
    for width in [16, 12, 9, 6] {
        page.evaluate(&format!("document.querySelectorAll('#legend .cut').forEach(it => {{ it.style.maxWidth = '{width}ch'; it.style.flex = 'none'; }})"));
        let twice = "[...document.querySelectorAll('#legend .cut')].filter(it => { const seen = [...it.children].filter(of => of.getBoundingClientRect().bottom > it.getBoundingClientRect().top + 1); \
             return seen.length > 1 && seen.at(-1).scrollWidth > seen.at(-1).clientWidth + 1 || !seen.includes(it.lastChild); }).map(it => it.textContent)";
        assert_eq!(page.evaluate(twice), json!([]), "{width}");
    }
    save_screenshot(&page, "legend-narrow");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn views_do_not_scroll_sideways() {
    let mut wrong = Vec::new();
    for file in files() {
        let page = open_with_scheme("light", Adapter::Missing);
        page.drop_files(&[&file]);
        page.wait_for_state("ready");
        page.wait_until("the timeline is drawn", || Picture::capture(&page, "canvas#timeline").colours >= MIN_COLOURS);
        for view in VIEWS {
            // At 600 px the side panel covers the tabs.
            page.resize(1280, 900);
            page.click(view);
            for width in WIDTHS {
                page.resize(width, 900);
                page.wait_until_idle();
                if scrolls_sideways(&page) {
                    wrong.push(format!("{} {view} at {width} px", file.display()));
                }
            }
        }
        assert_eq!(page.errors(), Vec::<String>::new());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The controls of the header whose centre is visible and that are before their predecessor on the screen.
const UNORDERED: &str = r"(() => {
    const shown = [...document.querySelectorAll('#bar :is(a, button, select, input):not(:disabled, [tabindex])')].filter(it => {
        const box = it.getBoundingClientRect();
        return box.width && it.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
    });
    return shown.slice(1).filter((it, index) => {
        const [before, after] = [shown[index], it].map(of => of.getBoundingClientRect());
        return after.bottom <= before.top + 2 || after.top < before.bottom - 2 && after.left < before.left;
    }).map(it => it.id || it.className).concat(shown.length < 6 ? shown.map(it => it.id) : []);
})()";

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn focus_order_of_header_is_the_seen_order() {
    let file = generate_file("layout.pickle", "--devices 2 --steps 2 --layers 4 --leak --pending --oom");
    let bytes = std::fs::read(&file).expect("the file was generated");
    let several = ["r1.pickle", "r2.pickle", "r3.pickle"].map(|name| fixtures::write_file(name, &bytes));
    for files in [vec![file.as_path()], several.iter().map(PathBuf::as_path).collect()] {
        let page = open_with_scheme("light", Adapter::Missing);
        page.drop_files(&files);
        page.wait_for_state("ready");
        for width in [560, 600, 760, 900, 1000, 1200, 1280, 1440, 1920] {
            page.resize(width, 900);
            page.wait_until_idle();
            assert_eq!(page.evaluate(UNORDERED), json!([]), "{} files at {width} px", files.len());
            let oom = "document.querySelector('#headlines .oom').getBoundingClientRect().bottom <= document.querySelector('#bar').getBoundingClientRect().bottom";
            assert_eq!(page.evaluate(oom), true, "the OOM is visible at {width} px");
        }
        save_screenshot(&page, "header-order");
    }
}

/// In a narrow window, the picture leaves room for the sentence that explains a warning, above the sheet at the bottom.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn warning_is_explained_on_first_screen_of_narrow_window() {
    for words in ["--steps 3 --layers 4 --oom", "--steps 6 --layers 4 --hidden 256 --leak"] {
        let page = open_with_scheme("light", Adapter::Missing);
        page.resize(600, 900);
        page.drop_files(&[&generate_file("warning.pickle", words)]);
        page.wait_for_state("ready");
        page.wait_until_idle();
        let visible = "(rect => rect.height > 0 && rect.bottom <= document.querySelector('#side').getBoundingClientRect().top)\
            (document.querySelector('#insights-statements .alarm').getBoundingClientRect())";
        assert_eq!(page.evaluate(visible), true, "{words}");
        save_screenshot(&page, "warning-600");
    }
}
