//! Data that a recorder adds to a snapshot.

use super::*;

/// Builds a tree from words: `{`, `[`, `]`, `}`, numbers, and texts.
fn tree(words: &str) -> ValueTree {
    let mut tree = ValueTree::default();
    for word in words.split_whitespace() {
        tree.put(match word {
            "{" => Token::Dict,
            "[" => Token::List,
            "]" | "}" => Token::End,
            word => word.parse().map_or(Token::Text(word.as_bytes()), Token::Int),
        });
    }
    tree
}

#[test]
fn tensors_are_found_by_address_and_size() {
    let recorded = parse_recorder(tree(
        "{ memscape { tensors [
            { addr 4096 bytes 1000 device 0 name b kind gradient shape [ 10 25 ] dtype float32 }
            { addr 512 bytes 40 device 1 name a kind optimizer_state:exp_avg shape [ ] dtype bfloat16 }
            { name without_an_address }
        ] rank 3 devices [ { device 1 capacity_bytes 77 stats { requested_bytes.all.peak 9 } } ] } }",
    ));
    assert_eq!(recorded.tensors.len(), 2);
    let [found] = recorded.tensors_at(0, 4096, 1000) else { panic!("one") };
    let texts = [recorded.name(found), recorded.kind(found), recorded.shape(found), recorded.dtype(found)];
    assert_eq!(texts, ["b", "gradient", "[10, 25]", "float32"]);
    assert_eq!(found.index, Some(0));
    // The rounded size matches too. Other sizes and other devices do not.
    assert_eq!(recorded.tensors_at(0, 4096, 1024).len(), 1);
    assert_eq!(recorded.tensors_at(0, 4096, 2048).len(), 0);
    assert_eq!(recorded.tensors_at(0, 4096, 999).len(), 0);
    assert_eq!(recorded.tensors_at(1, 4096, 1000).len(), 0);
    let [state] = recorded.tensors_at(1, 512, 40) else { panic!("one") };
    assert_eq!((recorded.category(state), recorded.shape(state)), (&b"optimizer_state"[..], "[]".to_owned()));
    assert_eq!(recorded.fact("rank"), Some("3"));
    assert_eq!(recorded.device_fact(1, "capacity_bytes"), Some("77"));
    assert_eq!(recorded.device_fact(1, "stats.requested_bytes.all.peak"), Some("9"));
    assert_eq!(recorded.device_fact(0, "capacity_bytes"), None);
    let of_process: Vec<_> = recorded.process_facts().into_iter().map(|(key, _)| key).collect();
    assert_eq!(of_process, ["rank"]);
}

#[test]
fn torch_snapkit_data_is_read() {
    let recorded = parse_recorder(tree(
        "{ source_code { /a/train.py first } shape_data [ { 0x200 [
            [ aten::empty [ 4 4 ] torch.float32 ] [ aten::mm [ 8 4 ] torch.bfloat16 ]
        ] 0x300 [ [ aten::mm [ 2 ] torch.unheard ] ] zz [ ] } ] }",
    ));
    assert_eq!(recorded.source(b"/a/train.py"), Some(&b"first"[..]));
    assert_eq!(recorded.source(b"/a/other.py"), None);
    let [found] = recorded.tensors_at(0, 512, 64) else { panic!("one") };
    assert_eq!((recorded.shape(found), recorded.dtype(found)), ("[8, 4]".to_owned(), "torch.bfloat16".to_owned()));
    assert_eq!((recorded.name(found), recorded.category(found)), (String::new(), &b""[..]));
    assert_eq!(recorded.tensors.len(), 1);
}

#[test]
fn unexpected_recorder_data_is_ignored() {
    for words in [
        "7",
        "[ 1 2 ]",
        "{ memscape 3 source_code [ ] shape_data { } }",
        "{ memscape { tensors [ { addr 1 } ] steps [ 1 [ 1 2 ] [ 1 5 2 ] ] source [ ] rank [ { } ] } }",
        "{ memscape { tensors [ 3 [ ] { addr a bytes [ 1 ] } { addr -1 bytes 8 } { addr 8 bytes 0 } ] } }",
        "{ memscape { a { a { a { a { a { a { a { a 1 } } } } } } } }",
        "{ memscape { { } } }",
    ] {
        let recorded = parse_recorder(tree(words));
        assert_eq!((recorded.tensors.len(), recorded.steps.len(), recorded.facts.len()), (0, 0, 0), "{words}");
    }
    let recorded = parse_recorder(tree("{ memscape { steps [ [ 4 10 20 ] ] } memscape_crop { source a } }"));
    assert_eq!((recorded.steps, recorded.is_crop), (vec![[4, 10, 20]], true));
}

#[test]
fn long_texts_are_cut_and_control_characters_replaced() {
    let mut tree = ValueTree::default();
    for token in [Token::Dict, Token::Text(b"memscape"), Token::Dict, Token::Text(b"host")] {
        tree.put(token);
    }
    tree.put(Token::Text(&[b"\x1b[2J".repeat(2_000), vec![255; 8]].concat()));
    let recorded = parse_recorder(tree);
    let host = recorded.fact("host").unwrap_or_default();
    assert_eq!(host.chars().count(), 500);
    assert!(!host.contains('\u{1b}'));
}
