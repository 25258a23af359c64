//! "Leave out private texts" in the export dialog: no saved file contains planted texts, and totals stay.

use crate::fixtures;
use crate::opening::summary_values;
use crate::page::Page;
use crate::planted::{PLANTED, all_bytes, has, snapshot};
use crate::saved::{empty_folder, open_saved, open_with_downloads};
use crate::screenshots::settled_timeline;
use crate::site::Site;
use crate::sql::has_sql;
use std::collections::BTreeMap;
use std::path::Path;

/// Keys of the export dialog that write a file without a picture: other tools, tables, smaller snapshot, page.
const KEYS: [&str; 11] = ["o", "p", "f", "t", "c", "d", "m", "v", "j", "n", "h"];

/// Saves a file with a key of the dialog. Returns the result that the page reports, and the name of the file.
fn save(page: &Page, folder: &Path, key: &str, before: &BTreeMap<String, Vec<u8>>) -> (String, String) {
    page.press("i");
    page.wait_until("the dialog is open", || page.evaluate("document.querySelector('#export').open") == true);
    page.press(key);
    let name = |status: &str| {
        let rest = status.strip_prefix("Saved ")?;
        rest.split(": ").next()?.split(". ").next().map(|name| name.trim_end_matches('.').to_owned())
    };
    page.wait_until(&format!("the file of {key} is saved"), || {
        let name = name(&page.text("#status"));
        name.is_some_and(|name| {
            !before.contains_key(&name) && std::fs::metadata(folder.join(name)).is_ok_and(|file| file.len() > 0)
        })
    });
    let status = page.text("#status");
    let name = name(&status).expect("a name");
    (status, name)
}

/// Returns the bytes of a saved file, with what its compressed parts contain. Of a page, only the view and the
/// snapshot.
fn content(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).expect("the file is saved");
    let start = bytes.windows(18).position(|part| part == b"id=\"part-snapshot\"");
    all_bytes(&bytes[start.unwrap_or(0)..])
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn saved_files_do_not_contain_texts_that_are_left_out() {
    let file = fixtures::write_file("private.json", snapshot().to_string().as_bytes());
    let folder = empty_folder("private");
    let page = open_with_downloads(&Site::shared().page(), &folder);
    page.wait_for_state("empty");
    page.drop_files(&[&file]);
    page.wait_for_state("ready");
    let summary = page.wait_until_settled("the summary", || summary_values(&page));
    // A text that the user types is a part of the view.
    page.click("#find");
    page.replace_text("zqproject");
    page.wait_until("the address holds the search", || {
        page.evaluate("location.hash").as_str().is_some_and(|hash| hash.contains("zqproject"))
    });
    page.evaluate("document.querySelector('canvas#timeline').focus()");
    settled_timeline(&page);

    let mut saved = BTreeMap::new();
    let (_, name) = save(&page, &folder, "h", &saved);
    let kept = content(&folder.join(&name));
    for text in ["zqproject", "zqcomment", "zqphase", "zqrun", "zqhost", "zqscript"] {
        assert!(has(&kept, text), "{text} is not in {name} without the option");
    }
    std::fs::remove_file(folder.join(name)).expect("the file is removed");

    page.press("i");
    for (kind, _) in PLANTED {
        page.click(&format!("#export-private [value={kind}]"));
    }
    page.press("i");
    page.wait_until("the dialog is closed", || page.evaluate("document.querySelector('#export').open") == false);
    let keys: Vec<&str> = KEYS.into_iter().filter(|key| *key != "m" || has_sql()).collect();
    for key in &keys {
        let (status, name) = save(&page, &folder, key, &saved);
        assert!(status.ends_with(" Left out: paths, source, annotations, metadata, host, recorder."), "{status}");
        let bytes = content(&folder.join(&name));
        for text in PLANTED.iter().flat_map(|(_, texts)| *texts) {
            assert!(!has(&bytes, text), "{text} is in {name}");
        }
        assert!(saved.insert(name, bytes).is_none());
    }
    assert_eq!(saved.len(), keys.len());
    assert_eq!(page.errors(), Vec::<String>::new());

    // The saved page opens with the same totals, and says what was left out.
    let reopened = open_saved(&folder.join("private.html"), &folder);
    reopened.wait_for(&summary, || summary_values(&reopened));
    reopened.click("#side-file");
    reopened.wait_until("the texts are listed", || {
        let facts = reopened.text("#file-panel");
        facts.contains("paths, source, annotations, metadata, host, recorder")
    });
}
