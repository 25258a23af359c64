//! Toolbar of a comparison above the timeline, and the strip of differences below it.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{clear, set_attribute, set_flag, set_text};
use crate::elements::elements;
use crate::labels::context_2d;
use crate::sizes::watch;
use crate::theme::Theme;
use base::units::Bytes;
use protocol::{Align, MatchKey};
use ui::features::State;
use ui::features::insights::view::comparison_verdict;
use ui::plot::comparing::view::{ComparisonBar, DeltaStrip, MarkLabel, bar, mark_line, other_devices, strip};
use ui::shell::action::Action;
use ui::state::compared_at::ComparedAt;
use ui::state::comparing::ComparingAction;
use wasm_bindgen::JsCast;
use web_sys::{HtmlSelectElement, MouseEvent};

elements! {
    HtmlButtonElement: compare_overlay;
    HtmlCanvasElement: difference;
    HtmlElement: compare, compare_device_field, compare_cursor, compare_fields, compare_loading, difference_field, difference_text;
    HtmlInputElement: compare_paths;
    HtmlSelectElement: compare_align, compare_at, compare_device, compare_key;
}

/// Maximum distance, in CSS pixels, between a click and the mark that it selects.
const CLICK_PX: f64 = 8.0;

#[derive(Default)]
pub(super) struct Panel {
    bar: LastShown<(Option<ComparisonBar>, bool)>,
    is_compared: LastShown<bool>,
    devices: LastShown<Vec<(i64, String)>>,
    strip: LastShown<Picture>,
}

/// All inputs of the strip of differences. Lengths are in device pixels.
#[derive(Default, PartialEq)]
struct Picture {
    strip: Option<DeltaStrip>,
    size: (u32, u32),
    theme: Option<Theme>,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        watch(&elements.difference, &app.sizes.difference, &app.frame)?;
        let fill = |list: &HtmlSelectElement, titles: &mut dyn Iterator<Item = &str>| {
            elements.fill_options(list, &titles.map(str::to_owned).collect::<Vec<String>>());
        };
        let automatic = || std::iter::once("automatic");
        fill(&elements.compare_at, &mut ComparedAt::ALL.iter().map(|at| at.title()));
        fill(&elements.compare_key, &mut automatic().chain(MatchKey::ALL.iter().map(|key| key.title())));
        fill(&elements.compare_align, &mut automatic().chain(Align::ALL.iter().map(|align| align.title())));
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.choice(&elements.compare_at, |index| {
            Some(Action::Comparing(ComparingAction::AtChosen(*ComparedAt::ALL.get(index)?)))
        });
        on.choice(&elements.compare_key, |index| {
            let key = index.checked_sub(1).and_then(|at| MatchKey::ALL.get(at));
            Some(Action::Comparing(ComparingAction::KeyChosen(key.copied())))
        });
        on.choice(&elements.compare_align, |index| {
            let align = index.checked_sub(1).and_then(|at| Align::ALL.get(at));
            Some(Action::Comparing(ComparingAction::AlignChosen(align.copied())))
        });
        on.text(&elements.compare_paths, "change", |text| Action::Comparing(ComparingAction::PathsTyped(text)));
        on.event(&elements.compare_device, "change", |app, elements, _| {
            if let Ok(device) = elements.compare_device.value().parse() {
                handle_action(app, ComparingAction::DeviceChosen(device));
            }
            elements.compare_device.set_selected_index(0);
        });
        on.event(&elements.difference, "click", |app, _, event| {
            let Some(event) = event.dyn_ref::<MouseEvent>() else { return };
            let state = app.state.borrow();
            let scale = state.canvas.map_or(1.0, |canvas| canvas.scale);
            let x = f64::from(event.offset_x()) * scale;
            let marks = strip(&state).map(|strip| strip.marks).unwrap_or_default();
            let nearest = marks.iter().find(|(at, ..)| (at - x).abs() <= CLICK_PX * scale);
            let moment = nearest.map(|(.., moment)| *moment);
            drop(state);
            handle_action(app, ComparingAction::CurveClicked(moment, x));
        });
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        let has_verdict = comparison_verdict(&state.insights, state).is_some();
        if let Some((bar, has_verdict)) = self.bar.update((bar(state), has_verdict)) {
            show_bar(elements, bar.as_ref(), *has_verdict);
        }
        if let Some(others) = self.devices.update(other_devices(state)) {
            elements.compare_device_field.set_hidden(others.is_empty());
            clear(&elements.compare_device);
            elements.append_new(&elements.compare_device, "option", "", "choose…");
            for (device, name) in others {
                let option = elements.append_new(&elements.compare_device, "option", "", name);
                set_attribute(&option, "value", &device.to_string());
            }
        }
        let scale = state.canvas.map_or(1.0, |canvas| canvas.scale);
        let strip = strip(state);
        if let Some(is_compared) = self.is_compared.update(state.comparing.pair.is_some()) {
            elements.difference_field.set_hidden(!is_compared);
        }
        let size = app.sizes.difference.get().to_device(scale);
        let picture = Picture { strip, size, theme: Some(app.theme.borrow().clone()) };
        let Some(picture) = self.strip.update(picture) else { return };
        draw(elements, picture, scale);
    }
}

fn handle_action(app: &App, action: ComparingAction) {
    app.dispatch(Action::Comparing(action));
}

/// Shows the bar. It has the live bytes at the cursor until the verdict is known, which is below the header.
fn show_bar(elements: &Elements, bar: Option<&ComparisonBar>, has_verdict: bool) {
    elements.compare.set_hidden(bar.is_none());
    let Some(bar) = bar else { return };
    set_text(&elements.compare_loading, &bar.loading);
    elements.compare_loading.set_hidden(bar.loading.is_empty());
    elements.compare_fields.set_hidden(bar.sides[0].is_empty());
    for (picker, place) in
        [(&elements.compare_at, bar.at), (&elements.compare_key, bar.key), (&elements.compare_align, bar.align)]
    {
        picker.set_selected_index(i32::try_from(place).unwrap_or(0));
    }
    if let Some(automatic) = elements.compare_align.first_element_child() {
        set_text(&automatic, &bar.automatic_label);
    }
    elements.compare_paths.set_value(&bar.paths);
    set_text(&elements.compare_cursor, if has_verdict { "" } else { &bar.cursor });
    set_attribute(&elements.compare_cursor, "title", &bar.cursor_exact);
    set_flag(&elements.compare_overlay, "aria-pressed", bar.is_overlaid);
}

/// Draws the bars: upwards where B has more bytes than A, downwards where it has fewer.
fn draw(elements: &Elements, picture: &Picture, scale: f64) {
    let canvas = &elements.difference;
    let Some(strip) = &picture.strip else { return set_text(&elements.difference_text, "") };
    set_text(&elements.difference_text, &["B − A, live\n± ", &Bytes(strip.max_delta).to_string()].concat());
    if (canvas.width(), canvas.height()) != picture.size {
        canvas.set_width(picture.size.0);
        canvas.set_height(picture.size.1);
    }
    let (Some(context), Some(theme)) = (context_2d(canvas), &picture.theme) else { return };
    let (width, height) = (f64::from(picture.size.0), f64::from(picture.size.1));
    context.clear_rect(0.0, 0.0, width, height);
    let zero = (height / 2.0).round();
    let rows = |delta: i64| delta as f64 / strip.max_delta.max(1) as f64 * (zero - 2.0 * scale);
    for ([from, to], [min, max]) in &strip.columns {
        let wide = (to - from).max(1.0);
        if *max > 0 {
            context.set_fill_style_str(&theme.accent);
            context.fill_rect(*from, zero - rows(*max), wide, rows(*max));
        }
        if *min < 0 {
            context.set_fill_style_str(&theme.strong);
            context.set_global_alpha(0.55);
            context.fill_rect(*from, zero, wide, -rows(*min));
            context.set_global_alpha(1.0);
        }
    }
    context.set_fill_style_str(&theme.strong);
    context.fill_rect(0.0, zero, width, scale.round().max(1.0));
    context.set_font(&[&((10.0 * scale).round() as u32).to_string(), "px system-ui, sans-serif"].concat());
    context.set_text_baseline("top");
    let mut labels: Vec<MarkLabel> = Vec::new();
    let mut texts: Vec<(&str, f64, f64)> = Vec::new();
    for (x, text, _) in &strip.marks {
        let wide = context.measure_text(text).map_or(0.0, |size| size.width());
        let at = (x + 4.0 * scale).min(width - wide - 2.0 * scale);
        if labels.iter().all(|[[left, right], _]| at + wide < *left || at - 6.0 * scale > *right) {
            let y = if text.starts_with('−') { height - 12.0 * scale } else { scale };
            texts.push((text, at, y));
            labels.push([[at - 2.0 * scale, at + wide + 2.0 * scale], [y - scale, y + 11.0 * scale]]);
        }
    }
    for (x, ..) in &strip.marks {
        let [top, bottom] = mark_line(*x, height, &labels);
        context.fill_rect(x.floor(), top, scale.round().max(1.0), bottom - top);
    }
    context.set_stroke_style_str(&theme.ground);
    context.set_line_width(3.0 * scale);
    for (text, at, y) in texts {
        let _ = context.stroke_text(text, at, y);
        let _ = context.fill_text(text, at, y);
    }
}
