//! The key table: one line a command. It drives the keyboard, fills the help dialog, and a test keeps it free of collisions.

use super::action::Command;
use super::state::Letters;

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Anywhere but in a text field.
    Page,
    /// While the timeline has the focus.
    Timeline,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Where the keys work.
    pub scope: Scope,
    /// The keys, as `KeyboardEvent.key` has them; letters in lower case.
    pub keys: &'static [&'static str],
    /// What they do.
    pub command: Command,
    /// The same for people.
    pub label: &'static str,
    /// The id of the visible control that does the same.
    pub control: &'static str,
}

const fn line(
    scope: Scope,
    keys: &'static [&'static str],
    command: Command,
    label: &'static str,
    control: &'static str,
) -> Binding {
    Binding { scope, keys, command, label, control }
}

/// Every command, in the order of the help dialog.
pub const BINDINGS: &[Binding] = {
    use Command::*;
    use Scope::*;
    &[
        line(Page, &["o"], OpenFile, "Open a snapshot", "open"),
        line(Page, &["e"], OpenExample, "Open the example", "open-example"),
        line(Page, &["x"], CancelLoading, "Cancel loading", "cancel"),
        line(Page, &["n"], NextDevice, "Next device", "next-device"),
        line(Page, &["b"], PreviousDevice, "Device before", "previous-device"),
        line(Page, &["l"], ToggleLanes, "All devices, or one", "lanes"),
        line(Page, &["["], SelectPrevious, "Select the allocation born before", "select-previous"),
        line(Page, &["]"], SelectNext, "Select the allocation born after", "select-next"),
        line(Page, &["c"], CopyDetails, "Copy the selected allocation", "copy-details"),
        line(Page, &["Escape"], ClearSelection, "Clear the selection", "clear-selection"),
        line(Page, &["r"], CopySnippet, "Copy the lines that record a snapshot", "copy-snippet"),
        line(Page, &["?"], ToggleHelp, "Show or hide this list", "help-open"),
        line(Page, &["F2"], ToggleLetters, "Single-letter keys on or off", "letters"),
        line(Timeline, &["a", "ArrowLeft"], MoveLeft, "Earlier events", "move-left"),
        line(Timeline, &["d", "ArrowRight"], MoveRight, "Later events", "move-right"),
        line(Timeline, &["w", "ArrowUp"], MoveUp, "More bytes", "move-up"),
        line(Timeline, &["s", "ArrowDown"], MoveDown, "Fewer bytes", "move-down"),
        line(Timeline, &["."], ZoomEventsIn, "Zoom the events in", "zoom-events-in"),
        line(Timeline, &[","], ZoomEventsOut, "Zoom the events out", "zoom-events-out"),
        line(Timeline, &["+", "="], ZoomBytesIn, "Zoom the bytes in", "zoom-bytes-in"),
        line(Timeline, &["-", "_"], ZoomBytesOut, "Zoom the bytes out", "zoom-bytes-out"),
        line(Timeline, &["0"], FitBoth, "Show everything", "fit-both"),
        line(Timeline, &["f"], ToggleFitBytes, "Fit the bytes to the window, or stop it", "fit-bytes"),
        line(Timeline, &["t"], ToggleAxis, "Events or wall-clock on the axis", "axis"),
        line(Timeline, &["g"], NextStacking, "Stack by something else", "stacking"),
        line(Timeline, &["h"], NextColouring, "Colour by something else", "colouring"),
        line(Timeline, &["p"], GoToPeak, "Go to the peak", "go-to-peak"),
    ]
};

/// What a wheel or a pointer does; for the help dialog.
pub const GESTURES: &[(&str, &str)] = &[
    ("wheel", "Zoom the events at the cursor"),
    ("Ctrl + wheel", "Zoom the bytes at the cursor"),
    ("Shift + wheel", "Move along the events"),
    ("drag", "Move"),
    ("click", "Select an allocation"),
];

/// The command of `key` (as `KeyboardEvent.key` has it), pressed without Ctrl, Alt or Meta while the focus is in `scope`.
pub fn command(scope: Scope, key: &str, letters: Letters) -> Option<Command> {
    let lower = key.to_lowercase();
    let is_letter = lower.chars().count() == 1;
    if is_letter && letters == Letters::Off {
        return None;
    }
    let wanted = if is_letter { lower.as_str() } else { key };
    BINDINGS
        .iter()
        .find(|binding| (binding.scope == scope || binding.scope == Scope::Page) && binding.keys.contains(&wanted))
        .map(|binding| binding.command)
}

/// How a key is written for people.
pub fn key_text(key: &str) -> String {
    match key {
        "ArrowLeft" => "←".into(),
        "ArrowRight" => "→".into(),
        "ArrowUp" => "↑".into(),
        "ArrowDown" => "↓".into(),
        "Escape" => "Esc".into(),
        "-" => "−".into(),
        other => other.to_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_share_a_key() {
        for (at, a) in BINDINGS.iter().enumerate() {
            for b in &BINDINGS[at + 1..] {
                assert_ne!(a.command, b.command, "a command stands in the table once");
                assert_ne!(a.control, b.control);
                // A page key works in every scope, so it must differ from all.
                if a.scope == b.scope || a.scope == Scope::Page || b.scope == Scope::Page {
                    let shared = a.keys.iter().find(|key| b.keys.contains(key));
                    assert_eq!(shared, None, "{:?} and {:?}", a.command, b.command);
                }
            }
        }
    }

    #[test]
    fn keys_work_in_their_scope() {
        use Letters::On;
        assert_eq!(command(Scope::Timeline, "a", On), Some(Command::MoveLeft));
        assert_eq!(command(Scope::Timeline, "A", On), Some(Command::MoveLeft), "caps lock is not a trap");
        assert_eq!(command(Scope::Page, "a", On), None);
        assert_eq!(command(Scope::Timeline, "?", On), Some(Command::ToggleHelp));
    }

    #[test]
    fn letters_can_be_switched_off_and_on_again() {
        for key in ["a", "A", "o", "+", "0", "?"] {
            assert_eq!(command(Scope::Timeline, key, Letters::Off), None);
        }
        assert_eq!(command(Scope::Timeline, "ArrowLeft", Letters::Off), Some(Command::MoveLeft));
        assert_eq!(command(Scope::Page, "F2", Letters::Off), Some(Command::ToggleLetters));
    }
}
