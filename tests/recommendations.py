#!/usr/bin/env python3
"""Slow referee of memscape's recommendations on a PyTorch memory snapshot.

usage: recommendations.py savings SNAPSHOT DEFAULT.json          JSON, one entry per device: the peak with each change
       recommendations.py leaks SNAPSHOT DEFAULT.json            JSON, one entry per device: the peak without each growing call site
       recommendations.py settings TOOLS SNAPSHOT LINES          JSON, one entry per device: outcome under each setting
       recommendations.py ooms TOOLS SNAPSHOT DEFAULT.json       JSON, one entry per device with OOMs: live bytes under each plan, outcomes
       recommendations.py list MEMSCAPE SNAPSHOT...              every recommendation with its effect, as text

`savings` and `leaks` sum the curve of live bytes again for each change, with the bytes left out that the change saves. They share no
code with the Rust implementation, and use the brute-force classification and steps of the scripts beside it. `settings` replays the
requests in the Python model of the allocator (allocator_sim.py and whatif_sim.py in the folder TOOLS), `ooms` replays them with
planned sizes. LINES is a JSON list. Moment k is the state after k events.
"""
import copy, json, re, subprocess, sys

import brute_force, brute_force_plans
from brute_force_category import FOREVER, all_stacks, allocations, calls_of_models, categorize, category, kept, read_set, within_zero_grad
from brute_force_leaks import NEVER, growth, allocations as with_requests
from brute_force_steps import is_backward, stages, steps

ROLES = {
    "parameter": ("parameter", "parameters", "weights"), "optimizer": ("optimizer state", "optimizer", "optimizer states"),
    "gradient": ("gradient", "gradients", "backward"), "activation": ("activation", "activations"),
    "temporary": ("temporary", "temporaries"), "input": ("input", "inputs"), "cache": ("kv cache",), "unknown": ("unknown",),
}
LOSS = re.compile("cross_entropy|log_softmax|nll_loss|lm_head|LogSoftmaxBackward|NllLoss|CrossEntropy", re.I)
ATTENTION, SOFTMAX = re.compile("attention|attn", re.I), re.compile("softmax|attention_scores|attention_probs|attn_weights|attn_probs", re.I)
CHECKPOINT = re.compile(r"utils.checkpoint\.py|activation_checkpointing.checkpointing\.py|nn.checkpoint.checkpoint_activations|CheckpointFunction|recompute_fn|tensor_parallel.random\.py", re.I)
BUCKET = re.compile("c10d::Reducer|_ddp_init_helper")
FORWARD = re.compile("[ .]forward$")
NO_FILE = ("", "??", "none")


def line(frame):
    """Return a frame as a line of text: `file:line function`."""
    file, name = frame.get("filename", ""), frame.get("name", "")
    number = f":{frame['line']}" if frame.get("line") else ""
    return name if file in NO_FILE else f"{file}{number} {name}"


def matches(pattern, frames):
    return any(pattern.search(line(frame)) for frame in frames)


def peak_of(curve):
    most = max(curve)
    return curve.index(most), most


def curve_of(spans, last):
    """Return live bytes at every moment, from [bytes, from, to] of each allocation."""
    changes = [0] * (last + 2)
    for size, start, end in spans:
        if end > start:
            changes[start] += size
            changes[min(end, last + 1)] -= size
    live, curve = 0, []
    for change in changes[: last + 1]:
        live += change
        curve.append(live)
    return curve


def forward_passes(found, is_start, has_gradient):
    """Return the forward passes with a start: [start, end], where the end is the first allocation of the backward pass."""
    passes = []
    for one in sorted((it for it in found if it["born"] > 0), key=lambda it: it["born"]):
        if is_backward(one["made"]) or has_gradient(one):
            if passes and passes[-1][1] is None:
                passes[-1][1] = one["born"]
        elif (not passes or passes[-1][1] is not None) and is_start(one):
            passes.append([one["born"] - 1, None])
    return [[start, FOREVER if end is None else end] for start, end in passes]


def stale_spans(found, role, passes, ooms):
    """Return the spans in which gradients of the last step are live in a forward pass."""
    freed_in = set()
    for one in found:
        if role(one) != "gradient" or one["died"] == FOREVER:
            continue
        before = [it for it in passes if it[0] < one["died"]]
        if before and one["born"] <= before[-1][0] and one["died"] < before[-1][1]:
            freed_in.add(before[-1][0] if one["size"] > 0 else None)
            yield one["size"], before[-1][0], one["died"]
    # An OOM in the last forward pass prevents the free that all earlier ones had.
    earlier = [start for start, _ in passes[1:-1]]
    if earlier and passes[-1][1] == FOREVER and any(event >= passes[-1][0] for event in ooms) and freed_in.issuperset(earlier):
        for one in found:
            if role(one) == "gradient" and one["died"] == FOREVER and one["born"] <= passes[-1][0]:
                yield one["size"], passes[-1][0], FOREVER


def held_spans(found, role, starts):
    """Return the spans of what is live when the next step starts, from then on."""
    for one in found:
        is_of_step = role(one) in ("activation", "temporary", "unknown", "other")
        if is_of_step and one["born"] > 0 and one["died"] < FOREVER:
            start = next((start for start in starts if start >= one["born"]), FOREVER)
            if start < one["died"]:
                yield one["size"], start, one["died"]


def unfreed_spans(found, role, starts, last):
    """Return the spans from the start of a step to its backward pass, of gradients that are never freed."""
    backward = sorted(one["born"] for one in found if one["born"] > 0 and is_backward(one["made"] or one["freed"]))
    gradients = [one for one in found if role(one) == "gradient" and one["died"] == FOREVER]
    spans, closed, until = [], False, 0
    for number, start in enumerate(starts):
        live = [one for one in gradients if one["born"] <= start]
        if start < until or not live:
            continue
        end = next((moment for moment in backward if moment > start), FOREVER)
        closed |= end < FOREVER
        # A later step start adds the gradients that exist by then.
        later = [it for it in starts[number + 1 :] if it < end]
        bounds = [start] + later + [min(end, last + 1)]
        for a, b in zip(bounds, bounds[1:]):
            spans += [(one["size"], a, b) for one in gradients if one["born"] <= a]
        until = end
    return spans if closed else []


def kept_activations(found, role, spans, last):
    """Return the activations that outlive the last allocation of their forward pass, without its output."""
    ends = [to for _, to in spans] + [last]
    if not spans:
        # An allocation outside of a forward ends the pass, and another call of the model by the same stack.
        first, place = None, lambda one: [(f.get("filename"), f.get("line"), f.get("name")) for f in one["made"] or one["freed"]]
        calls = lambda one: [matches(FORWARD, [frame]) for frame in one["made"] or one["freed"]]
        is_outer = lambda one: sum(map(bool, calls(one))) == 1 and not calls(one)[-1]
        for one in sorted((it for it in found if it["born"] > 0), key=lambda it: it["born"]):
            is_forward = matches(FORWARD, one["made"] or one["freed"])
            again = is_forward and first and place(one) == place(first) and (first["died"] < one["born"] or is_outer(one))
            if first and (again or not is_forward and (one["made"] or one["freed"])):
                ends, first = ends[:-1] + [one["born"] - 1, last], None
            if is_forward and not first:
                first = one
    pass_of = lambda moment: sum(end < moment for end in ends)
    last_of, output = {}, {}
    for one in found:
        if one["born"] > 0 and matches(FORWARD, one["made"] or one["freed"]):
            place = pass_of(one["born"])
            last_of[place] = max(last_of.get(place, 0), one["born"])
    some = [one for one in found if role(one) == "activation" and one["born"] > 0]
    # Without steps, the last pass may be that of a training.
    is_known = lambda one: one["died"] < FOREVER or spans or len(ends) == 1
    outlives = [one for one in some if is_known(one) and one["born"] <= last_of.get(pass_of(one["born"]), 0) < one["died"]]
    births = sorted(one["born"] for one in found)
    following = lambda place: next((born for born in births if born > last_of[place]), FOREVER)
    next_of = {place: following(place) for place in last_of}
    # Inputs and workspaces of the last operation are freed right after it, while the output stays.
    for place in {pass_of(one["born"]) for one in outlives}:
        ones = [one for one in outlives if pass_of(one["born"]) == place]
        stay = [one for one in ones if one["died"] >= next_of[place]]
        last = max(stay if stay and 2 * len(stay) >= len(ones) else ones, key=lambda one: one["born"])
        output[place] = (last["born"], last["died"])
    stays = [one for one in outlives for place in [pass_of(one["born"])]
             if one["born"] < output[place][0] and (one["died"] >= next_of[place] or output[place][1] < next_of[place])]
    return stays if len(stays) >= 4 and len(stays) * 4 >= len(some) else []


class Device:
    """Allocations of a device with their roles, the curve of live bytes, and steps."""

    def __init__(self, snapshot, device, rules):
        traces = snapshot.get("device_traces", [])
        self.trace = traces[device] if 0 <= device < len(traces) else []
        self.last, blocks = len(self.trace), brute_force.end_blocks(snapshot, device)
        self.found = allocations(self.trace, blocks)
        within_zero_grad(snapshot, device, self.trace, self.found)
        kept(self.trace, self.found)
        categorize("default", rules, self.found, calls_of_models(snapshot))
        names = {name: role for role, names in ROLES.items() for name in names}
        self.role = lambda one: names.get(category(rules, one["rule"]).lower(), "other")
        self.requested = with_requests(self.trace, blocks)
        unexplained = sum(one.size for one in self.requested if hasattr(one, "unexplained"))
        self.curve = [bytes + unexplained for bytes in curve_of([(it["size"], it["born"], it["died"]) for it in self.found], self.last)]
        self.moment, self.peak = peak_of(self.curve)
        marks = [mark for mark in snapshot.get("external_annotations") or [] if mark.get("device", 0) == device]
        all = brute_force.allocations(self.trace, blocks)
        found = steps(stages(all, self.curve, self.trace, marks), self.trace, all, self.curve, marks)
        self.steps = [(it["from"], it["to"]) for it in found]

    def peak_without(self, left_out):
        """Return the peak without the bytes in some spans, and its moment."""
        saved = curve_of(left_out, self.last)
        when, without = peak_of([live - bytes for live, bytes in zip(self.curve, saved)])
        return without, when


def savings(snapshot, device, rules):
    it = Device(snapshot, device, rules)
    found, role, requested, spans, last, peak, moment = it.found, it.role, it.requested, it.steps, it.last, it.peak, it.moment
    stack = lambda one: one["made"] or one["freed"]
    starts = [start for start, _ in spans[1:]]

    whole = lambda some: [(one["size"], one["born"], one["died"]) for one in some]
    of_role = lambda wanted: [one for one in found if role(one) == wanted]
    part = lambda wanted, by: [(one["size"] - -(-one["size"] // by), one["born"], one["died"]) for one in of_role(wanted)]
    is_loss = lambda one: matches(LOSS, stack(one))
    is_score = lambda one: matches(ATTENTION, stack(one)) and matches(SOFTMAX, stack(one)) and not is_loss(one)
    is_gradient = lambda one: role(one) == "gradient"
    passes = forward_passes(found, lambda one: matches(FORWARD, one["made"]), is_gradient)
    ooms = [at for at, event in enumerate(it.trace) if event["action"] == "oom"]
    trains = any(role(one) in ("gradient", "optimizer") and one["rule"].like is None for one in found)
    trains |= any(one["born"] > 0 and is_backward(one["made"]) for one in found)
    changes = {
        "temporaries in chunks or fused, at most": whole(of_role("temporary")),
        "fused attention, at most": whole(filter(is_score, found)),
        "KV cache in 8 bits": part("cache", 2), "8-bit optimizer state": part("optimizer", 4),
        "optimizer state sharded over 8 devices": part("optimizer", 8), "optimizer state on the CPU": whole(of_role("optimizer")),
        "gradients of the last step freed before the forward pass": list(stale_spans(found, role, passes, ooms)),
        "gradients set to None after each step": unfreed_spans(found, role, starts, last),
        "tensors of a step freed at its end": list(held_spans(found, role, starts)),
        "frees that do not wait for other streams": [(it.size, it.asked, it.died) for it in requested if it.asked is not None and it.asked < it.died],
    }
    if trains:
        changes["activation checkpointing, at most"] = whole(one for one in of_role("activation") if not matches(CHECKPOINT, stack(one)))
        changes["loss in chunks or fused, at most"] = whole(filter(is_loss, found))
    else:
        changes["activations not kept for a backward pass, at most"] = whole(kept_activations(found, role, spans, last))
    buckets = [one for one in found if matches(BUCKET, stack(one))]
    beside = [one for one in of_role("gradient") if not matches(BUCKET, stack(one))]
    at_peak = lambda some: sum(one["size"] for one in some if one["born"] <= moment < one["died"])
    if 0 < at_peak(buckets) <= 2 * at_peak(beside) and 50 * at_peak(beside) <= 51 * at_peak(buckets):
        changes["gradients as views of DDP's buckets"] = whole(beside)
    effects = {}
    for name, left_out in changes.items():
        without, when = it.peak_without(left_out)
        if peak - without >= max(1, min(peak // 100, 64 << 20)):
            effects[name] = [without, when]
    return {"device": device, "peak": [peak, moment], "savings": effects}


def leaks(snapshot, device, rules):
    """Return for each call site whose bytes grow over the steps the peak without what it keeps: [name, peak without it]."""
    it = Device(snapshot, device, rules)
    if len(it.steps) < 2:
        return {"device": device, "peak": it.peak, "leaks": []}
    effects = []
    for site in {one.site for one in it.requested}:
        ones = [one for one in it.requested if one.site == site]
        grown = growth(ones, it.steps, it.last)
        if grown is None or grown["rises"] < 2:
            continue
        kept = [(one.size, one.born, NEVER) for one in ones if one.died == NEVER and one.born > grown["start"]]
        effects.append([site[1], it.peak_without(kept)[0]])
    return {"device": device, "peak": it.peak, "leaks": effects}


def exact_replays(tools, path):
    """Return each device whose recording the model reproduces exactly, as the model and its replay."""
    sys.path.insert(0, tools)
    import whatif_sim
    snapshot = whatif_sim.load(path)
    for device, trace in enumerate(snapshot.get("device_traces", [])):
        if any(event["action"] == "alloc" for event in trace):
            replay, _ = whatif_sim.fit(whatif_sim.Recording(snapshot, device))
            if replay.exact():
                yield snapshot, device, whatif_sim, replay


def runs(model, replay, settings):
    """Run the requests with the highest and the lowest limit that the recording implies."""
    ends = [replay.hi - 1, replay.lo] if replay.hi < model.INF else [None]
    if replay.capacity is not None and not replay.by_fraction:
        ends = [replay.capacity]
    order = model.order_of(replay.rec)
    driver = lambda limit: model.Driver(None if replay.by_fraction else limit, order)
    return [model.predict(replay, settings, driver(limit), limit if replay.by_fraction else None) for limit in ends]


def outcome(model, replay, ends):
    """Return whether the first request that failed in the recording succeeds: avoids, fails, or depends on the exact limit."""
    if model.implied(replay) is None:
        return "depends"
    if all(end.avoided is not None for end in ends):
        return "avoids"
    return "fails" if all(end.failed is not None for end in ends) else "depends"


def settings(tools, path, lines):
    """Return for each device with an exact replay the peak and the outcome under each line of settings."""
    results = []
    for snapshot, device, model, replay in exact_replays(tools, path):
        peaks, outcomes = {}, {}
        for line in lines:
            config, _ = model.parse_conf(line, replay.cfg.by_age)
            ends = runs(model, replay, config.set(add=replay.cfg.add, align=replay.cfg.align))
            peaks[line], outcomes[line] = [end.peak for end in ends], outcome(model, replay, ends)
        results.append({"device": device, "peaks": peaks, "outcomes": outcomes})
    return results


def with_sizes(replay, device, sizes):
    """Return the replay of a recording whose allocations have other sizes."""
    planned, recording = copy.copy(replay), copy.copy(replay.rec)
    early = {one["address"]: size for one, size in zip(device.found, sizes) if one["born"] == 0}
    later = {one["born"] - 1: size for one, size in zip(device.found, sizes) if one["born"] > 0}
    recording.init_live = {at: (block, early.get(at, asked), exact) for at, (block, asked, exact) in recording.init_live.items()}
    recording.ev = [event if event[0] != "alloc" else (*event[:2], later[at], *event[3:]) for at, event in enumerate(recording.ev)]
    planned.rec = recording
    return planned


def ooms(tools, path, rules):
    """Return for each device with OOMs: event and live bytes of each, and by plan the live bytes and the outcome of the first OOM."""
    snapshot = brute_force.load(path)
    exact = {device: (model, replay) for _, device, model, replay in exact_replays(tools, path)}
    has_backward = any(map(is_backward, all_stacks(snapshot)))
    results = []
    for number, trace in enumerate(snapshot.get("device_traces", [])):
        events = [at for at, event in enumerate(trace) if event["action"] == "oom"]
        if not events:
            continue
        device, plans = Device(snapshot, number, rules), {}
        for plan, sizes in brute_force_plans.planned(device.found, device.role, device.moment, has_backward).items():
            saved = [(one["size"] - size, one["born"], one["died"]) for one, size in zip(device.found, sizes)]
            saved = curve_of(saved, device.last)
            result = None
            if number in exact:
                model, replay = exact[number]
                result = outcome(model, replay, runs(model, with_sizes(replay, device, sizes), replay.cfg))
            plans[plan] = [[device.curve[at + 1] - saved[at + 1] for at in events], result]
        results.append({"device": number, "events": events, "live": [device.curve[at + 1] for at in events], "plans": plans})
    return results


def recommendations(memscape, path):
    """Print what each insight recommends, after what it finds: the statement and what to do."""
    print(f"\n=== {path}")
    done = subprocess.run([memscape, "insights", path, "--json"], capture_output=True, text=True)
    if done.returncode:
        return print(f"  {done.stderr.strip()}")
    for insight in json.loads(done.stdout)["insights"]:
        for statement in insight["statements"]:
            print(f"  {insight['topic']}: {statement['text']}")
            if statement["fix"]:
                print(f"      Fix: {statement['fix']}")


def main(argv):
    if argv[0] in ("savings", "leaks"):
        snapshot, rules = brute_force.load(argv[1]), read_set(argv[2])[1]
        devices = {segment.get("device", 0) for segment in snapshot["segments"]}
        devices |= {number for number, trace in enumerate(snapshot.get("device_traces", [])) if trace}
        effects = savings if argv[0] == "savings" else leaks
        print(json.dumps([effects(snapshot, device, rules) for device in sorted(devices)]))
    elif argv[0] == "settings":
        print(json.dumps(settings(argv[1], argv[2], json.loads(argv[3]))))
    elif argv[0] == "ooms":
        print(json.dumps(ooms(argv[1], argv[2], read_set(argv[3])[1])))
    else:
        for path in argv[2:]:
            recommendations(argv[1], path)


if __name__ == "__main__":
    main(sys.argv[1:])
