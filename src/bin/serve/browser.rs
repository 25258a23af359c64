//! Opening the browser of whoever sits at this machine.

use std::process::{Command, Stdio};

/// Opens the browser, where somebody can see it: over ssh it would be one in the terminal, or none.
pub(super) fn open(address: &str) {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let words: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(target_os = "windows") {
        &["rundll32", "url.dll,FileProtocolHandler"]
    } else if has("DISPLAY") || has("WAYLAND_DISPLAY") {
        &["xdg-open"]
    } else {
        &[]
    };
    let Some((program, words)) = words.split_first().filter(|_| !has("SSH_CONNECTION")) else { return };
    let mut command = Command::new(program);
    command.args(words).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Where there is none the address stands on the terminal.
    if let Ok(mut child) = command.spawn() {
        let _ = std::thread::Builder::new().spawn(move || child.wait());
    }
}
