//! Light and dark theme, selected by the user or the system, and the style sheet's colours for canvases.

use super::dom::{Dom, listen, set_or_remove};
use super::frame::Frame;
use gloo::events::{EventListener, EventListenerOptions};
use picture::render::PictureTheme;
use std::cell::RefCell;
use std::rc::Rc;
use ui::state::settings::Theme as Chosen;

/// Colours and fonts of everything that is drawn on a canvas.
#[derive(Clone, PartialEq)]
pub(super) struct Theme {
    pub(super) look: PictureTheme,
    pub(super) text: String,
    pub(super) strong: String,
    pub(super) line: String,
    pub(super) peak: String,
    /// Accent colour, for example of the selected allocation's lifetime on the axis.
    pub(super) accent: String,
    /// Background colour of labels inside the picture.
    pub(super) ground: String,
    pub(super) font: String,
    pub(super) mono: String,
    /// Number of times that a canvas lost its content. Part of the theme, because a change must cause a redraw as well.
    lost_count: u32,
}

/// Attribute of the root element with the theme that the user has selected. The style sheet refers to it.
const THEME_ATTRIBUTE: &str = "data-theme";

const DARK: &str = "(prefers-color-scheme: dark)";

impl Theme {
    pub(super) fn current(dom: &Dom) -> Theme {
        let system = || dom.window.match_media(DARK).ok().flatten().is_some_and(|query| query.matches());
        let chosen = dom.document.document_element().and_then(|root| root.get_attribute(THEME_ATTRIBUTE));
        let dark = chosen.map_or_else(system, |chosen| chosen == Chosen::Dark.name());
        let style = dom.window.get_computed_style(&dom.body).ok().flatten();
        let property = |name: &str| {
            let value = style.as_ref().and_then(|style| style.get_property_value(name).ok());
            value.unwrap_or_default().trim().to_owned()
        };
        Theme {
            look: if dark { PictureTheme::dark() } else { PictureTheme::light() },
            text: property("--soft"),
            strong: property("--text"),
            line: property("--line"),
            peak: property("--peak"),
            accent: property("--accent"),
            ground: property("--plot"),
            font: property("font-family"),
            mono: property("--mono"),
            lost_count: 0,
        }
    }
}

/// Applies the theme that the user has selected.
pub(super) fn apply(dom: &Dom, theme: &RefCell<Theme>, chosen: Chosen) {
    let Some(root) = dom.document.document_element() else { return };
    set_or_remove(&root, &[(THEME_ATTRIBUTE, (chosen != Chosen::System).then(|| chosen.name().to_owned()))]);
    let lost_count = theme.borrow().lost_count;
    theme.replace(Theme { lost_count, ..Theme::current(dom) });
}

/// Updates the theme when the system's theme changes. Also redraws after a canvas lost its content in a crash of the
/// GPU process.
pub(super) fn watch(dom: &Dom, theme: &Rc<RefCell<Theme>>, frame: &Rc<Frame>) {
    if let Some(query) = dom.window.match_media(DARK).ok().flatten() {
        let (dom, theme, frame) = (dom.clone(), theme.clone(), frame.clone());
        listen(&query, "change", move |_| {
            theme.replace(Theme::current(&dom));
            frame.request();
        });
    }
    let (theme, frame) = (theme.clone(), frame.clone());
    // Captured at the document, because the event does not bubble and canvases may be replaced.
    let capture = EventListenerOptions::run_in_capture_phase();
    EventListener::new_with_options(&dom.document, "contextrestored", capture, move |_| {
        theme.borrow_mut().lost_count += 1;
        frame.request();
    })
    .forget();
}
