//! Validates messages from the client. Responds to invalid JSON-RPC 2.0 and invalid parameters here, with the id of the
//! request, because rmcp responds without an id or not at all.

use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;
use serde_json::{Map, Value, json};

/// Error code: a line is not JSON.
const PARSE_ERROR: i64 = -32700;
/// Error code: a message is not a request, notification or response.
const INVALID_REQUEST: i64 = -32600;
/// Error code: parameters of a request are missing or have the wrong type.
const INVALID_PARAMS: i64 = -32602;

/// Key of the only field that may be long.
const PARAMS: &[u8] = b"\"params\"";

/// A parsed line from the client.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// A valid request. Contains its method.
    Request(String),
    /// A valid notification or response.
    Other,
    /// An invalid notification or response, which gets no error response.
    Ignored,
    /// An invalid message. Contains the error response to send.
    Invalid(Value),
}

impl Message {
    /// Parses and validates a line of input.
    pub(super) fn parse(line: &[u8]) -> Message {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        match serde_json::from_slice(line) {
            Ok(message) => Message::from_json(&message).checked(line, &message),
            Err(error) => Message::invalid_message(&Value::Null, PARSE_ERROR, &format!("Parse error: {error}")),
        }
    }

    /// Rejects a line that is too long, given its first and its last bytes.
    pub(super) fn too_long(head: &[u8], tail: &[u8]) -> Message {
        let id = id_before_params(head).or_else(|| id_after_params(tail));
        Message::invalid_message(&id.unwrap_or(Value::Null), INVALID_REQUEST, "Invalid request: longer than 16 MiB")
    }

    fn from_json(message: &Value) -> Message {
        let invalid_request =
            |id, error| Message::invalid_message(id, INVALID_REQUEST, &format!("Invalid request: {error}"));
        let Some(message) = message.as_object() else {
            let error = if message.is_array() { "batches are not supported" } else { "expected an object" };
            return invalid_request(&Value::Null, error);
        };
        let id = message.get("id");
        if let Some(error) = message_error(message) {
            return invalid_request(id.filter(|id| is_id(id)).unwrap_or(&Value::Null), error);
        }
        // Notifications and responses are never answered.
        let (Some(id), Some(method)) = (id, message.get("method").and_then(Value::as_str)) else {
            return Message::Other;
        };
        match params_error(method, message.get("params")) {
            None => Message::Request(method.to_owned()),
            Some(error) => Message::invalid_message(id, INVALID_PARAMS, &format!("Invalid params: {error}")),
        }
    }

    /// Rejects a message that rmcp cannot parse, because rmcp would respond without an id.
    fn checked(self, line: &[u8], message: &Value) -> Message {
        let is_parsed = || serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line).is_ok();
        match self {
            Message::Request(_) if !is_parsed() => {
                let id = message.get("id").unwrap_or(&Value::Null);
                Message::invalid_message(id, INVALID_REQUEST, "Invalid request: a field has the wrong type")
            }
            Message::Other if !is_parsed() => Message::Ignored,
            checked => checked,
        }
    }

    fn invalid_message(id: &Value, code: i64, message: &str) -> Message {
        Message::Invalid(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
    }
}

/// Returns whether an error response can repeat an id. rmcp has no ids above 2^63 - 1.
fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

/// Returns the id of a message from the fields before its parameters.
fn id_before_params(head: &[u8]) -> Option<Value> {
    let params = head.windows(PARAMS.len()).position(|it| it == PARAMS)?;
    let fields = head.get(..params)?.trim_ascii_end();
    id_in_object(&[fields.strip_suffix(b",").unwrap_or(fields), b"}"])
}

/// Returns the id of a message from the fields after its parameters, where clients in TypeScript write it. Fields of
/// the parameters are followed by more than one brace.
fn id_after_params(tail: &[u8]) -> Option<Value> {
    let commas = tail.iter().enumerate().rev().filter(|(_, byte)| **byte == b',');
    commas.filter_map(|(at, _)| id_in_object(&[b"{", tail.get(at + 1..)?])).next()
}

fn id_in_object(parts: &[&[u8]]) -> Option<Value> {
    let object: Value = serde_json::from_slice(&parts.concat()).ok()?;
    object.get("id").filter(|id| is_id(id)).cloned()
}

/// Returns the reason why an object is not a valid request, notification or response, or `None` if it is valid.
fn message_error(message: &Map<String, Value>) -> Option<&'static str> {
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Some("expected \"jsonrpc\": \"2.0\"");
    }
    if message.get("id").is_some_and(|id| !id.is_string() && !id.is_i64()) {
        return Some("id is neither a string nor a 64-bit integer");
    }
    match message.get("method") {
        Some(Value::String(_)) => None,
        Some(_) => Some("method is not a string"),
        None if message.contains_key("result") || message.contains_key("error") => None,
        None => Some("method is missing"),
    }
}

/// Returns the reason why parameters are invalid for the method, or `None` if they are valid. Unknown methods are left
/// to rmcp.
fn params_error(method: &str, params: Option<&Value>) -> Option<String> {
    let none = Map::new();
    let params = match params {
        None => &none,
        Some(Value::Object(params)) => params,
        Some(_) => return Some("params is not an object".to_owned()),
    };
    if params.get("_meta").is_some_and(|meta| !meta.is_object() && !meta.is_null()) {
        return Some("_meta is not an object".to_owned());
    }
    let lacks = |fields: &Map<String, Value>, name: &str, is: fn(&Value) -> bool, kind: &str| match fields.get(name) {
        None => Some(format!("{name} is missing")),
        Some(value) if !is(value) => Some(format!("{name} is not {kind}")),
        Some(_) => None,
    };
    let text = |fields: &Map<String, Value>, name| lacks(fields, name, Value::is_string, "a string");
    let object = |fields: &Map<String, Value>, name| lacks(fields, name, Value::is_object, "an object");
    match method {
        "initialize" => text(params, "protocolVersion")
            .or_else(|| object(params, "capabilities"))
            .or_else(|| object(params, "clientInfo"))
            .or_else(|| {
                let client = params.get("clientInfo").and_then(Value::as_object).unwrap_or(&none);
                text(client, "name").or_else(|| text(client, "version"))
            }),
        "tools/call" => text(params, "name").or_else(|| match params.get("arguments") {
            None | Some(Value::Null | Value::Object(_)) => None,
            Some(_) => Some("arguments is not an object".to_owned()),
        }),
        "tools/list" => match params.get("cursor") {
            None | Some(Value::Null | Value::String(_)) => None,
            Some(_) => Some("cursor is not a string".to_owned()),
        },
        _ => None,
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/mcp/messages.rs"]
mod tests;
