//! Whether what is behind a link changes: `memscape serve` tells, another server is asked every so often. Both only while somebody looks
//! at the page: a tab in the background keeps no connection, of which a browser has six to a server.

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

/// What stands in the page's address where `memscape serve` tells of changes, and where it does.
const TOLD: &str = "?live";
const EVENTS: &str = "changes";
/// A server that went away is asked again so many milliseconds later.
const AGAIN_MS: u32 = 15_000;
/// A server that does not tell is asked every so many milliseconds.
const ASKING_MS: u32 = 10_000;

/// Listens to changes as long as the page lives.
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

/// The connection to `memscape serve`.
#[derive(Default)]
struct Told {
    events: RefCell<Option<(EventSource, [EventListener; 2])>>,
    again: RefCell<Option<Timeout>>,
}

impl Told {
    /// Connects where somebody looks, and hangs up where nobody does.
    fn look(self: &Rc<Self>, app: &'static App) {
        self.again.take();
        if app.dom.document.hidden() {
            self.end();
        } else if self.events.borrow().is_none() {
            // It fails only for an address that is none.
            let Ok(source) = EventSource::new(EVENTS) else { return };
            let heard = EventListener::new(&source, "message", move |event| {
                let text = event.dyn_ref::<MessageEvent>().and_then(|event| event.data().as_string());
                let text = text.unwrap_or_default();
                act(app, LiveAction::Told(Heard::parse(&text, now(app))));
                Heard::count(&text).into_iter().for_each(|count| act(app, LiveAction::Counted(count)));
            });
            let told = self.clone();
            let failed = EventListener::new(&source, "error", move |_| {
                // The listener that runs now is one of those that end.
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

/// Asks the server of the open file whether it is another one by now. What goes wrong is no news: the file is open.
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
        // One that answers no such question, or is gone, is not asked again and again.
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

/// The shell's clock.
pub(super) fn now(app: &App) -> f64 {
    app.dom.window.performance().map_or(0.0, |clock| clock.now())
}
