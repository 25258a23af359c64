"""Questions about a lake, in DuckDB's SQL. The first line of each says what it answers.

Every row names the file that shows it best, and a link that opens this file at the right moment.
"""

from __future__ import annotations

# Maximum number of rows of an answer, in the SQL below.
MAX_ROWS = 50

_OOM_LINK = "link(telling_file, 'oom', 'why') || '&topic=oom' AS link"

# Opens the first step as A and the last as B, and compares their ends.
_GROWTH_LINK = (
    "link(first_file, 'end', 'why') || '&compare=end&topic=comparison&with=' || url_encode(telling_file) AS link"
)

# Up to 50 ranks that grow: first the one that grows most of each job, so that a job with many ranks hides no other job.
# Only their files and call sites are looked up: texts and rows of call sites are most of a lake.
_GROWN = """stepped AS MATERIALIZED (
  SELECT batch, snapshot, device, job, rank, step, url, end_bytes, capacity_bytes, peak_reserved_bytes FROM recent
  WHERE status = 'ok' AND step IS NOT NULL),
grown AS MATERIALIZED (
  SELECT *, count(*) OVER (PARTITION BY job) AS growing_ranks,
    row_number() OVER (PARTITION BY job ORDER BY round(bytes_per_step * fit) DESC, rank, device) AS place_in_job
  FROM (SELECT job, rank, device, count(*) AS snapshots, min(step) AS first_step, max(step) AS last_step,
      regr_slope(end_bytes, step) AS bytes_per_step, regr_r2(end_bytes, step) AS fit,
      max(capacity_bytes) - max(peak_reserved_bytes) AS headroom_bytes
    FROM stepped GROUP BY job, rank, device HAVING bytes_per_step > 0 AND list_unique(list(step)) >= 3)
  ORDER BY place_in_job, round(bytes_per_step * fit) DESC, job, rank, device LIMIT 50),
chosen AS MATERIALIZED (
  SELECT batch, snapshot, device, job, rank, step, url FROM stepped
  WHERE (job, rank, device) IN (SELECT (job, rank, device) FROM grown))"""

QUESTIONS = {
    "oom_jobs": f"""-- Jobs that ran out of memory, and why
SELECT *, {_OOM_LINK} FROM (
  SELECT s.job, count(DISTINCT s.url) AS files, count(*) AS ooms, mode(o.kind ORDER BY o.kind) AS kind,
    max(o.requested_bytes) AS requested_bytes, max(o.live_bytes) AS live_bytes, max(o.idle_bytes) AS idle_bytes,
    arg_min(call_site(c.file, c.line, c.function), (s.url, o.event)) AS requested_by,
    arg_min(s.url, (coalesce(s.rank, 0), s.url)) AS telling_file,
    arg_min(o.verdict, (coalesce(s.rank, 0), s.url)) AS verdict
  FROM oom o JOIN recent s USING (batch, snapshot, device) LEFT JOIN site c USING (site)
  GROUP BY s.job)
ORDER BY ooms DESC, job LIMIT 50""",
    "oom_clusters": f"""-- Similar OOMs: the same place made the request, and the same places held the memory
SELECT *, {_OOM_LINK} FROM (
  SELECT o.signature, count(DISTINCT s.job) AS jobs, count(DISTINCT s.url) AS files, mode(o.kind ORDER BY o.kind) AS kind,
    min(s.modified) AS first_seen, max(s.modified) AS last_seen,
    arg_min(call_site(c.file, 0, c.function), (s.url, o.event)) AS requested_by,
    arg_max(s.url, (o.live_bytes, s.url)) AS telling_file
  FROM oom o JOIN recent s USING (batch, snapshot, device) LEFT JOIN site c USING (site)
  GROUP BY o.signature)
ORDER BY jobs DESC, files DESC, signature LIMIT 50""",
    "growth": f"""-- Growth over a run: bytes per step, from the snapshots of each rank
WITH {_GROWN}
SELECT grown.* EXCLUDE (place_in_job), first_file, telling_file,
  {_GROWTH_LINK}
FROM grown JOIN (
  SELECT job, rank, device, arg_min(url, (step, url)) AS first_file, arg_max(url, (step, url)) AS telling_file
  FROM chosen GROUP BY ALL) files
ON (grown.job, grown.rank, grown.device) IS NOT DISTINCT FROM (files.job, files.rank, files.device)
ORDER BY round(bytes_per_step * fit) DESC, grown.job, grown.rank, grown.device""",
    "growing_sites": f"""-- Call sites that hold more at each step, in the ranks that grow most: where the growth is
WITH {_GROWN},
used AS (SELECT * FROM site_use SEMI JOIN chosen USING (snapshot)),
held AS (
  -- What was allocated after the peak is only in kept_bytes, and what was allocated before recording only in peak_bytes.
  SELECT s.job, s.rank, s.device, s.step, s.url, c.place, min(call_site(c.file, 0, c.function)) AS call_site,
    sum(greatest(u.peak_bytes, u.kept_bytes)) AS bytes
  FROM chosen s JOIN used u USING (batch, snapshot, device) JOIN site c USING (site) GROUP BY ALL),
sites AS (
  SELECT job, min(call_site) AS call_site, count(*) AS ranks, max(slope) AS bytes_per_step,
    arg_max(fit, (round(slope), first_file)) AS fit, max(most) AS bytes,
    arg_max(first_file, (round(slope), first_file)) AS first_file,
    arg_max(telling_file, (round(slope), first_file)) AS telling_file
  FROM (SELECT job, rank, device, place, min(call_site) AS call_site, regr_slope(bytes, step) AS slope,
      regr_r2(bytes, step) AS fit, max(bytes)::BIGINT AS most, arg_min(url, (step, url)) AS first_file,
      arg_max(url, (step, url)) AS telling_file
    FROM held GROUP BY job, rank, device, place HAVING count(DISTINCT step) >= 3 AND slope > 0)
  GROUP BY job, place)
SELECT sites.job, call_site, ranks, searched_ranks, growing_ranks, bytes_per_step, fit, bytes, first_file, telling_file,
  {_GROWTH_LINK}
FROM sites JOIN (
  SELECT job, count(*) AS searched_ranks, any_value(growing_ranks) AS growing_ranks FROM grown GROUP BY job) jobs
ON sites.job IS NOT DISTINCT FROM jobs.job
ORDER BY round(bytes_per_step * fit) DESC, sites.job, call_site LIMIT 50""",
    "odd_ranks": """-- Ranks that differ from the others of their job at the same step, at the peak or at the end
WITH measured AS (
  UNPIVOT (SELECT job, step, rank, device, url, peak_bytes AS peak, end_bytes AS "end" FROM recent
    WHERE status = 'ok' AND rank IS NOT NULL)
  ON peak, "end" INTO NAME measure VALUE bytes),
-- `usual` is how much a rank may differ from the median. Each of these groups has a rank that differs more.
groups AS (
  SELECT job, step, measure, median(bytes)::BIGINT AS median,
    greatest(5 * mad(bytes), median(bytes) * 0.02) AS usual
  FROM measured GROUP BY ALL
  HAVING count(*) >= 4 AND greatest(max(bytes) - median(bytes), median(bytes) - min(bytes)) > usual),
odd AS (
  SELECT m.job, m.rank, m.device, m.measure, m.step, bytes, bytes - median AS more, url, (abs(more), url) AS worst
  FROM measured m JOIN groups g USING (measure)
  WHERE (m.job, m.step) IS NOT DISTINCT FROM (g.job, g.step) AND abs(bytes - median) > usual)
-- One row per rank, not per step: otherwise one odd rank could fill the answer.
SELECT *, link(telling_file, measure, 'why') AS link FROM (
  SELECT job, rank, device, measure, count(DISTINCT step) AS steps, min(step) AS first_step, arg_max(step, worst) AS step,
    arg_max(bytes, worst) AS bytes, arg_max(more, worst) AS more_bytes, arg_max(url, worst) AS telling_file
  FROM odd GROUP BY job, rank, device, measure)
ORDER BY abs(more_bytes) DESC, job, rank, device, measure LIMIT 50""",
    "new_sites": """-- Places that allocate since a time (since; by default the last tenth of the time), and did not before
WITH since AS (
  SELECT coalesce(TRY_CAST(getvariable('since') AS TIMESTAMP),
    min(modified) + (max(modified) - min(modified)) * 0.9) AS moment FROM snapshot),
-- Parts of days before that time are early. Only rows of the later days are compared with the time.
late AS (
  SELECT snapshot, device, job, url, modified FROM snapshot
  WHERE dt >= (SELECT strftime(moment, '%Y-%m-%d') FROM since)),
recently AS (
  SELECT u.site, s.modified, s.job, s.url, u.peak_bytes FROM site_use u JOIN late s USING (snapshot, device)
  WHERE u.dt >= (SELECT strftime(moment, '%Y-%m-%d') FROM since)),
early AS (
  SELECT site FROM site_use WHERE dt < (SELECT strftime(moment, '%Y-%m-%d') FROM since) GROUP BY site
  UNION ALL
  SELECT site FROM recently WHERE modified < (SELECT moment FROM since) GROUP BY site),
added AS (SELECT * FROM site ANTI JOIN (SELECT place FROM site SEMI JOIN early USING (site)) USING (place))
SELECT *, link(telling_file, 'peak', 'tree') AS link FROM (
  SELECT c.place, min(u.modified) AS first_seen, count(DISTINCT u.job) AS jobs, max(u.peak_bytes) AS peak_bytes,
    min(call_site(c.file, 0, c.function)) AS call_site, arg_max(u.url, (u.peak_bytes, u.url)) AS telling_file
  FROM recently u JOIN added c USING (site) GROUP BY c.place)
ORDER BY peak_bytes DESC, place LIMIT 50""",
    "peaks": """-- Peak by job, host, device and version of PyTorch
SELECT *, link(telling_file, 'peak', 'why') || '&topic=peak' AS link FROM (
  SELECT job, host, device_name, torch, count(*) AS snapshots, max(peak_bytes) AS peak_bytes,
    median(peak_bytes)::BIGINT AS median_bytes, max(peak_reserved_bytes) AS peak_reserved_bytes,
    arg_max(url, (peak_bytes, url)) AS telling_file
  FROM recent WHERE status = 'ok' GROUP BY job, host, device_name, torch)
ORDER BY peak_bytes DESC, job, host LIMIT 50""",
    "settings": """-- Allocator settings in use, and the idle share of what is reserved, at the peak of reserved
SELECT *, link(telling_file, 'reserved-peak', 'why') || '&topic=fragmentation' AS link FROM (
  SELECT conf, count(*) AS snapshots, count(DISTINCT job) AS jobs, count_if(ooms > 0) AS with_oom,
    median(idle_share) AS idle_share, quantile_cont(idle_share, 0.95) AS idle_share_p95,
    arg_max(url, (idle_share, url)) AS telling_file
  FROM (SELECT *, idle_at_reserved_peak_bytes / nullif(peak_reserved_bytes, 0) AS idle_share FROM recent)
  WHERE status = 'ok' GROUP BY conf)
ORDER BY snapshots DESC, conf LIMIT 50""",
    "headroom": """-- Device memory that no snapshot of a job reserved
SELECT *, link(telling_file, 'reserved-peak', 'why') AS link FROM (
  SELECT job, device_name, capacity_bytes, max(peak_reserved_bytes) AS peak_reserved_bytes,
    capacity_bytes - max(peak_reserved_bytes) AS headroom_bytes,
    round(1 - max(peak_reserved_bytes) / capacity_bytes, 3) AS headroom_share, bool_or(ooms > 0) AS had_oom,
    arg_max(url, (peak_reserved_bytes, url)) AS telling_file
  FROM recent WHERE status = 'ok' AND capacity_bytes > 0 GROUP BY job, device_name, capacity_bytes)
ORDER BY headroom_share, job, device_name, capacity_bytes LIMIT 50""",
    "errors": """-- Files that could not be surveyed
SELECT status, count(*) AS files, min(url) AS telling_file, arg_min(error, url) AS error
FROM recent WHERE status <> 'ok' GROUP BY status ORDER BY files DESC, status""",
}
