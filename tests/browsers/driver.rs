//! What the tests ask of a browser, whatever language it is driven in; and the processes that end with the tests.

use crate::{firefox, webkit};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a browser may take to answer one command.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// A browser of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Firefox,
    /// Firefox that gives pages other pixels than they have drawn.
    FirefoxAgainstFingerprinting,
    WebKit,
}

/// What a browser is told to do: the names of WebDriver's commands, whose bodies are the same in both languages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order<'a> {
    /// Go to an address.
    Navigate,
    /// Run a script.
    Execute,
    /// Find an element.
    Find,
    /// Type into this element; a file input takes paths.
    SendKeys(&'a str),
    /// Keys and pointer.
    Act,
    /// A PNG of what is seen.
    Screenshot,
}

/// A browser that does what it is told.
pub(crate) trait Driver: Send {
    /// The value that the browser answers, or why it refuses.
    fn tell(&mut self, order: Order<'_>, body: Value) -> Result<Value, String>;

    /// Where it saves files.
    fn downloads(&self) -> &Path;

    /// What it calls itself, with its version.
    #[allow(dead_code, reason = "the bench of opening says it")]
    fn version(&self) -> &str;
}

impl Kind {
    /// Starts it; `None`, said aloud, where this machine has none.
    pub(crate) fn start(self) -> Option<Box<dyn Driver>> {
        match self {
            Kind::Firefox => firefox::start("firefox", &[]),
            Kind::FirefoxAgainstFingerprinting => {
                firefox::start("firefox-resisting", &[("privacy.resistFingerprinting", "true")])
            }
            Kind::WebKit => webkit::start(),
        }
    }
}

/// Name and version, as a new session tells them.
pub(crate) fn version(capabilities: &Value) -> String {
    let [name, version] = ["browserName", "browserVersion"].map(|key| capabilities[key].as_str().unwrap_or("?"));
    format!("{name} {version}")
}

/// The first of these programs on PATH; says aloud where there is none.
pub(crate) fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = names.iter().flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
    let found = places.into_iter().find(|program| program.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: {} is not installed", names[0]);
    }
    found
}

/// A folder of this name with nothing in it.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browsers").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("target/tmp can be written");
    folder
}

/// A program that ends with the tests, however they end: a shell waits for the end of its input and ends it then.
pub(crate) struct Process(Child);

const GUARD: &str = r#""$@" </dev/null & child=$!; exec >/dev/null; cat; kill $child; wait $child"#;

impl Process {
    /// Starts it; what it complains of goes to `log`.
    pub(crate) fn start(command: &Command, log: &Path) -> Process {
        let mut guarded = Command::new("sh");
        guarded.args(["-c", GUARD, "sh"]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            guarded.env(name, value.unwrap_or_default());
        }
        let log = File::create(log).expect("target/tmp can be written");
        guarded.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        Process(guarded.spawn().expect("there is a shell"))
    }

    /// The first line it prints; empty when it ends without one.
    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        if let Some(printed) = self.0.stdout.take() {
            let _ = BufReader::new(printed).read_line(&mut line);
        }
        line.trim().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
