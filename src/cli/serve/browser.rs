//! Opens the user's browser.

use webbrowser::{Browser, BrowserOptions};

/// Opens the browser named by `$BROWSER` (set by remote terminals), or else the default browser if there is a display.
/// Does nothing in an SSH session without either.
pub(super) fn open(address: String) {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_screen = cfg!(any(target_os = "macos", target_os = "windows")) || has("DISPLAY") || has("WAYLAND_DISPLAY");
    if has("BROWSER") || has_screen && !has("SSH_CONNECTION") {
        // On another thread, because a text-mode browser blocks until it is closed.
        let mut options = BrowserOptions::new();
        options.with_suppress_output(true);
        let open = move || webbrowser::open_browser_with_options(Browser::Default, &address, &options);
        let _ = std::thread::Builder::new().spawn(open);
    }
}
