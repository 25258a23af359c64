//! Detection of changes to the open link. `memscape serve` sends events; other servers are polled. Both happen only
//! while the page is visible, because a browser allows only six connections to a server.

use super::address::absolute;
use super::app::App;
use super::dom::listen;
use super::embedded;
use gloo::events::EventListener;
use gloo::timers::callback::{Interval, Timeout};
use js_sys::{Date, Promise};
use std::cell::RefCell;
use std::rc::Rc;
use ui::features::live::{Heard, LiveAction};
use ui::url::resume::Answer;
use ui::{Action, reloading};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{EventSource, MessageEvent, RequestCache, RequestInit, Response};

/// Query of the page's address if `memscape serve` sends change events.
const TOLD: &str = "?live";
/// URL of the event stream.
const EVENTS: &str = "changes";
/// Delay, in milliseconds, before connecting again after the connection was lost.
const AGAIN_MS: u32 = 15_000;
/// Polling interval, in milliseconds, for servers that send no events.
const ASKING_MS: u32 = 10_000;

/// Starts watching for changes.
pub(super) fn begin(app: &'static App) {
    let search = app.dom.window.location().search().unwrap_or_default();
    if search.split('&').next() == Some(TOLD) {
        let told = Rc::<Told>::default();
        told.look(app);
        listen(&app.dom.document, "visibilitychange", move |_| told.look(app));
    } else if absolute(&app.dom, ".").is_ok() {
        Interval::new(ASKING_MS, move || {
            spawn_local(async move {
                let _ = ask(app).await;
            });
        })
        .forget();
    }
}

/// Event stream from `memscape serve`.
#[derive(Default)]
struct Told {
    events: RefCell<Option<(EventSource, [EventListener; 2])>>,
    again: RefCell<Option<Timeout>>,
}

impl Told {
    /// Connects while the page is visible and disconnects while it is hidden.
    fn look(self: &Rc<Self>, app: &'static App) {
        self.again.take();
        if app.dom.document.hidden() {
            self.end();
        } else if self.events.borrow().is_none() {
            // Fails only for an invalid URL.
            let Ok(source) = EventSource::new(EVENTS) else { return };
            let heard = EventListener::new(&source, "message", move |event| {
                let text = event.dyn_ref::<MessageEvent>().and_then(|event| event.data().as_string());
                let text = text.unwrap_or_default();
                act(app, LiveAction::Told(Heard::parse(&text, now(app))));
                Heard::count(&text).into_iter().for_each(|count| act(app, LiveAction::Counted(count)));
            });
            let told = self.clone();
            let failed = EventListener::new(&source, "error", move |_| {
                // Dropping the listeners has to wait until this one has returned.
                let told = told.clone();
                spawn_local(async move {
                    told.end();
                    let later = told.clone();
                    told.again.replace(Some(Timeout::new(AGAIN_MS, move || later.look(app))));
                });
            });
            self.events.replace(Some((source, [heard, failed])));
        }
    }

    fn end(&self) {
        if let Some((source, _)) = self.events.take() {
            source.close();
        }
    }
}

/// Polls the server for a new version of the open file. Errors are ignored, since the file is open already.
async fn ask(app: &'static App) -> Option<()> {
    let address = reloading::asks(&app.state.borrow())?;
    if app.dom.document.hidden() || !app.dom.window.navigator().on_line() || embedded::has(&app.dom, &address) {
        return None;
    }
    let link = absolute(&app.dom, &address).ok()?;
    let options = RequestInit::new();
    options.set_method("HEAD");
    options.set_cache(RequestCache::NoCache);
    let asked: Promise = app.dom.window.fetch_with_str_and_init(&link.url, &options);
    let answer = JsFuture::from(asked).await.ok();
    let response = answer.and_then(|answer| answer.dyn_into::<Response>().ok()).filter(Response::ok);
    let Some(response) = response else {
        // Stop polling servers that do not answer HEAD requests or are gone.
        act(app, LiveAction::Silent(address));
        return None;
    };
    let answer = Answer::of(response.status(), Answer::HEADERS.map(|name| response.headers().get(name).ok().flatten()));
    let version = answer.version()?;
    let modified = answer.modified.as_deref().map_or(f64::NAN, Date::parse);
    let age = if modified.is_finite() { (Date::now() - modified).max(0.0) } else { 0.0 };
    act(app, LiveAction::Asked(Heard { address, version, rank: None, changed_ms: now(app) - age }));
    Some(())
}

fn act(app: &'static App, action: LiveAction) {
    app.dispatch(Action::of(action));
}

/// Returns the page's clock in milliseconds.
pub(super) fn now(app: &App) -> f64 {
    app.dom.window.performance().map_or(0.0, |clock| clock.now())
}
