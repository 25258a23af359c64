//! Clicks, fields and keys in the view "Why".

use super::App;
use super::dom::listen;
use super::panels::why::{give_focus, topic_button};
use engine::protocol::Topic;
use gloo::events::EventListener;
use std::rc::Rc;
use ui::Action;
use ui::why::WhyAction;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, HtmlInputElement, KeyboardEvent};

/// Listens to topics and report.
pub(super) fn listeners(app: &Rc<App>) -> [EventListener; 5] {
    let elements = &app.elements;
    let on = |target: &HtmlElement, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listen(target, event, move |event| then(&app, event))
    };
    [
        on(&elements.why_topics, "click", |app, event| {
            if let Some(topic) = told(event, "data-topic").and_then(|name| Topic::named(&name)) {
                act(app, WhyAction::TopicChosen(topic));
            }
        }),
        on(&elements.why_topics, "keydown", walk),
        // Between the two, as between neighbours.
        on(&elements.why_report, "keydown", |app, event| {
            let is_item = told(event, "data-item").is_some();
            if is_item && event.dyn_ref::<KeyboardEvent>().is_some_and(|event| event.key() == "ArrowLeft") {
                event.prevent_default();
                focus_topic(app);
            }
        }),
        on(&elements.why_report, "click", |app, event| {
            let place = |attribute| told(event, attribute).and_then(|place| place.parse().ok());
            let action = (place("data-unfold").map(WhyAction::Unfolded))
                .or_else(|| place("data-more").map(WhyAction::More))
                .or_else(|| place("data-copy").map(WhyAction::Copied))
                .or_else(|| place("data-item").map(WhyAction::Picked));
            if let Some(action) = action {
                act(app, action);
            }
        }),
        on(&elements.why_report, "change", |app, event| {
            let field = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
            let sheet = told(event, "data-threshold").and_then(|place| place.parse().ok());
            if let (Some(field), Some(sheet)) = (field, sheet) {
                act(app, WhyAction::ThresholdSet(sheet, field.value()));
                // What is no whole number was not taken: what stands there is what the rows are told by.
                if !field.value().is_empty() && field.value().parse::<u64>().is_err() {
                    field.set_value(&field.default_value());
                }
            }
        }),
    ]
}

fn act(app: &Rc<App>, action: WhyAction) {
    app.dispatch(Action::of(action));
}

/// What the element under the pointer, or the nearest around it, has as this attribute.
fn told(event: &Event, attribute: &str) -> Option<String> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    target.closest(&["[", attribute, "]"].concat()).ok()??.get_attribute(attribute)
}

/// Arrows go from topic to topic; the focus stays among them.
fn walk(app: &Rc<App>, event: &Event) {
    let Some(key) = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key) else { return };
    let now = app.state.borrow().why.topic;
    let place = Topic::ALL.iter().position(|topic| *topic == now).unwrap_or(0);
    let last = Topic::ALL.len() - 1;
    let place = match key.as_str() {
        "ArrowUp" => place.checked_sub(1).unwrap_or(last),
        "ArrowDown" => (place + 1) % Topic::ALL.len(),
        "Home" => 0,
        "End" => last,
        "ArrowRight" => {
            event.prevent_default();
            return give_focus(&app.elements, "[data-item][tabindex=\"0\"]");
        }
        _ => return,
    };
    let Some(&topic) = Topic::ALL.get(place) else { return };
    event.prevent_default();
    act(app, WhyAction::TopicChosen(topic));
    focus_topic(app);
}

fn focus_topic(app: &App) {
    let topic = app.state.borrow().why.topic;
    // It fails only for an element that is gone.
    let _ = topic_button(&app.elements, topic).map(|button| button.focus());
}
