//! State shared by all parts of the page, and the trait that each part implements.

use crate::busy::Busy;
use crate::cache_state::CacheState;
use crate::client::Client;
use crate::dom::{self, Dom};
use crate::elements::Find;
use crate::frame::Frame;
use crate::given_files::GivenFiles;
use crate::painter::Painter;
use crate::recent::Recent;
use crate::simulator::Simulator;
use crate::sizes::Sizes;
use crate::sql_worker::SqlWorker;
use crate::surveyor::Surveyor;
use crate::theme::Theme;
use crate::yaml::YamlParser;
use std::cell::RefCell;
use std::rc::Rc;
use ui::features::State;
use ui::shell::action::Action;
use ui::text::tab::Tab;
use web_sys::{Element, Event, EventTarget, HtmlInputElement, HtmlSelectElement};

/// State that all parts of the page share. Lives as long as the page.
pub(super) struct App {
    pub(super) dom: Dom,
    /// Root element of the page as delivered by the server. `None` unless the page is a single file.
    pub(super) original_page: Option<Element>,
    pub(super) state: RefCell<State>,
    pub(super) client: Rc<Client>,
    pub(super) simulator: Rc<Simulator>,
    pub(super) surveyor: Rc<Surveyor>,
    pub(super) yaml: Rc<YamlParser>,
    pub(super) sql: Rc<SqlWorker>,
    pub(super) files: GivenFiles,
    pub(super) recent: Recent,
    pub(super) cache: CacheState,
    pub(super) painter: RefCell<Painter>,
    pub(super) theme: Rc<RefCell<Theme>>,
    /// Sizes of the canvases, in CSS pixels.
    pub(super) sizes: Sizes,
    pub(super) frame: Rc<Frame>,
    pub(super) busy: Busy,
    /// Applies an action to the state and performs the resulting effects.
    pub(super) dispatch: Box<dyn Fn(Action)>,
}

impl App {
    /// Applies an action to the state and performs the resulting effects.
    pub(super) fn dispatch(&self, action: Action) {
        (self.dispatch)(action);
    }

    /// Dispatches the action that `action` returns for an event. Not generic, so that it is compiled once.
    fn dispatch_on(&'static self, target: &EventTarget, event: &'static str, action: EventToAction) {
        dom::listen(target, event, move |event| {
            if let Some(action) = action(event) {
                self.dispatch(action);
            }
        });
    }
}

/// Function that returns the action to dispatch for an event, if any.
type EventToAction = Box<dyn Fn(&Event) -> Option<Action>>;

/// Registers event listeners of a [`Part`] on its elements.
pub(super) struct Listeners<E: 'static> {
    app: &'static App,
    elements: &'static E,
}

impl<E> Listeners<E> {
    /// Calls `then` for each event.
    pub(super) fn event(&self, target: &EventTarget, event: &'static str, then: fn(&'static App, &'static E, &Event)) {
        let Listeners { app, elements } = *self;
        dom::listen(target, event, move |event| then(app, elements, event));
    }

    /// Dispatches the action that `action` returns for an event.
    pub(super) fn action(
        &self,
        target: &EventTarget,
        event: &'static str,
        action: fn(&'static App, &'static E, &Event) -> Option<Action>,
    ) {
        let Listeners { app, elements } = *self;
        app.dispatch_on(target, event, Box::new(move |event| action(app, elements, event)));
    }

    /// Dispatches the action that `action` returns for a click.
    pub(super) fn click(&self, target: &EventTarget, action: fn(&Event) -> Option<Action>) {
        self.app.dispatch_on(target, "click", Box::new(action));
    }

    /// Dispatches the action that `action` returns for the index of the chosen option.
    pub(super) fn choice(&self, select: &HtmlSelectElement, action: fn(usize) -> Option<Action>) {
        let chosen = select.clone();
        let action = move |_: &Event| usize::try_from(chosen.selected_index()).ok().and_then(action);
        self.app.dispatch_on(select, "change", Box::new(action));
    }

    /// Dispatches the action that `action` returns for the text of a field.
    pub(super) fn text(&self, field: &HtmlInputElement, event: &'static str, action: fn(String) -> Action) {
        let typed = field.clone();
        self.app.dispatch_on(field, event, Box::new(move |_| Some(action(typed.value()))));
    }
}

/// Part of the page: a panel, a canvas, or a set of event listeners. [`panels`] lists all parts.
pub(super) trait Part: Default + 'static {
    /// Elements of `index.html` that the part uses.
    type Elements: Find;

    /// Tab that contains the part, which is updated only while this tab is visible. `None` if it is always updated.
    const TAB: Option<Tab> = None;

    /// Creates elements that are not in `index.html` and sets up observers.
    ///
    /// # Errors
    /// Returns an error message if the browser lacks a feature that the part needs.
    fn start(_app: &'static App, _elements: &'static Self::Elements) -> Result<(), String> {
        Ok(())
    }

    /// Registers listeners for events of the part's elements.
    fn listen(_elements: &Self::Elements, _on: &Listeners<Self::Elements>) {}

    /// Updates the elements to match the state. Called once per frame. Changes only elements that differ.
    fn show_details(&mut self, _app: &'static App, _elements: &Self::Elements, _state: &State) {}
}

/// Function that initializes a part and returns its render function.
pub(super) type StartPart = fn(&'static App) -> Result<RenderPart, String>;

/// Function that renders the state. See [`Part::show_details`].
pub(super) type RenderPart = Box<dyn FnMut(&'static App, &State)>;

/// Initializes a part and returns its render function.
pub(super) fn start_part<P: Part>(app: &'static App) -> Result<RenderPart, String> {
    // The elements live as long as the page.
    let elements: &'static P::Elements = Box::leak(Box::new(P::Elements::find(&app.dom)?));
    P::start(app, elements)?;
    P::listen(elements, &Listeners { app, elements });
    let mut part = P::default();
    Ok(Box::new(move |app, state| {
        if P::TAB.is_none() || P::TAB == state.views.visible() {
            part.show_details(app, elements, state);
        }
    }))
}

/// View model that was rendered last. An unchanged view model is not rendered again.
pub(super) struct LastShown<T>(pub(super) Option<T>);

impl<T> Default for LastShown<T> {
    fn default() -> Self {
        LastShown(None)
    }
}

impl<T: PartialEq> LastShown<T> {
    /// Stores the new view model. Returns a reference to it if it differs from the previous one.
    pub(super) fn update(&mut self, new: T) -> Option<&T> {
        if self.0.as_ref() == Some(&new) {
            return None;
        }
        Some(self.0.insert(new))
    }
}
