//! Measurement of opening a file in Firefox and WebKitGTK, controlled as in `tests/browsers`.

use crate::cases::Generated;
use crate::driver::{Browser, Driver, WebDriverCommand};
use crate::machine;
use crate::opening::{self, Moves, Opening, Tab};
use crate::site;
use crate::timing_script;
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
const TIMEOUT: Duration = Duration::from_secs(60);

/// A browser other than Chromium.
pub(crate) struct OtherBrowser {
    pub(crate) name: &'static str,
    kind: Browser,
    pub(crate) version: Result<String, &'static str>,
}

/// Both browsers, with the version or the reason why it can't be measured.
pub(crate) fn browsers() -> [OtherBrowser; 2] {
    let found = |name, kind: Browser, missing| OtherBrowser {
        name,
        kind,
        version: kind.start().map(|driver| driver.version().to_owned()).ok_or(missing),
    };
    [
        found("Firefox", Browser::Firefox, "not installed, and not named in FIREFOX"),
        found("WebKitGTK", Browser::WebKit, "no WebKitWebDriver or no Xvfb"),
    ]
}

impl OtherBrowser {
    /// Opens the file in a new browser.
    ///
    /// # Errors
    /// If the browser does not start or the page shows an error.
    pub(crate) fn open(&self, file: &Generated, moves: Moves) -> Result<Opening, String> {
        let driver = self.kind.start().ok_or("it does not start")?;
        let tab = DriverTab { driver: RefCell::new(driver), kind: self.kind };
        Ok(opening::open(&tab, file, moves, || ())?.0)
    }
}

struct DriverTab {
    driver: RefCell<Box<dyn Driver>>,
    kind: Browser,
}

impl DriverTab {
    fn tell(&self, order: WebDriverCommand<'_>, body: Value) -> Value {
        self.driver.borrow_mut().execute(order, body).unwrap_or_else(|why| panic!("{:?}: {order:?}: {why}", self.kind))
    }
}

impl Tab for DriverTab {
    fn load(&self) {
        for url in ["about:blank", page_url()] {
            self.tell(WebDriverCommand::Navigate, json!({ "url": url }));
        }
        let deadline = Instant::now() + TIMEOUT;
        while self.evaluate("times.runs ?? null").is_null() {
            assert!(Instant::now() < deadline, "{:?} does not start the page", self.kind);
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn evaluate(&self, expression: &str) -> Value {
        self.tell(WebDriverCommand::Execute, json!({ "script": format!("return ({expression})"), "args": [] }))
    }

    fn choose(&self, file: &Path) {
        let input = self.tell(WebDriverCommand::Find, json!({ "using": "css selector", "value": "#file" }));
        let input = input[ELEMENT].as_str().expect("the response has an element");
        self.tell(WebDriverCommand::SendKeys(input), json!({ "text": file }));
    }

    fn resident(&self) -> Option<u64> {
        machine::largest_descendant(match self.kind {
            Browser::WebKit => "WebKitWebProcess",
            _ => "-contentproc",
        })
    }
}

/// URL of the page with the script of [`watch`] in its HTML. WebDriver can't run a script before the page, and a
/// separate request would affect the measurement.
fn page_url() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| {
        let at = server::start(std::iter::once(0), respond).expect("a free port");
        format!("http://{at}/")
    })
}

fn respond(path: &str) -> Response {
    let mut response = Response::file(&site::dist(), path);
    if path.is_empty() || path == "index.html" {
        let mut page = String::new();
        response.body.read_to_string(&mut page).expect("dist/ exists: run ./run build");
        let page = with_script(&page, &timing_script::script()).into_bytes();
        response.length = page.len() as u64;
        response.body = Box::new(std::io::Cursor::new(page));
    }
    response
}

/// Inserts a script at the start of the page, and allows it in the content security policy.
fn with_script(page: &str, script: &str) -> String {
    let policy = "script-src 'self'";
    assert!(page.contains(policy), "the page's policy has changed");
    let page = page.replacen(policy, &format!("{policy} 'nonce-measure'"), 1);
    // After the policy, so that the policy applies to the script.
    let at = page.find("<meta name=\"referrer\"").expect("the page has a referrer policy");
    [&page[..at], "<script nonce=\"measure\">", script, "</script>\n", &page[at..]].concat()
}
