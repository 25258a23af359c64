//! What every part of the page has at hand: the state, the theme, what draws, the worker, and a way to act; and what a part is.

use crate::answered::Keeping;
use crate::busy::Busy;
use crate::client::Client;
use crate::dom::{self, Dom};
use crate::elements::Find;
use crate::frame::Frame;
use crate::given::Files;
use crate::painter::Painter;
use crate::recent::Recent;
use crate::simulator::Simulator;
use crate::sizes::Sizes;
use crate::surveyor::Surveyor;
use crate::theme::Theme;
use crate::yaml::Yaml;
use std::cell::RefCell;
use std::rc::Rc;
use ui::tab::Tab;
use ui::{Action, State};
use web_sys::{Element, Event, EventTarget};

/// What all parts of the page share. It lives as long as the page does.
pub(super) struct App {
    pub(super) dom: Dom,
    /// The document as it came, where it is the page in one file.
    pub(super) delivered: Option<Element>,
    pub(super) state: RefCell<State>,
    pub(super) client: Rc<Client>,
    pub(super) simulator: Rc<Simulator>,
    pub(super) surveyor: Rc<Surveyor>,
    pub(super) yaml: Rc<Yaml>,
    pub(super) files: Files,
    pub(super) recent: Recent,
    pub(super) keeping: Keeping,
    pub(super) painter: RefCell<Painter>,
    pub(super) theme: Rc<RefCell<Theme>>,
    /// Sizes of what is drawn on.
    pub(super) sizes: Sizes,
    pub(super) frame: Rc<Frame>,
    pub(super) busy: Busy,
    /// Takes an action into the state and carries out what follows.
    pub(super) acts: Box<dyn Fn(Action)>,
}

impl App {
    /// Takes an action into the state and carries out what follows.
    pub(super) fn dispatch(&self, action: Action) {
        (self.acts)(action);
    }
}

/// Listens to an event of an element: `on(&elements.close, "click", |app, elements, event| …)`.
pub(super) type On<'a, E> = &'a dyn Fn(&EventTarget, &'static str, Then<E>);

/// What is done about an event.
pub(super) type Then<E> = fn(&'static App, &'static E, &Event);

/// A part of the page: a panel, a canvas, or what only listens. It stands in one list ([`crate::panels`]).
pub(super) trait Part: Default + 'static {
    /// The elements it works on.
    type Elements: Find;

    /// The tab that it is seen in: while another is, it rests. Without one it is always shown.
    const TAB: Option<Tab> = None;

    /// Begins: makes what `index.html` has not, and listens to what is more than an event of an element.
    ///
    /// # Errors
    /// The browser lacks what it needs: one sentence.
    fn start(_app: &'static App, _elements: &'static Self::Elements) -> Result<(), String> {
        Ok(())
    }

    /// Listens to events of its elements.
    fn listen(_elements: &Self::Elements, _on: On<'_, Self::Elements>) {}

    /// Shows the state, once a frame: touches only what changed.
    fn show(&mut self, _app: &'static App, _elements: &Self::Elements, _state: &State) {}
}

/// Brings a part to life.
pub(super) type Begin = fn(&'static App) -> Result<Show, String>;

/// Shows the state.
pub(super) type Show = Box<dyn FnMut(&'static App, &State)>;

/// Brings a part to life; what shows it from then on.
pub(super) fn begin<P: Part>(app: &'static App) -> Result<Show, String> {
    // They live as long as the page.
    let elements: &'static P::Elements = Box::leak(Box::new(P::Elements::find(&app.dom)?));
    P::start(app, elements)?;
    P::listen(elements, &|target, event, then| {
        dom::listen(target, event, move |event| then(app, elements, event));
    });
    let mut part = P::default();
    Ok(Box::new(move |app, state| {
        if P::TAB.is_none() || P::TAB == state.views.seen() {
            part.show(app, elements, state);
        }
    }))
}

/// A view model as it was shown last.
pub(super) struct Shown<T>(pub(super) Option<T>);

impl<T> Default for Shown<T> {
    fn default() -> Self {
        Shown(None)
    }
}

impl<T: PartialEq> Shown<T> {
    /// The new view model, when it is another than the one before.
    pub(super) fn changed(&mut self, new: T) -> Option<&T> {
        if self.0.as_ref() == Some(&new) {
            return None;
        }
        Some(self.0.insert(new))
    }
}
