//! Ready-made queries for common questions.

/// A query with a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExampleQuery {
    pub title: &'static str,
    pub sql: &'static str,
}

const fn canned(title: &'static str, sql: &'static str) -> ExampleQuery {
    ExampleQuery { title, sql }
}

/// All ready-made queries.
pub const EXAMPLE_QUERIES: [ExampleQuery; 22] = [
    canned(
        "Largest allocations at the peak",
        "SELECT device, id, human(requested_bytes) AS size, category, allocated_at, call_site\nFROM live_at('peak')\nORDER BY requested_bytes DESC\nLIMIT 100",
    ),
    canned(
        "Live bytes at the peak by category",
        "SELECT category, sum(requested_bytes) AS live_bytes, human(sum(requested_bytes)) AS live, count(*) AS allocations\nFROM live_at('peak')\nGROUP BY category\nORDER BY live_bytes DESC",
    ),
    canned(
        "Live bytes at the peak by call site",
        "SELECT call_site, sum(requested_bytes) AS live_bytes, human(sum(requested_bytes)) AS live, count(*) AS allocations\nFROM live_at('peak')\nGROUP BY call_site\nORDER BY live_bytes DESC\nLIMIT 100",
    ),
    canned(
        "Live and reserved bytes over time",
        "SELECT device, event, live_bytes, reserved_bytes\nFROM curve\nWHERE event % (SELECT 1 + count(*) / 2000 FROM event) = 0",
    ),
    canned(
        "Free (cached) bytes over time: reserved and in no live block",
        "SELECT device, event, reserved_bytes - live_bytes AS free_bytes\nFROM curve\nWHERE event % (SELECT 1 + count(*) / 2000 FROM event) = 0",
    ),
    canned(
        "Peak of each step",
        "SELECT device, step, peak_bytes, human(peak_bytes) AS peak, name, first_event, last_event\nFROM step",
    ),
    canned(
        "Peak of each phase: forward, backward, optimizer",
        "SELECT device, phase, human(max(peak_bytes)) AS peak, step, peak_event, inferred, count(*) AS times\nFROM phase\nGROUP BY device, phase\nORDER BY max(peak_bytes) DESC",
    ),
    canned(
        "Growth from step to step: live bytes at the end of each",
        "SELECT s.device, s.step, c.live_bytes, c.live_bytes - lag(c.live_bytes) OVER (PARTITION BY s.device ORDER BY s.step) AS growth_bytes\nFROM step s JOIN curve c ON c.device = s.device AND c.event = s.last_event",
    ),
    canned(
        "Never freed: allocated in the trace and live at the end",
        "SELECT call_site, sum(requested_bytes) AS bytes, human(sum(requested_bytes)) AS size, count(*) AS allocations\nFROM allocation\nWHERE freed_at IS NULL AND allocated_at IS NOT NULL\nGROUP BY call_site\nORDER BY bytes DESC\nLIMIT 100",
    ),
    canned(
        "Allocated before recording and never freed",
        "SELECT device, id, human(requested_bytes) AS size, category, pool_name, call_site\nFROM allocation\nWHERE allocated_at IS NULL AND freed_at IS NULL\nORDER BY requested_bytes DESC\nLIMIT 100",
    ),
    canned(
        "Call sites that allocate most often",
        "SELECT call_site, count(*) AS allocations, human(sum(requested_bytes)) AS in_all, human(avg(requested_bytes)) AS average\nFROM allocation\nGROUP BY call_site\nORDER BY allocations DESC\nLIMIT 100",
    ),
    canned(
        "Short-lived: freed within ten events",
        "SELECT call_site, count(*) AS allocations, human(max(requested_bytes)) AS largest, human(sum(requested_bytes)) AS in_all\nFROM allocation\nWHERE freed_at - allocated_at <= 10\nGROUP BY call_site\nORDER BY sum(requested_bytes) DESC\nLIMIT 100",
    ),
    canned(
        "Sizes: how many allocations up to each power of two",
        "WITH RECURSIVE class(most) AS (VALUES(512) UNION ALL SELECT most * 2 FROM class WHERE most < 1 << 40),\n  size AS (SELECT requested_bytes AS bytes, count(*) AS times FROM allocation GROUP BY requested_bytes)\nSELECT human(most) AS up_to, sum(times) AS allocations, human(sum(bytes * times)) AS in_all\nFROM class JOIN size ON bytes <= most AND (bytes > most / 2 OR most = 512)\nGROUP BY most",
    ),
    canned(
        "Bytes lost by rounding at the peak",
        "SELECT call_site, sum(allocated_rounded_bytes - requested_bytes) AS lost_bytes, human(sum(allocated_rounded_bytes - requested_bytes)) AS lost, count(*) AS allocations\nFROM live_at('peak')\nGROUP BY call_site\nORDER BY lost_bytes DESC\nLIMIT 100",
    ),
    canned(
        "Segments at the end that are used least",
        "SELECT s.id AS segment, s.address, human(s.reserved_bytes) AS reserved,\n  human(total(b.allocated_rounded_bytes) FILTER (WHERE b.state <> 'inactive')) AS used,\n  count(*) FILTER (WHERE b.state <> 'inactive') AS live_blocks, s.pool_name\nFROM block b JOIN segment s ON s.id = b.segment AND s.device = b.device\nGROUP BY s.device, s.id\nORDER BY s.reserved_bytes - total(b.allocated_rounded_bytes) FILTER (WHERE b.state <> 'inactive') DESC\nLIMIT 100",
    ),
    canned(
        "Largest free blocks at the end",
        "SELECT device, segment, address, human(allocated_rounded_bytes) AS size\nFROM block\nWHERE state = 'inactive'\nORDER BY allocated_rounded_bytes DESC\nLIMIT 100",
    ),
    canned(
        "Out-of-memory errors: requested bytes, and what was live and reserved",
        "SELECT e.device, e.event, human(e.size_bytes) AS requested, human(c.live_bytes) AS live, human(c.reserved_bytes) AS reserved, e.call_site\nFROM event e JOIN curve c ON c.device = e.device AND c.event = e.event\nWHERE e.action = 'oom'",
    ),
    canned(
        "What was freed between the peak and the end",
        "SELECT call_site, -sum(delta_bytes) AS freed_bytes, human(-sum(delta_bytes)) AS freed, count(*) AS allocations\nFROM between('peak', 'end')\nWHERE change = 'freed'\nGROUP BY call_site\nORDER BY freed_bytes DESC\nLIMIT 100",
    ),
    canned(
        "Memory of the backward pass at the peak",
        "SELECT device, id, human(requested_bytes) AS size, category, call_site\nFROM live_at('peak')\nWHERE frame_match(stack, 'Backward[0-9]*::apply|autograd::Engine|[.]py:[0-9]+ backward$')\nORDER BY requested_bytes DESC\nLIMIT 100",
    ),
    canned(
        "Annotations with the highest peak",
        "SELECT name, count(*) AS times, human(max(peak_bytes)) AS peak\nFROM annotation\nGROUP BY name\nORDER BY max(peak_bytes) DESC\nLIMIT 100",
    ),
    canned(
        "Peak of each stream",
        "WITH change(device, stream, event, bytes) AS (\n  SELECT device, stream, coalesce(allocated_at, -1), requested_bytes FROM allocation\n  UNION ALL SELECT device, stream, freed_at, -requested_bytes FROM allocation WHERE freed_at IS NOT NULL),\n  total AS (SELECT *, sum(bytes) OVER (PARTITION BY device, stream ORDER BY event) AS live FROM change)\nSELECT device, stream, max(live) AS peak_bytes, human(max(live)) AS peak, event\nFROM total\nGROUP BY device, stream\nORDER BY peak_bytes DESC",
    ),
    canned(
        "Pools and streams at the peak",
        "SELECT device, pool_name, stream, human(sum(requested_bytes)) AS live, count(*) AS allocations\nFROM live_at('peak')\nGROUP BY device, pool_name, stream\nORDER BY sum(requested_bytes) DESC",
    ),
];
