//! Draws the last line of the screen: the text field, a message, or hints about keys.

use crate::app::App;
use crate::panes::Focus;
use crate::text::{Line, Tone, width, write_line, write_text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ui::session::notices::{Status, status};
use ui::state::stage::Stage;
use ui::text::tab::Tab;

/// Draws the last line of the screen: the text field, a message, or hints about keys.
pub(crate) fn status_line(app: &App, buffer: &mut Buffer) {
    let (state, pane) = (&app.state, app.layout.foot);
    if let Some(field) = &app.field {
        let prompt = field.purpose.prompt();
        let used = write_text(buffer, pane, prompt, Tone::Accent.style());
        let rest = Rect { x: pane.x + used, width: pane.width - used, ..pane };
        // Scroll a long text so that the text cursor is visible.
        let skipped = (field.position + 1).saturating_sub(usize::from(rest.width));
        let text: String = field.text.chars().skip(skipped).collect();
        write_text(buffer, rest, &text, Tone::Plain.style());
        let before: String =
            field.text.chars().skip(skipped).take(field.position - skipped.min(field.position)).collect();
        let x = rest.x + u16::try_from(width(&before)).unwrap_or(0);
        if let Some(cell) = buffer.cell_mut((x.min(pane.right().saturating_sub(1)), pane.y)) {
            cell.set_style(Style::new().add_modifier(Modifier::REVERSED));
        }
        return;
    }
    let line = match status_text(app) {
        (text, tone) if !text.is_empty() => Line::new(text, tone),
        _ if matches!(state.stage, Stage::Ready(_)) => Line::new(hint(app), Tone::Soft),
        _ => Line::new("q quits, Ctrl+O opens a file", Tone::Soft),
    };
    write_line(buffer, pane, &line);
}

/// Returns the message for the last line, or an empty string if there is none.
pub(crate) fn status_text(app: &App) -> (String, Tone) {
    let state = &app.state;
    if !app.message.is_empty() {
        return (app.message.clone(), Tone::Accent);
    }
    if let Some(toast) = &state.toast {
        return (toast.text.clone(), Tone::Alarm);
    }
    if let Status::Visible(text) = status(state) {
        return (text, Tone::Accent);
    }
    let notice = state.linked.notice.clone().unwrap_or_default();
    if let (true, Some(hover)) = (notice.is_empty() && state.tools.crosshair.by_keys.is_some(), &state.hover) {
        let card = ui::plot::hover::card(hover);
        let parts = [card.title, card.call_site, card.share, card.lifetime, card.segment];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        return (["At the cursor: ", &parts.join(" · ")].concat(), Tone::Plain);
    }
    (notice, Tone::Accent)
}

fn hint(app: &App) -> &'static str {
    match app.focus {
        Focus::Timeline => {
            "←→ cursor  +− zoom  a d pan  Enter select  p peak  / search  : commands  Tab view  ? help  q quit"
        }
        Focus::View => match app.state.views.tab {
            Tab::Insights => {
                "↑↓ item  Enter show  Space stack  ←→ insight  m more rows  y copy  / search  Tab side  q back  ? help"
            }
            Tab::CallTree => {
                "↑↓←→ rows  f focus  r invert  h internal  e c expand, collapse  / n N search  q back  ? help"
            }
            Tab::Flame => "↑↓←→ frames  Enter zoom  Backspace out  r invert  h internal  q back  ? help",
            Tab::Allocations => "↑↓ rows  f filter  s sort  r reverse  F7 whole trace  y copy  q back  ? help",
            Tab::Segments => "↑↓←→ segments and blocks  Enter select  r request  s sort  p pool  q back  ? help",
            _ => "↑↓ rows  f filter  Enter select  y copy  q back  ? help",
        },
        Focus::Side => "←→ tab  ↑↓ scroll  Enter fade  i only  Tab timeline  q back  ? help",
    }
}
