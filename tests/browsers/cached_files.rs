//! Large files opened again, in browsers with and without storage for the cache of decoded files.

use crate::fixtures;
use crate::generate::{Options, generate};
use crate::page::Page;

pub(crate) fn large_file_opens_again_with_or_without_cache(page: &Page) {
    let words = "--events 80000 --frames 60 --seed 5";
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
    let (bytes, truth) = generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    assert!(bytes.len() > 8 << 20, "{}", bytes.len());
    let events = truth.devices[0].events.to_string();
    let path = fixtures::write_file("kept-elsewhere.pickle", &bytes);
    let opened = || {
        page.open_empty();
        page.choose_file(&path);
        page.wait_until("the file is open", || page.state() == "ready" && page.summary()[3] == events);
        page.summary()
    };
    let first = opened();
    page.run("document.getElementById('settings-open').click()", &serde_json::Value::Null);
    page.wait_until("the settings show the cache, or that there is none", || {
        let note = page.text("#kept-note");
        note.contains(" of 1 file is kept.") || note.contains("keeps nothing for this page.")
    });
    let note = page.text("#kept-note");
    println!("{note}");
    // WebKitGTK has no origin private file system.
    if page.evaluate("navigator.storage?.getDirectory === undefined") == true {
        assert_eq!(note, "Nothing is kept. This browser keeps nothing for this page.");
    }
    assert_eq!(opened(), first);
}
