//! Text form of the rules, in the browser's storage and in saved pages.

/// Prefix of the stored text. It identifies the format.
pub(crate) const FIRST_LINE: &str = "memscape rules 1 ";

/// Formats rules for storage: the name of the set in use, and the text of the user's own set. `valid` is the last
/// valid version of that text, or empty if the text is valid.
pub fn stored_text(choice: &str, own: &str, valid: &str) -> String {
    [FIRST_LINE, choice, " ", &own.len().to_string(), "\n", own, valid].concat()
}
