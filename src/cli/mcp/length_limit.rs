//! Limits the length of responses to an agent. Redundant fields are removed first, then rows, and a field says what was
//! removed.

use serde_json::{Map, Value, json};

/// Maximum length of a response in bytes, about 6,000 tokens.
pub(super) const MAX_ANSWER_BYTES: usize = 20_000;
/// Maximum length of a text value in characters.
const MAX_TEXT_CHARS: usize = 600;
/// Minimum number of rows that each table keeps in the first pass, so that no table is emptied while others are long.
const MIN_ROWS: usize = 3;

/// Shortens a response to at most [`MAX_ANSWER_BYTES`] bytes. The field `cut` says what was removed and how to get it.
pub(super) fn limit_length(mut answer: Value) -> Value {
    remove_redundant(&mut answer);
    let mut cuts: Map<String, Value> = Map::new();
    for min_rows in [MIN_ROWS, 0] {
        while size(&answer) > MAX_ANSWER_BYTES {
            let mut largest = (0, String::new());
            find_largest_array(&answer, "", min_rows, &mut largest);
            let (bytes, pointer) = largest;
            let Some(rows) = answer.pointer_mut(&pointer).and_then(Value::as_array_mut).filter(|_| bytes > 0) else {
                break;
            };
            let kept = (rows.len() / 2).max(min_rows);
            let left_out = rows.len() - kept;
            rows.truncate(kept);
            let known = cuts.get(&pointer).and_then(Value::as_u64).unwrap_or(0);
            cuts.insert(pointer, json!(known + left_out as u64));
        }
    }
    if size(&answer) > MAX_ANSWER_BYTES {
        return json!({"cut": "The answer is too long even without its tables. Ask for one topic, a narrower search, or fewer rows."});
    }
    if !cuts.is_empty() {
        let cut = json!({
            "left_out": cuts,
            "for_more": "Ask again with fewer rows of the other tables (rows), a narrower search (query, filter, from, to) or one topic.",
        });
        answer = crate::output::with_fields(answer, json!({"cut": cut}));
    }
    answer
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// Removes redundant data: column headings if rows have keys, and frames of torch and C++ in stacks that also contain
/// other frames.
fn remove_redundant(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // Rows of SQL results are arrays, which need the headings.
            let has_keys =
                fields.get("rows").and_then(Value::as_array).is_some_and(|rows| rows.iter().all(Value::is_object));
            if has_keys {
                fields.remove("columns");
            }
            fields.retain(|_, value| !value.is_null());
            if let Some(Value::Array(stack)) = fields.get_mut("stack") {
                let is_own = |frame: &Value| frame.as_str().is_some_and(is_user_frame);
                if stack.iter().any(is_own) {
                    stack.retain(is_own);
                }
            }
            fields.values_mut().for_each(remove_redundant);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_redundant),
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(MAX_TEXT_CHARS) {
                text.truncate(end);
                text.push('…');
            }
        }
        _ => {}
    }
}

fn is_user_frame(frame: &str) -> bool {
    frame.contains(".py:") && !frame.contains("/site-packages/torch/") && !frame.contains("/dist-packages/torch/")
}

/// Finds the largest array with more than `min_rows` elements, and stores its size in bytes and its JSON pointer in
/// `largest`. Searches inside arrays only if they have at most `min_rows` elements.
fn find_largest_array(value: &Value, pointer: &str, min_rows: usize, largest: &mut (usize, String)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                find_largest_array(value, &format!("{pointer}/{key}"), min_rows, largest);
            }
        }
        Value::Array(items) => {
            if items.len() > min_rows {
                let bytes = size(value);
                if bytes > largest.0 {
                    *largest = (bytes, pointer.to_owned());
                }
                return;
            }
            for (index, value) in items.iter().enumerate() {
                find_largest_array(value, &format!("{pointer}/{index}"), min_rows, largest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/mcp/bounded.rs"]
mod tests;
