//! The message about a file that could not be opened while another one stays open. It stays until the user closes it.

/// Maximum number of characters of the reason in one line. The details contain the rest.
const MAX_REASON_CHARS: usize = 140;

/// A message with details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    /// Text such as `Could not open a.pickle: the file is empty.`
    pub text: String,
    /// The complete reason.
    pub details: String,
}

impl Toast {
    /// Creates the message that the file of this name could not be opened.
    pub(super) fn new(name: String, message: &str) -> Toast {
        // The message may already start with the file's name.
        let reason = message.strip_prefix(&name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message);
        let cut = reason.char_indices().nth(MAX_REASON_CHARS).map(|(at, _)| reason.get(..at).unwrap_or(reason));
        let reason = cut.map_or_else(
            || reason.to_owned(),
            |cut| [cut.rsplit_once(' ').map_or(cut, |(words, _)| words), " …"].concat(),
        );
        let name = if name.is_empty() { "the file" } else { &name };
        let text = ["Could not open ", name, ": ", &reason].concat();
        let kept = "The file that was open is still open.";
        Toast { text, details: [message, "\n", kept].concat() }
    }
}

#[cfg(test)]
#[path = "../../tests/units/ui/toast.rs"]
mod tests;
