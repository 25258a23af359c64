//! Encoding of value trees as bytes.

use super::*;

#[test]
fn tokens_round_trip() {
    let all = [
        Token::Dict,
        Token::Text(b"a"),
        Token::List,
        Token::None,
        Token::Bool(true),
        Token::Bool(false),
        Token::Int(-7),
        Token::Float(0.5),
        Token::End,
        Token::End,
    ];
    let mut tree = ValueTree::default();
    all.iter().for_each(|&token| tree.put(token));
    assert_eq!(tree.tokens(0).collect::<Vec<_>>(), all);
    let mut tokens = tree.tokens(0);
    tokens.next();
    assert_eq!(tokens.next_pair(), Some((&b"a"[..], Token::List)));
    tokens.skip_rest();
    assert_eq!((tokens.next_pair(), tokens.next()), (None, None));
}

#[test]
fn invalid_bytes_end_iteration() {
    for bytes in [&[TEXT, 255, 255, 255, 255][..], &[INT, 1], &[99], &[DICT, DICT, DICT], &[LIST; 100_000]] {
        let mut tree = ValueTree::default();
        assert!(tree.extend(bytes));
        assert!(tree.tokens(0).count() <= bytes.len());
        let mut tokens = tree.tokens(0);
        tokens.skip_rest();
        assert_eq!(tokens.next(), None);
        assert_eq!(tree.text(0), b"");
    }
    assert_eq!(ValueTree::default().text(1_000), b"");
}
