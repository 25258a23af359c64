//! Malicious queries: each ends in an error within its limits, and the next query is answered.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;
use crate::sql::rows;

use generate::Options;
use memscape::sql::{Error, Limits, Queries, Source};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

fn clock() -> f64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
}

fn queries() -> Queries {
    let (options, _) = Options::parse("--steps 2 --layers 2".split_whitespace().map(str::to_owned)).unwrap();
    let opened = opened::open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    let (mut engine, summary) = (opened.engine, opened.summary);
    summary.devices.iter().for_each(|device| _ = engine.complete_side(device.device));
    let limits = Limits { seconds: 1, memory: 64 << 20 };
    Queries::new(Source::single(summary, Box::new(engine)), clock, limits).unwrap()
}

fn error(queries: &Queries, sql: &str) -> Error {
    let began = Instant::now();
    let result = queries.run(sql, &mut |_| {}, &mut |_| true);
    // The limit is one second, but the machine may be busy.
    assert!(began.elapsed() < Duration::from_secs(20), "{sql}");
    result.expect_err(sql)
}

#[test]
fn queries_that_write_or_access_files_are_rejected() {
    let queries = queries();
    let file = std::env::temp_dir().join("memscape-sql-attached");
    for sql in [
        &*format!("ATTACH '{}' AS other", file.display()),
        "ATTACH ':memory:' AS other",
        "DETACH main",
        "PRAGMA journal_mode = WAL",
        "PRAGMA temp_store_directory = '/'",
        "PRAGMA hard_heap_limit = 0",
        "PRAGMA writable_schema = 1",
        "SELECT * FROM pragma_database_list",
        "CREATE TABLE x(a)",
        "CREATE TEMP TABLE x(a)",
        "CREATE VIEW x AS SELECT 1",
        "CREATE VIRTUAL TABLE x USING fts5(a)",
        "INSERT INTO allocation(id) VALUES (1)",
        "DELETE FROM allocation",
        "UPDATE allocation SET id = 1",
        "DROP TABLE allocation",
        "BEGIN",
        "SAVEPOINT x",
        "VACUUM INTO '/tmp/memscape-sql-vacuum'",
        "ANALYZE",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('/tmp/memscape-sql-written', 'x')",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
    ] {
        let error = error(&queries, sql);
        assert!(!matches!(error, Error::TimeLimit(_) | Error::MemoryLimit(_)), "{sql}: {error}");
    }
    assert!(!file.exists());
    assert_eq!(rows(&queries, "SELECT 1 + 1"), [["2"]]);
}

#[test]
fn endless_query_times_out() {
    let queries = queries();
    for sql in [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "SELECT count(*) FROM event a, event b, event c, event d",
        "SELECT count(*) FROM allocation a JOIN allocation b ON frame_match(a.stack, 'x' || b.id || b.requested_bytes)
         JOIN allocation c ON frame_match(c.stack, 'y' || b.id)",
        "SELECT count(*) FROM event e, tree(e.event) t, event f, event g",
    ] {
        let error = error(&queries, sql);
        assert!(matches!(error, Error::TimeLimit(1)), "{sql}: {error}");
    }
    assert_eq!(rows(&queries, "SELECT 1 + 1"), [["2"]]);
}

#[test]
fn query_over_memory_limit_fails() {
    let queries = queries();
    for sql in [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n ORDER BY i DESC",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT max(i) FROM n",
        "SELECT length(zeroblob(1000000000))",
        "SELECT length(hex(hex(hex(hex(hex(hex(zeroblob(1000000))))))))",
        "SELECT length(printf('%.*c', 2000000000, 'x'))",
        "WITH RECURSIVE n(t) AS (SELECT 'x' UNION ALL SELECT t || t FROM n) SELECT max(length(t)) FROM n",
        "SELECT frame_match(stack, '(((a{1,999}){1,999}){1,999}){1,999}') FROM stack",
        "SELECT count(DISTINCT a.event || '-' || b.event || hex(zeroblob(10000))) FROM event a, event b",
    ] {
        let error = error(&queries, sql);
        assert!(!matches!(error, Error::NotAllowed(_)), "{sql}: {error}");
    }
    let deep = format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    error(&queries, &deep);
    error(&queries, &format!("SELECT 1{}", " + 1".repeat(100_000)));
    error(&queries, &format!("SELECT 1{}", " UNION SELECT 1".repeat(10_000)));
    error(&queries, &format!("SELECT '{}'", "x".repeat(2 << 20)));
    error(&queries, "SELECT '\0");
    assert_eq!(rows(&queries, "SELECT 1 + 1"), [["2"]]);
}

#[test]
fn query_is_cancelled_from_another_thread() {
    let queries = queries();
    let cancel = queries.cancel();
    let waiting = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        cancel.cancel();
    });
    let error =
        error(&queries, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
    waiting.join().unwrap();
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(rows(&queries, "SELECT 1 + 1"), [["2"]]);
}
