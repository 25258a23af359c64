//! The page's shell: DOM ↔ ui, canvas ↔ render, worker ↔ engine.
//!
//! Events become actions, `ui::update` decides, its effects are carried out here, and one animation frame later panels and
//! canvas show the new state. There are no decisions in this module.

#![cfg(target_arch = "wasm32")]

mod address;
mod axis;
mod client;
mod clipboard;
mod device;
mod dom;
mod embedded;
mod events;
mod export;
mod files;
mod find;
mod flame;
mod folders;
mod frame;
mod gestures;
mod html;
mod input;
mod labels;
mod memory;
mod minimap;
mod outlines;
mod overlay;
mod painter;
mod panels;
mod pen;
mod plots;
mod policy;
mod rules;
mod settings;
mod sources;
mod table;
mod theme;
mod tree;
mod views;
mod why;
// Requests and replies ↔ messages between page and worker.
mod wire;
// The worker's shell: message queue ↔ engine.
pub mod worker;

use crate::wire::{FromWorker, ToWorker};
use address::Address;
use client::Client;
use dom::Elements;
use files::Files;
use frame::Frame;
use gloo::events::EventListener;
use minimap::Minimap;
use overlay::Layer;
use painter::Painter;
use panels::Panels;
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use theme::Theme;
use ui::effect::Origin;
use ui::shared::Shared;
use ui::{self, Action, Effect, State};
use web_sys::Window;

/// The page: everything that lives as long as it does.
struct App {
    elements: Elements,
    /// The document as it came, where it is the page in one file.
    delivered: Option<web_sys::Element>,
    state: RefCell<State>,
    client: Rc<Client>,
    files: Files,
    clipboard: clipboard::Clipboard,
    address: Address,
    painter: RefCell<Painter>,
    flame: RefCell<flame::Graph>,
    memory: RefCell<memory::Bars>,
    panels: RefCell<Panels>,
    minimap: RefCell<Minimap>,
    overlay: RefCell<Layer>,
    theme: RefCell<Theme>,
    frame: Frame,
    listeners: RefCell<Vec<EventListener>>,
}

/// Brings the page to life. A page that can't is one that says why, where the reader looks.
pub fn start(window: Window) {
    let document = window.document();
    std::panic::set_hook(Box::new(move |panic| {
        console_error_panic_hook::hook(panic);
        if let Some(document) = &document {
            show_failure(document, "The page met a bug and stopped: reload it. The browser's console says more.");
        }
    }));
    if let Err(cause) = App::start(window.clone())
        && let Some(document) = window.document()
    {
        show_failure(&document, &format!("The page could not start: {cause}."));
    }
}

fn show_failure(document: &web_sys::Document, text: &str) {
    if let Ok(error) = dom::by_id::<web_sys::HtmlElement>(document, "error") {
        error.set_hidden(false);
        dom::set_text(&error, text);
    }
    if let Some(body) = document.body() {
        dom::set_attribute(&body, "data-state", "error");
    }
}

impl App {
    fn start(window: Window) -> Result<(), String> {
        let elements = Elements::find(window.clone())?;
        let delivered = html::delivered(&elements);
        let link = address::link(&elements);
        let links = address::fetched(&elements, &link);
        // From here on only our own server and those of the links can be reached, by the page and by the worker made below.
        let origins: Vec<&str> = links.iter().flatten().map(|link| link.origin.as_str()).collect();
        policy::tighten(&elements, &origins)?;
        let app = Rc::new_cyclic(|this: &Weak<App>| {
            let client = Client::new(window.clone(), {
                let this = this.clone();
                move |message| {
                    if let Some(app) = this.upgrade() {
                        app.hear(message);
                    }
                }
            });
            let shared = Shared { came: files::came(&elements), ..Shared::default() };
            App {
                delivered,
                state: RefCell::new(State { shared, ..State::default() }),
                client,
                files: Files::default(),
                clipboard: clipboard::Clipboard::default(),
                address: Address::default(),
                painter: RefCell::new(Painter::default()),
                flame: RefCell::default(),
                memory: RefCell::default(),
                panels: RefCell::new(Panels::default()),
                minimap: RefCell::new(Minimap::default()),
                overlay: RefCell::default(),
                theme: RefCell::new(Theme::of(&elements)),
                frame: Frame::default(),
                listeners: RefCell::new(Vec::new()),
                elements,
            }
        });
        panels::prepare(&app.elements);
        labels::prepare(&app.elements, &app.theme.borrow());
        app.client.start();
        let mut listeners = input::listeners(&app);
        listeners.extend(files::listeners(&app));
        listeners.extend(address::listeners(&app));
        listeners.extend(theme::listeners(&app));
        app.listeners.replace(listeners);
        device::watch_sizes(&app)?;
        tree::watch_size(&app)?;
        settings::load(&app);
        rules::load(&app);
        table::watch_sizes(&app)?;
        device::choose(&app);
        match links {
            Ok(_) => app.dispatch(Action::LinkGiven(Box::new(link))),
            Err(cause) => app.dispatch(Action::LoadFailed(cause)),
        }
        app.frame.request(&app);
        // The page has no end but the tab's.
        std::mem::forget(app);
        Ok(())
    }

    /// Takes an action into the state and carries out what follows.
    fn dispatch(self: &Rc<Self>, action: Action) {
        let now_ms = self.elements.window.performance().map_or(0.0, |clock| clock.now());
        let effects = ui::update(&mut self.state.borrow_mut(), action, now_ms);
        for effect in effects {
            self.perform(effect);
        }
        self.frame.request(self);
        address::changed(self);
    }

    fn perform(self: &Rc<Self>, effect: Effect) {
        match effect {
            Effect::PickFile => self.elements.file.click(),
            Effect::Load { origin: Origin::File(place), member, load } => {
                if let Some(file) = self.files.at(place) {
                    self.client.send(ToWorker::File { load, member, file });
                }
            }
            Effect::Load { origin: Origin::Link(url), member, load } => {
                match (embedded::file(&self.elements, &url), address::absolute(&self.elements, &url)) {
                    (Some(file), _) => self.client.send(ToWorker::File { load, member, file }),
                    (None, Ok(link)) => files::fetch(self, link, member, load),
                    (None, Err(cause)) => self.dispatch(Action::LoadFailed(cause)),
                }
            }
            Effect::Ask(request) => self.client.send(ToWorker::Ask(request)),
            Effect::Upload { device_place, scene } => self.painter.borrow_mut().upload(device_place, &scene),
            Effect::Store(text) => settings::store(self, settings::KEY, &text),
            Effect::StoreRules(text) => settings::store(self, rules::KEY, &text),
            Effect::Save(name, text) => rules::save(self, name, &text),
            Effect::FollowSource => tree::follow(self),
            Effect::FocusFind => find::focus(self),
            Effect::ReadText(place, name) => sources::read(self, place, name),
            Effect::FocusFilter => table::focus_filter(self),
            // It fails only for an element that is gone.
            Effect::FocusRequest => drop(self.elements.memory_request.focus()),
            Effect::FocusMoment => axis::focus(self),
            Effect::FocusView => views::focus(self),
            Effect::ChangeFocus => views::change_focus(self),
            Effect::Copy(text) => clipboard::copy(self, &text),
            Effect::PromiseCopy => clipboard::promise(self),
            Effect::CopyPromised(text) => clipboard::copy_promised(self, &text),
            Effect::CopyLink(fragment) => address::copy(self, &fragment),
            Effect::Export(picture) => export::save(self, picture),
            Effect::SaveHtml(wanted) => html::save(self, wanted),
            // It fails only for an element that is gone.
            Effect::FocusCapacity => drop(self.elements.capacity.focus()),
            Effect::ReplaceWorker => self.client.end(),
        }
    }

    /// Hears the worker.
    fn hear(self: &Rc<Self>, message: FromWorker) {
        match message {
            // The client hears them itself.
            FromWorker::Ready | FromWorker::Read(..) | FromWorker::Columns(_) => {}
            FromWorker::Reply { load, reply } => self.dispatch(Action::Replied { load, reply }),
            FromWorker::LinkBroke { load, at } => self.dispatch(Action::LinkBroke { load, at }),
            FromWorker::LinkFailed { load, status } => self.dispatch(Action::LinkFailed { load, status }),
            FromWorker::Fingerprinted { load, print } => self.dispatch(Action::Fingerprinted { load, print }),
            FromWorker::Died(cause) => self.dispatch(Action::WorkerDied(cause)),
        }
    }

    /// Shows the state: called once an animation frame, and only after something changed.
    fn show(self: &Rc<Self>) {
        let state = self.state.borrow();
        let was_in_views = views::has_focus(self);
        self.panels.borrow_mut().show(&self.elements, &state, &self.theme.borrow());
        if was_in_views {
            views::keep_focus(self);
        }
        self.minimap.borrow_mut().show(&self.elements, &state, &self.theme.borrow());
        self.overlay.borrow_mut().show(&self.elements, &state, &self.theme.borrow());
        let mut painter = self.painter.borrow_mut();
        let mut failed = painter.show(&self.elements, &state, &self.theme.borrow());
        failed |= self.flame.borrow_mut().show(&self.elements, &state, &self.theme.borrow(), &mut painter);
        drop(painter);
        self.memory.borrow_mut().show(&self.elements, &state, &self.theme.borrow());
        drop(state);
        if failed {
            device::choose(self);
        }
    }
}
