//! A terminal without anybody in front of it: tmux runs the program, is told keys, and says what stands on the screen.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How often the screen is looked at, and how long what is waited for may take on a busy machine.
const LOOK: Duration = Duration::from_millis(30);
const LOOKS: u32 = 4000;

/// A server of its own with one session.
pub(crate) struct Tmux {
    socket: String,
}

/// Whether there is tmux.
pub(crate) fn has_tmux() -> bool {
    let has = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("SKIPPED: there is no tmux");
    }
    has
}

impl Tmux {
    /// Runs a shell's command in a terminal of this size.
    pub(crate) fn run([columns, rows]: [u16; 2], command: &str) -> Tmux {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let tmux = Tmux { socket: format!("memscape-{}-{number}", std::process::id()) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        // OSC 52 is kept by tmux itself.
        tmux.say(&[
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

    fn say(&self, words: &[&str]) -> String {
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

    /// Presses keys, by tmux's names of them.
    pub(crate) fn keys(&self, keys: &[&str]) {
        self.say(&[&["send-keys"], keys].concat());
    }

    /// Types a text as it is.
    pub(crate) fn text(&self, text: &str) {
        self.say(&["send-keys", "-l", text]);
    }

    /// Everything printed, with lines that the terminal broke joined again.
    pub(crate) fn whole_lines(&self) -> String {
        self.say(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    /// What stands on the screen.
    pub(crate) fn screen(&self) -> String {
        self.say(&["capture-pane", "-p"])
    }

    /// The screen once it is as wanted.
    pub(crate) fn wait(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        for _ in 0..LOOKS {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            std::thread::sleep(LOOK);
        }
        panic!("{what}: the screen is\n{}", self.screen());
    }

    /// The screen once it has all of these texts.
    pub(crate) fn wait_for(&self, texts: &[&str]) -> String {
        self.wait(&format!("waiting for {texts:?}"), |screen| texts.iter().all(|text| screen.contains(text)))
    }

    /// What tmux says of the pane in its own format.
    pub(crate) fn tell(&self, format: &str) -> String {
        self.say(&["display-message", "-p", format]).trim_end().to_owned()
    }

    /// The text that was copied last.
    pub(crate) fn copied(&self) -> String {
        self.say(&["show-buffer"])
    }

    pub(crate) fn resize(&self, [columns, rows]: [u16; 2]) {
        self.say(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// Takes the terminal away, as a connection that breaks does.
    pub(crate) fn hang_up(&self) {
        self.say(&["kill-server"]);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.hang_up();
    }
}
