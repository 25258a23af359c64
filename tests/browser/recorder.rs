//! Data that memscape's recorder adds to a snapshot: tensor names, facts about the GPU, and source lines.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::write_file;
use crate::page::{Page, SHIFT};
use crate::recorded::snapshot;
use crate::screenshots::{Picture, save_screenshot, settled_timeline};
use crate::site::Site;
use serde_json::json;

fn inner_text(page: &Page, selector: &str) -> String {
    page.evaluate(&format!("document.querySelector('{selector}').innerText")).as_str().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn recorded_tensors_gpu_and_source_lines_are_shown() {
    write_file(
        "recorded.pickle",
        &serde_pickle::to_vec(&snapshot(), serde_pickle::SerOptions::new()).expect("plain data"),
    );
    let url = Site::shared().page_with_link("../snapshots/recorded.pickle") + "&select=2&tab=source";
    let page = Page::open(Chromium::shared(Adapter::Missing), &url);
    page.wait_for_state("ready");
    // The third allocation belongs to the optimizer.
    page.wait_until("the tensor is named", || inner_text(&page, "#details-key").contains("layers.0.weight"));
    page.wait_until("the allocation is classified by the tensor's name", || {
        inner_text(&page, "#details-key").contains("optimizer state")
            && page.text("#details-facts").contains("named by the recorder")
    });
    let facts = page.text("#details-facts");
    assert!(facts.contains("layers.0.weight · optimizer_state:exp_avg · [4096, 5120] · bfloat16"), "{facts}");

    page.wait_until("lines have their code", || inner_text(&page, "#sources-rows").contains("return Model().cuda()"));
    settled_timeline(&page);
    save_screenshot(&page, "recorder-selection-light");
    page.prefer_color_scheme("dark");
    settled_timeline(&page);
    save_screenshot(&page, "recorder-selection-dark");

    page.click("#side-file");
    page.wait_until("the GPU is described", || page.text("#file-panel").contains("Outside the allocator"));
    let facts = page.text("#file-panel");
    for fact in ["NVIDIA H100", "20.0 MiB · 20,971,520 B", "equal to the peak above", "node7"] {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    page.evaluate(
        "[...document.querySelectorAll('#file-panel h3')].find(it => it.innerText.includes('GPU'))?.scrollIntoView()",
    );
    settled_timeline(&page);
    save_screenshot(&page, "recorder-file-dark");
    page.prefer_color_scheme("light");
    settled_timeline(&page);
    save_screenshot(&page, "recorder-file-light");

    // The Steps insight uses the steps marked by the recorder.
    page.press_with("W", SHIFT);
    page.wait_until("the insights are shown", || {
        page.attribute("#tab-insights", "aria-selected").as_deref() == Some("true")
    });
    assert!(page.errors().is_empty(), "{:?}", page.errors());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn samples_are_lines_and_paused_memory_is_hatched() {
    const START_US: u64 = 1_700_000_000_000_000;
    let mut value = snapshot();
    let row = |us: u64, free: u64, pinned: u64| json!([START_US + us, free << 20, 100 << 20, pinned << 20]);
    value["memscape"]["samples"] = json!({"columns": ["time_us", "free_bytes", "reserved_bytes", "pinned_bytes"],
        "device": 0, "every": 1, "rows": [row(500, 136, 8), row(4_500, 80, 12)], "events": []});
    value["memscape"]["paused"] = json!([{"begin_us": START_US + 2_000, "tag": "weights", "by": "torch_memory_saver",
        "bytes": 40 << 20, "device": 0}]);
    write_file("sampled.json", value.to_string().as_bytes());
    let url = Site::shared().page_with_link("../snapshots/sampled.json") + "&show=reserved";
    let page = Page::open(Chromium::shared(Adapter::Missing), &url);
    page.wait_for_state("ready");
    let is_hidden = |id: &str| page.evaluate(&format!("document.getElementById('{id}').hidden"));
    page.wait_for(&json!(false), || is_hidden("line-outside"));
    // Resident memory was not sampled.
    assert_eq!((is_hidden("line-resident"), is_hidden("line-pinned")), (json!(true), json!(false)));
    assert_eq!(page.attribute("#line-outside", "aria-pressed").as_deref(), Some("true"));
    assert_eq!(page.attribute("#line-pinned", "aria-pressed").as_deref(), Some("false"));
    let lines = || Picture::capture(&page, "#labels");
    settled_timeline(&page);
    let before = lines();
    page.press("8");
    page.wait_for(&Some("false".to_owned()), || page.attribute("#line-outside", "aria-pressed"));
    page.wait_until("the line is hidden", || lines() != before);
    page.click("#line-pinned");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#line-pinned", "aria-pressed"));
    page.click("#line-outside");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#line-outside", "aria-pressed"));
    settled_timeline(&page);
    save_screenshot(&page, "recorder-sampled-light");
    page.prefer_color_scheme("dark");
    settled_timeline(&page);
    save_screenshot(&page, "recorder-sampled-dark");
    assert!(page.errors().is_empty(), "{:?}", page.errors());
}
