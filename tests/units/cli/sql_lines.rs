//! Commands of the interactive SQL prompt.

use super::{Line, find, read};

#[test]
fn commands_are_distinguished_from_sql() {
    assert_eq!(read("SELECT 1;"), Line::Sql("SELECT 1;"));
    assert_eq!(read("  .schema event;"), Line::Schema(Some("event")));
    assert_eq!(read("--schema"), Line::Schema(None));
    assert_eq!(read(".quit"), Line::Quit);
    assert!(matches!(read(".nonsense"), Line::Wrong(_)));
    assert!(matches!(read("--show x"), Line::Wrong(_)));
    assert!(matches!(read("--show #17"), Line::Query(query) if query.contains("a.id = 17 ")));
    // An SQL comment.
    assert_eq!(read("-- all of them"), Line::Sql("-- all of them"));
}

#[test]
fn search_text_is_escaped_in_query() {
    let query = find("it's a.b(c)");
    assert!(query.contains(r"frame_match(stack, 'it''s a\.b\(c\)')"), "{query}");
}
