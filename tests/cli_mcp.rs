//! `memscape mcp` over standard input and output: cancelled requests and protocol errors. tests/agents tests it with
//! the official client.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Timeout for an answer on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(40);

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-mcp").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn snapshot(folder: &Path) -> PathBuf {
    let alloc = json!({"action": "alloc", "addr": 0, "size": 512, "stream": 0, "frames": []});
    let path = folder.join("a.json");
    std::fs::write(&path, json!({"segments": [], "device_traces": [[alloc]]}).to_string()).unwrap();
    path
}

struct Client {
    child: Child,
    messages: Receiver<Value>,
}

impl Client {
    fn start(path: &Path) -> Client {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
        command.arg("mcp").arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (send, messages) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        Client { child, messages }
    }

    fn initialized(path: &Path) -> Client {
        let mut client = Client::start(path);
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        assert_eq!(client.request(0, "initialize", params)["result"]["serverInfo"]["name"], "memscape");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    fn send(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn next(&self) -> Value {
        self.messages.recv_timeout(TIMEOUT).unwrap()
    }

    /// Sends a line and returns the next message.
    fn answer(&mut self, line: &str) -> Value {
        self.send(line);
        self.next()
    }

    fn request(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.answer(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
    }

    fn call(&mut self, id: u32, tool: &str, arguments: Value) -> Value {
        self.request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn error(answer: &Value) -> (i64, &Value, &str) {
    let error = &answer["error"];
    (error["code"].as_i64().unwrap_or_default(), &answer["id"], error["message"].as_str().unwrap_or_default())
}

/// A query that never ends. Only its timeout of 60 seconds would stop it.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

#[test]
fn cancelled_request_stops_and_next_is_answered() {
    let mut client = Client::initialized(&snapshot(&folder("cancelled")));
    let call = |id: u32| {
        let params = json!({"name": "sql", "arguments": {"query": ENDLESS}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    // The second request is queued behind the first and cancelled before it starts.
    [call(1), call(2)].iter().for_each(|line| client.send(line));
    assert_eq!(client.request(3, "ping", json!({}))["id"], 3, "ping is answered while a query runs");
    std::thread::sleep(Duration::from_millis(500));
    for id in [2, 1] {
        let params = json!({"requestId": id, "reason": "no longer needed"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string());
    }
    let started = Instant::now();
    let answer = client.call(4, "sql", json!({"query": "SELECT count(*) FROM allocation"}));
    assert_eq!(answer["id"], 4, "a cancelled request has no response: {answer}");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("[1]"), "{answer}");
    assert!(started.elapsed() < TIMEOUT, "{:?}", started.elapsed());
    // Cancelling an unknown or answered request is no error.
    for id in [json!(4), json!("x"), json!(null)] {
        let params = json!({"requestId": id});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string());
    }
    assert_eq!(client.request(5, "ping", json!({}))["id"], 5);
}

#[test]
fn errors_have_request_id_and_protocol_code() {
    let mut client = Client::initialized(&snapshot(&folder("errors")));
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("memscape", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"{"jsonrpc": "2.0"}"#, -32600, Value::Null),
        (r#"{"id": 11, "method": "ping"}"#, -32600, json!(11)),
        (r#"{"jsonrpc": "2.0", "id": "twelve", "method": 12}"#, -32600, json!("twelve")),
        (r#"{"jsonrpc": "2.0", "id": 13, "method": "nothing/here"}"#, -32601, json!(13)),
        (r#"{"jsonrpc": "2.0", "id": 14, "method": "prompts/list"}"#, -32601, json!(14)),
        (r#"{"jsonrpc": "2.0", "id": 15, "method": "tools/call"}"#, -32602, json!(15)),
        (
            r#"{"jsonrpc": "2.0", "id": 16, "method": "tools/call", "params": {"name": "find", "arguments": 3}}"#,
            -32602,
            json!(16),
        ),
        (r#"{"jsonrpc": "2.0", "id": 17, "method": "tools/call", "params": {"name": "nothing"}}"#, -32602, json!(17)),
        (
            r#"{"jsonrpc": "2.0", "id": 9223372036854775808, "method": "ping"}"#,
            -32600,
            json!(9_223_372_036_854_775_808_u64),
        ),
        (r#"{"jsonrpc": "2.0", "id": 21, "method": "ping", "params": {"_meta": 3}}"#, -32602, json!(21)),
        (
            r#"{"jsonrpc": "2.0", "id": 22, "method": "tools/call", "params": {"name": "files", "_meta": []}}"#,
            -32602,
            json!(22),
        ),
        (r#"{"jsonrpc": "2.0", "id": 18, "method": "tools/list", "params": {"cursor": "next"}}"#, -32602, json!(18)),
    ] {
        let answer = client.answer(line);
        let (found, of, text) = error(&answer);
        assert_eq!((found, of), (code, &id), "{line}: {answer}");
        assert!(!text.is_empty() && answer["jsonrpc"] == "2.0", "{answer}");
    }
    // Notifications get no response, and stray responses are ignored.
    for line in [
        r#"{"jsonrpc": "2.0", "method": "notifications/nothing"}"#,
        r#"{"jsonrpc": "2.0", "method": "nothing"}"#,
        r#"{"jsonrpc": "2.0", "id": 99, "result": {}}"#,
        r#"{"jsonrpc": "2.0", "id": 99, "error": 3}"#,
        "",
        "\t",
    ] {
        client.send(line);
    }
    assert_eq!(client.request(20, "ping", json!({})), json!({"jsonrpc": "2.0", "id": 20, "result": {}}));
    // No rejected request is waited for.
    drop(client.child.stdin.take());
    let started = Instant::now();
    while client.child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < TIMEOUT, "the server is still running after its input ended");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn line_above_limit_is_answered_with_its_id() {
    let mut client = Client::initialized(&snapshot(&folder("long")));
    let text = "x".repeat(16 << 20);
    let params = format!(r#""params": {{"name": "find", "arguments": {{"query": "{text}", "id": 9}}}}"#);
    for (line, id) in [
        (format!(r#"{{"jsonrpc": "2.0", "id": "a", "method": "tools/call", {params}}}"#), json!("a")),
        (format!(r#"{{"method":"tools/call",{params},"jsonrpc":"2.0","id":5}}"#), json!(5)),
        (format!(r#"{{"method": "tools/call", {params}, "id": 6, "jsonrpc": "2.0"}}"#), json!(6)),
        (format!(r#"{{"jsonrpc": "2.0", "method": "tools/call", {params}}}"#), Value::Null),
        (text + "x", Value::Null),
    ] {
        let answer = client.answer(&line);
        assert_eq!(error(&answer), (-32600, &id, "Invalid request: longer than 16 MiB"));
    }
    assert_eq!(client.request(7, "ping", json!({}))["id"], 7);
}

#[test]
fn messages_before_initialize_keep_server_running() {
    let mut client = Client::start(&snapshot(&folder("before")));
    client.send(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
    client.send(r#"{"jsonrpc": "2.0", "id": 9, "result": {}}"#);
    assert_eq!(client.request(1, "ping", json!({}))["id"], 1);
    assert_eq!(error(&client.request(2, "initialize", json!({}))).0, -32602);
    let early = client.request(3, "tools/list", json!({}));
    assert!(early["id"] == 3 && early.get("error").is_some(), "{early}");
    let params =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert!(client.request(4, "initialize", params).get("result").is_some());
}

#[test]
fn invalid_argument_lists_possible_values() {
    let mut client = Client::initialized(&snapshot(&folder("values")));
    let answer = client.call(1, "insights", json!({"topic": "nothing"}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        answer["result"]["isError"] == true && text.contains("[possible values: ") && text.contains("oom"),
        "{text}"
    );
    let answer = client.call(2, "nothing", json!({}));
    let (_, _, text) = error(&answer);
    assert!(text.starts_with("no tool nothing [possible values: files, summary, "), "{text}");
    let answer = client.call(3, "summary", json!({"nothing": 1}));
    assert_eq!(answer["result"]["content"][0]["text"], "summary has no argument nothing; it has file");
}

#[test]
fn files_tool_reports_number_of_omitted_snapshots() {
    let folder = folder("many");
    (0..103).for_each(|rank| std::fs::write(folder.join(format!("rank{rank}.pickle")), b"x").unwrap());
    let mut client = Client::initialized(&folder);
    let answer = client.call(1, "files", json!({}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let files: Value = serde_json::from_str(text).unwrap();
    assert_eq!((files["snapshots"].as_array().unwrap().len(), &files["snapshots_left_out"]), (100, &json!(3)));
}

#[test]
fn missing_path_ends_server() {
    let mut client = Client::start(&folder("gone").join("nonexistent"));
    assert_eq!(client.child.wait().unwrap().code(), Some(1));
}
