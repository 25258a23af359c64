//! Runs the questions to `memscape ask` and `memscape mcp` that documents show.

use super::workshop::Workshop;
use super::{document, documents};
use serde_json::Value;

/// The question shown in SKILL.md and `memscape ask --help`.
pub(super) const QUESTION: &str = r#"{"id": 1, "command": "live", "arguments": ["--at", "oom"]}"#;

const HANDSHAKE: &str = r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
"#;

/// Checks that a line of the output answers [`QUESTION`].
///
/// # Errors
/// Fails if no line does.
pub(super) fn check_answer(answer: &str) -> Result<(), String> {
    let lines = answer.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answered = lines.into_iter().any(|line| line["id"] == 1 && line["answer"]["live_bytes"].is_u64());
    if answered { Ok(()) } else { Err(format!("answers {QUESTION} with {answer}")) }
}

/// Returns the sorted names of the tools that `memscape mcp` lists.
///
/// # Errors
/// Fails if the command fails or lists no tools.
pub(super) fn listed_tools(workshop: &Workshop, words: &[String]) -> Result<Vec<String>, String> {
    let answer = workshop.memscape(words, HANDSHAKE)?;
    let lines = answer.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let listed = lines.into_iter().find(|line| line["id"] == 2).ok_or("does not list its tools")?;
    let tools = listed["result"]["tools"].as_array().ok_or("lists no tools")?;
    let mut names: Vec<String> = tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
    names.sort_unstable();
    Ok(names)
}

#[test]
fn question_in_documents_matches_help() {
    let workshop = Workshop::new("ask");
    assert!(document("SKILL.md").spans.iter().any(|span| span.text == QUESTION));
    assert!(workshop.memscape(&["ask", "--help"].map(str::to_owned), "").unwrap().contains(QUESTION));
}

#[test]
fn registered_server_has_listed_tools() {
    let workshop = Workshop::new("mcp");
    let mut registered = Vec::new();
    for document in documents() {
        for block in document.blocks.iter().filter(|block| block.language == "json") {
            let registration: Value = serde_json::from_str(&block.text).unwrap();
            let server = &registration["mcpServers"]["memscape"];
            assert_eq!(server["command"], "memscape", "{}:{}", document.name, block.line);
            let words = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
            // The example names a folder that does not exist here.
            let words: Vec<String> = words.map(|word| word.replace("/home/me/runs", "runs")).collect();
            registered.push(listed_tools(&workshop, &words).unwrap());
        }
    }
    assert_eq!(registered.len(), 1);
    for (name, start, end) in
        [("www/docs/agents.md", "Its tools are ", ". "), ("SKILL.md", "with the tools ", "files`.")]
    {
        let document = document(name);
        let text = document.paragraphs.iter().find_map(|it| it.text.split_once(start)).expect(start).1;
        let (list, _) = text.split_once(end).unwrap();
        let list = format!("{list}{}", end.trim_end_matches(['.', ' ']));
        let spans = list.split('`').skip(1).step_by(2).filter(|span| !span.contains(':'));
        let mut named: Vec<&str> = spans.collect();
        named.sort_unstable();
        assert_eq!(named, registered[0], "{name}");
    }
}
