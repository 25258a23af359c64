//! The page as an installed program: there without a network, as one build as a whole, with nothing of anybody's snapshots; opened with
//! files by the system and by other programs.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{folder, halves};
use crate::opening::shows_halves;
use crate::page::Page;
use crate::site::dist;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use server::Response;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A host that can be changed, and go away.
#[derive(Clone, Default)]
struct Host(Arc<Mutex<Hosted>>);

#[derive(Default)]
struct Hosted {
    is_gone: bool,
    /// Files in the place of those of dist/.
    other: BTreeMap<String, String>,
    asked: Vec<String>,
}

fn text(name: &str) -> String {
    std::fs::read_to_string(dist().join(name)).expect("./run build made it")
}

impl Host {
    fn start(&self) -> String {
        halves();
        let host = self.clone();
        let answer = move |path: &str| {
            let mut hosted = host.0.lock().expect("no writer panics");
            hosted.asked.push(path.to_owned());
            let name = path.strip_prefix("a/b/").unwrap_or("none");
            match hosted.other.get(if name.is_empty() { "index.html" } else { name }) {
                _ if hosted.is_gone => Response::not_found(),
                Some(text) => {
                    let (text, plain) = (text.clone(), Response::file(&dist(), name));
                    Response { length: text.len() as u64, body: Box::new(std::io::Cursor::new(text)), ..plain }
                }
                None => match name.strip_prefix("run/") {
                    Some(name) => Response::file(&folder(), name),
                    None => Response::file(&dist(), name),
                },
            }
        };
        format!("http://{}/a/b/", server::start(std::iter::once(0), answer).expect("a free port"))
    }

    fn go(&self) {
        let mut hosted = self.0.lock().expect("no writer panics");
        hosted.is_gone = true;
        hosted.asked.clear();
    }

    /// What was asked for since, but for the script itself, which browsers look for by themselves.
    fn asked(&self) -> Vec<String> {
        let asked = self.0.lock().expect("no writer panics").asked.clone();
        asked.into_iter().filter(|path| path != "a/b/offline.js").collect()
    }

    fn replace(&self, name: &str, text: String) {
        self.0.lock().expect("no writer panics").other.insert(name.to_owned(), text);
    }
}

/// A page that is kept.
fn kept(address: &str) -> Page {
    let page = Page::open(Chromium::with(Adapter::Software), address);
    page.wait_for_state("empty");
    let state = "navigator.serviceWorker.getRegistration().then(it => it?.active?.state ?? '')";
    page.wait_for(&json!("activated"), || page.evaluate(state));
    page
}

const KEPT: &str = "caches.keys().then(async names => (await Promise.all(names.map(async name => \
    (await (await caches.open(name)).keys()).map(request => new URL(request.url).pathname)))).flat().sort())";

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn it_works_without_a_network_and_keeps_the_build_alone() {
    let host = Host::default();
    let address = host.start();
    let page = kept(&address);
    let mut files: Vec<String> = std::fs::read_dir(dist())
        .expect("./run build made it")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("plain"))
        .filter(|name| name != "offline.js" && name != "sql-part.html")
        .map(|name| format!("/a/b/{}", if name == "index.html" { "" } else { &name }))
        .collect();
    files.sort();
    assert_eq!(page.evaluate(KEPT), json!(files), "all of the build, and nothing else");
    // A hosted snapshot is not kept, nor is one that was dropped.
    page.navigate("about:blank");
    page.navigate(&format!("{address}#url=run/halves.pickle"));
    shows_halves(&page);
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    assert_eq!(page.evaluate(KEPT), json!(files));
    host.go();
    page.navigate("about:blank");
    page.navigate(&address);
    page.wait_for_state("empty");
    page.click("#open-leak");
    page.wait_for_state("ready");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    // Parts that are fetched when they are first needed.
    page.click("[data-topic='what-if'], [data-topic='settings']");
    page.wait_until("its picture is there", || page.attribute("#timeline", "data-frames").is_some());
    assert_eq!(host.asked(), Vec::<String>::new());
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_build_takes_the_place_of_another_as_a_whole() {
    let host = Host::default();
    let address = host.start();
    let page = kept(&address);
    let hash = |text: &str| {
        let bytes = BASE64_STANDARD.encode(text);
        let digest = format!(
            "crypto.subtle.digest('SHA-256', Uint8Array.from(atob('{bytes}'), letter => letter.charCodeAt(0))) \
             .then(hash => btoa(String.fromCharCode(...new Uint8Array(hash))))"
        );
        page.evaluate(&digest).as_str().expect("a hash").to_owned()
    };
    let (index, script) = (text("index.html"), text("offline.js"));
    let second = index.replace("<title>memscape</title>", "<title>memscape two</title>");
    assert_ne!(index, second);
    let script = script.replace(&hash(&index), &hash(&second)).replace("BUILD = \"memscape-", "BUILD = \"memscape-2");
    // Half of it is there: nothing changes.
    host.replace("offline.js", script);
    let update = "navigator.serviceWorker.getRegistration().then(it => it.update()).then(async it => { \
        while (it.installing) await new Promise(done => { it.installing.onstatechange = done; }); return !!it.waiting; })";
    assert_eq!(page.evaluate(update), json!(false));
    page.reload();
    page.wait_for_state("empty");
    assert_eq!(page.evaluate("document.title"), json!("memscape"));
    // All of it is: a reload of the only page begins it.
    host.replace("index.html", second);
    assert_eq!(page.evaluate(update), json!(true));
    // The document that the reload before has left may still count as a second page: then it is the next reload.
    let begins = |_| {
        page.reload();
        page.wait_until("the page has a title", || page.evaluate("document.title") != "");
        page.evaluate("document.title") == "memscape two"
    };
    assert!((0..2).any(begins));
    page.wait_for(&json!(1), || page.evaluate("caches.keys().then(names => names.length)"));
}

/// The bytes of [`halves`] as a file in the page.
fn file_in_page() -> String {
    let bytes = BASE64_STANDARD.encode(std::fs::read(halves()).expect("just written"));
    format!("new File([Uint8Array.from(atob('{bytes}'), letter => letter.charCodeAt(0))], 'halves.pickle')")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_system_opens_a_file_with_it() {
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load(
        "Object.defineProperty(window, 'launchQueue', { value: { setConsumer(launch) { window.launch = launch; } } })",
    );
    page.navigate(&crate::site::Site::shared().page());
    page.wait_for_state("empty");
    let handle = format!("({{ kind: 'file', name: 'halves.pickle', getFile: async () => {} }})", file_in_page());
    page.evaluate(&format!("launch({{ files: [{handle}] }}), 0"));
    shows_halves(&page);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn another_program_shares_a_file_with_it() {
    let host = Host::default();
    let address = host.start();
    let page = kept(&address);
    page.reload();
    page.wait_for_state("empty");
    let before = page.evaluate(KEPT);
    // As the system posts it; only that a navigation follows where this redirects to.
    let posted = format!(
        "(async () => {{ const form = new FormData(); form.append('snapshot', {}); \
         return (await fetch('./?share', {{ method: 'POST', body: form }})).ok; }})()",
        file_in_page()
    );
    assert_eq!(page.evaluate(&posted), json!(true));
    page.navigate(&format!("{address}?shared"));
    shows_halves(&page);
    assert_eq!(page.evaluate(KEPT), before, "it is kept nowhere");
    page.reload();
    page.wait_until("it is asked for by its name", || !page.text("#link-choose").is_empty());
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_page_in_one_file_has_nothing_to_install() {
    let (page, parts) = (text("memscape.html"), text("index.html"));
    assert!(parts.contains("rel=\"manifest\"") && parts.contains("worker-src 'self' blob:;"));
    assert!(!page.contains("rel=\"manifest\"") && !page.contains("manifest-src") && page.contains("worker-src blob:;"));
    let manifest: Value = serde_json::from_str(&text("memscape.webmanifest")).expect("JSON");
    // Any path on any host.
    for name in ["id", "start_url", "scope"] {
        assert_eq!(manifest[name], "./");
    }
    assert!(dist().join(manifest["icons"][0]["src"].as_str().expect("a name")).is_file());
}
