"""Programs whose snapshots need a certain statement: leaks, KV caches, failed requests, frees that wait, and traces with gaps.

Each is a small Python program that allocates from one large segment, by the events and keys that PyTorch writes.
"""
import copy

MIB = 1 << 20
BASE = 0x7F0000000000


class Program:
    """Records the events of a program, and keeps its live blocks."""

    def __init__(self, file="/app/train.py", stream=0, segments=True):
        self.file, self.stream, self.segments = file, stream, segments
        self.trace, self.live, self.waiting, self.next = [], {}, {}, BASE
        self.totals, self.marks, self.settings = [0], [], {}

    def frames(self, names):
        """Return frames, innermost first, from `function:line`, or `file.py:function:line`."""
        found = []
        for name in names:
            *file, function, line = name.rsplit(":", 2)
            if not line.isdigit():
                file, function, line = [], name, "0"
            is_native = function.startswith(("torch::", "c10"))
            found.append({"filename": file[0] if file else "??" if is_native else self.file, "line": int(line), "name": function})
        return found

    def event(self, action, address, size, names=(), stream=None, **more):
        event = {"action": action, "addr": address, "size": size, "stream": self.stream if stream is None else stream, "frames": self.frames(names)}
        event.update(time_us=1_790_000_000_000_000 + 50 * len(self.trace), **more)
        self.trace.append(event)
        self.totals.append(self.totals[-1])

    def alloc(self, size, *names, stream=None):
        address, self.next = self.next, self.next + -(-size // 512) * 512
        self.event("alloc", address, size, names, stream)
        self.live[address] = (size, names, self.stream if stream is None else stream)
        self.totals[-1] += size
        return address

    def request_free(self, address, *names):
        size, _, stream = self.live[address]
        self.event("free_requested", address, size, names, stream)
        self.waiting[address] = True

    def complete_free(self, address):
        size, _, stream = self.live.pop(address)
        self.waiting.pop(address, None)
        self.event("free_completed", address, size, (), stream)
        self.totals[-1] -= size

    def free(self, address, *names):
        self.request_free(address, *names)
        self.complete_free(address)

    def oom(self, size, *names, stream=None, **more):
        self.event("oom", 0, size, names, stream, **more)

    def mark(self, name, stage):
        self.marks.append({"device": 0, "name": name, "stage": stage, "time_us": 1_790_000_000_000_000 + 50 * len(self.trace) - 1})

    def numbers(self):
        return {"peak": max(self.totals), "end": self.totals[-1], "base": self.totals[0], "events": len(self.trace)}

    def snapshot(self):
        if not self.segments:
            return {"segments": [], "device_traces": [self.trace]}
        blocks, at = [], BASE
        block = lambda address, size, asked, state, names: {"address": address, "size": size, "requested_size": asked, "state": state, "frames": self.frames(names)}
        for address, (size, names, _) in sorted(self.live.items()):
            rounded = -(-size // 512) * 512
            if address > at:
                blocks.append(block(at, address - at, 0, "inactive", ()))
            blocks.append(block(address, rounded, size, "active_pending_free" if address in self.waiting else "active_allocated", names))
            at = address + rounded
        end = -(-max(self.next, BASE + 1) // (2 * MIB)) * 2 * MIB
        if end > at:
            blocks.append(block(at, end - at, 0, "inactive", ()))
        segment = {"device": 0, "address": BASE, "total_size": end - BASE, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                   "is_expandable": False, "frames": [], "blocks": blocks}
        settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": False, **self.settings}
        return {"segments": [segment], "device_traces": [self.trace], "allocator_settings": settings, "external_annotations": self.marks}


def training(steps, leak, file="/app/train.py", function="<module>", lines=True, inner=""):
    """Train in a loop in one function. In each step, `leak` bytes stay at line 30 of `log`."""
    program = Program(file)
    model = [program.alloc(4 * MIB, "__init__:10", f"{function}:5") for _ in range(3)]
    root = lambda line: [f"{inner}:12"] * bool(inner) + [f"{function}:{line if lines else 40}"]
    kept = []
    for step in range(steps):
        held = [program.alloc(2 * MIB, f"forward:{20 + it}", *root(41)) for it in range(3)]
        loss = program.alloc(4096, "compute_loss:25", *root(42))
        gradients = []
        for one in reversed(held):
            gradients.append(program.alloc(2 * MIB, "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", *root(43)))
            program.free(one, *root(43))
        for one in gradients:
            program.free(one, *root(45))
        program.free(program.alloc(MIB, "/lib/python3.12/site-packages/torch/optim/adamw.py:_single_tensor_adamw:300", *root(44)))
        program.free(loss)
        kept.append(program.alloc(leak, "log:30", *root(46)))
    return program, kept, model


def leaks():
    for steps in (2, 3, 5, 10, 20):
        for number, (leak, text) in enumerate(((2 * MIB, "2.00 MiB"), (5 * MIB // 2, "2.50 MiB"), (17 * MIB, "17.0 MiB"))):
            for name, options in (
                ("flat", {}), ("main", {"function": "main"}), ("notebook", {"file": "/tmp/ipykernel_1/2.py"}), ("cell", {"file": "<ipython-input-3-ab>"}),
                ("inner", {"function": "run", "inner": "train_step"}), ("oneline", {"lines": False}),
            ):
                program, *_ = training(steps, leak, **options)
                total = leak * steps
                said = f"grew {text} in each of the {steps} steps"
                says = [["leaks", said], ["peak", said]] if steps > 2 else [["leaks", said]]
                yield f"leak-{name}-{steps}-{number}.pickle", program.snapshot(), {**program.numbers(), "steps": steps, "says": says, "growth": total}


def graphs():
    """Keep the loss of each step with its graph, with a large model and an evaluation after the loop."""
    for steps in (3, 10):
        for setup, evaluation in ((0, 0), (60, 0), (5, 6)):
            program = Program()
            parameters = [program.alloc(MIB, "__init__:10", "main:5") for _ in range(setup + 3)]
            for step in range(steps):
                kept = [program.alloc((3 + it) * MIB, f"forward:{20 + it}", "main:41") for it in range(3)]
                for micro in range(2):
                    gradients = [program.alloc(MIB, "torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)", "main:43") for _ in kept]
                    for one in gradients:
                        program.free(one, "zero_grad:9", "main:45")
                program.free(program.alloc(MIB, "/lib/python3.12/site-packages/torch/optim/sgd.py:_single_tensor_sgd:300", "main:44"))
            for it in range(evaluation):
                program.free(program.alloc(2 * MIB, f"evaluate:{it}", "main:60"))
            says = [["leaks", f"grew {3 + it}.00 MiB in each of the {steps} steps, none freed: {(3 + it) * steps}.0 MiB in all"] for it in (0, 1, 2)]
            name = f"graph-{steps}-{setup}-{evaluation}.pickle"
            yield name, program.snapshot(), {**program.numbers(), "says": says if steps * 3 > 9 else [[topic, text[: text.index(" steps")]] for topic, text in says]}


def inference(tokens, layers, bytes_per_token, names, cat=True, samples=True, prompt=4):
    """Decode tokens with a cache per layer that is concatenated, or grows by one tensor per token.

    Without `samples`, only the model allocates, so that no call stacks show the steps."""
    program = Program("/app/generate.py")
    caches = {}
    program.alloc(32 * MIB, "load_weights:5", "main:7")
    for step in range(tokens):
        for layer in range(layers):
            scores = program.alloc(MIB, "forward:80", "main:20")
            for part in ("k", "v"):
                size = bytes_per_token * (prompt + step if cat else prompt if step == 0 else 1)
                one = program.alloc(size, *names, "main:20")
                if cat and (layer, part) in caches:
                    program.free(caches[layer, part])
                caches[layer, part] = one
            program.free(scores)
        logits = program.alloc(MIB // 2, "forward:99", "main:20")
        if not samples:
            program.free(logits)
            continue
        token = program.alloc(4096, "sample:50", "main:21")
        program.free(program.alloc(2048, "argmax:51", "main:21"))
        program.free(logits)
        program.free(program.alloc(1024, "embed:60", "main:22"))
        program.free(token)
    return program


def caches():
    for number, (names, cat) in enumerate((
        (["/lib/python3.12/site-packages/transformers/cache_utils.py:update:430", "forward:70"], True),
        (["/app/kv_cache.py:append:20", "forward:70"], True), (["update_kv_cache:33", "forward:70"], True), (["KVCache.update:33", "forward:70"], True),
        (["forward:71"], True), (["attention:71", "decode:9"], True), (["update_kv_cache:33", "forward:70"], False),
    )):
        for tokens, layers in ((6, 1), (12, 3), (20, 4)):
            program = inference(tokens, layers, MIB, names, cat)
            per_step = f"grew {2 * layers}.00 MiB in each of the "
            says = [["leaks", "KV cache"], ["leaks", per_step], ["savings", "KV cache: "], ["savings", "In 8 bits"]]
            yield f"cache-{number}-{tokens}.pickle", program.snapshot(), {**program.numbers(), "says": says}
            if cat:
                program = inference(tokens, layers, MIB, names, samples=False)
                yield f"cache-{number}-{tokens}-model.pickle", program.snapshot(), {**program.numbers(), "says": says}


def failures():
    for number, (size, stream, names, fix) in enumerate((
        (128, 0, ["all_gather:8"], "record_stream"), (64, 0, ["c10d::ProcessGroupNCCL::allgather", "step:8"], "TORCH_NCCL_AVOID_RECORD_STREAMS=1"),
        (256, 7, ["unshard:9", "/lib/torch/distributed/fsdp/_flat_param.py:unshard:3"], "TORCH_NCCL_AVOID_RECORD_STREAMS=1"),
    )):
        for succeeds in (True, False):
            program = Program(stream=stream)
            program.alloc(20 * MIB, "model:1")
            block = program.alloc(size * MIB, *names)
            program.request_free(block)
            program.oom(size * MIB, "logits:77", device_free=6 * MIB)
            program.complete_free(block)
            if succeeds:
                program.next = block
                program.alloc(size * MIB, "logits:77")
            end = "; the same request succeeded at event 5." if succeeds else "."
            snapshot = program.snapshot()
            snapshot["segments"][0]["stream"] = stream
            name = "stream 0" if stream == 0 else f"stream {stream:#x}"
            says = [["oom", f"{size:.3g}{'.0' if size < 100 else ''} MiB awaited their free on {name} and would have fitted{end}"], ["oom", fix]]
            # With any setting, a simulated request waits for the frees.
            lacks = [["*", "this request would have fitted (simulated)"], ["*", "avoids the out-of-memory error"]]
            yield f"waiting-{number}-{succeeds}.pickle", snapshot, {**program.numbers(), "says": says, "lacks": lacks}
    for key, more in (("missing", {}), ("none", {"device_free": None})):
        program = Program()
        program.alloc(50 * MIB, "model:1")
        program.oom(1 << 30, "attention:9", **more)
        yield f"oom-free-{key}.pickle", program.snapshot(), {**program.numbers(), "says": [["oom", "free memory unknown"]]}
    for streams in (1, 2, 3):
        program = Program()
        program.alloc(10 * MIB, "model:1")
        for it in range(2 * streams):
            program.request_free(program.alloc(24 * MIB, f"gather:{it % streams}", stream=it % streams))
        yield f"pending-{streams}.pickle", program.snapshot(), {**program.numbers(), "says": [["leaks", f"{48 * streams}{'.0' if streams < 3 else ''} MiB await their free at the end"]]}


def gaps():
    program = Program()
    for it in range(8):
        program.alloc(16 * MIB)
    for event in program.trace:
        event.pop("frames")
    yield "without-stacks.pickle", program.snapshot(), {**program.numbers(), "warnings": ["no_stacks"], "says": [["peak", "Recorded without call stacks (context=None)"]]}
    for flags in ({"trace_alloc_overflowed": True}, {"trace_alloc_overflowed": [True, False]}, {"trace_alloc_overflowed": {"0": True}}):
        program = Program()
        early = program.alloc(8 * MIB, "model:1")
        for it in range(9):
            program.free(program.alloc(MIB, f"f:{it}"))
        program.trace, base = program.trace[1:], program.totals.pop(0) or program.live[early][0]
        program.settings = {**flags, "trace_alloc_max_entries": 27}
        numbers = {**program.numbers(), "base": base}
        yield f"ring-{len(str(flags))}.pickle", program.snapshot(), {**numbers, "warnings": ["events_overwritten"]}
        top = program.snapshot()
        top["allocator_settings"] = {}
        yield f"ring-top-{len(str(flags))}.pickle", {**top, **flags}, {**numbers, "warnings": ["events_overwritten"]}
    program = Program()
    program.alloc(8 * MIB, "model:1")
    for it in range(3400):
        program.free(program.alloc(MIB, f"f:{it % 7}"))
    program.trace, program.totals = program.trace[-10_000:], program.totals[-10_001:]
    yield "ring-likely.pickle", program.snapshot(), {**program.numbers(), "warnings": ["events_likely_overwritten"]}
    for segments in (True, False):
        program = Program(segments=segments)
        first = program.alloc(24 * MIB, "loss_fn:7")
        program.alloc(12 * MIB, "loss_fn:8")
        program.free(first)
        made = program.snapshot()
        if not segments:
            yield "foreign.pickle", made, {**program.numbers(), "warnings": ["missing_segments"]}
            yield "foreign-key.pickle", {"device_traces": made["device_traces"]}, {**program.numbers(), "warnings": ["no_segments"]}
        late = copy.deepcopy(made)
        late["device_traces"][0][1]["time_us"] -= 10_000
        yield f"time-back-{segments}.pickle", late, {**program.numbers(), "warnings": ["time_steps_back"]}
    program = Program()
    for step in range(3):
        for name in (f"ProfilerStep#{step}", "## forward ##"):
            program.event("user_defined", 0, 0)
            program.trace[-1]["frames"] = [{"name": "START", "filename": name, "line": 0}]
        block = program.alloc(2 * MIB, "forward:3")
        for name in ("## forward ##", f"ProfilerStep#{step}"):
            program.event("user_defined", 0, 0)
            program.trace[-1]["frames"] = [{"name": "END", "filename": name, "line": 0}]
        program.free(block)
    yield "user-defined.pickle", program.snapshot(), {**program.numbers(), "annotations": 12, "steps": 3}
    yield from excesses()


def excesses():
    for name, frames, cause, warnings in (
        ("paused", ["load:1", "/lib/torch_memory_saver/core.py:region:9"], "tensors are paused", []),
        ("host", ["/lib/torch/utils/data/_utils/pin_memory.py:pin_memory:98"], "it includes pinned host memory", []),
        ("merged", ["forward:3"], "the same addresses are allocated more than once", ["allocated_twice"]),
        ("unknown", ["forward:3"], "tensors are paused without memory, host memory or several devices", []),
    ):
        program = Program()
        program.alloc(90 * MIB, *frames)
        if name == "merged":
            program.next = BASE
            program.alloc(80 * MIB, *frames)
        made = program.snapshot()
        made["segments"][0].update(total_size=2 * MIB, blocks=made["segments"][0]["blocks"][:1])
        yield f"{name}.pickle", made, {"warnings": warnings + ["requested_beyond_reserved"], "says": [["peak", "Likely cause: " + cause]]}


def all():
    for group in (leaks, graphs, caches, failures, gaps):
        yield from group()
