//! Length limits of MCP answers.

use super::*;

#[test]
fn short_answer_is_unchanged() {
    let answer = json!({"statements": [{"text": "a", "fix": "b"}], "rows": [1, 2, 3]});
    assert_eq!(limit_length(answer.clone()), answer);
}

#[test]
fn long_list_of_rows_is_cut_and_counted() {
    let row = json!({"call_site": "train.py:23 step", "live_bytes": 123_456_789});
    let answer = json!({"a/b": {"rows": vec![row.clone(); 4_000]}, "few": {"rows": vec![row; 3]}, "text": "stays"});
    let cut = limit_length(answer);
    assert!(size(&cut) <= MAX_ANSWER_BYTES + 500, "{}", size(&cut));
    let kept = cut["a/b"]["rows"].as_array().unwrap().len();
    assert!(kept >= 100, "{kept}");
    assert_eq!(cut["cut"]["left_out"]["/a~1b/rows"], 4_000 - kept);
    assert_eq!(cut["few"]["rows"].as_array().unwrap().len(), 3);
    assert_eq!(cut["text"], "stays");
}

#[test]
fn long_answer_without_rows_is_rejected() {
    let wide: Map<String, Value> = (0..3_000).map(|at| (format!("field{at}"), json!("something"))).collect();
    let cut = limit_length(Value::Object(wide));
    assert!(cut["cut"].as_str().unwrap().contains("too long"));
    // Deeply nested values, and many small lists.
    let mut deep = json!("x");
    for _ in 0..100 {
        deep = json!([[deep.clone()], {"a": deep}]).get(0).cloned().unwrap();
    }
    assert!(size(&limit_length(json!({"deep": deep, "lists": vec![vec![1; 3]; 9_000]}))) <= MAX_ANSWER_BYTES + 500);
}

#[test]
fn torch_frames_are_dropped_if_user_frames_exist() {
    let stack = ["at::empty(x)", "/usr/lib/python3/site-packages/torch/nn.py:3 f", "/home/me/train.py:60 step"];
    assert_eq!(limit_length(json!({"stack": stack}))["stack"], json!(["/home/me/train.py:60 step"]));
    assert_eq!(limit_length(json!({"stack": [stack[0]]}))["stack"], json!([stack[0]]));
    let long = limit_length(json!({"text": "ä".repeat(700)}));
    assert_eq!(long["text"].as_str().unwrap().chars().count(), 601);
}
