//! What is typed instead of SQL.

use super::{Line, find, read};

#[test]
fn commands_are_told_from_sql() {
    assert_eq!(read("SELECT 1;"), Line::Sql("SELECT 1;"));
    assert_eq!(read("  .schema event;"), Line::Schema(Some("event")));
    assert_eq!(read("--schema"), Line::Schema(None));
    assert_eq!(read(".quit"), Line::Quit);
    assert!(matches!(read(".nonsense"), Line::Wrong(_)));
    assert!(matches!(read("--show x"), Line::Wrong(_)));
    assert!(matches!(read("--show #17"), Line::Query(query) if query.contains("a.id = 17 ")));
    // A comment of SQL's.
    assert_eq!(read("-- all of them"), Line::Sql("-- all of them"));
}

#[test]
fn a_text_that_is_looked_for_is_no_pattern_and_no_sql() {
    let query = find("it's a.b(c)");
    assert!(query.contains(r"frame_match(stack, 'it''s a\.b\(c\)')"), "{query}");
}
