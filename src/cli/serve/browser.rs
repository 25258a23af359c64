//! Opening the browser of whoever sits at this machine.

use webbrowser::{Browser, BrowserOptions};

/// Opens the browser where somebody can see it: the one that `$BROWSER` names, as remote terminals set it, or else that of a screen.
/// Over ssh without either there is none, and the address stands on the terminal.
pub(super) fn open(address: String) {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_screen = cfg!(any(target_os = "macos", target_os = "windows")) || has("DISPLAY") || has("WAYLAND_DISPLAY");
    if has("BROWSER") || has_screen && !has("SSH_CONNECTION") {
        // One in the terminal is waited for.
        let mut options = BrowserOptions::new();
        options.with_suppress_output(true);
        let open = move || webbrowser::open_browser_with_options(Browser::Default, &address, &options);
        let _ = std::thread::Builder::new().spawn(open);
    }
}
