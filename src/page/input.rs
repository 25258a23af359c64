//! Events of mouse, keyboard and controls → actions.

use super::App;
use super::dom::{self, listen};
use engine::protocol::Grouping;
use gloo::events::EventListener;
use std::rc::Rc;
use ui::binding::{Scope, chord};
use ui::drag::Held;
use ui::effect::{Pointer, WheelAxis};
use ui::export::Dialog;
use ui::export::ExportAction;
use ui::export::ExportStep;
use ui::keys::{BINDINGS, command};
use ui::settings;
use ui::stage::Help;
use ui::state::FeatureCommand;
use ui::{Action, Command};
use wasm_bindgen::JsCast;
use web_sys::{
    Element, Event, HtmlButtonElement, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement, KeyboardEvent,
    MouseEvent, WheelEvent,
};

/// CSS pixels to a line of a wheel that counts in lines, and to a page.
const LINE_PX: f64 = 32.0;
const PAGE_PX: f64 = 400.0;

/// Everything a person does with controls, keys and pointer.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let mut listeners = Vec::new();
    let mut on = |target: &web_sys::EventTarget, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listeners.push(listen(target, event, move |event| then(&app, event)));
    };
    on(&elements.window, "keydown", key);
    on(&elements.open_large, "click", |app, _| app.dispatch(Action::Command(Command::OpenFile)));
    on(&elements.help_close, "click", |app, _| app.dispatch(Action::HelpClosed));
    on(&elements.help, "close", |app, _| app.dispatch(Action::HelpClosed));
    on(&elements.export_close, "click", |app, _| app.dispatch(Action::of(ExportAction::Closed)));
    on(&elements.export, "close", |app, _| app.dispatch(Action::of(ExportAction::Closed)));
    on(&elements.letters, "change", |app, _| app.dispatch(Action::Command(Command::ToggleLetters)));
    on(&elements.device, "change", |app, _| {
        if let Ok(ordinal) = app.elements.device.value().parse() {
            app.dispatch(Action::DeviceChosen(ordinal));
        }
    });
    on(&elements.snapshot, "change", |app, _| {
        if let Ok(place) = usize::try_from(app.elements.snapshot.selected_index()) {
            app.dispatch(Action::SnapshotChosen(place));
        }
    });
    on(&elements.stacking, "change", |app, _| {
        app.dispatch(Action::StackingChosen(Grouping::named(&app.elements.stacking.value())));
    });
    on(&elements.colouring, "change", |app, _| {
        if let Some(colouring) = Grouping::named(&app.elements.colouring.value()) {
            app.dispatch(Action::ColouringChosen(colouring));
        }
    });
    on(&elements.lane_labels, "click", |app, event| {
        if let Some(device) = clicked(event, "data-lane") {
            app.dispatch(Action::DeviceChosen(device));
        }
    });
    on(&elements.legend_entries, "click", legend);
    on(&elements.legend_entries, "dblclick", legend);
    on(&elements.plot, "wheel", wheel);
    on(&elements.plot, "contextmenu", |app, event| {
        event.prevent_default();
        if let Some(at) = event.dyn_ref::<MouseEvent>().and_then(|event| place(app, event)) {
            app.dispatch(Action::MarkerPut(at));
        }
    });
    on(&elements.markers, "click", marker);
    on(&elements.capacity, "input", |app, _| app.dispatch(Action::CapacityTyped(app.elements.capacity.value())));
    on(&elements.plot, "pointerleave", |app, _| app.dispatch(Action::PointerLeft));

    for binding in BINDINGS.iter() {
        if let Ok(button) = dom::by_id::<HtmlButtonElement>(&elements.document, binding.control) {
            let (app, command) = (app.clone(), binding.command);
            listeners.push(listen(&button, "click", move |_| app.dispatch(Action::Command(command))));
        }
    }
    listeners.extend(super::gestures::listeners(app));
    listeners.extend(super::find::listeners(app));
    listeners.extend(super::flame::listeners(app));
    listeners.extend(super::minimap::listeners(app));
    listeners.extend(super::views::listeners(app));
    listeners.extend(super::tree::listeners(app));
    listeners.extend(super::settings::listeners(app));
    listeners.extend(super::rules::listeners(app));
    listeners.extend(super::table::listeners(app));
    listeners.extend(super::events::listeners(app));
    listeners.extend(super::memory::listeners(app));
    listeners.extend(super::axis::listeners(app));
    listeners.extend(super::sources::listeners(app));
    listeners.extend(super::plots::listeners(app));
    listeners.extend(super::why::listeners(app));
    listeners
}

/// The number that the button under the pointer has as this attribute.
pub(super) fn clicked(event: &Event, attribute: &str) -> Option<i64> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    target.closest("button").ok()??.get_attribute(attribute)?.parse().ok()
}

/// A click on an entry of the legend fades it or brings it back; a double click, or its "only", fades all others.
fn legend(app: &Rc<App>, event: &Event) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let Some(button) = target.and_then(|target| target.closest("button").ok().flatten()) else { return };
    let Some(slot) = button.get_attribute("data-slot").and_then(|slot| slot.parse().ok()) else { return };
    if event.type_() == "dblclick" || button.class_name() == "only" {
        app.dispatch(Action::LegendIsolated(slot));
    } else {
        app.dispatch(Action::LegendClicked(slot));
    }
}

/// A click on a marker in the list goes there; on its cross, removes it.
fn marker(app: &Rc<App>, event: &Event) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let Some(button) = target.and_then(|target| target.closest("button").ok().flatten()) else { return };
    let Some(number) = button.get_attribute("data-marker").and_then(|number| number.parse().ok()) else { return };
    app.dispatch(if button.class_name() == "remove" {
        Action::MarkerRemoved(number)
    } else {
        Action::MarkerVisited(number)
    });
}

fn key(app: &Rc<App>, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
    if event.meta_key() || event.default_prevented() {
        return;
    }
    let Some(scope) = scope(app) else { return };
    // Firefox opens its quick find with these, and takes the focus.
    if matches!(event.key().as_str(), "'" | "/") && !event.ctrl_key() {
        event.prevent_default();
    }
    // A button that has the focus is what Enter means.
    let focus = app.elements.document.active_element();
    let presses = matches!(event.key().as_str(), "Enter" | " ");
    if presses && focus.is_some_and(|focus| focus.matches("button, a, summary").unwrap_or(false)) {
        return;
    }
    let (letters, help, export, settings, rules) = {
        let state = app.state.borrow();
        (state.letters, state.help, state.export.dialog, state.settings.dialog, state.rules.dialog)
    };
    let scope = if export == Dialog::Open { Scope::Export } else { scope };
    // What AltGr types is typed without anything held.
    let held = if event.get_modifier_state("AltGraph") { Held::default() } else { held(event) };
    let Some(command) = command(scope, &chord(&event.key(), held), letters) else { return };
    // The open dialog closes itself on Esc, and what lies under it rests.
    if help == Help::Open && !matches!(command, Command::ToggleHelp | Command::ToggleLetters) {
        return;
    }
    if export == Dialog::Open
        && !matches!(
            command,
            Command::Feature(FeatureCommand::Export(ExportStep::Toggle))
                | Command::Feature(FeatureCommand::Export(ExportStep::Save(_)))
                | Command::SaveHtml
        )
    {
        return;
    }
    if rules == settings::Dialog::Open && command != Command::ToggleRules {
        return;
    }
    if settings == settings::Dialog::Open && command != Command::ToggleSettings {
        return;
    }
    event.prevent_default();
    app.dispatch(Action::Command(command));
}

/// What is held beside a key or the pointer.
fn held(event: &KeyboardEvent) -> Held {
    Held { alt: event.alt_key(), ctrl: event.ctrl_key(), shift: event.shift_key() }
}

/// The scope of the focus; `None` where keys belong to a control that takes text or picks by letter.
fn scope(app: &App) -> Option<Scope> {
    let Some(focus) = app.elements.document.active_element() else { return Some(Scope::Timeline) };
    let types =
        focus.dyn_ref::<HtmlInputElement>().is_some_and(|input| input.type_() != "checkbox" && input.type_() != "file");
    if types || focus.has_type::<HtmlSelectElement>() || focus.has_type::<HtmlTextAreaElement>() {
        return None;
    }
    // With the focus nowhere, or on one of its own buttons, the timeline is what is meant.
    let nowhere = focus.is_same_node(Some(&app.elements.body));
    let is_in = |place: &str| focus.closest(place).ok().flatten().is_some();
    let contains = |panel: &web_sys::HtmlElement| panel.contains(Some(&focus));
    if let Some((tab, _)) = app.elements.tabs().into_iter().find(|(_, [_, panel])| contains(panel)) {
        return Some(tab.keys());
    }
    let inside = is_in("#picture");
    Some(if nowhere || inside { Scope::Timeline } else { Scope::Page })
}

/// Where a mouse event is on the canvas, in its device pixels; `None` before the canvas has a size.
pub(super) fn place(app: &App, event: &MouseEvent) -> Option<Pointer> {
    let canvas = app.state.borrow().canvas?;
    let area = app.elements.plot.get_bounding_client_rect();
    // The middle of the CSS pixel.
    let x = (f64::from(event.client_x()) + 0.5 - area.left()) * canvas.scale;
    let down = (f64::from(event.client_y()) + 0.5 - area.top()) * canvas.scale;
    Some(Pointer { x, y: f64::from(canvas.height_px) - down })
}

fn wheel(app: &Rc<App>, event: &Event) {
    let Some(event) = event.dyn_ref::<WheelEvent>() else { return };
    let Some(at) = place(app, event) else { return };
    event.prevent_default();
    // In this order: Firefox counts in pixels for whoever reads the deltas before their unit, else in lines, and zooms 1.6 times as far.
    let (sideways, upright) = (event.delta_x(), event.delta_y());
    let unit = match event.delta_mode() {
        WheelEvent::DOM_DELTA_LINE => LINE_PX,
        WheelEvent::DOM_DELTA_PAGE => PAGE_PX,
        _ => 1.0,
    };
    let (sideways, upright) = (sideways * unit, upright * unit);
    let (axis, delta) = if event.ctrl_key() {
        (WheelAxis::ZoomBytes, upright)
    } else if sideways.abs() > upright.abs() {
        (WheelAxis::MoveEvents, sideways)
    } else if event.shift_key() {
        (WheelAxis::MoveEvents, upright)
    } else {
        (WheelAxis::ZoomEvents, upright)
    };
    app.dispatch(Action::Wheel { at, delta, axis });
}
