//! "Save as HTML": the page with the open snapshot in it, saved from the hosted page, from the page in one file and from a saved one,
//! then opened from `file://` and compared number by number.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures::{self, halves, halves_value};
use crate::opening::{SUMMARY, shows_halves, summary};
use crate::packed::gzip;
use crate::page::Page;
use crate::pictures::{keep, keep_drawn, settled};
use crate::site::Site;
use crate::zip::zip_of;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A folder of its own: tests that save files of one name run one after another, but leave them behind.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = fixtures::folder().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("target/tmp can be written");
    folder
}

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn viewer() -> String {
    address(&crate::site::dist().join("memscape.html"))
}

/// A page whose files are saved in `folder`.
pub(crate) fn page_at(address: &str, folder: &Path) -> Page {
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.save_downloads_in(folder);
    page.navigate(address);
    page
}

/// Saves the open snapshot by the keys, and waits for the file.
#[track_caller]
pub(crate) fn saved(page: &Page, folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let _ = std::fs::remove_file(&path);
    page.wait_until("there is a picture, so the dialog opens", || {
        page.attribute("canvas#timeline", "data-frames").is_some_and(|frames| frames != "0")
    });
    page.press("i");
    page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
    page.press("h");
    page.wait_until("the page says how it ended", || {
        let status = page.text("#status");
        status.starts_with("Saved") || status.contains("could not")
    });
    println!("{}", page.text("#status"));
    assert!(page.text("#status").starts_with(&format!("Saved {name}: ")), "{}", page.text("#status"));
    page.wait_until("it is there whole", || {
        std::fs::read(&path).is_ok_and(|bytes| bytes.trim_ascii_end().ends_with(b"</html>"))
    });
    path
}

/// Opens a saved page from the disk; it must be content with its own policy and ask nobody.
#[track_caller]
pub(crate) fn opened(path: &Path, folder: &Path) -> Page {
    let page = page_at(&address(path), folder);
    page.wait_for_state("ready");
    let leaves = |url: &String| !url.starts_with("blob:") && !url.starts_with("data:");
    let asked: Vec<_> = page.requests().into_iter().filter(leaves).collect();
    assert_eq!(asked, [address(path)], "itself alone");
    assert_eq!(page.complaints(), Vec::<String>::new());
    page
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn pages_saved_from_everywhere_show_the_reference_numbers() {
    let Some(files) = real_files() else { return };
    let folder = folder("saved");
    for (at, file) in
        files.iter().filter(|file| file.path.metadata().is_ok_and(|it| it.len() < 20 << 20)).take(3).enumerate()
    {
        let wanted = SUMMARY.map(|(_, field)| file.devices[0][field].to_string());
        let name = {
            let page = page_at(&if at == 0 { Site::shared().page() } else { viewer() }, &folder);
            page.wait_for_state("empty");
            page.drop_files(&[&file.path]);
            page.wait_for_state("ready");
            let plain = file.path.file_name().expect("a file").to_string_lossy().into_owned();
            let plain = plain.split('.').next().expect("one part").to_owned() + ".html";
            saved(&page, &folder, &plain)
        };
        let page = opened(&name, &folder);
        let ordinal = Value::from(file.devices[0]["device"].to_string());
        page.evaluate(&format!(
            "{{ const picker = document.querySelector('select#device'); picker.value = {ordinal}; \
             picker.dispatchEvent(new Event('change', {{ bubbles: true }})); }}"
        ));
        page.wait_for(&wanted, || summary(&page));
        println!("{} {wanted:?}", name.display());
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_page_saved_from_a_saved_page_is_the_same_page() {
    let folder = folder("saved-again");
    let hosted = page_at(&Site::shared().page(), &folder);
    hosted.wait_for_state("empty");
    hosted.drop_files(&[&halves()]);
    shows_halves(&hosted);
    let first = std::fs::read_to_string(saved(&hosted, &folder, "halves.html")).expect("text");
    let viewer = std::fs::read_to_string(crate::site::dist().join("memscape.html")).expect("a built page");
    let (head, tail) = viewer.split_at(viewer.rfind("</body>").expect("it has an end"));
    assert!(first.starts_with(head) && first.ends_with(tail), "byte for byte as in memscape.html");

    let mut before = first;
    for generation in 1..=3 {
        let path = folder.join(format!("generation-{generation}.html"));
        std::fs::write(&path, &before).expect("target/tmp can be written");
        let page = opened(&path, &folder);
        shows_halves(&page);
        let after = std::fs::read_to_string(saved(&page, &folder, "halves.html")).expect("text");
        if generation > 1 {
            assert!(after == before, "{} and {} bytes", before.len(), after.len());
        }
        before = after;
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_hosted_snapshot_is_saved_with_it() {
    let folder = folder("saved-linked");
    halves();
    let site = Site::shared();
    for link in ["../snapshots/halves.pickle".to_owned(), format!("{}/open/halves.pickle", site.elsewhere)] {
        let page = page_at(&site.page_with(&link), &folder);
        shows_halves(&page);
        let asked = page.fetched().into_iter().filter(|url| url.ends_with("halves.pickle")).count();
        let path = saved(&page, &folder, "halves.html");
        assert!(page.text("#status").ends_with(", as compact columns)."), "{}", page.text("#status"));
        let asked_then = page.fetched().into_iter().filter(|url| url.ends_with("halves.pickle")).count();
        assert_eq!((asked, asked_then), (1, 1), "what is seen is saved, nothing is fetched again");
        shows_halves(&opened(&path, &folder));
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn whichever_is_smallest_goes_in() {
    let folder = folder("saved-smallest");
    let snapshot = std::fs::read(halves()).expect("just written");
    // A free of another size than its allocation: columns have no room for it.
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
        let page = page_at(&viewer(), &folder);
        page.wait_for_state("empty");
        let path = fixtures::file(name, &bytes);
        page.drop_files(&[&path]);
        shows_halves(&page);
        // Columns are of what is seen, so the file may be gone.
        if how == "as compact columns" {
            std::fs::remove_file(&path).expect("it was there");
        }
        let saved = saved(&page, &folder, &format!("{}.html", name.split('.').next().expect("one part")));
        assert!(page.text("#status").ends_with(&format!(", {how}).")), "{name}: {}", page.text("#status"));
        shows_halves(&opened(&saved, &folder));
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn nothing_of_a_snapshot_breaks_out_of_the_page() {
    let folder = folder("saved-hostile");
    let hostile = "</script><script>window.intruder = 1</script><img src=x onerror=\"window.intruder = 1\">";
    let mut snapshot = halves_value();
    snapshot["device_traces"][0][0]["frames"][0]["name"] = hostile.into();
    let name = "a\"><script>window.intruder = 1<&amp;.json";
    let path = fixtures::file(name, snapshot.to_string().as_bytes());
    let page = page_at(&viewer(), &folder);
    page.wait_for_state("empty");
    page.drop_files(&[&path]);
    shows_halves(&page);
    let path = saved(&page, &folder, "a---script-window.intruder---1--amp.html");
    let page = opened(&path, &folder);
    shows_halves(&page);
    assert_eq!(page.evaluate("typeof window.intruder"), "undefined");
    assert_eq!(
        page.evaluate("Array.from(document.scripts, script => script.id || script.type || 'text').join(' ')"),
        "text text module part-simulator-glue part-simulator part-surveyor-glue part-surveyor part-yaml-glue \
         part-yaml part-wasm part-sample-0 part-sample-1 part-sample-2 part-sample-3 part-snapshot",
        "theme, glue, start; then nothing but bytes"
    );
    assert_eq!(page.attribute("#part-snapshot", "data-name").as_deref(), Some(name));
    settled(&page);
    let (x, y) = page.corners("canvas#timeline").at(0.6, 0.85);
    page.click_at(x, y);
    page.wait_until("the name is text", || page.text("body").contains("</script><script>window.intruder"));
    assert_eq!(page.evaluate("typeof window.intruder"), "undefined");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_view_that_names_a_link_fetches_nothing() {
    let site = Site::shared();
    let folder = folder("saved-view");
    let page = page_at(&site.page(), &folder);
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    let path = saved(&page, &folder, "halves.html");
    let text = std::fs::read_to_string(&path).expect("text");
    let probe = format!("{}/open/view-probe", site.elsewhere);
    for (name, view) in [("halves.pickle", format!("v=1&url={probe}")), (probe.as_str(), format!("url={probe}"))] {
        let at = text.find(" data-name=\"halves.pickle\" data-view=\"").expect("it has a name and a view");
        let end = at + text[at..].find("\">").expect("the element ends");
        let hostile = format!("{} data-name=\"{name}\" data-view=\"{view}{}", &text[..at], &text[end..]);
        std::fs::write(&path, hostile).expect("target/tmp can be written");
        shows_halves(&opened(&path, &folder));
        // Saved again, it is still the snapshot in it that is taken.
        let page = opened(&path, &folder);
        let _ = saved(&page, &folder, if name == probe { "view-probe.html" } else { "halves.html" });
    }
    assert_eq!(site.asked_elsewhere("view-probe"), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn what_can_not_be_saved_is_said() {
    let folder = folder("saved-not");
    // A page that has no memscape.html beside it.
    let page = page_at(&Site::shared().page(), &folder);
    page.wait_for_state("empty");
    let mut unfit = halves_value();
    unfit["device_traces"][0][3]["size"] = 4096.into();
    let path = fixtures::file("gone.json", unfit.to_string().as_bytes());
    page.drop_files(&[&path]);
    shows_halves(&page);
    let fails = |said: &str| {
        page.evaluate("document.querySelector('#export-html').click()");
        page.wait_until(said, || page.text("#status").contains(said));
    };
    page.wait_until("there is a picture", || {
        page.attribute("canvas#timeline", "data-frames").is_some_and(|frames| frames != "0")
    });
    std::fs::remove_file(&path).expect("it was there");
    fails("gone.json could not be read again");
    page.evaluate("history.replaceState(null, '', '../elsewhere/')");
    fails("memscape.html, the single-file page, is missing next to this page (the server answered 404)");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_saving() {
    let folder = folder("saved-looks");
    let Some(files) = real_files() else { return };
    let Some(file) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 600), ("dark", 600)] {
        let page = Page::blank(Chromium::with(Adapter::Software));
        page.save_downloads_in(&folder);
        page.prefer_color_scheme(scheme);
        page.resize(width, 800);
        page.navigate(&viewer());
        page.wait_for_state("empty");
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        keep_drawn(&page, &format!("save-page-{scheme}-{width}"));
        page.press("i");
        page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
        keep(&page, &format!("save-dialog-{scheme}-{width}"));
        page.press_escape_in("#export");
        let path = saved(&page, &folder, "train-annotated-100.html");
        keep(&page, &format!("save-done-{scheme}-{width}"));
        page.navigate(&address(&path));
        page.wait_for_state("ready");
        keep_drawn(&page, &format!("save-report-{scheme}-{width}"));
    }
}
