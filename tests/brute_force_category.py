#!/usr/bin/env python3
"""Brute-force classification of a PyTorch memory snapshot's allocations by sets of rules.

usage: brute_force_category.py SNAPSHOT SEED SET.json...      JSON on standard output, one entry per device

Reads sets of rules in memscape's JSON format and tests every rule on every allocation, in order, with Python's regular expressions.
The meaning of a set is defined in src/analysis/category/mod.rs, Mosaic's own figures in its memory_abstract.py and memory_snapshot.py
(version 67b27bb). Snapshots are read by brute_force.py.
"""
import json, random, re, sys
from collections import Counter, defaultdict

import brute_force
from brute_force_steps import is_backward, pair, running

MOMENTS = 12
FOREVER = 1 << 60
LIBRARY = ["site-packages/", "dist-packages/", "/lib/python3", "<frozen", "torch/csrc", "torch/_", "<string>"]
NATIVE = (".cpp", ".cc", ".cu", ".c", ".h", ".cuh", ".hpp", ".S", ".o", ".so")


def file_of(frame):
    return frame.get("filename", "").replace("\\", "/")


def whose(frame):
    raw, name = frame.get("filename", ""), file_of(frame)
    if name in ("", "??", "none"):
        return "native"
    if ("\\" in raw and "/Lib/" in name) or any(part in name for part in LIBRARY):
        return "library"
    if name.endswith(".py") or name.startswith(("<ipython", "/tmp/ipykernel")):
        return "user"
    return "native" if name.endswith(NATIVE) else "user"


class Rule:
    def __init__(self, number, rule, ordered_by_frames):
        self.number, self.rule = number, rule
        self.patterns = [(key, re.compile(rule[key])) for key in ("name", "file", "frame") if key in rule]
        self.memo = {}
        others = {"recorded", "classified", "stack", "allocated", "ends", "least", "most", "model", "like"} & set(rule)
        self.of_frames = bool(self.patterns) and not others and rule.get("of", "alloc") == "alloc"
        self.together = ordered_by_frames and self.of_frames and rule.get("turn") != "alone" and "frames" not in rule
        self.like = rule.get("like")
        self.other = re.compile(self.like["name"]) if self.like and "name" in self.like else None

    def in_frame(self, frame):
        key = (frame.get("name", ""), file_of(frame))
        if key not in self.memo:
            name, file = key
            # Names may be qualified since Python 3.11.
            names = [name] if whose(frame) == "native" else [name, name.rsplit(".", 1)[-1]]
            texts = {"name": names, "file": [file], "frame": [*names, file]}
            self.memo[key] = all(any(it.search(text) for text in texts[what]) for what, it in self.patterns)
        return self.memo[key]

    def in_stack(self, frames):
        return any(self.in_frame(frame) for frame in frames)


def read_set(path):
    with open(path) as f:
        given = json.load(f)
    return given["name"], [Rule(at, rule, given["order"] == "frames") for at, rule in enumerate(given["rules"])]


def of_frames(rules, frames):
    """Return the first matching rule that only depends on frames, or None."""
    at = 0
    while at < len(rules):
        end = at + 1
        if rules[at].together:
            while end < len(rules) and rules[end].together:
                end += 1
            for frame in frames:
                for rule in rules[at:end]:
                    if rule.in_frame(frame):
                        return rule
        elif rules[at].of_frames and rules[at].in_stack(frames):
            return rules[at]
        at = end
    return None


def allocations(trace, blocks):
    ends = "free_completed" if any(e["action"] in ("free_completed", "free") for e in trace) else "free_requested"
    found, live, asked = [], {}, {}
    for i, e in enumerate(trace):
        action, address = e["action"], e.get("addr")
        if action == "alloc":
            live[address] = {"address": address, "size": e["size"], "born": i + 1, "died": FOREVER, "made": e.get("frames"), "freed": None,
                             "recorded": e.get("category"), "asked": None}
            found.append(live[address])
            asked.pop(address, None)
        elif action in ("free" if ends == "free_completed" else ends, ends):
            if address in live:
                one = live.pop(address)
                one["died"], one["freed"] = i + 1, one["freed"] or e.get("frames")
                one["asked"] = one["asked"] or i + 1
            else:
                request = asked.pop(address, (i + 1, e))
                frames = request[1].get("frames") or e.get("frames")
                found.append({"address": address, "size": e["size"], "born": 0, "died": i + 1, "made": None, "freed": frames, "recorded": None,
                              "asked": request[0]})
        elif action == "free_requested":
            if address in live:
                live[address]["freed"] = live[address]["freed"] or e.get("frames")
                live[address]["asked"] = live[address]["asked"] or i + 1
            else:
                asked.setdefault(address, (i + 1, e))
    for address, block in blocks.items():
        frames = brute_force.frames_of_block(block)
        if address not in live:
            found.append({"address": address, "size": brute_force.requested(block), "born": 0, "died": FOREVER, "made": frames,
                          "freed": None, "recorded": None, "asked": None})
        elif live[address]["made"] is None:
            live[address]["made"] = frames
    for one in found:
        one["made"], one["freed"] = one["made"] or [], one["freed"] or []
    return found


def all_stacks(snapshot):
    for traces in (snapshot.get("device_traces", []), [snapshot.get("host_traces", [])]):
        for trace in traces:
            yield from (e["frames"] for e in trace if e.get("frames"))
    for segment in snapshot["segments"] + snapshot.get("host_segments", []):
        yield segment.get("frames") or []
        for block in segment["blocks"]:
            yield block.get("frames") or []
            yield from (entry.get("frames") or [] for entry in block.get("history") or [])


def calls_of_models(snapshot):
    """Return, by function and file, the first line that calls a function named forward."""
    calls, seen = {}, set()
    for frames in all_stacks(snapshot):
        key = tuple(map(id, frames))
        if key in seen:
            continue
        seen.add(key)
        below = False
        for frame in frames:
            is_model = frame.get("name", "").rsplit(".", 1)[-1] == "forward"
            if below and not is_model and whose(frame) == "user":
                place = (frame["name"], frame["filename"])
                calls[place] = min(calls.get(place, frame["line"]), frame["line"])
            below |= is_model
    return calls


def site(frames):
    return next((frame for frame in frames if whose(frame) == "user"), None)


def place_of(frame):
    return frame and (frame["name"], frame["filename"], frame["line"])


def holds(rule, one, told, calls):
    """Return whether an allocation meets all conditions of a rule except those on sizes."""
    asked = rule.rule
    if rule.patterns and not rule.in_stack(one["freed" if asked.get("of") == "free" else "made"]):
        return False
    if "recorded" in asked and one["recorded"] != asked["recorded"]:
        return False
    if "classified" in asked and (told is None or told.rule["category"] != asked["classified"]):
        return False
    if "allocated" in asked and (one["born"] == 0) != (asked["allocated"] == "before"):
        return False
    if "ends" in asked and (one["end"] == FOREVER) != (asked["ends"] == "live"):
        return False
    lived = FOREVER if one["end"] == FOREVER else one["end"] - one["born"]
    if not asked.get("least", 0) <= lived <= asked.get("most", FOREVER):
        return False
    if "stack" in asked:
        python = any(whose(frame) != "native" for frame in one["made"])
        kind = "none" if not one["made"] else "python" if python else "native"
        if kind != asked["stack"]:
            return False
    if "model" in asked:
        frame = site(one["made"])
        call = calls.get((frame["name"], frame["filename"])) if frame else None
        if call is None or (frame["line"] < call) != (asked["model"] == "later"):
            return False
    return True


def categorize(name, rules, found, calls):
    """Store in every allocation the rule that classifies it."""
    memo = {}
    for one in found:
        key = tuple(map(id, one["made"]))
        if key not in memo:
            memo[key] = (of_frames(rules, one["made"]), one["made"])
        one["told"] = memo[key][0]
        one["rule"] = None
        for rule in rules:
            if rule.like is None and (rule is one["told"] if rule.of_frames else holds(rule, one, one["told"], calls)):
                one["rule"] = rule
                break
        rule = one["rule"]
        if name == "default" and one["kept"] and rule and "recorded" not in rule.rule and rule.rule["category"] in ("activation", "activations"):
            one["rule"] = None
    for rule in rules:
        if rule.like is None:
            continue
        like, here = rule.like, rule.like.get("at") == "here"
        first, second = (list(map(int, like.get("ratio", "1").split("/"))) + [1])[:2]
        others = [it for it in found if (any(rule.other.search(f.get("name", "")) for f in it["made"]) if rule.other
                                         else it["rule"] is not None and it["rule"].rule["category"] == like["category"])]
        changes = defaultdict(list)
        for other in others:
            key = (other["size"], place_of(site(other["freed"])) if here else None)
            changes[key] += [(other["born"], 1, 1), (other["died"], 0, -1)]
        left = {}
        for key, changes_of_key in changes.items():
            now = most = 0
            for _, _, by in sorted(changes_of_key):
                now += by
                most = max(most, now)
            left[key] = most * like["each"] if "each" in like else FOREVER
        for one in found:
            if one["rule"] is not None and one["rule"].number < rule.number or not holds(rule, one, one["told"], calls):
                continue
            if one["size"] == 0 or one["size"] * second % first:
                continue
            key = (one["size"] * second // first, place_of(site(one["made"])) if here else None)
            if left.get(key, 0) > 0:
                left[key] -= 1
                one["rule"] = rule


def within_zero_grad(snapshot, device, trace, found):
    """Add a frame to the frees that are requested within an annotation of zero_grad."""
    times = [e.get("time_us") for e in trace]
    if not any(time is not None for time in times):
        return
    axis = running(times)
    marks = [mark for mark in snapshot.get("external_annotations") or [] if mark.get("device", 0) == device]
    ranges = [(start, max(start, end)) for name, start, end in pair(marks) if "zero_grad" in name and end is not None]
    for one in found:
        if one["asked"] and any(start <= axis[one["asked"] - 1] <= end for start, end in ranges):
            one["freed"] = one["freed"] + [{"name": "zero_grad", "filename": "", "line": 0}]


def kept(trace, found):
    """Mark allocations that stay live although their stack allocates again after a later backward pass."""
    stack = lambda frames: tuple((f.get("filename"), f.get("line"), f.get("name")) for f in frames or [])
    last, before = 0, {}
    for i, e in enumerate(trace):
        if e["action"] == "alloc":
            if is_backward(e.get("frames")):
                last = i + 1
            elif last and e.get("frames"):
                before[stack(e["frames"])] = last
    for one in found:
        stays = one["born"] > 0 and one["died"] == FOREVER and one["asked"] is None
        one["kept"] = bool(stays and one["made"] and one["born"] < before.get(stack(one["made"]), 0))
    temporary(trace, found)


def temporary(trace, found):
    """Mark what is live because the trace ends in its backward pass: in earlier passes, most of its stack and size were freed within theirs."""
    passes, is_inside = [], False
    for i, e in enumerate(trace):
        if e["action"] == "alloc" and e.get("frames"):
            if is_backward(e["frames"]) and is_inside:
                passes[-1][1] = i + 1
            elif is_backward(e["frames"]):
                passes.append([i + 1, i + 1])
            is_inside = is_backward(e["frames"])
    key = lambda one: (tuple((f.get("filename"), f.get("line"), f.get("name")) for f in one["made"]), one["size"])
    fates = Counter()
    for one in found if is_inside else ():
        for start, end in passes[:-1]:
            if start <= one["born"] <= end and is_backward(one["made"]):
                fates[key(one)] += 1 if (one["asked"] or one["died"]) <= end else -1
    for one in found:
        is_last = is_inside and one["born"] >= passes[-1][0]
        is_temporary = is_last and one["died"] == FOREVER and fates[key(one)] > 0
        one["end"] = len(trace) + 1 if is_temporary else one["died"]


def category(rules, rule):
    unknown = next((it.rule["category"] for it in rules if it.rule["category"].lower() == "unknown"), "unknown")
    return rule.rule["category"] if rule else unknown


def tally(some, key):
    sums = defaultdict(lambda: [0, 0])
    for one in some:
        sums[key(one)][0] += one["size"]
        sums[key(one)][1] += 1
    return dict(sums)


def most(found, key):
    """Return, by category, its peak in bytes and the first moment with it."""
    changes = sorted([(it["born"], key(it), it["size"]) for it in found] + [(it["died"], key(it), -it["size"]) for it in found if it["died"] < FOREVER])
    now, best = Counter(), {}
    for at, (moment, name, by) in enumerate(changes):
        now[name] += by
        # Allocations from before recording exist at once at the start.
        is_last = moment > 0 or at + 1 == len(changes) or changes[at + 1][0] > 0
        for it in [name] if moment > 0 else list(now) if is_last else []:
            if now[it] > best.get(it, (0, 0))[0]:
                best[it] = (now[it], moment)
    return best


def as_mosaic_counts(rules, trace):
    live, sums, best, peak, when = {}, {}, 0, {}, 0
    for i, e in enumerate(trace):
        if e.get("time_us") is None or e["action"] == "oom":
            continue
        if e["action"] == "alloc" and e["addr"] not in live:
            name = category(rules, next((it for it in [of_frames(rules, e.get("frames") or [])] if it), None))
            live[e["addr"]] = name
            sums[name] = sums.get(name, 0) + e["size"]
        elif e["action"] == "free_completed" and e["addr"] in live:
            sums[live.pop(e["addr"])] -= e["size"]
        if sum(sums.values()) > best:
            best, peak, when = sum(sums.values()), dict(sums), i + 1
    return {"requested": best, "categories": peak, "moment": when}


def analyse(snapshot, device, seed, sets):
    traces = snapshot.get("device_traces", [])
    trace = traces[device] if 0 <= device < len(traces) else []
    found, calls = allocations(trace, brute_force.end_blocks(snapshot, device)), calls_of_models(snapshot)
    within_zero_grad(snapshot, device, trace, found)
    kept(trace, found)
    chance = random.Random(seed)
    moments = [0, len(trace)] + [chance.randint(0, len(trace)) for _ in range(MOMENTS)]
    curve = Counter()
    for one in found:
        curve[one["born"]] += one["size"]
        curve[one["died"]] -= one["size"]
    now = best = curve[0]
    peak = 0
    for moment in range(1, len(trace) + 1):
        now += curve[moment]
        if now > best:
            best, peak = now, moment
    told = {}
    for name, rules in sets:
        categorize(name, rules, found, calls)
        key = lambda one: category(rules, one["rule"])
        live = lambda moment: [it for it in found if it["born"] <= moment < it["died"]]
        told[name] = {
            "peak": tally(live(peak), key),
            "rules": tally(live(peak), lambda one: one["rule"].number + 1 if one["rule"] else 0),
            "moments": [[moment, tally(live(moment), key)] for moment in moments],
            "most": most(found, key),
            "mosaic": as_mosaic_counts(rules, trace) if name == "mosaic" else None,
        }
    return {"device": device, "peak": best, "moment": peak, "sets": told}


if __name__ == "__main__":
    snapshot, sets = brute_force.load(sys.argv[1]), [read_set(path) for path in sys.argv[3:]]
    devices = {s.get("device", 0) for s in snapshot["segments"]}
    devices |= {d for d, trace in enumerate(snapshot.get("device_traces", [])) if trace}
    print(json.dumps([analyse(snapshot, device, int(sys.argv[2]), sets) for device in sorted(devices)]))
