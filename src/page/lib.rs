//! The browser page of memscape. It connects the DOM to `ui`, the canvas to `picture`, and the worker to `engine`.
//!
//! The page turns browser events into actions. `ui::update` applies an action to the state and returns effects, which
//! `effects.rs` carries out. In the next animation frame, the panels and the canvas show the new state. The crate
//! itself makes no decisions.
//!
//! Read first: this file (startup, actions and messages), `effects.rs`, `panels.rs` (the list of all parts of the
//! page), and `worker.rs` (the engine's worker).

#![cfg(target_arch = "wasm32")]

mod address;
mod app;
mod busy;
mod cache_state;
mod changes;
mod client;
mod clipboard;
mod device;
mod dialog;
mod dom;
mod effects;
mod elements;
mod embedded;
mod embedding;
mod export;
mod file_cache;
mod files;
mod folders;
mod frame;
mod gestures;
mod given_files;
mod gzip;
mod html;
mod installed;
mod keys;
mod labels;
mod outlines;
mod painter;
mod panels;
mod pen;
mod policy;
mod ranks_server;
mod recent;
mod remote;
mod sender;
mod simulator;
mod size_fields;
mod sizes;
mod sql_file;
mod sql_worker;
mod storage;
mod surveyor;
mod theme;
mod worker_code;
// Messages between the page and the worker.
mod export_file;
mod wire;
// The engine's worker: reads messages from the page and runs the engine.
pub mod worker;
mod yaml;

use crate::wire::{FromWorker, ToWorker};
use address::Address;
use app::App;
use busy::Busy;
use cache_state::CacheState;
use client::Client;
use clipboard::Clipboard;
use dom::Dom;
use frame::Frame;
use given_files::GivenFiles;
use painter::Painter;
use panels::{Panels, queries, rules, settings, timeline, views};
use protocol::{Answer, Reply};
use recent::Recent;
use simulator::Simulator;
use sizes::Sizes;
use sql_worker::SqlWorker;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use surveyor::Surveyor;
use theme::Theme;
use ui::features::State;
use ui::features::watch::WatchAction;
use ui::shell::action::Action;
use ui::state::stage::Stage;
use web_sys::Window;
use yaml::YamlParser;

/// The page: the shared state, and what only this file needs. Lives as long as the tab.
struct Page {
    app: &'static App,
    panels: RefCell<Panels>,
    address: Rc<Address>,
    clipboard: Rc<Clipboard>,
    /// Id of the load whose first picture was drawn last.
    pictured_load: Cell<u32>,
}

/// Starts the page. If that fails, the page shows the error.
pub fn start(window: Window) {
    let document = window.document();
    std::panic::set_hook(Box::new(move |panic| {
        console_error_panic_hook::hook(panic);
        if let Some(document) = &document {
            show_failure(
                document,
                "memscape stopped because of a bug. Reload the page; the browser's console has details.",
            );
        }
    }));
    if let Err(cause) = Page::start(window.clone())
        && let Some(document) = window.document()
    {
        show_failure(&document, &format!("The page could not start: {cause}."));
    }
}

fn show_failure(document: &web_sys::Document, text: &str) {
    if let Some(error) = document.get_element_by_id("error") {
        // Fails only for invalid names.
        let _ = error.remove_attribute("hidden");
        dom::set_text(&error, text);
    }
    if let Some(body) = document.body() {
        dom::set_attribute(&body, "data-state", "error");
    }
}

impl Page {
    fn start(window: Window) -> Result<(), String> {
        let dom = Dom::new(window.clone())?;
        let original_page = html::original_page(&dom);
        let link = address::initial_link(&dom);
        let links = address::urls_to_fetch(&dom, &link);
        // From here on, the page and the worker started below can reach only our own server and those of the links.
        let origins: Vec<&str> = links.iter().flatten().map(|link| link.origin.as_str()).collect();
        policy::restrict_connections(&dom, &origins)?;
        let painter = Painter::new(&dom)?;
        let theme = Rc::new(RefCell::new(Theme::current(&dom)));
        // Callbacks that run before the page is complete do nothing.
        let page: &OnceCell<Page> = Box::leak(Box::default());
        let receive = move |message| page.get().map_or((), |page| page.on_message(message));
        let show = move |changed| page.get().map_or((), |page| page.render(changed));
        let rest = move || page.get().map_or((), Page::refresh_idle);
        let act = move |action| page.get().map_or((), |page| page.dispatch(action));
        let on_sql = move |event| page.get().map_or((), |page| queries::on_event(page.app, event));
        let frame = Frame::new(window.clone(), show, rest);
        let client = Client::new(window.clone(), receive, move |cause| act(Action::LaterCodeFailed(cause)));
        let app: &App = Box::leak(Box::new(App {
            original_page,
            state: RefCell::new(State::new(files::page_scheme(&dom))),
            client: client.clone(),
            simulator: Simulator::new(window.clone(), act),
            surveyor: Surveyor::new(window.clone(), act),
            yaml: YamlParser::new(window.clone(), act),
            sql: SqlWorker::new(window.clone(), client, on_sql),
            files: GivenFiles::default(),
            recent: Recent::default(),
            cache: CacheState::default(),
            painter: RefCell::new(painter),
            theme,
            sizes: Sizes::default(),
            busy: Busy::new(dom.document.body().map(Into::into), frame.clone()),
            frame,
            dispatch: Box::new(act),
            dom,
        }));
        app.client.start();
        let panels = RefCell::new(Panels::start(app)?);
        let (address, clipboard) = (Rc::<Address>::default(), Rc::default());
        let origins = links.iter().flatten().map(|link| link.origin.clone()).collect();
        address.listen(app, origins);
        size_fields::listen_to_all(&app.dom);
        page.get_or_init(|| Page { app, panels, address, clipboard, pictured_load: Cell::default() });
        theme::watch(&app.dom, &app.theme, &app.frame);
        settings::load(app);
        rules::load(app);
        queries::load_history(app);
        device::select_renderer(app);
        installed::start(app);
        match links {
            Ok(_) => app.dispatch(Action::LinkGiven(Box::new(link))),
            Err(cause) => app.dispatch(Action::LoadFailed(cause)),
        }
        files::take_early_drops(app);
        app.frame.request();
        Ok(())
    }

    /// Applies an action to the state and performs the resulting effects.
    fn dispatch(&self, action: Action) {
        let now_ms = self.app.dom.window.performance().map_or(0.0, |clock| clock.now());
        self.app.busy.set_idle(false);
        let effects = ui::update(&mut self.app.state.borrow_mut(), action, now_ms);
        for effect in effects {
            self.perform(effect);
        }
        if let Some(sender) = self.app.files.sender() {
            sender.report_stage(&self.app.state.borrow().stage);
        }
        self.app.frame.request();
        self.address.schedule_update(self.app);
    }

    /// Handles a message from the worker, or the cause of its crash.
    fn on_message(&self, message: Result<FromWorker, String>) {
        let message = match message {
            Ok(message) => message,
            Err(cause) => return self.dispatch(Action::WorkerStopped(cause)),
        };
        match message {
            // Handled by the client.
            FromWorker::Read | FromWorker::Columns(_) => {}
            FromWorker::Idle(_) => self.refresh_idle(),
            FromWorker::Reply { load, reply: Reply::Answer { serial, answer: Answer::Recording(bytes) } } => {
                self.app.simulator.on_recording(load, serial, &bytes);
            }
            FromWorker::Reply { reply: Reply::Answer { serial, answer: Answer::PlannedSizes(bytes) }, .. } => {
                self.app.simulator.on_planned_sizes(serial, bytes);
            }
            FromWorker::Reply { load, reply: Reply::Failed { .. } }
                if file_cache::retry_without_cache(self.app, load) => {}
            FromWorker::Reply { load, reply } => {
                let is_picture = matches!(reply, Reply::Answer { answer: Answer::Scene(_), .. });
                let mut is_recent = false;
                if matches!(reply, Reply::Opened(_)) && self.app.state.borrow().load == load {
                    self.app.files.mark_open();
                    is_recent = panels::recent::remember(self.app);
                    self.app.client.on_opened();
                    self.app.simulator.stop();
                }
                self.dispatch(Action::Replied { load, reply });
                // The first picture is drawn while the browser waits for the next frame.
                if is_picture && self.pictured_load.replace(load) != load {
                    timeline::draw(self.app, &self.app.state.borrow());
                }
                if is_recent {
                    panels::recent::store_facts(self.app);
                }
            }
            FromWorker::LinkInterrupted { load, at } => self.dispatch(Action::LinkInterrupted { load, at }),
            FromWorker::LinkFailed { load, status } => self.dispatch(Action::LinkFailed { load, status }),
            FromWorker::Versioned { load, version } => {
                self.dispatch(Action::feature(WatchAction::Loaded { load, version }));
            }
            FromWorker::Fingerprinted { load, print } => {
                let is_answered = self.app.cache.is_cached(load);
                let Some(print) = self.app.cache.fingerprint(load, print) else { return };
                self.dispatch(Action::Fingerprinted { load, print: print.clone() });
                if !is_answered {
                    file_cache::cache_file(self.app, load, print);
                }
            }
        }
    }

    /// Updates `body[data-idle]`. Called when no frame is scheduled, and when the worker has handled all messages.
    fn refresh_idle(&self) {
        let app = self.app;
        if app.busy.is_quiet()
            && app.client.is_idle()
            && let Some(request) = app.simulator.request_recording()
        {
            app.client.send(&ToWorker::Ask(request));
        }
        let state = app.state.borrow();
        let is_simulating = state.what_if.is_running() || state.insights.is_simulating();
        let is_asking = is_simulating || state.ranks.is_running() || state.queries.is_busy;
        let waits = matches!(state.stage, Stage::Loading(_)) || is_asking;
        app.busy.set_idle(!waits && app.busy.is_quiet() && app.client.is_idle());
    }

    /// Renders the state. Called once per animation frame, if something has changed or is unfinished.
    fn render(&self, changed: bool) {
        if self.app.state.borrow().live.holds_screen(changes::now(self.app)) {
            return;
        }
        let was_in_views = views::has_focus(&self.app.dom);
        self.panels.borrow_mut().render_slice(self.app, changed);
        if was_in_views {
            views::keep_focus(&self.app.dom, self.app.state.borrow().views.visible());
        }
    }
}
