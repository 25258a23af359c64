//! Pointer, scrolling and keys in the table and the histograms → actions.

use super::App;
use super::dom::{self, listen};
use gloo::events::EventListener;
use std::rc::Rc;
use ui::events::EventsAction;
use ui::histograms::{Histogram, Reach};
use ui::memory::MemoryAction;
use ui::rows::Extent;
use ui::rows::RowsStep;
use ui::table::TableAction;
use ui::table::{COLUMNS, Dropped};
use ui::views::Tab;
use ui::{Action, Command};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, Event, EventTarget, HtmlElement, KeyboardEvent, MouseEvent, ResizeObserver};

/// CSS pixels of the header, which covers the top of the grid.
const HEAD_PX: f64 = 24.0;

/// Listens to the table and the histograms.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let mut listeners = Vec::new();
    let mut on = |target: &EventTarget, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listeners.push(listen(target, event, move |event| then(&app, event)));
    };
    on(&elements.table_grid, "scroll", |app, _| tell_scroll(app, Tab::Table));
    on(&elements.events_grid, "scroll", |app, _| tell_scroll(app, Tab::Events));
    on(&elements.memory_scroll, "scroll", |app, _| tell_scroll(app, Tab::Memory));
    on(&elements.table_rows, "click", |app, event| {
        if let Some((row, extent)) = row(event) {
            app.dispatch(Action::of(TableAction::RowClicked(row, extent)));
        }
    });
    on(&elements.table_head, "click", |app, event| {
        let place = number(event, "data-column").and_then(|place| COLUMNS.get(place as usize));
        if let Some((column, ..)) = place {
            app.dispatch(Action::of(TableAction::SortChosen(*column)));
        }
    });
    on(&elements.table_filter, "input", |app, _| {
        app.dispatch(Action::of(TableAction::FilterTyped(app.elements.table_filter.value())));
    });
    on(&elements.table_filter, "keydown", |app, event| leave_field(&app.elements.table_grid, event));
    for (chip, dropped) in [
        (&elements.chip_node, Dropped::Node),
        (&elements.chip_sizes, Dropped::Sizes),
        (&elements.chip_lives, Dropped::Lives),
    ] {
        let app = app.clone();
        listeners.push(listen(chip, "click", move |_| app.dispatch(Action::of(TableAction::FilterDropped(dropped)))));
    }
    for (bars, of) in [(&elements.size_bars, Histogram::Sizes), (&elements.life_bars, Histogram::Lives)] {
        let (clicked, walked) = (app.clone(), bars.clone());
        listeners.push(listen(bars, "click", move |event| {
            let shift = event.dyn_ref::<MouseEvent>().is_some_and(MouseEvent::shift_key);
            if let Some(class) = number(event, "data-class") {
                clicked.dispatch(Action::of(TableAction::BarClicked(
                    of,
                    class as u8,
                    if shift { Reach::Through } else { Reach::One },
                )));
            }
        }));
        listeners.push(listen(bars, "keydown", move |event| walk(&walked, event)));
        let top = if of == Histogram::Sizes { &elements.size_top } else { &elements.life_top };
        for event in ["pointerover", "focusin", "pointerleave", "focusout"] {
            let top = top.clone();
            listeners.push(listen(bars, event, move |event| tell_bar(&top, event)));
        }
    }
    let clearing = app.clone();
    listeners.push(listen(&elements.table_empty_clear, "click", move |_| {
        clearing.dispatch(Action::Command(Command::Rows(RowsStep::Clear)));
    }));
    listeners
}

/// Tells the state how much of the lists is seen, now and whenever that changes.
pub(super) fn watch_sizes(app: &Rc<App>) -> Result<(), String> {
    let changed = Closure::<dyn FnMut()>::new({
        let app = app.clone();
        move || {
            for of in [Tab::Table, Tab::Events, Tab::Memory] {
                tell_scroll(&app, of);
            }
        }
    });
    let observer = ResizeObserver::new(changed.as_ref().unchecked_ref()).map_err(|error| dom::cause(&error))?;
    for element in [&app.elements.table_grid, &app.elements.events_grid, &app.elements.memory_scroll] {
        observer.observe(element);
    }
    // It observes as long as the page lives.
    changed.forget();
    Ok(())
}

fn tell_scroll(app: &Rc<App>, of: Tab) {
    let elements = &app.elements;
    let (scrolled, head) = match of {
        Tab::Memory => (&elements.memory_scroll, 0.0),
        Tab::Events => (&elements.events_grid, HEAD_PX),
        _ => (&elements.table_grid, HEAD_PX),
    };
    let (top, height) = (f64::from(scrolled.scroll_top()), f64::from(scrolled.client_height()) - head);
    // What is hidden has no height, and loses its place for a while.
    if height > 0.0 {
        app.dispatch(match of {
            Tab::Memory => Action::of(MemoryAction::Scrolled(top, height)),
            Tab::Events => Action::of(EventsAction::Scrolled(top, height)),
            _ => Action::of(TableAction::Scrolled(top, height)),
        });
    }
}

/// The field of the filter that is seen gets the focus.
pub(super) fn focus_filter(app: &App) {
    let is_events = app.state.borrow().views.tab == Tab::Events;
    // It fails only for an element that is gone.
    let _ = if is_events { &app.elements.events_filter } else { &app.elements.table_filter }.focus();
}

/// The number that what is under the pointer has as this attribute.
fn number(event: &Event, attribute: &str) -> Option<u32> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    let selector = ["[", attribute, "]"].concat();
    target.closest(&selector).ok()??.get_attribute(attribute)?.parse().ok()
}

/// The row that was clicked, and what becomes of those chosen before.
pub(super) fn row(event: &Event) -> Option<(u32, Extent)> {
    let row = number(event, "data-row")?;
    let event = event.dyn_ref::<MouseEvent>()?;
    let extent = match (event.shift_key(), event.ctrl_key() || event.meta_key()) {
        (true, _) => Extent::Through,
        (_, true) => Extent::Toggle,
        _ => Extent::One,
    };
    Some((row, extent))
}

/// From a field to what it is about.
pub(super) fn leave_field(to: &HtmlElement, event: &Event) {
    let key = event.dyn_ref::<KeyboardEvent>().filter(|event| !event.is_composing()).map(KeyboardEvent::key);
    if matches!(key.as_deref(), Some("Enter" | "Escape" | "ArrowDown")) {
        event.prevent_default();
        event.stop_propagation();
        // It fails only for an element that is gone.
        let _ = to.focus();
    }
}

/// Tells what the bar is that is pointed at or has the focus; else how high the highest is.
fn tell_bar(top: &HtmlElement, event: &Event) {
    let button = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let button = button.and_then(|target| target.closest("button").ok().flatten());
    let told = button.filter(|_| matches!(event.type_().as_str(), "pointerover" | "focusin"));
    let told = told.and_then(|button| button.get_attribute("aria-label")).or_else(|| top.get_attribute("data-top"));
    dom::set_text(top, &told.unwrap_or_default());
}

/// Arrows go from bar to bar.
fn walk(bars: &HtmlElement, event: &Event) {
    let Some(key) = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key) else { return };
    let focus = bars.owner_document().and_then(|document| document.active_element());
    let next = match (key.as_str(), focus) {
        ("ArrowLeft", Some(focus)) => focus.previous_element_sibling(),
        ("ArrowRight", Some(focus)) => focus.next_element_sibling(),
        ("Home", _) => bars.first_element_child(),
        ("End", _) => bars.last_element_child(),
        _ => return,
    };
    event.prevent_default();
    event.stop_propagation();
    if let Some(next) = next.and_then(|next| next.dyn_into::<HtmlElement>().ok()) {
        let _ = next.focus();
    }
}
