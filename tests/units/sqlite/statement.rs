//! Only a single statement that reads is accepted.

use super::check;
use crate::Error;

#[test]
fn single_read_statement_is_accepted() {
    for sql in [
        "SELECT 1",
        " select 1 ; ",
        "-- what\n/* and ; why */ WITH n AS (SELECT 1) SELECT * FROM n;\n-- end",
        "VALUES(1), (2)",
        "EXPLAIN QUERY PLAN SELECT ';'",
        "explain with x as (select 1) select 1",
        "SELECT ';' || \"a;b\" || [c;d] || `e;f` || 'it''s;' /* ; */ -- ;",
        "SELECT 1;;;",
    ] {
        assert_eq!(check(sql), Ok(()), "{sql}");
    }
}

#[test]
fn other_statements_are_rejected_by_name() {
    for (sql, name) in [
        ("PRAGMA x", "PRAGMA"),
        ("/**/create trigger x", "CREATE"),
        ("EXPLAIN DROP TABLE x", "DROP"),
        ("EXPLAIN QUERY PLAN ALTER TABLE x", "ALTER"),
        ("vacuum", "VACUUM"),
    ] {
        assert_eq!(check(sql), Err(Error::NotAllowed(name.to_owned())), "{sql}");
    }
    for several in
        ["SELECT 1; SELECT 2", "SELECT 1;/**/CREATE TRIGGER x", "SELECT '';--\nVACUUM", "SELECT 1/**/;--;\n;x"]
    {
        assert_eq!(check(several), Err(Error::MultipleStatements), "{several}");
    }
    for nothing in ["", "  \n", "-- nothing", "/* nothing", ";;"] {
        assert_eq!(check(nothing), Err(Error::NoStatement), "{nothing}");
    }
}
