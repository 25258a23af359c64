//! Firefox, controlled with Marionette: JSON messages over a socket, each prefixed with its length.

use crate::driver::{Driver, GuardedProcess, TIMEOUT, WebDriverCommand, empty_folder, find_program, version};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

struct Firefox {
    stream: TcpStream,
    last_id: u64,
    downloads: PathBuf,
    version: String,
    _process: GuardedProcess,
}

/// Starts Firefox with a new profile and these additional preferences. `None`, with a message, if it is not installed.
pub(crate) fn start(name: &str, more: &[(&str, &str)]) -> Option<Box<dyn Driver>> {
    let program = match std::env::var_os("FIREFOX") {
        Some(named) => named.into(),
        None => find_program(&["firefox-esr", "firefox"])?,
    };
    let profile = empty_folder(name);
    let downloads = profile.join("downloads");
    std::fs::create_dir_all(&downloads).expect("target/tmp can be written");
    let folder = Value::from(downloads.to_string_lossy()).to_string();
    let preferences = [
        // Any free port, which Firefox writes to a file.
        ("marionette.port", "0"),
        // The default outside of tests: files of a folder do not share an origin.
        ("security.fileuri.strict_origin_policy", "true"),
        ("datareporting.policy.dataSubmissionEnabled", "false"),
        ("browser.download.folderList", "2"),
        ("browser.download.dir", &folder),
    ];
    let lines = preferences.iter().chain(more).map(|(name, value)| format!("user_pref(\"{name}\", {value});\n"));
    std::fs::write(profile.join("user.js"), lines.collect::<String>()).expect("target/tmp can be written");
    let mut command = Command::new(program);
    command.args(["--headless", "--no-remote", "--marionette", "--width", "1280", "--height", "900", "--profile"]);
    command.arg(&profile);
    let process = GuardedProcess::start(&command, &profile.join("stderr.txt"));
    let deadline = Instant::now() + TIMEOUT;
    let port = profile.join("MarionetteActivePort");
    let stream = loop {
        let port = std::fs::read_to_string(&port).ok().and_then(|port| port.trim().parse::<u16>().ok());
        if let Some(stream) = port.and_then(|port| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()) {
            break stream;
        }
        assert!(Instant::now() < deadline, "Firefox does not listen: {}/stderr.txt", profile.display());
        std::thread::sleep(Duration::from_millis(20));
    };
    stream.set_read_timeout(Some(TIMEOUT)).expect("the timeout is not zero");
    let mut firefox = Firefox { stream, last_id: 0, downloads, version: String::new(), _process: process };
    firefox.receive().expect("the greeting of Marionette");
    let session = firefox.send("WebDriver:NewSession", json!({})).expect("a session");
    firefox.version = version(&session["capabilities"]);
    Some(Box::new(firefox))
}

impl Firefox {
    fn call(&mut self, name: &str, body: Value) -> Result<Value, String> {
        self.send(name, body).map(|mut answer| answer["value"].take())
    }

    fn send(&mut self, name: &str, body: Value) -> Result<Value, String> {
        self.last_id += 1;
        let message = json!([0, self.last_id, name, body]).to_string();
        write!(self.stream, "{}:{message}", message.len()).map_err(|error| error.to_string())?;
        let mut answer = self.receive()?;
        if answer[2].is_null() { Ok(answer[3].take()) } else { Err(answer[2].to_string()) }
    }

    fn receive(&mut self) -> Result<Value, String> {
        let mut digit = [0];
        let mut length = 0;
        loop {
            self.stream.read_exact(&mut digit).map_err(|error| format!("Firefox is gone: {error}"))?;
            match digit[0] {
                b':' => break,
                digit => length = length * 10 + usize::from(digit.wrapping_sub(b'0')),
            }
        }
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).map_err(|error| format!("Firefox is gone: {error}"))?;
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }
}

impl Driver for Firefox {
    fn execute(&mut self, order: WebDriverCommand<'_>, mut body: Value) -> Result<Value, String> {
        let name = match order {
            WebDriverCommand::Navigate => "Navigate",
            WebDriverCommand::Execute => "ExecuteScript",
            WebDriverCommand::Find => "FindElement",
            WebDriverCommand::SendKeys(element) => {
                body["id"] = element.into();
                "ElementSendKeys"
            }
            WebDriverCommand::Act => "PerformActions",
            WebDriverCommand::Screenshot => {
                body["full"] = false.into();
                "TakeScreenshot"
            }
        };
        self.call(&format!("WebDriver:{name}"), body)
    }

    fn downloads(&self) -> &Path {
        &self.downloads
    }

    fn version(&self) -> &str {
        &self.version
    }
}
