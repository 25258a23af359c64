//! "Save as HTML": pages saved with their snapshot from the hosted page, from the single-file page and from a saved
//! page, opened from `file://` and compared with expected summaries.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures::{self, halves, halves_value};
use crate::opening::{SUMMARY_KEYS, summary_values, wait_for_halves};
use crate::packed::gzip;
use crate::page::{Page, SHIFT};
use crate::screenshots::{save_drawn_screenshot, save_screenshot, settled_timeline};
use crate::site::Site;
use crate::zip::zip_of;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Creates an empty folder, so that tests can save files of the same name.
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    let folder = fixtures::folder().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("target/tmp can be written");
    folder
}

fn file_url(path: &Path) -> String {
    format!("file://{}", path.display())
}

pub(crate) fn viewer_url() -> String {
    file_url(&crate::site::dist().join("memscape.html"))
}

/// Opens a page whose downloads go to `folder`.
pub(crate) fn open_with_downloads(address: &str, folder: &Path) -> Page {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.save_downloads_in(folder);
    page.navigate(address);
    page
}

/// Saves the open snapshot as HTML with keys, and waits for the file.
#[track_caller]
pub(crate) fn save_html(page: &Page, folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let _ = std::fs::remove_file(&path);
    page.wait_until("the timeline is drawn", || {
        page.attribute("canvas#timeline", "data-frames").is_some_and(|frames| frames != "0")
    });
    page.press("i");
    page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
    page.press("h");
    page.wait_until("the result is reported", || {
        let status = page.text("#status");
        status.starts_with("Saved") || status.contains("could not")
    });
    println!("{}", page.text("#status"));
    assert!(page.text("#status").starts_with(&format!("Saved {name}: ")), "{}", page.text("#status"));
    page.wait_until("the file is complete", || {
        std::fs::read(&path).is_ok_and(|bytes| bytes.trim_ascii_end().ends_with(b"</html>"))
    });
    path
}

/// Opens a saved page from the disk, and checks that it sends no requests and violates no policy.
#[track_caller]
pub(crate) fn open_saved(path: &Path, folder: &Path) -> Page {
    let page = open_with_downloads(&file_url(path), folder);
    page.wait_for_state("ready");
    let leaves = |url: &String| !url.starts_with("blob:") && !url.starts_with("data:");
    let asked: Vec<_> = page.requests().into_iter().filter(leaves).collect();
    assert_eq!(asked, [file_url(path)], "requests besides the page itself");
    assert_eq!(page.errors(), Vec::<String>::new());
    page
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn saved_pages_show_expected_summaries() {
    let Some(files) = real_files() else { return };
    let folder = empty_folder("saved");
    for (at, file) in
        files.iter().filter(|file| file.path.metadata().is_ok_and(|it| it.len() < 20 << 20)).take(3).enumerate()
    {
        let wanted = SUMMARY_KEYS.map(|(_, field)| file.devices[0][field].to_string());
        let name = {
            let page = open_with_downloads(&if at == 0 { Site::shared().page() } else { viewer_url() }, &folder);
            page.wait_for_state("empty");
            page.drop_files(&[&file.path]);
            page.wait_for_state("ready");
            let plain = file.path.file_name().expect("the path has a file name").to_string_lossy().into_owned();
            let plain = plain.split('.').next().expect("the name is not empty").to_owned() + ".html";
            save_html(&page, &folder, &plain)
        };
        let page = open_saved(&name, &folder);
        let ordinal = Value::from(file.devices[0]["device"].to_string());
        page.evaluate(&format!(
            "{{ const picker = document.querySelector('select#device'); picker.value = {ordinal}; \
             picker.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
        ));
        page.wait_for(&wanted, || summary_values(&page));
        println!("{} {wanted:?}", name.display());
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_saved_from_saved_page_is_identical() {
    let folder = empty_folder("saved-again");
    let hosted = open_with_downloads(&Site::shared().page(), &folder);
    hosted.wait_for_state("empty");
    hosted.drop_files(&[&halves()]);
    wait_for_halves(&hosted);
    let first = std::fs::read_to_string(save_html(&hosted, &folder, "halves.html")).expect("UTF-8");
    let viewer = std::fs::read_to_string(crate::site::dist().join("memscape.html")).expect("the page is built");
    let (head, tail) = viewer.split_at(viewer.rfind("</body>").expect("the page has a body"));
    assert!(first.starts_with(head) && first.ends_with(tail), "the saved page differs from memscape.html");

    let mut before = first;
    for generation in 1..=3 {
        let path = folder.join(format!("generation-{generation}.html"));
        std::fs::write(&path, &before).expect("target/tmp can be written");
        let page = open_saved(&path, &folder);
        wait_for_halves(&page);
        let after = std::fs::read_to_string(save_html(&page, &folder, "halves.html")).expect("UTF-8");
        if generation > 1 {
            assert!(after == before, "{} and {} bytes", before.len(), after.len());
        }
        before = after;
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn hosted_snapshot_is_saved_without_second_fetch() {
    let folder = empty_folder("saved-linked");
    halves();
    let site = Site::shared();
    for link in ["../snapshots/halves.pickle".to_owned(), format!("{}/open/halves.pickle", site.other_origin)] {
        let page = open_with_downloads(&site.page_with_link(&link), &folder);
        wait_for_halves(&page);
        let asked = page.requests_without_head().into_iter().filter(|url| url.ends_with("halves.pickle")).count();
        let path = save_html(&page, &folder, "halves.html");
        assert!(page.text("#status").ends_with(", as compact columns)."), "{}", page.text("#status"));
        let asked_then = page.requests_without_head().into_iter().filter(|url| url.ends_with("halves.pickle")).count();
        assert_eq!((asked, asked_then), (1, 1), "the snapshot was fetched again");
        wait_for_halves(&open_saved(&path, &folder));
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_is_saved_with_smallest_encoding() {
    let folder = empty_folder("saved-smallest");
    let snapshot = std::fs::read(halves()).expect("just written");
    // A free whose size differs from its allocation, which compact columns can't represent.
    let mut unfit = halves_value();
    unfit["device_traces"][0][3]["size"] = 4096.into();
    let unfit = unfit.to_string().into_bytes();
    for (name, bytes, how) in [
        ("small.pickle", snapshot.clone(), "as compact columns"),
        ("small.pickle.gz", gzip(&snapshot), "as compact columns"),
        ("small.zip", zip_of(&[("a/halves.pickle", &snapshot), ("b/other.pickle", &snapshot)]), "as compact columns"),
        ("unfit.json", unfit.clone(), "compressed"),
        ("unfit.json.gz", gzip(&unfit), "unchanged"),
    ] {
        let page = open_with_downloads(&viewer_url(), &folder);
        page.wait_for_state("empty");
        let path = fixtures::write_file(name, &bytes);
        page.drop_files(&[&path]);
        wait_for_halves(&page);
        // Columns are written from memory, so the file is not needed.
        if how == "as compact columns" {
            std::fs::remove_file(&path).expect("the file exists");
        }
        let saved =
            save_html(&page, &folder, &format!("{}.html", name.split('.').next().expect("the name is not empty")));
        assert!(page.text("#status").ends_with(&format!(", {how}).")), "{name}: {}", page.text("#status"));
        wait_for_halves(&open_saved(&saved, &folder));
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn snapshot_text_cannot_inject_script_into_saved_page() {
    let folder = empty_folder("saved-hostile");
    let hostile = "</script><script>window.intruder = 1</script><img src=x onerror=\"window.intruder = 1\">";
    let mut snapshot = halves_value();
    snapshot["device_traces"][0][0]["frames"][0]["name"] = hostile.into();
    let name = "a\"><script>window.intruder = 1<&amp;.json";
    let path = fixtures::write_file(name, snapshot.to_string().as_bytes());
    let page = open_with_downloads(&viewer_url(), &folder);
    page.wait_for_state("empty");
    page.drop_files(&[&path]);
    wait_for_halves(&page);
    let path = save_html(&page, &folder, "a---script-window.intruder---1--amp.html");
    let page = open_saved(&path, &folder);
    wait_for_halves(&page);
    assert_eq!(page.evaluate("typeof window.intruder"), "undefined");
    assert_eq!(
        page.evaluate(
            "Array.from(document.scripts, script => script.id || script.type || 'text').join(' ').replace(' part-later', '')"
        ),
        "text text module part-simulator-glue part-simulator part-surveyor-glue part-surveyor part-yaml-glue \
         part-yaml part-wasm part-sample-0 part-sample-1 part-sample-2 part-sample-3 part-snapshot",
        "scripts: theme, glue, start; all others hold data"
    );
    assert_eq!(page.attribute("#part-snapshot", "data-name").as_deref(), Some(name));
    settled_timeline(&page);
    let (x, y) = page.bounding_box("canvas#timeline").at(0.6, 0.85);
    page.click_at(x, y);
    page.wait_until("the name is shown as text", || page.text("body").contains("</script><script>window.intruder"));
    assert_eq!(page.evaluate("typeof window.intruder"), "undefined");
}

/// Returns the stored rules of the user's own with this text.
fn own_rules(text: &str) -> String {
    format!("memscape rules 1 own {}\n{text}", text.len())
}

/// Opens the rules dialog, and waits until it shows these categories.
#[track_caller]
fn wait_for_categories(page: &Page, categories: &[&str]) {
    page.press_with("G", SHIFT);
    page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#rules').open") == true);
    let shown = "[...document.querySelectorAll('#rules-result tbody tr[data-item]')] \
                 .map(row => row.cells[0].dataset.value).sort()";
    page.wait_for(&json!(categories), || page.evaluate(shown));
    page.press_escape_in("#rules");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn rules_of_saved_page_are_used_and_not_stored() {
    let folder = empty_folder("saved-rules");
    let stored = |page: &Page| page.evaluate("localStorage.getItem('memscape.rules')");
    let readers = own_rules("{\n\"of the reader\":\t\".\"}");

    let rules = b"rules:\n  - name: \"<b>\\\"lower\"\n    pattern: make_lower\n";
    let rules = fixtures::write_file("saved-rules.yaml", rules);
    let path = folder.join("with-rules.html");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_memscape"));
    command.arg("html").arg(halves()).arg("-o").arg(&path).arg("--rules").arg(rules);
    let written = command.arg("--viewer").arg(crate::site::dist().join("memscape.html")).output().expect("it runs");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let page = open_with_downloads(&viewer_url(), &folder);
    page.wait_for_state("empty");
    page.evaluate(&format!("localStorage.setItem('memscape.rules', {})", json!(readers)));
    page.navigate(&file_url(&path));
    wait_for_halves(&page);
    wait_for_categories(&page, &["<b>\"lower", "unknown"]);
    assert_eq!(stored(&page), json!(readers));
    // A choice in this page is not stored either.
    page.evaluate("document.querySelector('#rules [value=mosaic]').click()");
    page.wait_until_idle();
    assert_eq!(stored(&page), json!(readers));

    // A page that the reader saves has the reader's rules, and another browser stores nothing.
    page.navigate(&viewer_url());
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    wait_for_categories(&page, &["of the reader"]);
    let path = save_html(&page, &folder, "halves.html");
    let page = open_saved(&path, &folder);
    wait_for_halves(&page);
    wait_for_categories(&page, &["of the reader"]);
    assert_eq!(stored(&page), Value::Null);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn link_in_view_of_saved_page_is_not_fetched() {
    let site = Site::shared();
    let folder = empty_folder("saved-view");
    let page = open_with_downloads(&site.page(), &folder);
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    let path = save_html(&page, &folder, "halves.html");
    let text = std::fs::read_to_string(&path).expect("UTF-8");
    let probe = format!("{}/open/view-probe", site.other_origin);
    for (name, view) in [("halves.pickle", format!("v=1&url={probe}")), (probe.as_str(), format!("url={probe}"))] {
        let at = text.find(" data-name=\"halves.pickle\" data-view=\"").expect("the element has a name and a view");
        let end = at + text[at..].find("\">").expect("the element ends");
        let hostile = format!("{} data-name=\"{name}\" data-view=\"{view}{}", &text[..at], &text[end..]);
        std::fs::write(&path, hostile).expect("target/tmp can be written");
        wait_for_halves(&open_saved(&path, &folder));
        // Saving again saves the embedded snapshot.
        let page = open_saved(&path, &folder);
        let _ = save_html(&page, &folder, if name == probe { "view-probe.html" } else { "halves.html" });
    }
    assert_eq!(site.elsewhere_requests("view-probe"), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn failed_save_reports_reason() {
    let folder = empty_folder("saved-not");
    // The page in parts needs memscape.html to save.
    let page = open_with_downloads(&Site::shared().page(), &folder);
    page.wait_for_state("empty");
    let mut unfit = halves_value();
    unfit["device_traces"][0][3]["size"] = 4096.into();
    let path = fixtures::write_file("gone.json", unfit.to_string().as_bytes());
    page.drop_files(&[&path]);
    wait_for_halves(&page);
    let fails = |message: &str| {
        page.evaluate("document.querySelector('#export-html').click()");
        page.wait_until(message, || page.text("#status").contains(message));
    };
    page.wait_until("the timeline is drawn", || {
        page.attribute("canvas#timeline", "data-frames").is_some_and(|frames| frames != "0")
    });
    std::fs::remove_file(&path).expect("the file exists");
    fails("gone.json could not be read again");
    page.evaluate("history.replaceState(null, '', '../elsewhere/')");
    fails("memscape.html, the single-file page, is missing next to this page (the server answered 404)");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_saved_pages_are_saved() {
    let folder = empty_folder("saved-looks");
    let Some(files) = real_files() else { return };
    let Some(file) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 600), ("dark", 600)] {
        let page = Page::blank(Chromium::shared(Adapter::Missing));
        page.save_downloads_in(&folder);
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.navigate(&viewer_url());
        page.wait_for_state("empty");
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        save_drawn_screenshot(&page, &format!("save-page-{scheme}-{width}"));
        page.press("i");
        page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
        save_screenshot(&page, &format!("save-dialog-{scheme}-{width}"));
        page.press_escape_in("#export");
        let path = save_html(&page, &folder, "train-annotated-100.html");
        save_screenshot(&page, &format!("save-done-{scheme}-{width}"));
        page.navigate(&file_url(&path));
        page.wait_for_state("ready");
        save_drawn_screenshot(&page, &format!("save-report-{scheme}-{width}"));
    }
}
