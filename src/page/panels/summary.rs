//! File tab of the side panel: selects for the snapshot and the device, main figures, facts and warnings.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, attribute_at, clear, set_attribute, set_flag, set_text};
use crate::elements::elements;
use base::units::pluralize;
use protocol::{DeviceSummary, FileSummary};
use ui::features::State;
use ui::session::heading::heading;
use ui::session::partial::header_figures;
use ui::session::ranks::unlisted_note;
use ui::shell::action::Action;
use ui::state::stage::SnapshotChoice;
use ui::text::summary::{Facts, Headline, SETTINGS_TITLE, device_line, facts, file_title, headlines};
use web_sys::{HtmlSelectElement, Node};

elements! {
    HtmlElement: device_field, facts, file_name, headlines, oddities, oddities_title, picture, snapshot_field, summary,
        warnings;
    HtmlSelectElement: device, snapshot;
}

/// Contents for a file that is still loading: devices (value, text), main figures (label, value), and the index of the
/// shown device.
type PartialSummary = (Vec<(String, String)>, Vec<(&'static str, String)>, usize);

#[derive(Default)]
pub(super) struct Panel {
    /// All inputs of the summary: id of the load, index of the device, and bytes of the last request that ran out of
    /// memory.
    shown: LastShown<(u32, Option<usize>, Option<u64>)>,
    unfinished: LastShown<Option<PartialSummary>>,
    /// Names of the snapshots, index of the selected one, and a note about files that are not listed.
    snapshots: LastShown<(Vec<String>, usize, Option<String>)>,
    /// Title of the file, and the heading with the part that is cut first.
    name: LastShown<(String, (String, usize))>,
}

impl Part for Panel {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.device, "change", |app, elements, _| {
            if let Ok(ordinal) = elements.device.value().parse() {
                app.dispatch(Action::DeviceChosen(ordinal));
            }
        });
        on.click(&elements.headlines, |event| Some(Action::GoToEntered(attribute_at(event, "data-place")?)));
        on.choice(&elements.snapshot, |index| Some(Action::SnapshotChosen(index)));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let names = state.snapshot_lines();
        if let Some((names, chosen, note)) = self.snapshots.update((names, state.snapshot_index, unlisted_note(state)))
        {
            let options = names.iter().enumerate().map(|(place, name)| (place.to_string(), name.clone()));
            fill(elements, &elements.snapshot, options, *chosen);
            if let Some(note) = note {
                set_attribute(&elements.append_new(&elements.snapshot, "option", "", note), "disabled", "");
            }
            elements.snapshot_field.set_hidden(names.len() < 2);
            let title = state.snapshots.get(*chosen).map(SnapshotChoice::name).unwrap_or_default();
            set_attribute(&elements.snapshot, "title", &title);
        }
        let name = state.drawn_file().map(file_title).unwrap_or_default();
        if let Some((name, (shown, shared))) = self.name.update((name, heading(state))) {
            elements.set_name(&elements.file_name, shown, *shared);
            elements.file_name.set_hidden(shown.is_empty());
            let title = if name.is_empty() { "memscape".to_owned() } else { format!("{name} · memscape") };
            elements.document.set_title(&title);
        }
        self.show_unfinished(elements, state);
        let open = state.file().map(|_| state.device_index);
        let marks = state.surroundings.marks.latest();
        let failed = marks.and_then(|marks| marks.out_of_memory.last()).map(|mark| mark.requested);
        if self.shown.update((state.load, open, failed)).is_none() {
            return;
        }
        elements.device_field.set_hidden(state.drawn_file().is_none_or(|file| file.devices.len() < 2));
        let Some(file) = state.file() else { return };
        // Only the note on the reason is shown.
        set_flag(&elements.picture, "data-void", state.device().is_none());
        fill(elements, &elements.device, devices(file).into_iter(), state.device_index);
        show_warnings(elements, file);
        match state.device() {
            Some(device) => show_device(elements, file, device, failed),
            None => show_no_device(elements),
        }
    }
}

impl Panel {
    /// Shows the facts known so far about a file that is still loading.
    fn show_unfinished(&mut self, elements: &Elements, state: &State) {
        let devices = state.partial().and_then(|_| state.drawn_file()).map(devices);
        let now = devices.map(|devices| (devices, header_figures(state), state.device_index));
        let Some(Some((devices, numbers, chosen))) = self.unfinished.update(now) else { return };
        elements.device_field.set_hidden(devices.len() < 2);
        if elements.device.child_element_count() as usize == devices.len() {
            // An opened select keeps its options and only changes their texts.
            let mut option = elements.device.first_element_child();
            for (value, text) in devices {
                let Some(this) = option else { break };
                set_attribute(&this, "value", value);
                set_text(&this, text);
                option = this.next_element_sibling();
            }
            elements.device.set_selected_index(i32::try_from(*chosen).unwrap_or(-1));
        } else {
            fill(elements, &elements.device, devices.iter().cloned(), *chosen);
        }
        clear(&elements.headlines);
        for (label, value) in numbers {
            let number = elements.append_new(&elements.headlines, "p", "", "");
            elements.append_new(&number, "span", "", label);
            elements.append_new(&number, "b", "", value);
        }
    }
}

/// Returns the devices of the file as options (value, text).
fn devices(file: &FileSummary) -> Vec<(String, String)> {
    file.devices.iter().map(|device| (device.device.to_string(), device_line(device))).collect()
}

/// Fills a select element with options given as (value, text).
fn fill(
    elements: &Elements,
    picker: &HtmlSelectElement,
    options: impl Iterator<Item = (String, String)>,
    chosen: usize,
) {
    clear(picker);
    for (value, text) in options {
        set_attribute(&elements.append_new(picker, "option", "", &text), "value", &value);
    }
    picker.set_selected_index(i32::try_from(chosen).unwrap_or(-1));
}

fn show_device(elements: &Elements, file: &FileSummary, device: &DeviceSummary, failed: Option<u64>) {
    let exact = [
        ("data-peak-requested", device.peak_requested.to_string()),
        ("data-peak-event", device.peak_event.to_string()),
        ("data-peak-reserved", device.peak_reserved.to_string()),
        ("data-events", device.events.to_string()),
        ("data-allocations", device.allocations.to_string()),
    ];
    for (name, value) in exact {
        set_attribute(&elements.summary, name, &value);
    }
    clear(&elements.headlines);
    for Headline { position, label, value, note } in headlines(device, failed) {
        let button = elements.new_button(position, "", ("data-place", position));
        elements.append_new(&button, "span", "", label);
        elements.append_new(&button, "b", "", &value);
        set_attribute(&button, "title", &note);
        append(&elements.headlines, &button);
    }
    clear(&elements.facts);
    for Facts { title, lines } in facts(file, device) {
        // Folded, because there are many settings and they are rarely needed.
        let (tag, heading) = if title == SETTINGS_TITLE { ("details", "summary") } else { ("section", "h3") };
        let group = elements.append_new(&elements.facts, tag, "", "");
        elements.append_new(&group, heading, "", title);
        let list = elements.append_new(&group, "dl", "", "");
        elements.fill_definitions(&list, lines.iter().map(|line| (line.label.as_str(), line.value.as_str())));
    }
}

/// Shows that no device in the file has events or segments.
fn show_no_device(elements: &Elements) {
    for name in ["data-peak-requested", "data-peak-event", "data-peak-reserved", "data-events", "data-allocations"] {
        let _ = elements.summary.remove_attribute(name);
    }
    clear(&elements.facts);
    clear(&elements.headlines);
    elements.append_new(&elements.headlines, "p", "", "No device of this snapshot has events or segments.");
}

fn show_warnings(elements: &Elements, file: &FileSummary) {
    clear(&elements.warnings);
    elements.oddities.set_hidden(file.warnings.is_empty());
    set_text(&elements.oddities_title, &pluralize(file.warnings.len() as u64, "warning"));
    for warning in &file.warnings {
        let item = elements.append_new(&elements.warnings, "li", "", &warning.message);
        if warning.count > 1 {
            append_text(elements, &item, &format!(" ({} times)", base::units::group_digits(warning.count)));
        }
        if !warning.example.is_empty() {
            append_text(elements, &item, " ");
            elements.append_new(&item, "code", "", &warning.example);
        }
    }
}

fn append_text(elements: &Elements, parent: &Node, text: &str) {
    let _ = parent.append_child(&elements.document.create_text_node(text));
}
