"""Further variants of the kinds of files in made_programs.py: other loops, devices, versions and exporters, and files with less in them."""
import copy

from made_programs import BASE, MIB, Program

ENGINE = "torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)"
ACCUMULATE = "torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)"
OPTIM = "/usr/lib/python3.11/dist-packages/torch/optim/"
ADAM = [OPTIM + "adam.py:_multi_tensor_adam:500", OPTIM + "adam.py:Adam.step:220", OPTIM + "optimizer.py:profile_hook_step.<locals>.wrapper:493"]
BACKWARD = ["/usr/lib/python3.11/dist-packages/torch/autograd/graph.py:_engine_run_backward:824", "/usr/lib/python3.11/dist-packages/torch/_tensor.py:backward:581"]
# Frames of programs that start a script, outermost last.
STARTERS = {
    "torchrun": ["<frozen runpy>:_run_code:88", "<frozen runpy>:_run_module_as_main:198"],
    "jupyter": [
        "/opt/conda/lib/python3.11/site-packages/IPython/core/interactiveshell.py:run_code:3577",
        "/opt/conda/lib/python3.11/site-packages/ipykernel/kernelbase.py:dispatch_shell:422",
        "/opt/conda/lib/python3.11/asyncio/base_events.py:run_forever:607",
    ],
    "lightning": ["/venv/lib/python3.12/site-packages/lightning/pytorch/loops/fit_loop.py:advance:455", "/app/run.py:main:12"],
    "windows": ["C:\\Users\\me\\job\\run.py:start:9"],
}


def nested(epochs, batches, micro, leak=0, evaluates=False, roots=(), leak_in="step", names=("forward:20", "log:30")):
    """Train at module level, with batches in epochs, and micro-batches in batches."""
    program = Program("/home/u/train.py")
    root = lambda line: [f"<module>:{line}", *roots]
    program.alloc(16 * MIB, "__init__:10", *root(3))
    keep = lambda: program.alloc(leak, names[1], *root(46)) if leak else None
    for epoch in range(epochs):
        for batch in range(batches):
            for number in range(micro):
                held = [program.alloc((2 + it) * MIB, f"{names[0]}{it}", *root(41)) for it in range(3)]
                loss = program.alloc(512, "compute_loss:25", *root(42))
                gradients = []
                for one in reversed(held):
                    gradients.append(program.alloc(MIB, ACCUMULATE, ENGINE, *root(43)))
                    program.free(one, ENGINE, *root(43))
                program.free(loss)
                for one in gradients:
                    program.free(one, *root(44))
                if leak_in == "micro":
                    keep()
            program.free(program.alloc(3 * MIB, *ADAM, *root(45)))
            if leak_in == "step":
                keep()
        if evaluates:
            for it in range(3):
                program.free(program.alloc(4 * MIB, f"evaluate:{60 + it}", *root(50)))
        if leak_in == "epoch":
            keep()
    return program


def accumulations():
    """Accumulate gradients over passes with few allocations. A fused optimizer is only seen in its annotation."""
    for batches, passes, fused in ((6, 4, False), (6, 4, True), (3, 8, False), (2, 2, False), (2, 5, False)):
        program = Program("/home/u/train.py")
        root = lambda line: [f"main:{line}", "<module>:90"]
        for number in range(4):
            program.alloc(8 * MIB, "/home/u/model.py:__init__:10", *root(3))
        for batch in range(batches):
            for number in range(passes):
                held = [program.alloc((2 + it) * MIB, f"/home/u/model.py:forward:{20 + it}", *root(41)) for it in range(4)]
                gradients = []
                for one in reversed(held):
                    gradients.append(program.alloc(MIB, *BACKWARD, *root(43)))
                    program.free(one, *root(43))
                for one in gradients:
                    program.free(one, *root(43))
            if fused:
                program.mark("Optimizer.step#AdamW.step", "START")
                program.event("snapshot", 0, 0)
                program.mark("Optimizer.step#AdamW.step", "END")
            elif batch == 0:
                for _ in range(8):
                    program.alloc(8 * MIB, OPTIM + "adam.py:_init_group:165", *ADAM[1:], *root(45))
            else:
                for _ in range(3):
                    program.free(program.alloc(8 * MIB, *ADAM, *root(45)))
            program.alloc(5 * MIB, "/home/u/log.py:append:7", *root(46))
        yield f"{batches}-{passes}-{fused}", program


def others():
    """Train two models in turn, and with batches of very different numbers of tensors."""
    program = Program("/app/gan.py")
    for step in range(6):
        for line, model in enumerate(("generator", "discriminator"), 7):
            for one in [program.alloc(2 * MIB, f"/app/{model}.py:forward:{20 + it}", "main:4") for it in range(3)]:
                gradient = program.alloc(MIB, *BACKWARD, "main:5")
                program.free(one, "main:5")
                program.free(gradient, "main:6")
            program.free(program.alloc(MIB, *ADAM, f"main:{line}"))
        program.alloc(3 * MIB, "log:30", "main:9")
    yield "two-models", program
    program = Program("/app/uneven.py")
    for count in (3, 14, 2, 9, 1, 8):
        for one in [program.alloc(2 * MIB, "/app/model.py:forward:20", "main:4") for _ in range(count)]:
            gradient = program.alloc(MIB, *BACKWARD, "main:5")
            program.free(one, "main:5")
            program.free(gradient, "main:6")
        program.free(program.alloc(MIB, *ADAM, "main:7"))
        program.alloc(2 * MIB, "log:30", "main:9")
    yield "uneven", program


def logged(steps, every, frees=False):
    """Train, and keep a tensor in every nth step. With 0, in some of the first steps, as a cache that fills."""
    program, kept = Program("/app/t.py"), []
    for step in range(steps):
        for one in [program.alloc(2 * MIB, f"forward:{20 + it}", "main:4") for it in range(3)]:
            gradient = program.alloc(MIB, ACCUMULATE, ENGINE)
            program.free(one, ENGINE)
            program.free(gradient, "main:6")
        program.free(program.alloc(MIB, *ADAM, "main:5"))
        if step % every == 0 if every else step in (0, 1, 2, 3, 5, 8):
            kept.append(program.alloc(3 * MIB, "log:30", "main:7"))
    for one in kept if frees else ():
        program.free(one, "main:9")
    return program


def loops():
    for name, roots in STARTERS.items():
        program = nested(1, 6, 1, 3 * MIB, roots=roots)
        says = [["leaks", "grew 3.00 MiB in each of the 6 steps, none freed: 18.0 MiB in all"], ["leaks", "train.py:30 log"]]
        yield f"started-{name}.pickle", program.snapshot(), {**program.numbers(), "says": says}
    for name, (epochs, batches, micro, where, text) in {
        "micro": (1, 5, 4, "step", "4.00 MiB in each of the 5"), "micro-each": (1, 5, 4, "micro", "16.0 MiB in each of the 5"),
        "epochs": (3, 4, 1, "step", "4.00 MiB in each of the 12"), "epochs-micro": (2, 3, 4, "step", "4.00 MiB in each of the 6"),
        "two-micro": (1, 2, 4, "step", "4.00 MiB in each of the 2"), "three-micro": (1, 3, 2, "micro", "8.00 MiB in each of the 3"),
    }.items():
        program = nested(epochs, batches, micro, 4 * MIB, where == "step" and epochs > 1, leak_in=where)
        says = [["leaks", f"train.py:30 log (called at train.py:46 <module>) grew {text} steps, none freed"]]
        yield f"nested-{name}.pickle", program.snapshot(), {**program.numbers(), "says": says, "lacks": [["*", "No call site grows"], ["*", "does not grow"]]}
    for name, program in accumulations():
        steps = int(name.split("-")[0])
        says = [["leaks", f"log.py:7 append (called at train.py:46 main) grew 5.00 MiB in each of the {steps} steps"]]
        yield f"accumulation-{name}.pickle", program.snapshot(), {**program.numbers(), "says": says}
    for every, grade in ((2, "possibly"), (3, "possibly"), (5, "possibly"), (1, "likely")):
        program = logged(20, every)
        says = [["leaks", f"({grade} a leak)"], ["leaks", "t.py:30 log"]]
        yield f"logged-every-{every}.pickle", program.snapshot(), {**program.numbers(), "says": says, "lacks": [["*", "No call site grows"]]}
    program = nested(5, 6, 1, 4 * MIB, True, leak_in="epoch")
    says = [["leaks", "train.py:30 log (called at train.py:46 <module>) grew in 5 of 28 steps after the first two, 4.00 MiB each time, none freed"]]
    yield "leak-by-epoch.pickle", program.snapshot(), {**program.numbers(), "says": says}
    for name, program in others():
        yield f"{name}.pickle", program.snapshot(), {**program.numbers(), "says": [["leaks", " in each of the 6 steps"]]}
    program = logged(20, 0)
    yield "filling-cache.pickle", program.snapshot(), {**program.numbers(), "lacks": [["*", "a leak)"]]}
    program = logged(8, 1, frees=True)
    yield "logged-and-freed.pickle", program.snapshot(), {**program.numbers(), "says": [["savings", "Held over from the step before"]]}
    for steps in (2, 3, 4, 8):
        program = nested(1, steps, 1)
        yield f"no-leak-{steps}.pickle", program.snapshot(), {**program.numbers(), "lacks": [["*", "a leak)"], ["*", "Memory grows"]]}


def gradients():
    """Gradients of a step that stay live in the next forward pass."""
    for name, frees in {
        "method": ["/v/lib/python3.12/site-packages/torch/optim/optimizer.py:zero_grad:1001", "fit:44"], "module": ["/v/lib/python3.12/site-packages/torch/nn/modules/module.py:Module.zero_grad:2850", "fit:44"],
        "none": ["fit:44"], "annotation": ["fit:44"],
    }.items():
        program = Program("/srv/fit.py")
        sizes = [6, 10, 14]
        for size in sizes:
            program.alloc(size * MIB, "build:5", "fit:2")
        live = []
        for step in range(4):
            held = [program.alloc(12 * MIB, f"/srv/model.py:forward:{20 + it}", "fit:41") for it in range(4)]
            if name == "annotation":
                program.mark("Optimizer.zero_grad#AdamW.zero_grad", "START")
            for one in live:
                program.free(one, *frees)
            if name == "annotation":
                program.event("snapshot", 0, 0)
                program.mark("Optimizer.zero_grad#AdamW.zero_grad", "END")
            live = []
            for one, size in zip(held, [*sizes, 1]):
                live.append(program.alloc(size * MIB, ACCUMULATE, ENGINE))
                program.free(one, ENGINE)
            program.free(program.alloc(MIB, *ADAM, "fit:45"))
        says = [["savings", "gradients are live at the peak"], ["savings", "zero_grad"]]
        yield f"stale-{name}.pickle", program.snapshot(), {**program.numbers(), "says": says}


def failures():
    """Requests that fail: frees on several streams, several devices, and traces that end there."""
    program = Program()
    program.alloc(8 * MIB, "model:1")
    blocks = [program.alloc(40 * MIB, "/lib/torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py:foreach_all_gather:180", stream=7 + it) for it in range(3)]
    for block in blocks:
        program.request_free(block)
    program.oom(100 * MIB, "mlp:12", device_free=2 * MIB)
    yield "waiting-parts.pickle", program.snapshot(), {**program.numbers(), "lacks": [["oom", "and would have fitted"]]}
    for count in (1, 2, 3):
        program = Program()
        program.alloc(30 * MIB, "model:1")
        for number in range(count):
            program.oom((500 + number) * MIB, f"attention:{9 + number}", device_free=(10 - number) * MIB)
        program.alloc(2 * MIB, "fallback:3")
        first = program.snapshot()
        quiet = Program()
        quiet.alloc(5 * MIB, "other:1")
        both = {**first, "segments": first["segments"] + [{**it, "device": 1} for it in quiet.snapshot()["segments"]]}
        both["device_traces"] = [first["device_traces"][0], quiet.trace]
        yield f"oom-first-device-{count}.pickle", both, {**program.numbers(), "says": [["oom", f"{500 + count - 1} MiB"]]}
        both = copy.deepcopy(both)
        both["device_traces"].reverse()
        for segment in both["segments"]:
            segment["device"] = 1 - segment["device"]
        yield f"oom-second-device-{count}.pickle", both, {**program.numbers(), "device": 1, "says": [["oom", f"{500 + count - 1} MiB"]]}
    for name, more in {"zero": {"device_free": 0}, "missing": {}, "none": {"device_free": None}, "addr": {"addr": 3 * MIB}}.items():
        program = Program()
        program.oom(2 << 30, "load:4", **more)
        if name != "addr":
            program.trace[0].pop("addr")
        yield f"oom-only-{name}.pickle", {"segments": [], "device_traces": [program.trace]}, {"events": 1, "says": [["oom", "2.00 GiB"]]}


def segment(address, size, blocks, stream=0):
    return {"device": 0, "address": address, "total_size": size, "stream": stream, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
            "frames": [], "blocks": [{"address": at, "size": bytes, "requested_size": bytes, "state": state, "frames": []} for at, bytes, state in blocks]}


def driver_failures():
    """Requests that fail although the driver is asked, each in a segment of its own, with the kinds of the failures, newest first."""
    first, second, third = (BASE + (number << 30) for number in range(3))
    names = ["/lib/torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py:foreach_all_gather:180", "step:4"]

    def started():
        program = Program()
        program.event("segment_alloc", first, 64 * MIB)
        program.event("alloc", first, 64 * MIB, ["model:1"])
        return program

    def made(program, *segments):
        return {"segments": [segment(first, 64 * MIB, [(first, 64 * MIB, "active_allocated")]), *segments], "device_traces": [program.trace]}

    for completes in (True, False):
        program = started()
        for action in ("segment_alloc", "alloc", "free_requested"):
            program.event(action, second, 200 * MIB, names, 7)
        program.oom(150 * MIB, "logits:9", device_free=20 * MIB)
        text, kept = "200 MiB awaited their free on stream 0x7 and would have fitted", segment(second, 200 * MIB, [(second, 200 * MIB, "active_pending_free")], 7)
        if completes:
            for action in ("free_completed", "segment_free"):
                program.event(action, second, 200 * MIB, (), 7)
            for action in ("segment_alloc", "alloc"):
                program.event(action, third, 150 * MIB, ["logits:9"])
            text, kept = text + "; the same request succeeded at event 9.", segment(third, 150 * MIB, [(third, 150 * MIB, "active_allocated")])
        says = [["oom", text], ["oom", "TORCH_NCCL_AVOID_RECORD_STREAMS=1"]]
        yield f"waits-for-segment-{completes}.pickle", made(program, kept), {"says": says, "lacks": [["*", "would have fitted (simulated)"]], "kinds": ["live"]}
    for name, (requests, kinds) in {
        "limit": ([(400, 5000)], ["limit"]), "outside": ([(400, 900), (400, 100)], ["outside", "limit"]), "live": ([(50, 30), (40, 20)], ["live", "live"]),
    }.items():
        program = started()
        for size, free in requests:
            program.oom(size * MIB, "batch:9", device_free=free * MIB)
        yield f"kind-{name}.pickle", made(program), {"kinds": kinds}
    program = Program()
    segments = []
    for number in range(8):
        at = BASE + (number << 26)
        program.event("segment_alloc", at, 20 * MIB)
        program.event("alloc", at, 4 * MIB, ["keep:3"])
        segments.append(segment(at, 20 * MIB, [(at, 4 * MIB, "active_allocated"), (at + 4 * MIB, 16 * MIB, "inactive")]))
    program.oom(100 * MIB, "big:9", device_free=10 * MIB)
    yield "kind-fragmentation.pickle", {"segments": segments, "device_traces": [program.trace]}, {"kinds": ["fragmentation"], "says": [["oom", "Fragmentation: "]]}


def caches():
    """Key and value tensors of other libraries, and a cache that is allocated once."""
    from made_programs import inference
    for number, names in enumerate((
        ["/v/lib/python3.12/site-packages/transformers/cache_utils.py:DynamicLayer.update:120", "/v/lib/python3.12/site-packages/transformers/models/llama/modeling_llama.py:forward:270"],
        ["/v/lib/python3.12/site-packages/transformers/models/gpt2/modeling_gpt2.py:GPT2Attention.forward:330"], ["/app/model.py:CausalSelfAttention.forward:88"],
    )):
        for tokens, layers in ((4, 2), (9, 2)):
            program = inference(tokens, layers, MIB, names)
            yield f"cache-of-library-{number}-{tokens}.pickle", program.snapshot(), {**program.numbers(), "says": [["leaks", "KV cache"]], "lacks": [["*", "likely a leak"], ["*", "heckpoint"], ["*", "inference_mode"]]}
    program = Program("/app/generate.py")
    for it in range(8):
        program.alloc(24 * MIB, "/app/kv_cache.py:StaticCache.__init__:30", "main:9")
    for token in range(12):
        for layer in range(4):
            program.free(program.alloc(2 * MIB, "/app/model.py:forward:40", "main:20"))
        program.free(program.alloc(MIB, "sample:50", "main:21"))
    yield "static-cache.pickle", program.snapshot(), {**program.numbers(), "says": [["savings", "KV cache: 192 MiB"]], "lacks": [["*", "likely a leak"], ["*", "heckpoint"]]}
    program = Program("/app/score.py")
    for batch in range(3):
        held = [program.alloc((20 + it) * MIB, f"/app/model.py:forward:{30 + it}", "main:20") for it in range(10)]
        for one in held:
            program.free(one, "main:20")
        program.free(program.alloc(MIB, "metrics:50", "main:21"))
    yield "kept-without-no-grad.pickle", program.snapshot(), {**program.numbers(), "says": [["savings", "no_grad"]], "lacks": [["*", "heckpoint"]]}
    program = Program("/app/attend.py")
    program.alloc(40 * MIB, "load:3", "main:7")
    for batch in range(5):
        query = program.alloc(4 * MIB, "/app/attention.py:SelfAttention.forward:11", "main:20")
        scores = program.alloc(200 * MIB, "/app/attention.py:SelfAttention.forward:14", "main:20")
        weights = program.alloc(200 * MIB, "/v/lib/python3.12/site-packages/torch/nn/functional.py:softmax:2140", "/app/attention.py:SelfAttention.forward:15", "main:20")
        for one in (query, scores, weights):
            program.free(one, "main:20")
    yield "softmax.pickle", program.snapshot(), {**program.numbers(), "says": [["savings", "scaled_dot_product_attention"]], "lacks": [["*", "heckpoint"]]}


def pending():
    """Frees that were requested, and had not completed when the recording ended."""
    for name, (count, size, streams) in {"one": (1, 300, 1), "many": (30, 3, 2), "all": (4, 50, 4)}.items():
        program = Program()
        program.alloc(20 * MIB, "model:1")
        for it in range(count):
            program.request_free(program.alloc(size * MIB, f"/app/comm.py:gather:{it % 3}", stream=it % streams))
        says = [["leaks", f"{count * size:.3g}{'.0' if count * size < 100 else ''} MiB await their free at the end"]]
        yield f"waits-at-end-{name}.pickle", program.snapshot(), {**program.numbers(), "says": says, "lacks": [["*", "Memory grows"], ["*", "a leak)"]]}
    # Without any free that completes, a requested free is the end of an allocation.
    program = nested(1, 4, 1)
    made = program.snapshot()
    made["device_traces"][0] = [event for event in program.trace if event["action"] != "free_completed"]
    yield "no-completed-frees.pickle", made, {"end": program.totals[-1], "lacks": [["*", "await their free"]]}
    program = nested(1, 4, 1)
    made = program.snapshot()
    made["device_traces"][0] = [event for event in program.trace if event["action"] != "free_requested"]
    yield "no-requested-frees.pickle", made, {"end": program.totals[-1], "lacks": [["*", "await their free"]]}


def gaps():
    """Recordings with less in them: stacks, history, segments or times."""
    for name, change in {
        "empty": lambda event: event.update(frames=[]), "none": lambda event: event.update(frames=None), "tuple": lambda event: event.update(frames=()),
        "alloc-only": lambda event: event["action"] != "alloc" and event.pop("frames"),
    }.items():
        program = nested(1, 4, 1, 2 * MIB)
        made = program.snapshot()
        for event in made["device_traces"][0]:
            change(event)
        if name != "alloc-only":
            for segment in made["segments"]:
                for block in segment["blocks"]:
                    block["frames"] = []
        says = [["leaks", "grew 2.00 MiB in each of the 4 steps"]] if name == "alloc-only" else [["leaks", "Recorded without call stacks"], ["savings", "Recorded without call stacks"]]
        yield f"stacks-{name}.pickle", made, {**program.numbers(), "says": says}
    program = nested(1, 3, 1)
    made = program.snapshot()
    made["device_traces"][0] = []
    yield "state-only.pickle", made, {"events": 0, "end": program.totals[-1], "says": [["leaks", "recording was not enabled"]]}
    for name, events in {
        "snapshot": [{"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": 1}],
        "segments": [{"action": "segment_alloc", "addr": BASE, "size": 2 * MIB, "stream": 0, "time_us": 1}],
    }.items():
        yield f"only-{name}.pickle", {**made, "device_traces": [events]}, {"events": 1, "end": program.totals[-1]}
    program = nested(1, 4, 1, 2 * MIB)
    made = program.snapshot()
    cut = len(program.trace) // 2
    made["device_traces"] = [program.trace[cut:]]
    numbers = {"peak": max(program.totals[cut:]), "end": program.totals[-1], "events": len(program.trace) - cut}
    for name, flags in {"flag": {"trace_alloc_overflowed": 1}, "none": {}, "entries": {"trace_alloc_max_entries": len(program.trace) - cut}}.items():
        yield f"cut-{name}.pickle", {**made, "allocator_settings": flags}, {**numbers, "warnings": [{"flag": "events_overwritten", "entries": "events_likely_overwritten"}[name]] if name != "none" else []}
    other = nested(1, 2, 1)
    both = {**made, "segments": made["segments"] + [{**it, "device": 1} for it in other.snapshot()["segments"]], "device_traces": [made["device_traces"][0], other.trace]}
    both["allocator_settings"] = {"trace_alloc_overflowed": [True, False]}
    yield "cut-first-device.pickle", both, {**numbers, "warnings": ["events_overwritten"]}
    yield "cut-first-device-second.pickle", both, {**other.numbers(), "device": 1}


def exporters():
    """Programs that write snapshots themselves, with fewer keys or segments."""
    def written(change, segments=False):
        program = nested(1, 3, 1, 2 * MIB)
        made = program.snapshot()
        if not segments:
            made["segments"] = []
        for event in made["device_traces"][0]:
            change(event)
        return program, made
    drop = lambda *keys: lambda event: [event.pop(key, None) for key in keys]
    for name, change in {"time": drop("time_us"), "stream": drop("stream"), "both": drop("time_us", "stream"), "frames": drop("frames", "stream", "time_us")}.items():
        for segments in (True, False):
            program, made = written(change, segments)
            yield f"lacks-{name}-{segments}.pickle", made, program.numbers()
    program, made = written(lambda event: None)
    made["device_traces"][0] = [{**event, "action": "free"} if event["action"] == "free_completed" else event for event in made["device_traces"][0] if event["action"] != "free_requested"]
    yield "merged-frees.pickle", made, {"peak": program.numbers()["peak"], "end": program.totals[-1]}
    program, made = written(lambda event: None)
    made["device_traces"] = [made["device_traces"][0], [], copy.deepcopy(made["device_traces"][0])]
    yield "two-of-three.pickle", made, {**program.numbers(), "device": 2, "warnings": ["missing_segments"]}
    # A snapshot of one memory pool lists the segments of that pool only.
    program, made = written(lambda event: None, True)
    inside = program.alloc(8 * MIB, "capture:9")
    pool = {**made["segments"][0], "segment_pool_id": (0, 3), "address": inside, "total_size": 8 * MIB,
            "blocks": [{"address": inside, "size": 8 * MIB, "requested_size": 8 * MIB, "state": "active_allocated", "frames": []}]}
    yield "one-pool.pickle", {**made, "segments": [pool]}, {**program.numbers(), "warnings": ["missing_segments"]}
    yield "one-pool-list.pickle", [pool], {"end": 8 * MIB, "events": 0, "says": [["leaks", "No events: the file has only segments"]]}
    yield "segments-only.pickle", {"segments": made["segments"]}, {"end": program.totals[-2], "events": 0, "says": [["savings", "No events: the file has only segments"]]}


def moved(value, by):
    """Return a snapshot whose addresses are moved."""
    if isinstance(value, dict):
        return {key: it + by if key in ("addr", "address") and it else moved(it, by) for key, it in value.items()}
    return [moved(it, by) for it in value] if isinstance(value, list) else value


def devices():
    """Other devices and versions: XPU addresses, pinned host memory, Ascend, and events and keys of PyTorch 2.10 to 2.15."""
    program = nested(1, 4, 1, 2 * MIB)
    made, says = program.snapshot(), [["leaks", "grew 2.00 MiB in each of the 4 steps"]]
    numbers = {**program.numbers(), "says": says}
    by = 18446720620317114368 - BASE
    for name, settings in {"xpu": {"PYTORCH_ALLOC_CONF": "expandable_segments:True", "expandable_segments": True}, "hip": {"PYTORCH_HIP_ALLOC_CONF": ""}}.items():
        yield f"{name}.pickle", {**moved(made, by), "allocator_settings": settings}, numbers
    yield "xpu-negative.pickle", moved(made, by - (1 << 64)), numbers
    block = {"address": 4096, "size": 64 * MIB, "requested_size": 60 * MIB, "state": "active_allocated", "frames": []}
    segment = {"device": -1, "address": 4096, "total_size": 64 * MIB, "stream": 0, "segment_type": "small", "is_expandable": False, "frames": [], "blocks": [block]}
    pinned = {"action": "alloc", "addr": 4096, "size": 60 * MIB, "stream": 0, "time_us": 1_790_000_000_000_001, "frames": [{"name": "pin", "filename": "/app/data.py", "line": 3}]}
    host = {**made, "host_segments": [segment], "host_traces": [pinned]}
    yield "host.pickle", host, {**numbers, "device": 0, "says": [*says, ["*", "Pinned host memory (a separate device): peak 60.0 MiB"]]}
    yield "host-itself.pickle", host, {"device": -1, "peak": 60 * MIB, "events": 1, "lacks": [["*", "PYTORCH_CUDA_ALLOC_CONF"]]}
    for name, event in {
        "annotate": {"action": "annotate", "addr": BASE, "size": 0, "user_metadata": "weights", "frames": []},
        "workspace": {"action": "workspace_snapshot", "addr": 1, "size": 4096, "frames": []}, "unknown": {"action": "resize", "addr": 1, "size": 4096},
    }.items():
        late = copy.deepcopy(made)
        late["device_traces"][0].insert(1, {"stream": 0, "time_us": 1_790_000_000_000_020, **event})
        yield f"action-{name}.pickle", late, {**numbers, "events": numbers["events"] + 1}
    for name, keys in {
        "2.15": {"internal_metadata": "mallocWithAddress", "pool_id": (0, 0), "user_metadata": "", "compile_context": ""}, "2.11": {"pool_id": (0, 0), "forward_frames": ["a.py:3 in f"]},
        "2.10": {"user_metadata": {"name": "x"}}, "2.8": {"compile_context": "N/A"},
    }.items():
        late = copy.deepcopy(made)
        for event in late["device_traces"][0]:
            event.update(keys)
        yield f"keys-{name}.pickle", late, numbers


def all():
    for group in (loops, gradients, failures, driver_failures, caches, pending, gaps, exporters, devices):
        yield from group()
