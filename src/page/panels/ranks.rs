//! The line above the insight of many ranks: how far their survey is, and what stops it.

use crate::app::{App, On, Part, Shown};
use crate::dom::set_text;
use crate::elements::elements;
use crate::surveyor::MEMORY;
use base::units::Bytes;
use engine::protocol::Topic;
use ui::ranks::{RanksAction, Survey};
use ui::tab::Tab;
use ui::{Action, State};

elements! {
    HtmlButtonElement: ranks_toggle;
    HtmlElement: ranks, ranks_status;
}

#[derive(Default)]
pub(super) struct Panel {
    shown: Shown<(bool, Survey, String)>,
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Why);

    fn listen(elements: &Elements, on: On<'_, Elements>) {
        on(&elements.ranks_toggle, "click", |app, _, _| app.dispatch(Action::Ranks(RanksAction::Toggled)));
    }

    fn show(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let ranks = &state.ranks;
        let status = ranks.status();
        let is_seen = state.why.topic == Topic::Ranks && !status.is_empty();
        let Some((is_seen, stage, status)) = self.shown.changed((is_seen, ranks.stage.clone(), status)) else { return };
        elements.ranks.set_hidden(!is_seen);
        let is_running = *stage == Survey::Running;
        let memory = [" Tables of at most ", &Bytes(MEMORY as u64).to_string(), " in memory."].concat();
        set_text(&elements.ranks_status, &[status.as_str(), if is_running { &memory } else { "" }].concat());
        set_text(&elements.ranks_toggle, if is_running { "Cancel" } else { "Resume" });
        elements.ranks_toggle.set_hidden(!matches!(stage, Survey::Running | Survey::Cancelled));
    }
}
