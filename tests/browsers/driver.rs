//! Interface to a browser, independent of its protocol, and child processes that end with the tests.

use crate::{firefox, webkit};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Timeout of a command.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(240);

/// A browser that the tests run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Browser {
    Firefox,
    /// Firefox with `privacy.resistFingerprinting`, which returns modified pixels of canvases.
    FirefoxResistingFingerprinting,
    WebKit,
}

/// WebDriver commands. Their bodies are the same in both protocols.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WebDriverCommand<'a> {
    /// Navigates to a URL.
    Navigate,
    /// Runs a script.
    Execute,
    /// Finds an element.
    Find,
    /// Types into this element; a file input takes paths.
    SendKeys(&'a str),
    /// Performs keyboard and pointer actions.
    Act,
    /// Takes a PNG screenshot.
    Screenshot,
}

/// Connection to a running browser.
pub(crate) trait Driver: Send {
    /// Runs a command and returns its value, or the error of the browser.
    fn execute(&mut self, order: WebDriverCommand<'_>, body: Value) -> Result<Value, String>;

    /// Folder of downloads.
    fn downloads(&self) -> &Path;

    /// Name and version of the browser.
    #[allow(dead_code, reason = "used by the benchmark `open`")]
    fn version(&self) -> &str;
}

impl Browser {
    /// Starts the browser; `None`, with a message, if it is not installed.
    pub(crate) fn start(self) -> Option<Box<dyn Driver>> {
        match self {
            Browser::Firefox => firefox::start("firefox", &[]),
            Browser::FirefoxResistingFingerprinting => {
                firefox::start("firefox-resisting", &[("privacy.resistFingerprinting", "true")])
            }
            Browser::WebKit => webkit::start(),
        }
    }
}

/// Name and version from the capabilities of a new session.
pub(crate) fn version(capabilities: &Value) -> String {
    let [name, version] = ["browserName", "browserVersion"].map(|key| capabilities[key].as_str().unwrap_or("?"));
    format!("{name} {version}")
}

/// Finds the first of these programs on `PATH`; prints a message if there is none.
pub(crate) fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = names.iter().flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
    let found = places.into_iter().find(|program| program.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: {} is not installed", names[0]);
    }
    found
}

/// Creates an empty folder of this name.
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browsers").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("target/tmp can be written");
    folder
}

/// Child process that ends with the tests, even if they crash: a shell kills it when its standard input closes.
pub(crate) struct GuardedProcess(Child);

const GUARD: &str = r#""$@" </dev/null & child=$!; exec >/dev/null; cat; kill $child; wait $child"#;

impl GuardedProcess {
    /// Starts the command, with standard error redirected to `log`.
    pub(crate) fn start(command: &Command, log: &Path) -> GuardedProcess {
        let mut guarded = Command::new("sh");
        guarded.args(["-c", GUARD, "sh"]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            guarded.env(name, value.unwrap_or_default());
        }
        let log = File::create(log).expect("target/tmp can be written");
        guarded.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        GuardedProcess(guarded.spawn().expect("sh can be started"))
    }

    /// First line of its output; empty if it ends without one.
    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        if let Some(printed) = self.0.stdout.take() {
            let _ = BufReader::new(printed).read_line(&mut line);
        }
        line.trim().to_owned()
    }
}

impl Drop for GuardedProcess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
