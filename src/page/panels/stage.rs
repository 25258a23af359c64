//! Switches between the start page, the loading screen, an error and the open file. Also shows the status line and
//! notices.

use super::recent;
use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{set_attribute, set_flag, set_or_remove, set_text, show_text};
use crate::elements::elements;
use ui::features::State;
use ui::session::loading::LoadingView;
use ui::session::notices::{PlotNote, Status, plot_note, renderer_notice, status};
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::drawing::BytesAxis;
use ui::state::effect::DropHover;
use ui::state::stage::{Renderer, Stage};
use ui::state::toast::Toast;
use ui::text::recording_snippet::SNIPPET;
use wasm_bindgen::JsCast;
use web_sys::Element;

elements! {
    HtmlButtonElement: fit_bytes, link_choose, link_notice_close, open_large, plot_note_close, toast_close;
    HtmlElement: error, link_notice, link_notice_text, loading, loading_name, notice, plot, plot_note, plot_note_code, plot_note_text,
        progress_text, snippet, status, toast, toast_details, toast_more, toast_text, welcome, workspace;
    HtmlProgressElement: progress;
}

#[derive(Default)]
pub(super) struct Panel {
    stage: LastShown<(&'static str, Option<String>)>,
    loading: LastShown<Option<LoadingView>>,
    /// Two flags: a partly decoded file is drawn, and a file is open.
    workspace: LastShown<[bool; 2]>,
    status: LastShown<(Status, u32)>,
    tools: LastShown<(Renderer, BytesAxis)>,
    drop_hover: LastShown<DropHover>,
    notice: LastShown<(Option<String>, Option<String>)>,
    toast: LastShown<Option<Toast>>,
    plot_note: LastShown<Option<PlotNote>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(_: &'static App, elements: &'static Elements) -> Result<(), String> {
        set_text(&elements.snippet, SNIPPET);
        set_text(&elements.plot_note_code, SNIPPET);
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.click(&elements.open_large, |_| Some(Action::Command(commands::OPEN_FILE)));
        on.event(&elements.link_choose, "click", |app, _, _| {
            let wanted = app.state.borrow().linked.needed_file().map(str::to_owned);
            recent::open_named(app, &wanted.unwrap_or_default());
        });
        on.click(&elements.toast_close, |_| Some(Action::ToastClosed));
        on.event(&elements.plot_note_close, "click", |_, elements, _| elements.plot_note.set_hidden(true));
        on.click(&elements.link_notice_close, |_| Some(Action::NoticeClosed));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let (name, error) = match &state.stage {
            Stage::Empty => ("empty", None),
            Stage::Choosing(_) => ("choosing", None),
            Stage::Loading(_) => ("loading", None),
            Stage::Ready(_) => ("ready", None),
            Stage::Failed(message) => ("error", Some(message.clone())),
        };
        if let Some((name, error)) = self.stage.update((name, error)) {
            set_attribute(&elements.body, "data-state", name);
            show_text(&elements.error, error.as_deref());
            elements.welcome.set_hidden(!matches!(*name, "empty" | "error"));
            elements.loading.set_hidden(*name != "loading");
            if *name == "empty" {
                show_pictures(elements);
            }
        }
        let loading = match &state.stage {
            Stage::Loading(loading) => Some(loading.view()),
            _ => None,
        };
        let is_drawn = loading.as_ref().is_some_and(|loading| loading.is_drawn);
        if let Some([is_drawn, is_open]) = self.workspace.update([is_drawn, state.file().is_some()]) {
            set_or_remove(&elements.body, &[("data-unfinished", is_drawn.then(String::new))]);
            elements.workspace.set_hidden(!is_drawn && !is_open);
        }
        if let Some(Some(loading)) = self.loading.update(loading) {
            set_text(&elements.loading_name, &loading.name);
            set_text(&elements.progress_text, &loading.text);
            match loading.fraction {
                Some(fraction) => elements.progress.set_value(fraction),
                None => drop(elements.progress.remove_attribute("value")),
            }
        }
        // A message only for screen readers is not repeated for every command.
        let remark_id = if state.remark.is_some() { state.commands } else { 0 };
        if let Some((status, remark_id)) = self.status.update((status(state), remark_id)) {
            let (text, class) = match status {
                Status::ScreenReader(text) => (text, "quiet-status"),
                // Alternates between two animations, so that it restarts.
                Status::Visible(text) => (text, if remark_id % 2 == 0 { "" } else { "again" }),
            };
            elements.status.set_class_name(class);
            set_text(&elements.status, text);
        }
        if let Some((renderer, bytes_axis)) = self.tools.update((state.renderer.clone(), state.bytes_axis)) {
            set_flag(&elements.fit_bytes, "aria-pressed", *bytes_axis == BytesAxis::FitsWindow);
            let notice = renderer_notice(state);
            show_text(&elements.notice, notice.as_deref());
            set_attribute(&elements.notice, "aria-label", notice.as_deref().unwrap_or_default());
            set_attribute(&elements.notice, "title", notice.as_deref().unwrap_or_default());
            let name = match renderer {
                Renderer::Unknown => "",
                Renderer::WebGpu => "webgpu",
                Renderer::Cpu(_) => "cpu",
            };
            if let Some(canvas) = elements.plot.first_element_child() {
                set_attribute(&canvas, "data-renderer", name);
            }
        }
        let wanted = state.linked.needed_file().map(str::to_owned);
        if let Some((notice, wanted)) = self.notice.update((state.linked.notice.clone(), wanted)) {
            set_text(&elements.link_notice_text, notice.as_deref().unwrap_or_default());
            elements.link_notice.set_hidden(notice.is_none());
            let name = wanted.as_deref().filter(|name| !name.is_empty()).unwrap_or("the file");
            set_text(&elements.link_choose, &["Choose ", name, "…"].concat());
            elements.link_choose.set_hidden(wanted.is_none());
            set_flag(&elements.body, "data-asks", wanted.is_some());
        }
        if let Some(note) = self.plot_note.update(plot_note(state)) {
            elements.plot_note.set_hidden(note.is_none());
            if let Some(PlotNote { text, is_empty }) = note {
                set_text(&elements.plot_note_text, text);
                elements.plot_note.set_class_name(if *is_empty { "empty" } else { "" });
            }
        }
        if let Some(toast) = self.toast.update(state.toast.clone()) {
            let (text, details) = toast.as_ref().map_or(("", ""), |toast| (&toast.text, &toast.details));
            // Screen readers announce an alert when its text changes, so the element is shown first.
            elements.toast.set_hidden(toast.is_none());
            set_text(&elements.toast_text, text);
            set_text(&elements.toast_details, details);
            let _ = elements.toast_more.remove_attribute("open");
        }
        if let Some(hover) = self.drop_hover.update(state.drop_hover) {
            set_attribute(&elements.body, "data-drop", if *hover == DropHover::Over { "over" } else { "" });
        }
    }
}

/// Loads the pictures of the samples, which are needed only on the start page.
fn show_pictures(elements: &Elements) {
    let Ok(pictures) = elements.welcome.query_selector_all("img[data-src]") else { return };
    for picture in (0..pictures.length()).filter_map(|at| pictures.get(at)?.dyn_into::<Element>().ok()) {
        set_attribute(&picture, "src", &picture.get_attribute("data-src").unwrap_or_default());
        drop(picture.remove_attribute("data-src"));
    }
}
