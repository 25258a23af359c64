//! Watches the file that a link points to for changes. `memscape serve` sends events, and other servers are polled.
//! Both happen only while the page is visible, because a browser allows only six connections to a server.

use super::address::resolve;
use super::app::App;
use super::dom::listen;
use super::embedded;
use gloo::events::EventListener;
use gloo::timers::callback::{Interval, Timeout};
use js_sys::{Date, Promise};
use std::cell::RefCell;
use std::rc::Rc;
use ui::features::watch::{FileVersion, WatchAction};
use ui::shell::action::Action;
use ui::shell::reload;
use ui::text::url::resume::ResponseHead;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{EventSource, MessageEvent, RequestCache, RequestInit, Response};

/// Query in the page's address that shows that `memscape serve` sends change events.
const LIVE_QUERY: &str = "?live";
/// URL of the stream of change events.
const EVENTS_URL: &str = "changes";
/// Delay, in milliseconds, before reconnecting to the event stream.
const RECONNECT_MS: u32 = 15_000;
/// Polling interval, in milliseconds, for servers that send no events.
const POLL_MS: u32 = 10_000;

/// Starts watching the file that the open link points to.
pub(super) fn watch(app: &'static App) {
    let search = app.dom.window.location().search().unwrap_or_default();
    if search.split('&').next() == Some(LIVE_QUERY) {
        let stream = Rc::<ChangeStream>::default();
        stream.reconnect(app);
        listen(&app.dom.document, "visibilitychange", move |_| stream.reconnect(app));
    } else if resolve(&app.dom, ".").is_ok() {
        Interval::new(POLL_MS, move || {
            spawn_local(async move {
                let _ = poll(app).await;
            });
        })
        .forget();
    }
}

/// Event stream from `memscape serve`.
#[derive(Default)]
struct ChangeStream {
    events: RefCell<Option<(EventSource, [EventListener; 2])>>,
    retry: RefCell<Option<Timeout>>,
}

impl ChangeStream {
    /// Connects to the event stream while the page is visible, and disconnects while it is hidden.
    fn reconnect(self: &Rc<Self>, app: &'static App) {
        self.retry.take();
        if app.dom.document.hidden() {
            self.disconnect();
        } else if self.events.borrow().is_none() {
            // Fails only for an invalid URL.
            let Ok(source) = EventSource::new(EVENTS_URL) else { return };
            let listener = EventListener::new(&source, "message", move |event| {
                let text = event.dyn_ref::<MessageEvent>().and_then(|event| event.data().as_string());
                let text = text.unwrap_or_default();
                handle_action(app, WatchAction::FilesReported(FileVersion::parse(&text, now(app))));
                FileVersion::count(&text)
                    .into_iter()
                    .for_each(|count| handle_action(app, WatchAction::CountReported(count)));
            });
            let stream = self.clone();
            let failed = EventListener::new(&source, "error", move |_| {
                // Dropping the listeners has to wait until this one has returned.
                let stream = stream.clone();
                spawn_local(async move {
                    stream.disconnect();
                    let later = stream.clone();
                    stream.retry.replace(Some(Timeout::new(RECONNECT_MS, move || later.reconnect(app))));
                });
            });
            self.events.replace(Some((source, [listener, failed])));
        }
    }

    fn disconnect(&self) {
        if let Some((source, _)) = self.events.take() {
            source.close();
        }
    }
}

/// Checks once whether the server has a new version of the open file. Errors are ignored, since the file is open
/// already.
async fn poll(app: &'static App) -> Option<()> {
    let address = reload::polled_address(&app.state.borrow())?;
    if app.dom.document.hidden() || !app.dom.window.navigator().on_line() || embedded::is_embedded(&app.dom, &address) {
        return None;
    }
    let link = resolve(&app.dom, &address).ok()?;
    let options = RequestInit::new();
    options.set_method("HEAD");
    options.set_cache(RequestCache::NoCache);
    let asked: Promise = app.dom.window.fetch_with_str_and_init(&link.url, &options);
    let answer = JsFuture::from(asked).await.ok();
    let response = answer.and_then(|answer| answer.dyn_into::<Response>().ok()).filter(Response::ok);
    let Some(response) = response else {
        // Stop polling servers that do not answer HEAD requests or are gone.
        handle_action(app, WatchAction::PollFailed(address));
        return None;
    };
    let answer = ResponseHead::new(
        response.status(),
        ResponseHead::HEADERS.map(|name| response.headers().get(name).ok().flatten()),
    );
    let version = answer.version()?;
    let modified = answer.modified.as_deref().map_or(f64::NAN, Date::parse);
    let age = if modified.is_finite() { (Date::now() - modified).max(0.0) } else { 0.0 };
    handle_action(app, WatchAction::Polled(FileVersion { address, version, rank: None, changed_ms: now(app) - age }));
    Some(())
}

fn handle_action(app: &'static App, action: WatchAction) {
    app.dispatch(Action::feature(action));
}

/// Returns the page's clock in milliseconds.
pub(super) fn now(app: &App) -> f64 {
    app.dom.window.performance().map_or(0.0, |clock| clock.now())
}
