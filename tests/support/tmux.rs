//! Runs terminal programs in tmux: sends keys and reads the screen.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Interval between reads of the screen. [`MAX_POLLS`] reads are the timeout on a busy machine.
const POLL_INTERVAL: Duration = Duration::from_millis(30);
const MAX_POLLS: u32 = 4000;

/// A tmux server with one session.
pub(crate) struct Tmux {
    socket: String,
}

/// Returns whether tmux is installed. Prints a note if not.
pub(crate) fn has_tmux() -> bool {
    let has = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("SKIPPED: there is no tmux");
    }
    has
}

impl Tmux {
    /// Runs a shell command in a terminal of the given size.
    pub(crate) fn run([columns, rows]: [u16; 2], command: &str) -> Tmux {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let tmux = Tmux { socket: format!("memscape-{}-{number}", std::process::id()) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        // tmux itself handles OSC 52.
        tmux.run_tmux(&[
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            command,
            ";",
            "set-option",
            "-g",
            "set-clipboard",
            "on",
            ";",
            "set-option",
            "-g",
            "remain-on-exit",
            "on",
        ]);
        tmux
    }

    fn run_tmux(&self, words: &[&str]) -> String {
        let output = Command::new("tmux")
            .args(["-L", &self.socket, "-f", "/dev/null"])
            .args(words)
            .env("TERM", "screen-256color")
            .env("COLORTERM", "truecolor")
            .env_remove("NO_COLOR")
            .env_remove("TMUX")
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Sends keys, given by their tmux names.
    pub(crate) fn keys(&self, keys: &[&str]) {
        self.run_tmux(&[&["send-keys"], keys].concat());
    }

    /// Types a text literally.
    pub(crate) fn text(&self, text: &str) {
        self.run_tmux(&["send-keys", "-l", text]);
    }

    /// Returns all output, with wrapped lines joined.
    pub(crate) fn whole_lines(&self) -> String {
        self.run_tmux(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    /// Returns the visible screen.
    pub(crate) fn screen(&self) -> String {
        self.run_tmux(&["capture-pane", "-p"])
    }

    /// Waits until the screen satisfies `conditions_hold`, and returns it. `what` describes the condition in the panic
    /// message.
    pub(crate) fn wait(&self, what: &str, conditions_hold: impl Fn(&str) -> bool) -> String {
        for _ in 0..MAX_POLLS {
            let screen = self.screen();
            if conditions_hold(&screen) {
                return screen;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        panic!("{what}: the screen is\n{}", self.screen());
    }

    /// Waits until the screen contains all texts, and returns it.
    pub(crate) fn wait_for(&self, texts: &[&str]) -> String {
        self.wait(&format!("waiting for {texts:?}"), |screen| texts.iter().all(|text| screen.contains(text)))
    }

    /// Expands a tmux format for the pane.
    pub(crate) fn expand_format(&self, format: &str) -> String {
        self.run_tmux(&["display-message", "-p", format]).trim_end().to_owned()
    }

    /// Returns the last copied text.
    pub(crate) fn copied(&self) -> String {
        self.run_tmux(&["show-buffer"])
    }

    pub(crate) fn resize(&self, [columns, rows]: [u16; 2]) {
        self.run_tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// Kills the tmux server, like a dropped connection.
    pub(crate) fn hang_up(&self) {
        self.run_tmux(&["kill-server"]);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.hang_up();
    }
}
