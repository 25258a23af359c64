"""readers.py TARGET: opens exports of a generated snapshot with the tools that they are made for (speedscope's schema, pprof, the Firefox
Profiler, DuckDB), and a smaller snapshot in PyTorch's own viewer. tests/readers.sh installs the tools and runs this script. tests/export.py
checks every format for every real file."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

TARGET = Path(sys.argv[1])
READERS = Path(os.environ["READERS"])
FOLDER = TARGET / "tmp" / "readers"


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def memscape(*arguments):
    return run(TARGET / "debug" / "memscape", *arguments)


def check(what, have, want):
    assert have == want, f"{what}: {have}, expected {want}"
    print(f"   {what}: {have}")


def speedscope(profile, device):
    import jsonschema

    schema = json.loads((READERS / "node_modules/speedscope/dist/release/file-format-schema.json").read_text())
    read = json.loads(profile.read_text())
    jsonschema.validate(read, schema)
    check("speedscope's schema takes the file; bytes at the peak", read["profiles"][1]["endValue"], device["peak_requested"])


def firefox(profile, device, allocations):
    environment = {**os.environ, "PATH": f"{READERS}/node_modules/node/bin:{os.environ['PATH']}"}
    cli = READERS / "node_modules/.bin/profiler-cli"
    session = ["--session", f"memscape-{os.getpid()}"]

    def ask(*words):
        return run(cli, *words, *session, env=environment)

    run(cli, "load", profile, *session, env=environment)
    try:
        ask("strategy", "native-retained-allocations")
        total = lambda: json.loads(ask("thread", "samples", "--json"))["categoryBreakdown"]["totalSamples"]
        check("the Firefox Profiler: retained at the end", total(), device["end_requested"])
        live = most = last = 0
        for time, weight in zip(allocations["time"], allocations["weight"]):
            if live > most:
                most, last = live, time
            live += weight
        # From the start to just before the event after the peak. The tool takes seconds.
        ask("zoom", "push", f"0,{last / 1000:.9f}")
        check("the Firefox Profiler: retained from the beginning to the peak", total(), device["peak_requested"])
        counters = ask("counter", "list")
        assert "Counters (2)" in counters, counters
    finally:
        run(cli, "stop", *session, env=environment)


def pprof(profile, later, device):
    tool = os.environ["PPROF"]
    units = ["-unit=B", "-nodecount=0", "-nodefraction=0"]

    def total(text):
        return int(re.search(r"of (-?\d+)B total", text).group(1))

    check("pprof: in use at the peak", total(run(tool, "-top", *units, profile)), device["peak_requested"])
    tags = run(tool, "-tags", profile)
    assert "category:" in tags and "stream:" in tags, tags
    rows = run(tool, "-top", *units, "-diff_base", profile, later)
    change = int(re.search(r"accounting for (-?\d+)B", rows).group(1))
    check("pprof: the end less the peak", change, device["end_requested"] - device["peak_requested"])


def duckdb(folder, device):
    import duckdb as database

    def value(query):
        return int(database.sql(query).fetchone()[0])

    live = "select sum(requested_bytes) from read_csv('{}') where freed_at is null"
    check("DuckDB: not freed", value(live.format(folder / "allocations.csv")), device["end_requested"])
    curve = f"select max(live_bytes) from read_csv('{folder / 'curve.csv'}')"
    check("DuckDB: the highest live bytes", value(curve), device["peak_requested"])
    lines = f"select max(reserved_bytes) from read_json('{folder / 'curve.jsonl'}')"
    check("DuckDB: the highest reserved bytes", value(lines), device["peak_reserved"])


def viewer(snapshot, device):
    """Check a smaller snapshot in torch.cuda._memory_viz, whose pages open again with the same figures."""
    smaller = FOLDER / "smaller.pickle"
    memscape("crop", snapshot, "--around", "peak", "--events", "500", "-o", smaller)
    summary = json.loads(memscape("summary", smaller, "--json"))[0]
    program = READERS / "torch/_memory_viz.py"
    segments = re.findall(r"([\d.]+)MiB allocated", run(sys.executable, program, "stats", smaller))
    assert len(segments) > 10, segments
    # It writes both as assignments: those of the range and those added before it.
    actions = summary["devices"][0]["actions"]
    trace = run(sys.executable, program, "trace", smaller).splitlines()
    made = actions["alloc"] + actions["segment_alloc"]
    check("_memory_viz.py trace: allocations and segments", sum(" = " in line for line in trace), made)
    for command in ["trace_plot", "segment_plot"]:
        page = FOLDER / f"{command}.html"
        run(sys.executable, program, command, smaller, "-o", page)
        again = json.loads(memscape("summary", page, "--json"))[0]
        assert again["devices"] == summary["devices"] and not again.get("warnings"), again
        check(f"_memory_viz.py {command}: the peak in its page", again["devices"][0]["peak_requested"], device["peak_requested"])


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    snapshot = FOLDER / "story.pickle"
    run(TARGET / "debug/examples/generate", snapshot, "--steps", 3, "--layers", 4, "--frames", 12)
    summary = json.loads(memscape("summary", snapshot, "--json"))[0]
    device = summary["devices"][0]

    def export(name, form, *more):
        memscape("export", snapshot, "--to", form, "-o", FOLDER / name, *more)
        return FOLDER / name

    if (READERS / "node_modules/.complete").exists():
        speedscope(export("story.speedscope.json", "speedscope"), device)
        profile = export("story.firefox.json", "firefox")
        firefox(profile, device, json.loads(profile.read_text())["threads"][0]["nativeAllocations"])
    if os.environ.get("PPROF"):
        pprof(export("peak.pb.gz", "pprof"), export("end.pb.gz", "pprof", "--at", "end"), device)
    for table in ["allocations", "curve"]:
        export(f"{table}.csv", "csv", "--table", table)
    export("curve.jsonl", "jsonl", "--table", "curve")
    duckdb(FOLDER, device)
    if (READERS / "torch/_memory_viz.py").exists():
        viewer(snapshot, device)


main()
