//! The frame around the views of the answer: tabs, title, height, which panel is seen.

use super::Shown;
use crate::dom::{Elements, set_attribute, set_text};
use ui::State;
use ui::range::title;
use ui::views::{self, Tab};

#[derive(Default)]
pub(super) struct Panel {
    tab: Shown<Tab>,
    frame: Shown<(views::Panel, u32)>,
    title: Shown<String>,
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        if let Some(chosen) = self.tab.changed(state.views.tab) {
            for (tab, [button, panel]) in elements.tabs() {
                let is_chosen = tab == *chosen;
                set_attribute(button, "aria-selected", if is_chosen { "true" } else { "false" });
                set_attribute(button, "tabindex", if is_chosen { "0" } else { "-1" });
                panel.set_hidden(!is_chosen);
            }
        }
        if let Some((panel, height)) = self.frame.changed((state.views.panel, state.views.height)) {
            let is_open = *panel == views::Panel::Open;
            elements.answer.set_class_name(if is_open { "" } else { "folded" });
            elements.divider.set_hidden(!is_open);
            set_attribute(&elements.answer_fold, "aria-expanded", if is_open { "true" } else { "false" });
            let height = height.to_string();
            set_attribute(&elements.divider, "aria-valuenow", &height);
            // It fails for no property of ours.
            let _ = elements.answer.style().set_property("--answer", &height);
        }
        if let Some(title) = self.title.changed(title(state)) {
            set_text(&elements.answer_title, title);
            // Where it is cut.
            set_attribute(&elements.answer_title, "title", title);
        }
    }
}
