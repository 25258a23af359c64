//! Keeps the page's address in sync with the view, and follows edits of the address.

use super::app::App;
use super::dom::{Dom, listen};
use super::{clipboard, embedded};
use gloo::timers::callback::Timeout;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::shell::action::Action;
use ui::state::link::Link;
use ui::text::{sender, url};
use wasm_bindgen::JsValue;
use web_sys::Url;

/// Delay, in milliseconds, between a change of the view and the update of the address. Changes in between are merged,
/// because browsers limit how often a page may change its address.
const DELAY_MS: u32 = 400;

/// The page's address. It is updated after changes of the view, and followed when the user edits it.
#[derive(Default)]
pub(super) struct Address {
    written: RefCell<Option<Link>>,
    /// Fragment of the address when it was last read or written. `None` before.
    fragment: RefCell<Option<String>>,
    timer: RefCell<Option<Timeout>>,
    /// Origins, besides the page's own, that the content security policy allows.
    origins: RefCell<Vec<String>>,
    /// True while a link is being followed, so that the resulting change of the view adds no history entry.
    is_following: Cell<bool>,
}

/// Absolute URL of a file that the page may fetch, and its origin.
pub(super) struct ResolvedUrl {
    /// Absolute URL.
    pub(super) url: String,
    /// Origin of the URL, in a form that a content security policy accepts.
    pub(super) origin: String,
}

/// Returns the link that the page was opened with. A page with an embedded snapshot always opens that snapshot,
/// whatever its address says. URLs on other origins are made absolute, so that the user sees where they lead.
pub(super) fn initial_link(dom: &Dom) -> Link {
    let location = dom.window.location();
    let mut link = Link::parse(&location.hash().unwrap_or_default());
    if let Some((name, page)) = embedded::saved_page(dom) {
        link = link.without_file();
        if !link.has_view() {
            link = Link::parse(&page.view).without_file();
        }
        link.urls.push(name);
        return link;
    }
    let query = location.search().unwrap_or_default();
    if link.urls.is_empty() && link.fingerprint.is_empty() {
        link.urls = url::urls_in_query(&query);
    }
    if !link.has_view() {
        link.show_tab_of(&query);
    }
    let page_origin = location.origin().unwrap_or_default();
    for url in &mut link.urls {
        if let Ok(fetched) = resolve(dom, url)
            && fetched.origin != page_origin
            && !embedded::is_embedded(dom, url)
        {
            *url = fetched.url;
        }
    }
    link
}

/// Returns the absolute URLs of a link's files, except those of files embedded in the page. The error is shown to the
/// user.
pub(super) fn urls_to_fetch(dom: &Dom, link: &Link) -> Result<Vec<ResolvedUrl>, String> {
    let elsewhere = link.addresses().filter(|url| !embedded::is_embedded(dom, url));
    elsewhere.map(|url| resolve(dom, url)).collect()
}

/// Resolves `url` relative to the page. Only http and https are accepted.
pub(super) fn resolve(dom: &Dom, url: &str) -> Result<ResolvedUrl, String> {
    let base = dom.document.base_uri().ok().flatten().unwrap_or_default();
    let resolved = Url::new_with_base(url, &base).map_err(|_| format!("Not a valid address: {url}"))?;
    let (url, origin) = (resolved.href(), resolved.origin());
    if url::is_plain_origin(&origin) {
        Ok(ResolvedUrl { url, origin })
    } else {
        Err(format!("Only http and https links can be opened, not {url}. Drop the file here instead."))
    }
}

impl Address {
    /// Follows the link whenever the user changes the address or navigates in the history. `origins` are the origins
    /// that the content security policy allows.
    pub(super) fn listen(self: &Rc<Self>, app: &'static App, origins: Vec<String>) {
        self.origins.replace(origins);
        let address = self.clone();
        listen(&app.dom.window, "hashchange", move |_| address.follow(app));
    }

    /// Schedules an update of the address.
    pub(super) fn schedule_update(self: &Rc<Self>, app: &'static App) {
        let mut timer = self.timer.borrow_mut();
        if timer.is_none() {
            let address = self.clone();
            *timer = Some(Timeout::new(DELAY_MS, move || {
                address.timer.take();
                // The user has gone back or forward, and the event that announces it is still to come. Writing now
                // would overwrite that entry of the history.
                match address.has_moved(app) {
                    true => address.schedule_update(app),
                    false => address.write(app),
                }
            }));
        }
    }

    fn follow(&self, app: &'static App) {
        let link = initial_link(&app.dom);
        let is_elsewhere = {
            let written = self.written.borrow();
            !link.urls.is_empty() && written.as_ref().is_none_or(|now| link.urls != now.urls)
        };
        // An invalid URL is not fetched. The error is shown next to the open file.
        let may_fetch = urls_to_fetch(&app.dom, &link).map_or(true, |links| {
            let (page_origin, origins) = (app.dom.window.location().origin().ok(), self.origins.borrow());
            links.iter().all(|link| origins.contains(&link.origin) || page_origin.as_ref() == Some(&link.origin))
        });
        if is_elsewhere && !may_fetch {
            // The policy allows the origins of the first link only, so the page has to be loaded again.
            let _ = app.dom.window.location().reload();
            return;
        }
        self.is_following.set(true);
        self.has_moved(app);
        self.written.replace(Some(link.clone()));
        app.dispatch(Action::LinkGiven(Box::new(link)));
    }

    fn write(&self, app: &'static App) {
        if ui::shell::link::is_following_link(&app.state.borrow()) {
            return;
        }
        let Some(link) = Link::from_state(&app.state.borrow()) else { return };
        let before = self.written.replace(Some(link.clone()));
        if before.as_ref() == Some(&link) {
            return;
        }
        if let Some(sender) = app.files.sender() {
            sender.send_event("view", "view", &link.without_file().fragment());
            return;
        }
        let Ok(history) = app.dom.window.history() else { return };
        let fragment = ["#", &link.fragment()].concat();
        // A browser may refuse the change. The address is then out of date, which is harmless.
        let follows = self.is_following.take();
        let _ = if before.is_some_and(|before| !follows && link.is_step_from(&before)) {
            history.push_state_with_url(&JsValue::NULL, "", Some(&fragment))
        } else {
            history.replace_state_with_url(&JsValue::NULL, "", Some(&fragment))
        };
        self.has_moved(app);
    }

    /// Reads the fragment of the address. Returns true if it has changed since it was last read.
    fn has_moved(&self, app: &'static App) -> bool {
        let now = app.dom.window.location().hash().unwrap_or_default();
        self.fragment.replace(Some(now.clone())).is_some_and(|before| before != now)
    }
}

/// Copies the page's address with the given fragment to the clipboard, or the link of the page that sent the files.
pub(super) fn copy(app: &'static App, fragment: &str) {
    let address = app.dom.window.location().href().unwrap_or_default();
    let page = address.split(['?', '#']).next().unwrap_or_default();
    let sender = app.files.sender().filter(|sender| !sender.link.is_empty());
    let view = || Link::parse(fragment).without_file().fragment();
    let link = sender.map(|sender| sender::link_to_view(&sender.link, &view()));
    clipboard::copy(app, &link.unwrap_or_else(|| [page, "#", fragment].concat()));
}
