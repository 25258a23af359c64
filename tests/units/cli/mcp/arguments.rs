//! Conversion of MCP tool arguments to command-line words.

use super::super::tools::TOOLS;
use super::*;
use serde_json::json;

fn folder() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("memscape-mcp-arguments-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    std::fs::write(folder.join("a.pickle"), "").unwrap();
    std::fs::write(folder.join("inner/b.pickle"), "").unwrap();
    folder
}

fn asked(tool: &str, arguments: Value) -> Result<CommandLine, String> {
    let files = AllowedFiles::new(Some(&folder().join("a.pickle"))).unwrap();
    command_line(Tool::by_name(tool).unwrap(), arguments.as_object().unwrap(), &files)
}

#[test]
fn argument_values_are_not_parsed_as_options() {
    let words = asked("find", json!({"query": "--json -o /tmp/x", "at": "oom"})).unwrap();
    assert_eq!(words.words, ["--at=oom", "--top=10", "--", "--json -o /tmp/x"]);
    assert_eq!(words.at.as_deref(), Some("oom"));
    let words = asked("whatif", json!({"settings": ["--help", "a:b"], "device": -1})).unwrap();
    assert_eq!(words.words, ["--set=--help", "--set=a:b", "--device=-1"]);
    let words = asked("diff", json!({"other": "inner/b.pickle", "rows": 3})).unwrap();
    assert!(words.words[2].ends_with("inner/b.pickle"), "{words:?}");
    assert_eq!(words.words[..2], ["--top=3", "--"]);
}

#[test]
fn invalid_argument_is_named_in_error() {
    for (tool, arguments, message) in [
        ("find", json!({"pattern": "a"}), "find has no argument pattern; it has file, query"),
        ("find", json!({"query": 7}), "query is not a text"),
        ("find", json!({"query": "a\0"}), "query has a zero byte"),
        ("find", json!({"query": "x".repeat(4_001)}), "query is longer"),
        ("find", json!({"rows": 0}), "rows is not 1 to 200"),
        ("find", json!({"rows": 1e9}), "rows is not an integer"),
        ("call_tree", json!({"inverted": "yes"}), "inverted is not a boolean"),
        ("whatif", json!({"settings": "a"}), "settings is not a list"),
        ("whatif", json!({"settings": vec!["a"; 21]}), "settings has more than 20"),
        ("diff", json!({}), "other is missing"),
        ("summary", json!({"file": "none.pickle"}), "none.pickle: No such file"),
        ("summary", json!({"file": "/etc/passwd"}), "is outside of"),
        ("summary", json!({"file": "../../../../../../../etc/passwd"}), "is outside of"),
        ("summary", json!({"file": "inner"}), "is a folder"),
    ] {
        let error = asked(tool, arguments).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn missing_required_argument_is_named() {
    for tool in TOOLS {
        let asked = asked(tool.name, json!({}));
        match tool.name {
            "diff" => assert_eq!(asked.unwrap_err(), "other is missing"),
            "sql" => assert_eq!(asked.unwrap_err(), "query is missing"),
            name => assert!(asked.is_ok(), "{name}: {asked:?}"),
        }
        assert!(tool.schema()["properties"].get("file").is_some());
    }
}
