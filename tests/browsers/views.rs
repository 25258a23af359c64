//! Views in Firefox and WebKitGTK: timeline, tabs, links and copying.

use crate::fixtures::{self, LOWER_BYTES, halves};
use crate::generate::{Options, generate};
use crate::page::{CTRL, MIN_COLOURS, Page};
use crate::site::Site;
use serde_json::{Value, json};

pub(crate) fn page_starts_with_cpu_renderer(page: &Page) {
    page.open_empty();
    assert_eq!(page.text("#error"), "");
    page.wait_for(&Some("cpu".to_owned()), || page.attribute("#timeline", "data-renderer"));
    // Without WebGPU, canvases are kept in memory: with software OpenGL, WebKitGTK drew the first frame later.
    let in_memory = "['timeline', 'labels'].every(id => 'gpu' in navigator \
        || document.getElementById(id).getContext('2d').getContextAttributes().willReadFrequently)";
    assert_eq!(page.evaluate(in_memory), true);
}

pub(crate) fn timeline_is_drawn_and_click_selects_block(page: &Page) {
    page.open_file(&halves());
    page.wait_until("blocks are drawn", || page.colour_count("#timeline") >= MIN_COLOURS);
    page.click_at("#timeline", 0.6, 0.75);
    page.wait_for(&Some(LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
}

/// Id of each tab, and a selector that matches once its view has content.
const TABS: [(&str, &str); 8] = [
    ("tab-insights", "#insights-statements > *"),
    ("tab-segments", "#segments-headings > *"),
    ("tab-events", "#events-rows > *"),
    ("tab-tree", "#tree-rows > *"),
    ("tab-flame", "#flame-canvas[data-boxes]"),
    ("tab-sources", "#sources-rows > *"),
    ("tab-table", "#table-rows > *"),
    ("tab-histograms", "#size-bars > *"),
];

pub(crate) fn every_tab_opens_and_fills(page: &Page) {
    page.open_empty();
    page.click("#open-example");
    page.wait_until_ready();
    let tabs = page.evaluate(
        "[...document.querySelectorAll('#answer > header [id^=tab-][title*=\"(Shift\"]')].map(tab => tab.id)",
    );
    assert_eq!(tabs, json!(TABS.map(|(tab, _)| tab)), "TABS is incomplete");
    for (tab, content) in TABS {
        page.click(&format!("#{tab}"));
        page.wait_until(&format!("{tab} has content"), || {
            let is_seen = format!(
                "document.getElementById('{tab}').matches('[aria-selected=true], [aria-pressed=true]') && !!document.querySelector({})?.offsetParent",
                Value::from(content)
            );
            page.evaluate(&is_seen) == true
        });
    }
    // WebKit sometimes showed an empty canvas after it had been hidden.
    for _ in 0..3 {
        for (tab, plot) in [("#tab-flame", "#flame-plot"), ("#tab-segments", "#segments-plot")] {
            page.click(tab);
            page.wait_until(&format!("{plot} is drawn"), || page.colour_count(plot) >= MIN_COLOURS);
        }
    }
}

pub(crate) fn link_restores_view(page: &Page) {
    let file = halves();
    page.open(&Site::shared().page_with_link("../snapshots/halves.pickle"));
    page.wait_for_halves();
    page.click_at("#timeline", 0.6, 0.75);
    page.wait_for(&Some(LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    page.click("#tab-table");
    page.wait_until("the link contains the view", || {
        let hash = page.evaluate("location.hash").to_string();
        ["tab=table", "select=", "print="].iter().all(|part| hash.contains(part))
    });
    let link = page.evaluate("location.href").as_str().expect("an address").to_owned();
    page.open(&link);
    page.wait_for_halves();
    page.wait_for(&Some(LOWER_BYTES.to_string()), || page.attribute("#details", "data-size"));
    page.wait_for(&Some("true".to_owned()), || page.attribute("#tab-table", "aria-pressed"));
    page.wait_for(&Value::from(link.as_str()), || page.evaluate("location.href"));
    drop(file);
}

pub(crate) fn copy_contains_all_events(page: &Page) {
    let words = "--events 100000".split(' ').map(str::to_owned);
    let (options, _) = Options::parse(words).expect("known options");
    let (bytes, _) = generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    page.open_file(&fixtures::write_file("copied.pickle", &bytes));
    let events = page.attribute("#summary", "data-events").expect("the number of events");
    assert!(events.parse::<u64>().expect("the number of events") >= 100_000);
    page.click("#tab-events");
    page.wait_for(&Some(events.clone()), || page.attribute("#events-status", "data-listed"));
    page.focus("events-grid");
    page.press(&[CTRL, 'a']);
    page.press(&[CTRL, 'c']);
    page.wait_until("the result is reported", || {
        let status = page.text("#status");
        status.contains("Copied") || status.contains("copying")
    });
    assert!(page.text("#status").contains(&format!("Copied {} rows", grouped(&events))), "{}", page.text("#status"));
    // Pastes the text to read the clipboard.
    page.run(
        "const field = document.createElement('textarea'); document.body.append(field); \
         field.addEventListener('paste', event => { event.preventDefault(); event.stopPropagation(); \
             const lines = event.clipboardData.getData('text/plain').trimEnd().split('\\n'); \
             window.pasted = [lines.length, lines[0].split('\\t')[0]]; }); \
         field.focus();",
        &Value::Null,
    );
    page.press(&[CTRL, 'v']);
    page.wait_until("the text is pasted", || page.evaluate("!!window.pasted") == true);
    let lines = events.parse::<u64>().expect("the number of events") + 1;
    assert_eq!(page.evaluate("window.pasted"), json!([lines, "event"]), "the text has no header or misses rows");
}

/// Formats a number with thousands separators, as the page does.
fn grouped(digits: &str) -> String {
    let ends = digits.char_indices().map(|(at, digit)| {
        let comma = if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
        format!("{comma}{digit}")
    });
    ends.collect()
}
