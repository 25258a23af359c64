//! Headless Chromium, controlled with the DevTools protocol over a pipe, without a port, driver or crate.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

/// WebGPU adapter that Chromium offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adapter {
    Software,
    Missing,
    /// As [`Adapter::Software`], in a separate browser whose GPU process a test crashes.
    SoftwareToCrash,
}

/// Flags of every start; all were found to be necessary. Without a sandbox, since tests run as root in containers.
const FLAGS: [&str; 10] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
];

/// Flags for WebGPU in software. Without the first the adapter is null; without the second the first canvas texture
/// crashes the GPU process.
const WEBGPU_FLAGS: [&str; 4] =
    ["--enable-unsafe-webgpu", "--use-angle=swiftshader", "--enable-features=Vulkan", "--use-vulkan=swiftshader"];

/// Timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(240);

/// A running browser. It ends with the test process, when its pipe closes.
pub(crate) struct Chromium {
    connection: Arc<Connection>,
    _process: Child,
}

/// Both directions of the pipe: outgoing commands, incoming replies and events.
struct Connection {
    to_browser: Mutex<Outgoing>,
    inbox: Mutex<Inbox>,
    arrived: Condvar,
}

struct Outgoing {
    pipe: ChildStdin,
    last_id: u64,
}

#[derive(Default)]
struct Inbox {
    replies: HashMap<u64, Value>,
    events: Vec<Event>,
    closed: bool,
}

/// An event sent by the browser.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// Session of a page or a worker; empty for the browser itself.
    pub(crate) session: String,
    pub(crate) method: String,
    pub(crate) params: Value,
}

impl Chromium {
    /// Returns this process's browser with this kind of adapter, started on the first call.
    pub(crate) fn shared(adapter: Adapter) -> &'static Chromium {
        static SOFTWARE: OnceLock<Chromium> = OnceLock::new();
        static MISSING: OnceLock<Chromium> = OnceLock::new();
        static MORTAL: OnceLock<Chromium> = OnceLock::new();
        let start = || Chromium::start(adapter, &profile_folder(&format!("{adapter:?}")));
        match adapter {
            Adapter::Software => SOFTWARE.get_or_init(start),
            Adapter::Missing => MISSING.get_or_init(start),
            Adapter::SoftwareToCrash => MORTAL.get_or_init(start),
        }
    }

    /// Starts another browser with an empty profile, for benchmarks of a first visit. It is leaked, since pages need a
    /// `'static` reference. Only one may run at a time.
    #[allow(dead_code, reason = "used by the benchmark `open`")]
    pub(crate) fn start_fresh(adapter: Adapter) -> &'static Chromium {
        Box::leak(Box::new(Chromium::start(adapter, &profile_folder("fresh"))))
    }

    /// Closes a browser started by [`Chromium::fresh`] and removes its profile.
    #[allow(dead_code, reason = "used by the benchmark `open`")]
    pub(crate) fn close_fresh(&self) {
        // The browser may have ended already.
        let _ = self.try_call("", "Browser.close", json!({}));
        let inbox = self.connection.inbox.lock().expect("the mutex is not poisoned");
        drop(self.connection.arrived.wait_timeout_while(inbox, TIMEOUT, |inbox| !inbox.closed));
        let _ = std::fs::remove_dir_all(profile_folder("fresh"));
    }

    fn start(adapter: Adapter, folder: &Path) -> Chromium {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).expect("target/tmp can be written");
        let log = std::fs::File::create(folder.join("stderr.txt")).expect("target/tmp can be written");
        // Chromium reads commands from file descriptor 3 and writes to 4. A shell redirects them, since std only
        // redirects 0 to 2.
        let mut command = Command::new("sh");
        command.args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh"]);
        command.arg(chromium_path()).args(FLAGS);
        if adapter != Adapter::Missing {
            command.args(WEBGPU_FLAGS);
        }
        command.arg(format!("--user-data-dir={}", folder.display()));
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().expect("sh can be started");
        let pipe = process.stdin.take().expect("stdin is piped");
        let from_browser = process.stdout.take().expect("stdout is piped");
        let connection = Arc::new(Connection {
            to_browser: Mutex::new(Outgoing { pipe, last_id: 0 }),
            inbox: Mutex::default(),
            arrived: Condvar::new(),
        });
        let reader = Arc::clone(&connection);
        std::thread::spawn(move || reader.read_all(from_browser));
        let chromium = Chromium { connection, _process: process };
        chromium.call("", "Browser.getVersion", json!({}));
        chromium
    }

    /// Sends a command and returns its result. `session` is empty for the browser itself.
    ///
    /// # Panics
    /// If the command fails, or the browser has ended or does not respond.
    #[track_caller]
    pub(crate) fn call(&self, session: &str, method: &str, params: Value) -> Value {
        match self.try_call(session, method, params) {
            Ok(result) => result,
            Err(why) => panic!("{method}: {why}"),
        }
    }

    /// Sends a command like [`Chromium::call`], and returns failures as errors.
    pub(crate) fn try_call(&self, session: &str, method: &str, params: Value) -> Result<Value, String> {
        let id = self.connection.send(session, method, params);
        let inbox = self.connection.inbox.lock().expect("the mutex is not poisoned");
        let (mut inbox, wait) = self
            .connection
            .arrived
            .wait_timeout_while(inbox, TIMEOUT, |inbox| !inbox.closed && !inbox.replies.contains_key(&id))
            .expect("the mutex is not poisoned");
        let Some(mut reply) = inbox.replies.remove(&id) else {
            let why = if wait.timed_out() { "no answer" } else { "the browser is gone" };
            return Err(format!("{why}; its log is target/tmp/chromium-*/stderr.txt"));
        };
        match reply.get("error") {
            Some(error) => Err(error.to_string()),
            None => Ok(reply["result"].take()),
        }
    }

    /// Events so far that satisfy `wanted`, oldest first.
    pub(crate) fn events(&self, wanted: impl Fn(&Event) -> bool) -> Vec<Event> {
        let inbox = self.connection.inbox.lock().expect("the mutex is not poisoned");
        inbox.events.iter().filter(|event| wanted(event)).cloned().collect()
    }
}

impl Connection {
    /// Writes a command and returns the id of its reply.
    fn send(&self, session: &str, method: &str, params: Value) -> u64 {
        let mut outgoing = self.to_browser.lock().expect("the mutex is not poisoned");
        outgoing.last_id += 1;
        let id = outgoing.last_id;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        // If the browser has ended, waiting for the reply fails.
        let _ = outgoing.pipe.write_all(&bytes).and_then(|()| outgoing.pipe.flush());
        id
    }

    fn read_all(&self, from_browser: ChildStdout) {
        let mut from_browser = BufReader::new(from_browser);
        let mut bytes = Vec::new();
        while matches!(from_browser.read_until(0, &mut bytes), Ok(1..)) {
            if bytes.last() == Some(&0) {
                bytes.pop();
            }
            if let Ok(message) = serde_json::from_slice::<Value>(&bytes) {
                self.receive(message);
            }
            bytes.clear();
        }
        self.inbox.lock().expect("the mutex is not poisoned").closed = true;
        self.arrived.notify_all();
    }

    fn receive(&self, mut message: Value) {
        if let Some(id) = message["id"].as_u64() {
            self.inbox.lock().expect("the mutex is not poisoned").replies.insert(id, message);
        } else {
            let event = Event {
                session: message["sessionId"].as_str().unwrap_or_default().to_owned(),
                method: message["method"].as_str().unwrap_or_default().to_owned(),
                params: message["params"].take(),
            };
            if event.method == "Target.attachedToTarget" && event.params["waitingForDebugger"] == true {
                self.resume_worker(&event.params);
            }
            self.inbox.lock().expect("the mutex is not poisoned").events.push(event);
        }
        self.arrived.notify_all();
    }

    /// Enables network and console events of a new worker, which is paused until then, and resumes it.
    fn resume_worker(&self, attached: &Value) {
        let session = attached["sessionId"].as_str().unwrap_or_default();
        for method in ["Network.enable", "Runtime.enable", "Runtime.runIfWaitingForDebugger"] {
            self.send(session, method, json!({}));
        }
    }
}

/// Profile folder of the browser with this name.
fn profile_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chromium-{name}"))
}

/// Path of Chromium: the variable `CHROMIUM`, or the first of the usual names on `PATH`.
fn chromium_path() -> PathBuf {
    if let Some(named) = std::env::var_os("HEADLESS_SHELL").or_else(|| std::env::var_os("CHROMIUM")) {
        return named.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .find(|program| program.is_file())
        .expect("Chromium is on PATH or named in CHROMIUM: ./run test installs it")
}
