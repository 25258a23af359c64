//! What is said over an open file of another one that could not be opened, until somebody has read it.

/// Letters of a reason that one line has room for; the rest is in the details.
const LONGEST_REASON: usize = 140;

/// A message with details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    /// `Could not open a.pickle: the file is empty.`
    pub text: String,
    /// All that is known.
    pub details: String,
}

impl Toast {
    /// The file of this name could not be opened, and why.
    pub(super) fn new(name: String, message: &str) -> Toast {
        // The message may name the file as well.
        let reason = message.strip_prefix(&name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message);
        let cut = reason.char_indices().nth(LONGEST_REASON).map(|(at, _)| reason.get(..at).unwrap_or(reason));
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
