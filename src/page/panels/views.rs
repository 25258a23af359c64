//! Frame around the views below the timeline: tabs, title, height, and the visible panel.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{Dom, focus_element, set_attribute, set_flag, set_style, set_text};
use crate::elements::elements;
use base::units::pluralize;
use ui::features::State;
use ui::features::insights::view::alarms;
use ui::features::insights::{Alarm, InsightsAction, no_alarm_text};
use ui::scope::range::title;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::views;
use ui::text::tab::{Tab, TabGroup};
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlElement, KeyboardEvent, PointerEvent};

elements! {
    HtmlButtonElement: alarm_show;
    HtmlElement: alarm, alarm_text, answer, answer_fold, answer_title, divider, insights_badge, no_alarm, tab_allocations,
        tab_stacks, tabs;
}

/// Change of the height per press of an arrow key, in percent of the window.
const HEIGHT_STEP: u32 = 3;

#[derive(Default)]
pub(super) struct Panel {
    tab: LastShown<Tab>,
    frame: LastShown<(views::PanelState, u32)>,
    title: LastShown<String>,
    alarms: LastShown<usize>,
    alarm: LastShown<(Alarm, String)>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.divider, "pointerdown", |_, elements, event| {
            if let Some(event) = event.dyn_ref::<PointerEvent>() {
                // Fails only for a pointer that is gone already.
                let _ = elements.divider.set_pointer_capture(event.pointer_id());
            }
        });
        on.event(&elements.divider, "pointermove", |app, elements, event| {
            if let Some(event) = event.dyn_ref::<PointerEvent>()
                && elements.divider.has_pointer_capture(event.pointer_id())
            {
                resize(app, elements, event);
            }
        });
        on.event(&elements.divider, "keydown", |app, _, event| {
            let height = app.state.borrow().views.shown_height();
            let height = match plain_key(event).as_deref() {
                Some("ArrowUp") => height + HEIGHT_STEP,
                Some("ArrowDown") => height.saturating_sub(HEIGHT_STEP),
                _ => return,
            };
            event.prevent_default();
            app.dispatch(Action::ViewsResized(height));
        });
        on.click(&elements.alarm_show, |_| Some(InsightsAction::AlarmClicked.into()));
        on.event(&elements.tabs, "keydown", move_focus);
        on.event(&elements.tab_stacks, "click", |app, _, _| show_group(app, TabGroup::CallStacks));
        on.event(&elements.tab_allocations, "click", |app, _, _| show_group(app, TabGroup::Allocations));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        if let Some(chosen) = self.tab.update(state.views.tab) {
            for tab in Tab::ALL {
                let Some([button, panel]) = tab_and_panel(elements, tab) else { continue };
                let is_chosen = tab == *chosen;
                panel.set_hidden(!is_chosen);
                if tab.group().toggle().is_some() {
                    set_flag(&button, "aria-pressed", is_chosen);
                }
                if is_chosen && let Some(button) = elements.by_id::<HtmlElement>(tab.group().control()) {
                    set_attribute(&button, "aria-controls", &panel.id());
                }
            }
            for group in TabGroup::ALL {
                let is_chosen = group == chosen.group();
                if let Some(button) = elements.by_id::<HtmlElement>(group.control()) {
                    set_flag(&button, "aria-selected", is_chosen);
                    set_attribute(&button, "tabindex", if is_chosen { "0" } else { "-1" });
                }
                if let Some(toggle) = group.toggle().and_then(|toggle| elements.by_id::<HtmlElement>(toggle)) {
                    toggle.set_hidden(!is_chosen);
                }
            }
        }
        if let Some((panel, height)) = self.frame.update((state.views.panel, state.views.shown_height())) {
            let is_open = *panel == views::PanelState::Open;
            elements.answer.set_class_name(if is_open { "" } else { "folded" });
            elements.divider.set_hidden(!is_open);
            set_flag(&elements.answer_fold, "aria-expanded", is_open);
            let height = height.to_string();
            set_attribute(&elements.divider, "aria-valuenow", &height);
            set_style(&elements.answer, "--answer", &height);
        }
        if let Some(alarms) = self.alarms.update(alarms(&state.insights).len()) {
            set_text(&elements.insights_badge, &alarms.to_string());
            elements.insights_badge.set_hidden(*alarms == 0);
            set_attribute(
                &elements.insights_badge,
                "title",
                &[&pluralize(*alarms as u64, "warning"), " in Insights"].concat(),
            );
        }
        if let Some((alarm, none)) = self.alarm.update((state.insights.alarm.clone(), no_alarm_text(state))) {
            elements.no_alarm.set_hidden(*alarm != Alarm::None);
            set_text(&elements.no_alarm, none);
            elements.alarm.set_hidden(!matches!(alarm, Alarm::Raised { .. }));
            if let Alarm::Raised { topic, text } = alarm {
                elements.alarm.set_class_name(topic.name());
                set_text(&elements.alarm_text, text);
                set_attribute(&elements.alarm_text, "title", text);
            }
        }
        if let Some(title) = self.title.update(title(state)) {
            set_text(&elements.answer_title, title);
            // The tooltip contains the whole title if it is truncated.
            set_attribute(&elements.answer_title, "title", title);
        }
    }
}

fn plain_key(event: &Event) -> Option<String> {
    let event = event.dyn_ref::<KeyboardEvent>()?;
    let alone = !event.alt_key() && !event.ctrl_key() && !event.meta_key() && !event.shift_key();
    alone.then(|| event.key())
}

/// Moves the upper edge of the views to the pointer.
fn resize(app: &App, elements: &Elements, event: &PointerEvent) {
    let height = elements.window.inner_height().ok().and_then(|height| height.as_f64()).unwrap_or(1.0);
    let bottom = elements.answer.get_bounding_client_rect().bottom();
    let wanted = (bottom - f64::from(event.client_y())) / height.max(1.0) * 100.0;
    app.dispatch(Action::ViewsResized(wanted.round().max(0.0) as u32));
}

/// Moves to another tab on arrow keys, Home and End.
fn move_focus(app: &'static App, elements: &'static Elements, event: &Event) {
    let now = app.state.borrow().views.tab.group();
    let place = TabGroup::ALL.iter().position(|group| *group == now).unwrap_or(0);
    let last = TabGroup::ALL.len() - 1;
    let place = match plain_key(event).as_deref() {
        Some("ArrowLeft") => place.checked_sub(1).unwrap_or(last),
        Some("ArrowRight") => (place + 1) % TabGroup::ALL.len(),
        Some("Home") => 0,
        Some("End") => last,
        _ => return,
    };
    let Some(&group) = TabGroup::ALL.get(place) else { return };
    event.prevent_default();
    show_group(app, group);
    if let Some(button) = elements.by_id::<HtmlElement>(group.control()) {
        focus_element(&button);
    }
}

/// Shows the most recently used tab of a group.
fn show_group(app: &'static App, group: TabGroup) {
    let tab = app.state.borrow().views.latest_of(group);
    app.dispatch(Action::TabChosen(tab));
}

/// Returns the tab button and the panel of a view, found by the control of the command that shows the tab. `None` if
/// the page does not contain them.
pub(crate) fn tab_and_panel(dom: &Dom, tab: Tab) -> Option<[HtmlElement; 2]> {
    let button: HtmlElement = dom.by_id(commands::show(tab).control)?;
    let panel = dom.by_id(&button.get_attribute("aria-controls")?)?;
    Some([button, panel])
}

/// Focuses the element of a view that handles keys, or the whole panel if there is none.
pub(crate) fn focus_view(dom: &Dom, tab: Tab) {
    let Some([_, panel]) = tab_and_panel(dom, tab) else { return };
    focus_element(&panel.query_selector("[tabindex=\"0\"]").ok().flatten().unwrap_or(panel.into()));
}

/// Returns whether the focus is in a view or on its tab.
pub(crate) fn has_focus(dom: &Dom) -> bool {
    dom.focused_element().is_some_and(|focus| focus.closest("#answer").ok().flatten().is_some())
}

/// Moves the focus to the view if the focused element was removed. Otherwise, the timeline would handle the next key
/// press.
pub(crate) fn keep_focus(dom: &Dom, seen: Option<Tab>) {
    let Some(now) = dom.focused_element() else { return };
    let is_off = now.is_same_node(Some(&dom.body)) || now.closest("[hidden]").ok().flatten().is_some();
    match seen {
        _ if !is_off => {}
        Some(tab) => focus_view(dom, tab),
        None => dom.focus_timeline(),
    }
}
