//! Notice about a file that changes on the server: its age, the newer version, and versions to compare with.

use crate::app::{App, LastShown, Listeners, Part};
use crate::changes;
use crate::dom::{clear, set_attribute, set_flag, set_text};
use crate::elements::elements;
use gloo::timers::callback::Interval;
use ui::features::State;
use ui::features::watch::WatchAction;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::shell::reload::{LiveView, follows, view};

elements! {
    HtmlButtonElement: live_close, live_follow, live_reload;
    HtmlElement: live, live_ago, live_compare_field, live_text;
    HtmlInputElement: live_follows;
    HtmlSelectElement: live_compare;
}

/// Interval, in milliseconds, at which the shown age is updated.
const TICK_MS: u32 = 1000;

#[derive(Default)]
pub(super) struct Panel {
    shown: LastShown<Option<LiveView>>,
    compared: LastShown<Vec<(usize, String)>>,
    follows: LastShown<Option<bool>>,
    ticking: Option<Interval>,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, _: &'static Elements) -> Result<(), String> {
        changes::watch(app);
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.live_close, |_| Some(WatchAction::Dismissed.into()));
        on.action(&elements.live_follows, "change", |_, _, _| Some(Action::Command(commands::watch::FOLLOW)));
        on.event(&elements.live_compare, "change", |app, elements, _| {
            if let Ok(place) = elements.live_compare.value().parse() {
                app.dispatch(Action::feature(WatchAction::Compared(place)));
            }
            elements.live_compare.set_value("");
        });
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        if let Some(follows) = self.follows.update(follows(state)) {
            elements.live_follow.set_hidden(follows.is_none());
            set_flag(&elements.live_follow, "aria-pressed", *follows == Some(true));
        }
        let now = view(state, changes::now(app));
        // The age changes without any action.
        if now.is_none() {
            self.ticking = None;
        } else if self.ticking.is_none() {
            self.ticking = Some(Interval::new(TICK_MS, move || {
                let waits = app.state.borrow().live.will_reload();
                if waits { app.dispatch(Action::feature(WatchAction::TimePassed)) } else { app.frame.request() }
            }));
        }
        let Some(view) = self.shown.update(now) else { return };
        elements.live.set_hidden(view.is_none());
        let Some(view) = view else { return };
        set_text(&elements.live_text, &view.text);
        set_text(&elements.live_ago, &view.ago);
        set_text(&elements.live_reload, view.button);
        elements.live_reload.set_hidden(view.button.is_empty());
        elements.live_follows.set_checked(view.follows);
        elements.live_compare_field.set_hidden(view.compared.is_empty());
        if let Some(compared) = self.compared.update(view.compared.clone()) {
            clear(&elements.live_compare);
            elements.append_new(&elements.live_compare, "option", "", "Compare with…");
            for (place, name) in compared {
                let option = elements.append_new(&elements.live_compare, "option", "", name);
                set_attribute(&option, "value", &place.to_string());
            }
            if let Some(first) = elements.live_compare.first_element_child() {
                set_attribute(&first, "value", "");
            }
        }
    }
}
