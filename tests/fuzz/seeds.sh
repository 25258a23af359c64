#!/usr/bin/env bash
# Writes the seeds of the fuzz targets with tests/generate: small files with most features of the format.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cargo build --quiet --locked --example generate

# seed TARGET NAME OPTIONS...
seed() {
    local file=tests/fuzz/corpus/$1/$2
    mkdir -p "${file%/*}"
    target/debug/examples/generate "$file" --layers 1 --hidden 64 --record-from-start "${@:3}" >/dev/null
}

seed pickle python2 --protocol 2 --events 6 --frames 1 --no-annotations --pending
seed pickle python4 --events 9 --frames 2 --oom
seed pickle cpp --style cpp --events 9 --frames 2 --expandable
seed containers two_devices --events 6 --frames 1 --devices 2 --no-time
for style in python cpp; do
    seed containers $style.gz --events 20 --frames 2 --style $style --pending --compile-contexts
    # For the target `open`, bytes are only choices, so any file is a seed.
    mkdir -p tests/fuzz/corpus/open
    cp tests/fuzz/corpus/containers/$style.gz tests/fuzz/corpus/open/$style
done

# A list that is called, and one as the arguments of a call.
printf '\x80\x02]X\x01\0\0\0aR.' >tests/fuzz/corpus/pickle/called_list
printf '\x80\x02ccollections\ndeque\n]R.' >tests/fuzz/corpus/pickle/list_of_arguments

# Minimal files of the other formats.
packed=tests/fuzz/corpus/containers
python3 -m zipfile -c $packed/zip $packed/python.gz tests/fuzz/corpus/pickle/python2
mkdir -p tests/fuzz/corpus/json
event='{"action": "alloc", "addr": 512, "size": 1e2, "frames": [{"filename": "a\u00e9.py", "name": "f", "line": -3}]}'
printf '{"segments": [], "device_traces": [[%s]], "other": [true, null, 1.5, NaN]}' "$event" >tests/fuzz/corpus/json/small
cp tests/fuzz/corpus/json/small $packed/json
# zstd: one segment of 15 bytes, in one raw block.
printf '\x28\xb5\x2f\xfd\x20\x0f\x79\0\0{"segments":[]}' >$packed/zstd
# Columns of a small file.
cargo test --quiet --locked --features gpu --test native compact::fuzz_seeds_are_written -- --ignored

# Constructors of plain values, and the containers that Python writes.
python3 - "$packed" tests/fuzz/corpus/pickle tests/fuzz/corpus/json <<'END'
import collections, gzip, io, json, pickle, sys, tarfile, zlib
packed, pickles, texts = sys.argv[1:]
event = {"action": "alloc", "addr": 512, "size": 100, "stream": None, "frames": ({"filename": None, "name": "f", "line": None},)}
snapshot = collections.OrderedDict(segments=[], device_traces=collections.deque([[event]]), x={1, 2}, y=collections.Counter("a"))
constructors = pickle.dumps(snapshot, 2)
legacy = b"".join(pickle.dumps(value, 2) for value in (0x1950a86a20f9469cfc6c, 1001, {"little_endian": True})) + constructors
archive = io.BytesIO()
with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
    for name in "notes", "folder/" * 20 + "rank0":
        info = tarfile.TarInfo(name)
        info.size = len(constructors)
        tar.addfile(info, io.BytesIO(constructors))
memory = {"ph": "i", "name": "[memory]", "ts": 1.5, "args": {"Addr": 512, "Bytes": 8, "Total Allocated": 9, "Device Type": 1}}
trace = json.dumps({"traceEvents": [memory]})
for place, content in {
    f"{pickles}/constructors": constructors,
    f"{packed}/list": pickle.dumps({"ranks": [{"segments": []}, {"segments": []}]}, 4),
    f"{packed}/tar.gz": gzip.compress(archive.getvalue(), mtime=0),
    f"{packed}/torch_save": legacy,
    f"{packed}/utf_16": trace.encode("utf-16-le"),
    f"{packed}/zlib": zlib.compress(constructors),
    f"{texts}/raw_timeline": b"[[-1, 0, 100, 0], [5000, 1, 40, 4], [6000, 2, -40, 4], [6000, 2, 40, 5]]",
    f"{texts}/trace": trace.encode(),
}.items():
    with open(place, "wb") as out:
        out.write(content)
END
