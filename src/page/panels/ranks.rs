//! Status line above the report on ranks: progress of the scan, and its controls.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::set_text;
use crate::elements::elements;
use crate::surveyor::MAX_TABLE_BYTES;
use base::units::Bytes;
use protocol::Topic;
use ui::features::State;
use ui::shell::action::Action;
use ui::state::ranks::{RanksAction, Survey};
use ui::text::tab::Tab;

elements! {
    HtmlButtonElement: ranks_toggle;
    HtmlElement: ranks, ranks_names_field, ranks_order_field, ranks_status;
    HtmlInputElement: ranks_names;
    HtmlSelectElement: ranks_order;
}

#[derive(Default)]
pub(super) struct Panel {
    shown: LastShown<(bool, Survey, String, Option<&'static str>)>,
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Insights);

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.ranks_toggle, |_| Some(Action::Ranks(RanksAction::Toggled)));
        on.choice(&elements.ranks_order, |index| Some(Action::Ranks(RanksAction::OrderChosen(index as u32))));
        on.text(&elements.ranks_names, "change", |text| Action::Ranks(RanksAction::NamesTyped(text)));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let ranks = &state.ranks;
        let status = ranks.status();
        let is_seen = state.insights.topic == Topic::Ranks && !status.is_empty();
        let now = (is_seen, ranks.stage.clone(), status, ranks.toggle());
        let Some((is_seen, stage, status, toggle)) = self.shown.update(now) else { return };
        elements.ranks.set_hidden(!is_seen);
        let is_running = *stage == Survey::Running;
        let memory = [" Tables of at most ", &Bytes(MAX_TABLE_BYTES).to_string(), " in memory."].concat();
        set_text(&elements.ranks_status, &[status.as_str(), if is_running { &memory } else { "" }].concat());
        set_text(&elements.ranks_toggle, toggle.unwrap_or_default());
        elements.ranks_toggle.set_hidden(toggle.is_none());
        let has_report = matches!(stage, Survey::Running | Survey::Cancelled | Survey::Done);
        elements.ranks_order_field.set_hidden(!has_report);
        elements.ranks_names_field.set_hidden(!has_report);
    }
}
