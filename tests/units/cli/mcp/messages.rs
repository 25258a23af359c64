//! Unit tests of `src/cli/mcp/messages.rs`.

use super::*;

/// Returns code, id and text of the error response to a line, or `None` if the line is valid.
fn refused(line: &str) -> Option<(i64, Value, String)> {
    let Message::Invalid(error) = Message::parse(line.as_bytes()) else { return None };
    let text = error["error"]["message"].as_str().unwrap().to_owned();
    Some((error["error"]["code"].as_i64().unwrap(), error["id"].clone(), text))
}

fn request_error(method: &str, params: &str) -> Option<String> {
    let (code, id, text) =
        refused(&format!(r#"{{"jsonrpc": "2.0", "id": "a", "method": "{method}", "params": {params}}}"#))?;
    assert_eq!((code, id), (INVALID_PARAMS, json!("a")), "{method} {params}");
    Some(text)
}

#[test]
fn invalid_json_is_parse_error_without_id() {
    for line in ["{", "x", "{\"id\": 3", "\0\0", "{\"id\": 3} {}", "\u{feff}", &"{".repeat(100_000)] {
        let (code, id, text) = refused(line).unwrap();
        assert_eq!((code, id), (PARSE_ERROR, Value::Null), "{line:.20}");
        assert!(text.starts_with("Parse error: "), "{text}");
    }
    assert!(matches!(Message::parse(b"\"\xff\""), Message::Invalid(error) if error["error"]["code"] == PARSE_ERROR));
}

#[test]
fn invalid_request_error_has_id_if_readable() {
    for (line, id) in [
        (r#"{"id": 3, "method": "ping"}"#, json!(3)),
        (r#"{"jsonrpc": "1.0", "id": "x", "method": "ping"}"#, json!("x")),
        (r#"{"jsonrpc": "2.0", "id": 4, "method": 5}"#, json!(4)),
        (r#"{"jsonrpc": "2.0", "id": 4}"#, json!(4)),
        (r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#, Value::Null),
        (r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#, Value::Null),
        (r#"{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}"#, Value::Null),
        (r#"{"jsonrpc": "2.0"}"#, Value::Null),
        (r#"[{"jsonrpc": "2.0", "id": 4, "method": "ping"}]"#, Value::Null),
        ("[]", Value::Null),
        ("3", Value::Null),
    ] {
        let (code, found, text) = refused(line).unwrap();
        assert_eq!((code, found), (INVALID_REQUEST, id), "{line}");
        assert!(text.starts_with("Invalid request: "), "{text}");
    }
}

#[test]
fn invalid_parameters_are_rejected() {
    for (method, params, error) in [
        ("ping", "[1]", "params is not an object"),
        ("tools/call", "{}", "name is missing"),
        ("tools/call", r#"{"name": 3}"#, "name is not a string"),
        ("tools/call", r#"{"name": "find", "arguments": []}"#, "arguments is not an object"),
        ("tools/list", r#"{"cursor": 3}"#, "cursor is not a string"),
        ("initialize", r#"{"protocolVersion": 3}"#, "protocolVersion is not a string"),
        ("initialize", r#"{"protocolVersion": "2025-06-18"}"#, "capabilities is missing"),
        (
            "initialize",
            r#"{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a"}}"#,
            "version is missing",
        ),
    ] {
        assert_eq!(request_error(method, params), Some(format!("Invalid params: {error}")), "{method} {params}");
    }
}

#[test]
fn valid_messages_and_unknown_methods_are_accepted() {
    for (method, params) in [
        ("ping", "{}"),
        ("nothing/like/it", "{}"),
        ("tools/list", r#"{"cursor": null}"#),
        ("tools/call", r#"{"name": "find", "arguments": null}"#),
    ] {
        assert_eq!(request_error(method, params), None, "{method}");
    }
    for line in [
        r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#,
        r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}}"#,
    ] {
        assert_eq!(refused(line), None, "{line}");
    }
}
