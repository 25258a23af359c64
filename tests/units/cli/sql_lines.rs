//! Commands of the interactive SQL prompt.

use super::{Line, find_query, parse};

#[test]
fn commands_are_distinguished_from_sql() {
    assert_eq!(parse("SELECT 1;"), Line::Sql("SELECT 1;"));
    assert_eq!(parse("  .schema event;"), Line::Schema(Some("event")));
    assert_eq!(parse("--schema"), Line::Schema(None));
    assert_eq!(parse(".quit"), Line::Quit);
    assert!(matches!(parse(".nonsense"), Line::Error(_)));
    assert!(matches!(parse("--show x"), Line::Error(_)));
    assert!(matches!(parse("--show #17"), Line::Query(query) if query.contains("a.id = 17 ")));
    // An SQL comment.
    assert_eq!(parse("-- all of them"), Line::Sql("-- all of them"));
}

#[test]
fn search_text_is_escaped_in_query() {
    let query = find_query("it's a.b(c)");
    assert!(query.contains(r"frame_match(stack, 'it''s a\.b\(c\)')"), "{query}");
}
