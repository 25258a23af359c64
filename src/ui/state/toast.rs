//! The message that a file could not be opened, shown while another file stays open. It stays until the user closes it.

/// Maximum number of characters of the reason in the message. The full reason is in the details.
const MAX_REASON_CHARS: usize = 140;

/// Message that a file could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    /// The message, such as `Could not open a.pickle: the file is empty.`
    pub text: String,
    /// The full reason, and a sentence about the file that is still open.
    pub details: String,
}

impl Toast {
    /// Creates the message that the file `name` could not be opened. `message` is the reason.
    pub(crate) fn new(name: String, message: &str) -> Toast {
        // The message may already start with the file's name.
        let reason = message.strip_prefix(&name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message);
        let truncated =
            reason.char_indices().nth(MAX_REASON_CHARS).map(|(index, _)| reason.get(..index).unwrap_or(reason));
        let reason = truncated.map_or_else(
            || reason.to_owned(),
            |truncated| [truncated.rsplit_once(' ').map_or(truncated, |(words, _)| words), " …"].concat(),
        );
        let name = if name.is_empty() { "the file" } else { &name };
        let text = ["Could not open ", name, ": ", &reason].concat();
        let still_open = "The file that was open is still open.";
        Toast { text, details: [message, "\n", still_open].concat() }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/toast.rs"]
mod tests;
