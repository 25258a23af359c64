//! The page's address ↔ links: it always has the link to what is seen, and following another one in the same tab shows that.

use super::dom::{Elements, listen};
use super::{App, clipboard, embedded};
use gloo::events::EventListener;
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
pub(super) fn link(elements: &Elements) -> Link {
    let location = elements.window.location();
    let mut link = Link::parse(&location.hash().unwrap_or_default());
    if let Some((name, view)) = embedded::snapshot(elements) {
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
        if let Ok(fetched) = absolute(elements, url)
            && fetched.origin != own
            && !embedded::has(elements, url)
        {
            *url = fetched.url;
        }
    }
    link
}

/// What a link fetches: nothing of what the page brings along. The error is for the user.
pub(super) fn fetched(elements: &Elements, link: &Link) -> Result<Vec<Fetched>, String> {
    let elsewhere = link.urls.iter().filter(|url| !embedded::has(elements, url));
    elsewhere.map(|url| absolute(elements, url)).collect()
}

/// `url`, seen from this page.
pub(super) fn absolute(elements: &Elements, url: &str) -> Result<Fetched, String> {
    let base = elements.document.base_uri().ok().flatten().unwrap_or_default();
    let resolved = Url::new_with_base(url, &base).map_err(|_| format!("The link is no address: {url}"))?;
    let (url, origin) = (resolved.href(), resolved.origin());
    if url::is_plain_origin(&origin) {
        Ok(Fetched { url, origin })
    } else {
        Err(format!("Only http and https links can be opened, not {url}. Drop the file here instead."))
    }
}

/// Listens to the address: somebody typed there, or went back or forward.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let (follower, closer) = (app.clone(), app.clone());
    vec![
        listen(&app.elements.window, "hashchange", move |_| follow(&follower)),
        listen(&app.elements.link_notice_close, "click", move |_| closer.dispatch(Action::NoticeClosed)),
    ]
}

fn follow(app: &Rc<App>) {
    let link = link(&app.elements);
    let is_elsewhere = {
        let written = app.address.written.borrow();
        !link.urls.is_empty() && written.as_ref().is_none_or(|now| link.urls != now.urls)
    };
    if is_elsewhere {
        // The policy knows the first link's origins only, so the page begins anew.
        let _ = app.elements.window.location().reload();
        return;
    }
    app.address.follows.set(true);
    app.address.written.replace(Some(link.clone()));
    app.dispatch(Action::LinkGiven(Box::new(link)));
}

/// Something changed: soon the address says so.
pub(super) fn changed(app: &Rc<App>) {
    let mut timer = app.address.timer.borrow_mut();
    if timer.is_none() {
        let app = app.clone();
        *timer = Some(Timeout::new(DELAY_MS, move || {
            app.address.timer.take();
            write(&app);
        }));
    }
}

fn write(app: &Rc<App>) {
    if app.state.borrow().is_following() {
        return;
    }
    let Some(link) = Link::of(&app.state.borrow()) else { return };
    let before = app.address.written.replace(Some(link.clone()));
    if before.as_ref() == Some(&link) {
        return;
    }
    let Ok(history) = app.elements.window.history() else { return };
    let fragment = ["#", &link.fragment()].concat();
    // Where the browser does not allow it, the page has an address that says less.
    let follows = app.address.follows.take();
    let _ = if before.is_some_and(|before| !follows && link.is_step_from(&before)) {
        history.push_state_with_url(&JsValue::NULL, "", Some(&fragment))
    } else {
        history.replace_state_with_url(&JsValue::NULL, "", Some(&fragment))
    };
}

/// Copies the page's address with this fragment.
pub(super) fn copy(app: &Rc<App>, fragment: &str) {
    let address = app.elements.window.location().href().unwrap_or_default();
    let page = address.split(['?', '#']).next().unwrap_or_default();
    clipboard::copy(app, &[page, "#", fragment].concat());
}
