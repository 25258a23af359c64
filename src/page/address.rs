//! The page's address ↔ links: it always has the link to what is seen, and following another one in the same tab shows that.

use super::app::App;
use super::dom::{Dom, listen};
use super::{clipboard, embedded};
use gloo::timers::callback::Timeout;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::link::Link;
use ui::{Action, url};
use wasm_bindgen::JsValue;
use web_sys::Url;

/// The address is written so long after a change, once for all that changes meanwhile: browsers allow a few a second.
const DELAY_MS: u32 = 400;

/// What was written last, and what shall be.
#[derive(Default)]
pub(super) struct Address {
    written: RefCell<Option<Link>>,
    timer: RefCell<Option<Timeout>>,
    /// Origins that the policy allows beside the page's own.
    origins: RefCell<Vec<String>>,
    /// Whether what changes now follows from a link, and is no step of its own.
    follows: Cell<bool>,
}

/// An address that may be fetched.
pub(super) struct Fetched {
    /// Absolute.
    pub(super) url: String,
    /// Its origin, plain enough for a policy.
    pub(super) origin: String,
}

/// The link that the page was opened by. A page that brings a snapshot along is a link to that: whatever stands in its address, nothing
/// else is opened by it. Addresses on other servers are written out, so that what is shown of them is where they lead.
pub(super) fn link(dom: &Dom) -> Link {
    let location = dom.window.location();
    let mut link = Link::parse(&location.hash().unwrap_or_default());
    if let Some((name, view)) = embedded::snapshot(dom) {
        link = link.seen_only();
        if !link.has_view() {
            link = Link::parse(&view).seen_only();
        }
        link.urls.push(name);
        return link;
    }
    if link.urls.is_empty() && link.print.is_empty() {
        link.urls = url::of_query(&location.search().unwrap_or_default());
    }
    let own = location.origin().unwrap_or_default();
    for url in &mut link.urls {
        if let Ok(fetched) = absolute(dom, url)
            && fetched.origin != own
            && !embedded::has(dom, url)
        {
            *url = fetched.url;
        }
    }
    link
}

/// What a link fetches: nothing of what the page brings along. The error is for the user.
pub(super) fn fetched(dom: &Dom, link: &Link) -> Result<Vec<Fetched>, String> {
    let elsewhere = link.addresses().filter(|url| !embedded::has(dom, url));
    elsewhere.map(|url| absolute(dom, url)).collect()
}

/// `url`, seen from this page.
pub(super) fn absolute(dom: &Dom, url: &str) -> Result<Fetched, String> {
    let base = dom.document.base_uri().ok().flatten().unwrap_or_default();
    let resolved = Url::new_with_base(url, &base).map_err(|_| format!("Not a valid address: {url}"))?;
    let (url, origin) = (resolved.href(), resolved.origin());
    if url::is_plain_origin(&origin) {
        Ok(Fetched { url, origin })
    } else {
        Err(format!("Only http and https links can be opened, not {url}. Drop the file here instead."))
    }
}

impl Address {
    /// Listens to the address: somebody typed there, or went back or forward. The policy allows these origins.
    pub(super) fn listen(self: &Rc<Self>, app: &'static App, origins: Vec<String>) {
        self.origins.replace(origins);
        let address = self.clone();
        listen(&app.dom.window, "hashchange", move |_| address.follow(app));
    }

    /// Something changed: soon the address says so.
    pub(super) fn changed(self: &Rc<Self>, app: &'static App) {
        let mut timer = self.timer.borrow_mut();
        if timer.is_none() {
            let address = self.clone();
            *timer = Some(Timeout::new(DELAY_MS, move || {
                address.timer.take();
                address.write(app);
            }));
        }
    }

    fn follow(&self, app: &'static App) {
        let link = link(&app.dom);
        let is_elsewhere = {
            let written = self.written.borrow();
            !link.urls.is_empty() && written.as_ref().is_none_or(|now| link.urls != now.urls)
        };
        // What is no address is said beside the open file.
        let may_fetch = fetched(&app.dom, &link).map_or(true, |links| {
            let (own, origins) = (app.dom.window.location().origin().ok(), self.origins.borrow());
            links.iter().all(|link| origins.contains(&link.origin) || own.as_ref() == Some(&link.origin))
        });
        if is_elsewhere && !may_fetch {
            // The policy knows the first link's origins only, so the page begins anew.
            let _ = app.dom.window.location().reload();
            return;
        }
        self.follows.set(true);
        self.written.replace(Some(link.clone()));
        app.dispatch(Action::LinkGiven(Box::new(link)));
    }

    fn write(&self, app: &'static App) {
        if app.state.borrow().is_following() {
            return;
        }
        let Some(link) = Link::of(&app.state.borrow()) else { return };
        let before = self.written.replace(Some(link.clone()));
        if before.as_ref() == Some(&link) {
            return;
        }
        let Ok(history) = app.dom.window.history() else { return };
        let fragment = ["#", &link.fragment()].concat();
        // Where the browser does not allow it, the page has an address that says less.
        let follows = self.follows.take();
        let _ = if before.is_some_and(|before| !follows && link.is_step_from(&before)) {
            history.push_state_with_url(&JsValue::NULL, "", Some(&fragment))
        } else {
            history.replace_state_with_url(&JsValue::NULL, "", Some(&fragment))
        };
    }
}

/// Copies the page's address with this fragment.
pub(super) fn copy(app: &'static App, fragment: &str) {
    let address = app.dom.window.location().href().unwrap_or_default();
    let page = address.split(['?', '#']).next().unwrap_or_default();
    clipboard::copy(app, &[page, "#", fragment].concat());
}
