//! Handles a tool call: runs the command and adds a link that opens the corresponding view of the page.

use super::arguments::command_line;
use super::files::AllowedFiles;
use super::length_limit::limit_length;
use super::tools::{FILES, RANKS, Tool};
use crate::ask::CommandRunner;
use crate::kept_file;
use crate::opening::keep_open;
use serde_json::{Map, Value, json};
use std::path::Path;
use ui::text::url::percent_encoded;

/// Runs a tool call and returns its result.
///
/// # Errors
/// Returns an error message if the arguments are invalid, the file cannot be read, or the command fails.
pub(super) fn run_tool(
    name: &str,
    arguments: &Map<String, Value>,
    files: &AllowedFiles,
    answerer: CommandRunner,
) -> Result<Value, String> {
    if name == FILES {
        return Ok(limit_length(files.listing()));
    }
    let tool = Tool::by_name(name).ok_or_else(|| format!("no tool {}", name.chars().take(100).collect::<String>()))?;
    let words = command_line(tool, arguments, files)?;
    let shown = Path::new(&words.path).file_name().map_or_else(String::new, |name| name.display().to_string());
    let wrong = |error: String| format!("{shown}: {error}");
    let path = Path::new(&words.path);
    // The file stays open, so the next tool call about it reads nothing from disk.
    if tool.name != RANKS && kept_file::summary(path).is_none() {
        keep_open(path, None).map_err(wrong)?;
    }
    let mut answer = answerer(&words.path, tool.command, &words.words).map_err(wrong)?;
    if tool.name == "insights" && !arguments.contains_key("topic") {
        remove_tables(&mut answer);
    }
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str);
    // Without an explicit moment, the link points to the moment of the answer.
    let event = answer.get("event").and_then(Value::as_i64).map(|event| event.to_string());
    let oom = argument("topic").filter(|topic| *topic == "oom").map(str::to_owned);
    let parts = [
        ("topic", argument("topic").map(str::to_owned)),
        ("at", words.at.or(oom).or(event)),
        ("find", argument("query").map(str::to_owned)),
    ];
    let mut link = tool.link_params.to_owned();
    for (key, text) in parts.into_iter().filter(|_| !tool.link_params.is_empty()) {
        let text = text.map(|text| percent_encoded(&text).replace('&', "%26").replace('#', "%23"));
        link.extend(text.map(|text| format!("&{key}={text}")));
    }
    let answer = match answer {
        Value::Object(_) => answer,
        other => json!({"answer": other}),
    };
    let answer = limit_length(answer);
    Ok(match link.is_empty() {
        true => answer,
        false => crate::output::with_fields(answer, json!({"link": format!("#{link}")})),
    })
}

/// Removes the tables from a report on all insights. An agent can request a single insight to get its tables.
fn remove_tables(answer: &mut Value) {
    match answer {
        Value::Object(fields) => {
            fields.remove("sheets");
            fields.remove("charts");
            fields.values_mut().for_each(remove_tables);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_tables),
        _ => {}
    }
}
