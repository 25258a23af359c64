//! Statements that write a snapshot as a file of msMemScope, which MindStudio Insight opens (Ascend).
//!
//! Such a file has a table of events in the order of their times. Insight pairs each `FREE` with the `MALLOC` of the
//! same device, event type and address, and draws a block for each pair. `PTA` are allocations of PyTorch, `HAL` is
//! memory of the driver. Insight reads the values in `Attr` as text.
//!
//! Times are in ns. Insight sorts by them, so events of one µs are 1 ns apart. Memory that was allocated before
//! recording comes first, and events without times are 1 µs apart.

use base::escape::Json;
use sqlite::{Database, Error, Value};

/// Maximum number of frames of a stack, which is that of msMemScope.
const MAX_FRAMES: u32 = 50;

const CREATE: &str = r#"CREATE TABLE saved.memscope_dump("ID" INTEGER, "Event" TEXT, "Event Type" TEXT, "Name" TEXT,
    "Timestamp(ns)" INTEGER, "Process Id" INTEGER, "Thread Id" INTEGER, "Device Id" TEXT, "Ptr" TEXT, "Attr" TEXT,
    "Call Stack(Python)" TEXT, "Call Stack(C)" TEXT)"#;

/// Inserts the events. `{FRAMES}` is the maximum number of frames. Of equal positions, frees come first, then memory of
/// the driver.
const INSERT: &str = r#"
INSERT INTO saved.memscope_dump
WITH change(device, position, us, step, event, type, ptr, bytes, id, category, stack) AS (
    SELECT device, freed_at, freed_at_us, 0, 'FREE', 'PTA', coalesce(address, '#' || id), requested_bytes, id, '', NULL
    FROM allocation WHERE freed_at IS NOT NULL
    UNION ALL
    SELECT device, freed_at, freed_at_us, 1, 'FREE', 'HAL', address, reserved_bytes, id, '', NULL
    FROM segment WHERE freed_at IS NOT NULL
    UNION ALL
    SELECT device, coalesce(allocated_at, -1), allocated_at_us, 2, 'MALLOC', 'HAL', address, reserved_bytes, id, '', stack
    FROM segment
    UNION ALL
    SELECT device, coalesce(allocated_at, -1), allocated_at_us, 3, 'MALLOC', 'PTA', coalesce(address, '#' || id),
        requested_bytes, id, category, stack
    FROM allocation
), numbered AS (
    SELECT *, row_number() OVER (PARTITION BY device ORDER BY position, step, id) AS number,
        sum(position = -1) OVER (PARTITION BY device) AS early,
        min(us) OVER (PARTITION BY device) AS first_us
    FROM change WHERE device >= 0
), timed AS (
    SELECT *, 1000 * CASE position WHEN -1 THEN coalesce(first_us, 0) ELSE coalesce(us, position) END
        + CASE position WHEN -1 THEN 0 ELSE early END AS ns
    FROM numbered
), placed AS (
    SELECT *, number + max(ns - number) OVER past AS time,
        sum(bytes * (type = 'HAL') * CASE event WHEN 'MALLOC' THEN 1 ELSE -1 END) OVER past AS reserved,
        sum(bytes * (type = 'PTA') * CASE event WHEN 'MALLOC' THEN 1 ELSE -1 END) OVER past AS live
    FROM timed
    WINDOW past AS (PARTITION BY device ORDER BY number)
), text AS MATERIALIZED (
    SELECT stack,
        group_concat(file || '(' || line || '): ' || function, char(10) ORDER BY position)
            FILTER (WHERE file NOT IN ('', '??')) AS python,
        group_concat(function, char(10) ORDER BY position) FILTER (WHERE coalesce(file, '') IN ('', '??')) AS c
    FROM frame WHERE position < {FRAMES} GROUP BY stack
)
SELECT row_number() OVER (ORDER BY time, device, number), event, type, 'N/A', time, 0, 0, CAST(device AS TEXT), ptr,
    CASE WHEN event = 'MALLOC' AND type = 'PTA' THEN
        json_of('allocation_id', key, 'addr', ptr, 'size', bytes, 'owner', 'PTA@' || category, 'total', reserved, 'used', live)
    ELSE json_of('allocation_id', key, 'addr', ptr, 'size', bytes) END,
    coalesce(python, ''), coalesce(c, '')
FROM (SELECT *, (device << 40) + 2 * id + (type = 'PTA') + 1 AS key FROM placed) LEFT JOIN text USING (stack)
ORDER BY time, device, number
"#;

fn json_object(values: &[Value<'_>]) -> String {
    let quoted = |value: &Value<'_>| match value {
        Value::Integer(number) => format!("\"{number}\""),
        Value::Text(text) => Json(text).to_string(),
        _ => "\"\"".to_owned(),
    };
    let members = values.chunks(2).map(|pair| pair.iter().map(quoted).collect::<Vec<_>>().join(":"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Returns the statements that write the table to the schema `saved`, and registers the function `json_of(key, value,
/// …)` that they call. It returns an object whose values are strings. The page's SQLite has no JSON functions.
pub(crate) fn statements(database: &Database) -> Result<Vec<String>, Error> {
    database.add_function("json_of", -1, |values| Ok(json_object(values).into()))?;
    Ok(vec![CREATE.to_owned(), INSERT.replace("{FRAMES}", &MAX_FRAMES.to_string())])
}
