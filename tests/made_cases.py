#!/usr/bin/env python3
"""Writes snapshots of many kinds with Python's own picklers and archives, and what memscape must say about each.

usage: made_cases.py FOLDER      writes the files and FOLDER/expected.json

expected.json maps a file name to its expectations: `peak`, `end`, `base` and `events` of the first device, `members` of an archive,
`warnings` (kinds), `error` (part of the message of a file that does not open), and pairs of a topic and a text: `says`, a part of one of
its statements, and `lacks`, a part of none (topic `*`: of no report). `kinds` are those of the OOMs, newest first. `device` is the ordinal of another device than the first.
Programs are in made_programs.py, made_variants.py and made_trainers.py. NumPy values are written only if NumPy is installed.
"""
import bz2, collections, datetime, gzip, io, json, lzma, os, pickle, struct, sys, tarfile, zipfile, zlib

import made_programs, made_trainers, made_variants
from made_programs import MIB, Program

EXPECTED = {}


def case(name, data, **expected):
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(data)
    EXPECTED[name] = expected


def loop(steps=4):
    """Return a small training loop and its numbers."""
    program = Program()
    program.alloc(3 * MIB, "__init__:10")
    for step in range(steps):
        held = [program.alloc((1 + step % 3) * MIB, f"forward:{20 + it}", "main:40") for it in range(3)]
        for one in held:
            program.free(one)
    return program


def of(program):
    numbers = program.numbers()
    return {key: numbers[key] for key in ("peak", "end", "base", "events")}


def torch_save(data, folder, compression=zipfile.ZIP_STORED, extra=True):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr(f"{folder}/data.pkl", data)
        if extra:
            archive.writestr(f"{folder}/byteorder", "little")
            archive.writestr(f"{folder}/.data/serialization_id", "1")
        archive.writestr(f"{folder}/version", "3\n")
    return out.getvalue()


def torch_save_legacy(value, protocol=2):
    parts = [0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}, value, []]
    return b"".join(pickle.dumps(part, protocol) for part in parts)


def tar(members, mode="w", form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as archive:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def as_type(value, dicts, lists):
    if isinstance(value, dict):
        return dicts({key: as_type(it, dicts, lists) for key, it in value.items()})
    return lists([as_type(it, dicts, lists) for it in value]) if isinstance(value, (list, tuple)) else value


def default_dict(factory):
    def new(value):
        made = collections.defaultdict(factory)
        made.update(value)
        return made
    return new


def pickles():
    program = loop()
    value, numbers = program.snapshot(), of(program)
    for protocol in range(2, 6):
        dump = lambda it: pickle.dumps(it, protocol)
        case(f"protocol{protocol}.pickle", dump(value), **numbers)
        case(f"legacy{protocol}.pt", torch_save_legacy(value, protocol), **numbers)
        case(f"ordered{protocol}.pickle", dump(as_type(value, collections.OrderedDict, list)), **numbers)
        for factory in (list, dict, int, None):
            name = getattr(factory, "__name__", "none")
            case(f"default-{name}{protocol}.pickle", dump(as_type(value, default_dict(factory), list)), **numbers)
        mixed = collections.OrderedDict(segments=tuple(value["segments"]), device_traces=collections.deque(value["device_traces"]))
        case(f"mixed{protocol}.pickle", dump(mixed), **numbers)
        case(f"tuples{protocol}.pickle", dump(as_type(value, dict, tuple)), **numbers)
        case(f"counter{protocol}.pickle", dump({**value, "counts": collections.Counter("abca")}), warnings=["unknown_key"], **numbers)
        wrapped = {"step": 3, "when": datetime.datetime(2026, 1, 2), "memory": {"snapshot": value}, "tags": {"a", "b"}}
        case(f"wrapped-date{protocol}.pickle", dump(wrapped), **numbers)
    case("bool-keys.pickle", pickle.dumps({"ok": True, "rank": 0, "snap": value}, 4), **numbers)
    case("complex.pickle", pickle.dumps({"ratio": 1 + 2j, "size": bytearray(b"x"), "snap": value}, 4), **numbers)
    for traces in ([], [[]], [[], []], [None], [None, []], ()):
        made = {**value, "device_traces": traces}
        name = json.dumps(traces).replace(" ", "").replace(",", "-")
        case(f"no-events{name}.pickle", pickle.dumps(made, 4), end=numbers["end"], events=0, warnings=["not_recorded"],
             says=[["savings", "recording was not enabled"]])


def containers():
    program, other = loop(), loop(9)
    value, numbers = program.snapshot(), of(program)
    plain, second = pickle.dumps(value, 4), pickle.dumps(other.snapshot(), 5)
    for folder in ("archive", "snapshot", "run.1/deep"):
        case(f"torch-save-{folder.replace('/', '-')}.pt", torch_save(plain, folder), **numbers)
    case("torch-save-deflated.pt", torch_save(plain, "archive", zipfile.ZIP_DEFLATED, False), **numbers)
    case("torch-save-wrapped.pt", torch_save(pickle.dumps({"epoch": 1, "snap": value}, 2), "archive"), **numbers)
    for level in (0, 1, 3, 6, 9):
        case(f"level{level}.zlib", zlib.compress(plain, level), **numbers)
        case(f"level{level}.gz", gzip.compress(plain, level), **numbers)
    for bits in range(9, 16):
        packer = zlib.compressobj(6, zlib.DEFLATED, bits)
        case(f"window{bits}.z", packer.compress(plain) + packer.flush(), **numbers)
    text = json.dumps(value)
    for name in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        data = text.encode(name)
        case(f"{name}.json", data, **numbers)
        case(f"{name}.json.gz", gzip.compress(data), **numbers)
    case("utf-16-be-bom.json", b"\xfe\xff" + text.encode("utf-16-be"), **numbers)
    case("indented.json", json.dumps(value, indent=1).encode("utf-16"), **numbers)
    case("names.json", json.dumps({"übung 𝄞": 1, "snap": value}, ensure_ascii=False).encode("utf-16-le"), **numbers)
    members = [("./run/rank0.pickle.gz", gzip.compress(plain)), ("run/rank1.pickle", second), ("run/rank2.pkl.gz", gzip.compress(second))]
    for mode in ("w", "w:gz"):
        for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            case(f"ranks-{mode.replace(':', '-')}-{form}.tar", tar(members, mode, form), members=3, **numbers)
    case("one.tar", tar(members[:1]), **numbers)
    case("notes.tar", tar([("notes.txt", b"nothing"), *members[:1]]), **numbers)
    case("empty.tar", tar([]), error="")
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    case("ranks.zip", zipped.getvalue(), members=3, **numbers)
    for name, pack in (("bz2", bz2.compress), ("xz", lzma.compress), ("lzma", lambda it: lzma.compress(it, lzma.FORMAT_ALONE))):
        case(f"packed.{name}", pack(plain), error="unpack it first")
    for name, data in (("pickle", plain), ("pickle.gz", gzip.compress(plain)), ("z", zlib.compress(plain)), ("pt", torch_save(plain, "a"))):
        for part in (3, 2):
            case(f"cut{part}.{name}", data[: len(data) // part], error="")
    case("empty.json", b"", error="empty")
    two, three = other.snapshot(), loop(2).snapshot()
    for name, made, count in (
        ("list", [value, two], 2), ("tuple", (value, two, three), 3), ("ranks", {0: value, 1: two}, 2), ("named", {"rank_0": value, "rank_1": two, "world": 2}, 2),
        ("none", [None, value, two], 2), ("nested", {"runs": [{"memory": value}, {"memory": two}]}, 2), ("ordered", collections.OrderedDict(a=value, b=two), 2),
        ("default", default_dict(dict)({"a": value, "b": two}), 2),
    ):
        for protocol in (2, 5):
            case(f"several-{name}{protocol}.pickle", pickle.dumps(made, protocol), members=count, **numbers)
        case(f"several-{name}.pt", torch_save(pickle.dumps(made, 2), "archive"), members=count, **numbers)
    for key in ("snapshot", "memory", "cuda"):
        for made in ({key: value}, {"a": {"b": {key: value}}}, [value], {"rank": 1, key: [value]}):
            case(f"under-{key}-{len(EXPECTED)}.pickle", pickle.dumps(made, 4), **numbers)


def numpy_values():
    try:
        import numpy
    except ImportError:
        return
    program = loop()
    value, numbers = program.snapshot(), of(program)
    for name in ("int64", "uint64", "float64", "longlong", "ulonglong"):
        kind = getattr(numpy, name)
        made = convert(value, lambda number: kind(number))
        for protocol in (2, 4, 5):
            data = pickle.dumps(made, protocol)
            case(f"numpy-{name}-{protocol}.pickle", data, **numbers)
            # Versions before 2 have the constructor in another module. Only protocols before 4 write module names without a length.
            if protocol == 2:
                case(f"numpy1-{name}-{protocol}.pickle", data.replace(b"numpy._core", b"numpy.core"), **numbers)
    small = {**value, "rank": numpy.int8(3), "on": numpy.bool_(True), "loss": numpy.float32(0.5), "half": numpy.float16(1), "name": numpy.str_("x")}
    for protocol in (2, 4, 5):
        case(f"numpy-small-{protocol}.pickle", pickle.dumps(small, protocol), warnings=["unknown_key"], **numbers)
        case(f"numpy-array-{protocol}.pickle", pickle.dumps({"losses": numpy.arange(5.0), "snap": value}, protocol), **numbers)


def profiles():
    memory = lambda ts, address, size, total: {"ph": "i", "name": "[memory]", "ts": ts, "args": {
        "Addr": address, "Bytes": size, "Total Allocated": total, "Total Reserved": 1 << 30, "Device Type": 1, "Device Id": 0}}
    events = [memory(1.5, 4096, 3 * MIB, 3 * MIB), memory(2, 8 * MIB, 5 * MIB, 8 * MIB), memory(3.25, 4096, -3 * MIB, 5 * MIB)]
    says, lacks = [["peak", "Recorded by torch.profiler, without call stacks"]], [["*", "Reserved at the peak"], ["*", "no stack recorded"]]
    numbers = {"peak": 8 * MIB, "end": 5 * MIB, "base": 0, "events": 3, "warnings": ["from_the_profiler"], "says": says, "lacks": lacks}
    before = [memory(2, 8 * MIB, 5 * MIB, 105 * MIB), memory(3, 64 * MIB, -50 * MIB, 55 * MIB)]
    raw = [[-1, 0, 100, 0], [5000, 1, 40, 4], [6000, 2, -40, 4], [6000, 2, 40, 5], [7000, 3, -40, 5]]
    timeline = [[1000, 2000], [[0, 100, 5], [0, 100, 7]]]
    grouped = {"device": "cuda:1", "max_memory_allocated": 9, "category_memory_timeline": {"INPUT": [[0, 1]]}}
    page = b"<html><head><title>GPU Memory Timeline HTML</title></head><body><img src='data:image/png;base64,iVBORw0KGgo='></body></html>"
    for name, value, expected in (
        ("trace", {"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "aten::mm", "ts": 1, "dur": 2}] + events}, numbers), ("trace-list", events, numbers),
        ("trace-before", {"traceEvents": before}, {"peak": 105 * MIB, "end": 55 * MIB, "base": 100 * MIB, "lacks": lacks}),
        ("raw", raw, {"peak": 140, "end": 100, "warnings": ["from_the_profiler"]}),
        ("timeline", timeline, {"error": "a memory timeline of torch.profiler"}), ("grouped", grouped, {"error": "only 'device', 'max_memory_allocated'"}),
        ("no-memory", {"traceEvents": [{"ph": "X", "name": "aten::mm"}]}, {"error": "without memory events"}),
    ):
        data = json.dumps(value).encode()
        case(f"profiler-{name}.json", data, **expected)
        case(f"profiler-{name}.json.gz", gzip.compress(data), **expected)
    case("profiler-picture.html", page, error="a picture of a memory timeline")
    case("profiler-picture.html.gz", gzip.compress(page), error="a picture of a memory timeline")


def convert(value, number):
    if isinstance(value, dict):
        return {key: convert(it, number) for key, it in value.items()}
    if isinstance(value, list):
        return [convert(it, number) for it in value]
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return number(value) if is_number else value


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    pickles()
    containers()
    numpy_values()
    profiles()
    for name, made, expected in [*made_programs.all(), *made_variants.all(), *made_trainers.all()]:
        case(name, pickle.dumps(made, 4), **expected)
    with open(os.path.join(sys.argv[1], "expected.json"), "w") as file:
        json.dump(EXPECTED, file)
