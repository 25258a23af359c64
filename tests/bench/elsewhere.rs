//! Measurement of opening a file in Firefox and WebKitGTK, controlled as in `tests/browsers`.

use crate::cases::Generated;
use crate::driver::{Driver, Kind, Order};
use crate::machine;
use crate::opening::{self, Opening, Tab};
use crate::watch;
use serde_json::{Value, json};
use server::Response;
use std::cell::RefCell;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Key of an element's id in WebDriver messages.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// Timeout of the page's start.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser other than Chromium.
pub(crate) struct Elsewhere {
    pub(crate) name: &'static str,
    kind: Kind,
    pub(crate) version: Result<String, &'static str>,
}

/// Both browsers, with the version or the reason why it can't be measured.
pub(crate) fn browsers() -> [Elsewhere; 2] {
    let found = |name, kind: Kind, missing| Elsewhere {
        name,
        kind,
        version: kind.start().map(|driver| driver.version().to_owned()).ok_or(missing),
    };
    [
        found("Firefox", Kind::Firefox, "not installed, and not named in FIREFOX"),
        found("WebKitGTK", Kind::WebKit, "no WebKitWebDriver or no Xvfb"),
    ]
}

impl Elsewhere {
    /// Opens the file in a new browser.
    ///
    /// # Errors
    /// If the browser does not start or the page shows an error.
    pub(crate) fn open(&self, file: &Generated) -> Result<Opening, String> {
        let driver = self.kind.start().ok_or("it does not start")?;
        let tab = Driven { driver: RefCell::new(driver), kind: self.kind };
        Ok(opening::open(&tab, file, || ())?.0)
    }
}

struct Driven {
    driver: RefCell<Box<dyn Driver>>,
    kind: Kind,
}

impl Driven {
    fn tell(&self, order: Order<'_>, body: Value) -> Value {
        self.driver.borrow_mut().tell(order, body).unwrap_or_else(|why| panic!("{:?}: {order:?}: {why}", self.kind))
    }
}

impl Tab for Driven {
    fn load(&self) {
        for url in ["about:blank", address()] {
            self.tell(Order::Navigate, json!({ "url": url }));
        }
        let deadline = Instant::now() + PATIENCE;
        while self.evaluate("times.runs ?? null").is_null() {
            assert!(Instant::now() < deadline, "{:?} does not start the page", self.kind);
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn evaluate(&self, expression: &str) -> Value {
        self.tell(Order::Execute, json!({ "script": format!("return ({expression})"), "args": [] }))
    }

    fn choose(&self, file: &Path) {
        let input = self.tell(Order::Find, json!({ "using": "css selector", "value": "#file" }));
        let input = input[ELEMENT].as_str().expect("the response has an element");
        self.tell(Order::SendKeys(input), json!({ "text": file }));
    }

    fn resident(&self) -> Option<u64> {
        machine::largest_descendant(match self.kind {
            Kind::WebKit => "WebKitWebProcess",
            _ => "-contentproc",
        })
    }
}

/// URL of the page with the script of [`watch`] in its HTML. WebDriver can't run a script before the page, and a
/// separate request would affect the measurement.
fn address() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| {
        let at = server::start(std::iter::once(0), answer).expect("a free port");
        format!("http://{at}/")
    })
}

fn answer(path: &str) -> Response {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist");
    let mut response = Response::file(&dist, path);
    if path.is_empty() || path == "index.html" {
        let mut page = String::new();
        response.body.read_to_string(&mut page).expect("dist/ exists: run ./run build");
        let page = watched(&page, &watch::script()).into_bytes();
        response.length = page.len() as u64;
        response.body = Box::new(std::io::Cursor::new(page));
    }
    response
}

/// Inserts a script at the start of the page, and allows it in the content security policy.
fn watched(page: &str, script: &str) -> String {
    let policy = "script-src 'self'";
    assert!(page.contains(policy), "the page's policy has changed");
    let page = page.replacen(policy, &format!("{policy} 'nonce-measure'"), 1);
    // After the policy, so that the policy applies to the script.
    let at = page.find("<meta name=\"referrer\"").expect("the page has a referrer policy");
    [&page[..at], "<script nonce=\"measure\">", script, "</script>\n", &page[at..]].concat()
}
