//! WebKitGTK's MiniBrowser, controlled with WebDriver: JSON over HTTP. It has no headless mode, so it runs in Xvfb.

use crate::driver::{Driver, GuardedProcess, TIMEOUT, WebDriverCommand, empty_folder, find_program, version};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

struct WebKit {
    port: u16,
    session: String,
    downloads: PathBuf,
    version: String,
    // The driver ends before its screen: fields drop in order.
    _driver: GuardedProcess,
    _screen: GuardedProcess,
}

/// Starts MiniBrowser with a new home folder. `None`, with a message, if the driver or Xvfb is not installed.
pub(crate) fn start() -> Option<Box<dyn Driver>> {
    let (driver, screen) = (find_program(&["WebKitWebDriver"])?, find_program(&["Xvfb"])?);
    let home = empty_folder("webkit");
    let downloads = home.join("downloads");
    std::fs::create_dir_all(&downloads).expect("target/tmp can be written");
    let folders = format!("XDG_DOWNLOAD_DIR=\"{}\"\n", downloads.display());
    std::fs::write(home.join("user-dirs.dirs"), folders).expect("target/tmp can be written");

    let mut command = Command::new(screen);
    command.args(["-screen", "0", "1400x1000x24", "-nolisten", "tcp", "-displayfd", "1"]);
    let mut screen = GuardedProcess::start(&command, &home.join("screen.txt"));
    let display = screen.first_line();
    assert!(!display.is_empty(), "Xvfb did not start: {}/screen.txt", home.display());

    // The driver needs a port number, so one that is free now is used.
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    let port = free.expect("a free port").port();
    let mut command = Command::new(driver);
    command.arg(format!("--port={port}")).env("DISPLAY", format!(":{display}"));
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env(name, &home);
    }
    let driver = GuardedProcess::start(&command, &home.join("stderr.txt"));
    let deadline = Instant::now() + TIMEOUT;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(Instant::now() < deadline, "WebKitWebDriver does not listen: {}/stderr.txt", home.display());
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut webkit =
        WebKit { port, session: String::new(), downloads, version: String::new(), _driver: driver, _screen: screen };
    let session = webkit.call("POST", "/session", &json!({ "capabilities": {} })).expect("a session");
    webkit.version = version(&session["capabilities"]);
    webkit.session = format!("/session/{}", session["sessionId"].as_str().unwrap_or_default());
    let window = json!({ "x": 0, "y": 0, "width": 1280, "height": 900 });
    webkit.call("POST", &format!("{}/window/rect", webkit.session), &window).expect("a window of this size");
    Some(Box::new(webkit))
}

impl WebKit {
    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let answer =
            self.http_request(method, path, &body.to_string()).map_err(|error| format!("WebKit is gone: {error}"))?;
        let head =
            answer.windows(4).position(|four| four == b"\r\n\r\n").ok_or("a response without the end of its header")?;
        let mut answer: Value = serde_json::from_slice(&answer[head + 4..]).map_err(|error| error.to_string())?;
        let value = answer["value"].take();
        if value["error"].is_string() { Err(value.to_string()) } else { Ok(value) }
    }

    fn http_request(&self, method: &str, path: &str, body: &str) -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let body = if method == "POST" { body } else { "" };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    }
}

impl Driver for WebKit {
    fn execute(&mut self, order: WebDriverCommand<'_>, body: Value) -> Result<Value, String> {
        let (method, path) = match order {
            WebDriverCommand::Navigate => ("POST", "/url".to_owned()),
            WebDriverCommand::Execute => ("POST", "/execute/sync".to_owned()),
            WebDriverCommand::Find => ("POST", "/element".to_owned()),
            WebDriverCommand::SendKeys(element) => ("POST", format!("/element/{element}/value")),
            WebDriverCommand::Act => ("POST", "/actions".to_owned()),
            WebDriverCommand::Screenshot => ("GET", "/screenshot".to_owned()),
        };
        self.call(method, &format!("{}{path}", self.session), &body)
    }

    fn downloads(&self) -> &Path {
        &self.downloads
    }

    fn version(&self) -> &str {
        &self.version
    }
}

impl Drop for WebKit {
    fn drop(&mut self) {
        // Closes MiniBrowser, which may have ended already.
        let _ = self.call("DELETE", &self.session, &Value::Null);
    }
}
