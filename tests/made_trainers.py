"""Programs that tempt a report to a false sentence: parts of a step that repeat, models that are constructed, caches that evict,
activations that are checkpointed already, and failed requests that freed memory would have served in parts."""
from made_programs import MIB, Program
from made_variants import ACCUMULATE, ADAM, BACKWARD, ENGINE, OPTIM, segment

CALL = ["/v/lib/python3.12/site-packages/torch/nn/modules/module.py:_call_impl:1762"]
LINEAR = ["/v/lib/python3.12/site-packages/torch/nn/modules/linear.py:forward:125", *CALL]
TRAINER = "/v/lib/python3.12/site-packages/transformers/trainer.py:"
MAIN = ["/home/u/ft.py:main:88", "/home/u/ft.py:<module>:120"]
# Frames of the parts of a step. All but the model and the callback are library code, so that their call site is the same.
LOOP = {"model": [TRAINER + "training_step:3675", *MAIN], "input": [TRAINER + "_prepare_inputs:40", *MAIN], "optimizer": [TRAINER + "train:2580", *MAIN]}
STATE = [OPTIM + "adam.py:_init_group:165", *ADAM[1:], *LOOP["optimizer"]]


class Step:
    """Runs training steps of a small model, with hooks around its layers."""

    def __init__(self, layers=4, around=None, wrapper=(), recompute=(), fused=False):
        self.program, self.layers, self.around, self.wrapper, self.recompute, self.fused = Program(), layers, around, wrapper, recompute, fused
        for _ in range(layers):
            self.program.alloc(8 * MIB, "/v/lib/python3.12/site-packages/torch/nn/modules/module.py:_apply:915", *MAIN)
        self.is_first = True

    def marked(self, name, run):
        self.program.mark(name, "START")
        run()
        self.program.mark(name, "END")

    def run(self, gradient_mib=2):
        program, held = self.program, []
        batch = program.alloc(MIB, *LOOP["input"])
        for layer in range(self.layers):
            def forward():
                for line in (300, 301):
                    held.append(program.alloc(3 * MIB, *LINEAR, f"/app/net.py:forward:{line}", *CALL, *self.wrapper, *LOOP["model"]))
            self.marked(self.around.replace("#", str(layer)), forward) if self.around else forward()
        for one in reversed(held):
            again = [program.alloc(6 * MIB, *LINEAR, *self.recompute, *BACKWARD, *LOOP["model"])] if self.recompute else []
            gradient = program.alloc(MIB, "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", ENGINE)
            for it in (*again, one, gradient):
                program.free(it, ENGINE)
        gradients = [program.alloc(gradient_mib * MIB, ACCUMULATE, ENGINE) for _ in range(self.layers if gradient_mib else 0)]
        if self.is_first:
            for _ in range(2 * self.layers):
                program.alloc(8 * MIB, *STATE)
        elif not self.fused:
            program.free(program.alloc(8 * MIB, *ADAM, *LOOP["optimizer"]))
        self.is_first = False
        for one in gradients:
            program.free(one, OPTIM + "optimizer.py:zero_grad:1001", *LOOP["optimizer"])
        program.free(batch)


def says_growth(text, grade="likely a leak"):
    return [["leaks", text], ["leaks", f"({grade})"]]


def annotations():
    """Steps beside annotations of other things."""
    for name, around in {"same": "attention", "numbers": "DecoderLayer_#", "blocks": "block #"}.items():
        step = Step(around=around)
        for _ in range(3):
            step.run()
            step.program.alloc(2 * MIB, "/app/log.py:keep:8", *MAIN)
        yield f"annotated-{name}.pickle", step.program, says_growth("log.py:8 keep (called at ft.py:88 main) grew 2.00 MiB in each of the 3 steps"), []
    for name, around in {"same": "mlp", "numbers": "TransformerBlock_#"}.items():
        program = Program()
        for layer in range(12):
            program.mark(around.replace("#", str(layer)), "START")
            for line in range(3):
                program.alloc(2 * MIB, *LINEAR, f"/app/net.py:forward:{30 + line}", *CALL, "/app/net.py:forward:90", *CALL, "infer:9")
            program.mark(around.replace("#", str(layer)), "END")
        yield f"annotated-layers-{name}.pickle", program, [["steps", "No steps found"]], ["a leak)", "Memory grows"]
    for name, inner in {"same": "train_step", "restarts": "batch_#"}.items():
        step = Step()
        for epoch in range(3):
            step.program.mark(f"epoch {epoch}", "START")
            for batch in range(4):
                step.marked(inner.replace("#", str(batch)), lambda: (step.run(), step.program.alloc(2 * MIB, "/app/log.py:keep:8", *MAIN)))
            step.program.mark(f"epoch {epoch}", "END")
        yield f"epochs-{name}.pickle", step.program, says_growth("grew 2.00 MiB in each of the 12 steps"), []
    step = Step()
    for epoch in range(3):
        step.program.mark(f"epoch {epoch}", "START")
        for batch in range(4):
            step.run()
            step.program.alloc(2 * MIB, "/app/log.py:keep:8", *MAIN)
        step.program.mark(f"epoch {epoch}", "END")
    yield "epochs-only.pickle", step.program, says_growth("grew 2.00 MiB in each of the 12 steps"), []
    # A fused optimizer allocates only its state.
    step = Step(fused=True)
    for number in range(5):
        step.run()
        # The batches have different numbers of tensors.
        for it in [step.program.alloc(MIB, *LOOP["input"]) for _ in range(1 + 9 * (number % 2))]:
            step.program.free(it)
        step.program.alloc(2 * MIB, "/app/log.py:keep:8", *MAIN)
    yield "fused-optimizer.pickle", step.program, says_growth("grew 2.00 MiB in each of the 5 steps"), []


def setups():
    """Models that are constructed or loaded, layer by layer."""
    for name, frames in {
        "construct": ["/v/lib/python3.12/site-packages/torch/nn/modules/linear.py:__init__:106", "/app/net.py:__init__:#", "/app/net.py:__init__:60", "main:5"],
        "load": ["/app/weights.py:get:#", "/v/lib/python3.12/site-packages/transformers/modeling_utils.py:from_pretrained:4400", "main:5"],
    }.items():
        for temporaries in (False, True):
            program = Program()
            for layer in range(24):
                for line in range(4):
                    program.alloc(4 * MIB, *[it.replace("#", str(20 + line)) for it in frames])
                    if temporaries:
                        program.free(program.alloc(8 * MIB, *[it.replace("#", str(40 + line)) for it in frames]))
            yield f"setup-{name}-{temporaries}.pickle", program, [["steps", "No steps found"]], ["a leak)", "Memory grows"]
    # Weights are loaded by functions of unknown names, of equal or different sizes, and may be converted.
    for name, sizes, temporaries, serves in (("equal", 1, False, True), ("different", 5, True, True), ("only", 5, True, False)):
        program = Program("/app/boot.py")
        for layer in range(24):
            staged = program.alloc((3 + layer % sizes) * MIB, "decode:12", "prepare:20", "main:7") if temporaries else None
            program.alloc((4 + layer % sizes) * MIB, "place:9", "prepare:21", "main:7")
            if temporaries:
                program.free(staged)
        for _ in range(3 if serves else 0):
            held = [program.alloc(3 * MIB, *LINEAR, f"/app/net.py:forward:{line}", *CALL, "serve:30", "main:9") for line in (50, 51, 52)]
            for one in held:
                program.free(one)
        says = [] if serves else [["leaks", "allocated 24 times at even intervals, none freed: 142 MiB in all (possibly a leak)."]]
        yield f"weights-{name}.pickle", program, says, ["a leak)"] if serves else ["likely a leak"]


def retained():
    """Call sites that keep memory for a while, or only seem to."""
    for steps, size in ((6, 4), (12, 4), (20, 10)):
        step, ring = Step(), []
        for _ in range(steps):
            step.run()
            ring.append(step.program.alloc(5 * MIB, "/app/buffer.py:push:8", *MAIN))
            if len(ring) > size:
                step.program.free(ring.pop(0), "/app/buffer.py:push:9", *MAIN)
        yield f"evicts-{steps}-{size}.pickle", step.program, [["leaks", "Other steps free as much as they allocate"]], ["likely a leak", "possibly a leak", "buffer.py:8 push (called at ft.py:88 main) grew in 2 of 4 steps after the first two, 2.50 MiB per step, none freed"]
    step = Step()
    kept = []
    for _ in range(6):
        step.run()
        kept.append(step.program.alloc(5 * MIB, "/app/log.py:keep:8", *MAIN))
    for one in kept:
        step.program.free(one, "/app/log.py:end:30", *MAIN)
    yield "freed-at-the-end.pickle", step.program, [["leaks", "grew 5.00 MiB in each of the 5 steps before the last: 25.0 MiB in all, freed at the end."]], ["a leak)", "No call site grows"]
    # The next batch has another size, and the same call site.
    step, batch = Step(), None
    for size in (2, 20, 3, 15, 1, 22, 4, 18):
        step.run()
        following = step.program.alloc(size * MIB, *LOOP["input"])
        if batch:
            step.program.free(batch, *LOOP["input"])
        batch = following
        step.program.alloc(3 * MIB, TRAINER + "log:700", *MAIN)
    yield "shared-call-site.pickle", step.program, says_growth("ft.py:88 main (called at ft.py:120 <module>) grew 3.00 MiB in each of the 5 steps after the first two and before the last, counting only what is never freed"), []
    program = Program("/app/tutorial.py")
    for _ in range(20):
        program.free(program.alloc(MIB, "<module>:5"))
    for _ in range(6):
        for it in [program.alloc(2 * MIB, f"<module>:{10 + it}") for it in range(3)]:
            program.free(it)
        program.alloc(4 * MIB, "<module>:30")
    for _ in range(20):
        program.free(program.alloc(MIB, "<module>:40"))
    yield "part-of-the-trace.pickle", program, [["leaks", "tutorial.py:30 <module> allocated 6 times at even intervals, none freed: 24.0 MiB in all (possibly a leak)"]], []


def decoding():
    """Caches of keys and values in few tokens, in blocks, and freed at the end."""
    def decode(tokens, grow, frees=False):
        program, caches = Program("/app/gen.py"), {}
        program.alloc(64 * MIB, "load_weights:5", "main:7")
        for token in range(tokens):
            for layer in range(4):
                for line in range(4):
                    program.free(program.alloc(MIB, f"/app/model.py:forward:{80 + line}", "/app/model.py:forward:90", "main:20"))
                for part in "kv":
                    grow(program, caches, (layer, part), token, ("/app/model.py:forward:44", "/app/model.py:forward:90", "main:20"))
            for line in (21, 22, 23):
                program.free(program.alloc(MIB, f"sample:{line}", "main:21"))
        for cache in caches.values() if frees else ():
            program.free(cache)
        return program

    def concatenate(program, caches, key, token, names):
        grown = program.alloc((8 + token) * MIB, *names)
        if key in caches:
            program.free(caches[key])
        caches[key] = grown

    def blocks(program, caches, key, token, names):
        if token in (4, 12):
            caches.setdefault(key, []).append(program.alloc(MIB, *names))

    yield "three-tokens.pickle", decode(3, concatenate), [["leaks", "KV cache (inferred)"]], ["a leak)"]
    yield "cache-freed.pickle", decode(20, concatenate, True), [["leaks", "KV cache (inferred)"]], ["a leak)", "No call site grows"]
    yield "cache-in-blocks.pickle", decode(40, blocks), [["leaks", "not steadily (a cache that fills, or a slow leak)"]], ["No call site grows"]


def advice():
    """Advice that is followed already, or that no step is needed for."""
    for name, frame in {"torch": "/v/lib/python3.12/site-packages/torch/utils/checkpoint.py:", "deepspeed": "/v/lib/python3.12/site-packages/deepspeed/runtime/activation_checkpointing/checkpointing.py:"}.items():
        step = Step(wrapper=[frame + "checkpoint:488"], recompute=[frame + "recompute_fn:1399"])
        for _ in range(4):
            step.run()
        yield f"checkpointed-{name}.pickle", step.program, [["savings", "Optimizer state"]], ["Checkpoint the blocks"]
    program = Program("/app/eval.py")
    program.alloc(40 * MIB, "load:3", "<module>:7")
    for _ in range(4):
        held = [program.alloc(6 * MIB, *LINEAR, "/app/net.py:forward:50", *CALL, "evaluate:20", "<module>:40") for _ in range(6)]
        program.free(program.alloc(512, "accuracy:30", "evaluate:22", "<module>:40"))
        for one in held:
            program.free(one, "evaluate:20", "<module>:40")
    yield "no-grad-without-steps.pickle", program, [["savings", "no_grad"]], ["Checkpoint the blocks"]
    # Gradients beside DDP's buckets, as views of them, and buckets of another model.
    helper = "/v/lib/python3.12/site-packages/torch/nn/parallel/distributed.py:_ddp_init_helper:1230"
    for name, count, views in (("ddp", 4, False), ("ddp-views", 4, True), ("ddp-of-a-part", 1, False)):
        step = Step()
        for _ in range(count):
            step.program.alloc(16 * MIB, "c10d::Reducer::initialize_buckets(std::vector<std::vector<unsigned long>>)", helper, *MAIN)
        for _ in range(4):
            step.run(0 if views else 16)
        says = [["savings", "Gradients beside DDP's buckets: 64.0 MiB at the peak"], ["savings", "gradient_as_bucket_view=True"]]
        yield f"{name}.pickle", step.program, says if name == "ddp" else [], [] if name == "ddp" else ["gradient_as_bucket_view"]
    # Outputs are kept by a program without steps, of models with one to three layers under no_grad.
    for layers in (1, 2, 3):
        program, previous = Program("/app/tiny.py"), None
        program.alloc(16 * MIB, "/v/lib/python3.12/site-packages/torch/nn/modules/module.py:_apply:915", "<module>:3")
        for _ in range(6):
            for layer in range(layers):
                inner = [f"/app/net.py:forward:{50 + layer}", *CALL] if layers > 1 else []
                made = program.alloc(6 * MIB, *LINEAR, *inner, "<module>:9")
                if previous:
                    program.free(previous)
                previous = made if layer + 1 < layers else None
        yield f"outputs-{layers}.pickle", program, [], ["Activations kept", "no_grad"]
    program = Program("/app/sd.py")
    program.alloc(40 * MIB, "load:3", "main:7")
    for _ in range(6):
        file = "/v/lib/python3.12/site-packages/diffusers/models/attention_processor.py:"
        held = [program.alloc(64 * MIB, f"{file}get_attention_scores:{line}", file + "forward:600", *CALL, "main:20") for line in (700, 720)]
        for one in held:
            program.free(one, "main:20")
    yield "attention-scores.pickle", program, [["savings", "Attention scores: 128 MiB at the peak"]], []
    # Python 3.11 and later know the qualified names of functions.
    qualified = {"_call_impl": "Module._call_impl", "forward": "Linear.forward", "_apply": "Module._apply", "_init_group": "AdamW._init_group", "main": "Job.main.<locals>.main"}
    step = Step()
    for _ in range(4):
        step.run()
    for names in (event["frames"] for event in step.program.trace):
        for frame in names:
            frame["name"] = qualified.get(frame["name"], frame["name"])
    yield "qualified-names.pickle", step.program, [["categories", "Classified as unknown: nothing at the peak."], ["savings", "Optimizer state: 64.0 MiB at the peak"]], []


def failures():
    """Failed requests, and memory that would have served them."""
    # Temporaries of the backward pass that fails are no gradients: in earlier steps they are freed within it.
    node = ["torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", ENGINE]
    program = Program()
    for number in range(3):
        held = [program.alloc(20 * MIB, *LINEAR, f"/app/net.py:forward:{300 + layer}", *CALL, *LOOP["model"]) for layer in range(4)]
        gradients, before = [], None
        for layer, one in enumerate(reversed(held)):
            following = program.alloc(30 * MIB, *node)
            gradients.append(program.alloc(8 * MIB, *node))
            if before:
                program.free(before, ENGINE)
            before = following
            if number == 2 and layer == 2:
                program.oom(64 * MIB, *node, device_free=4 * MIB)
                break
            program.free(one, ENGINE)
        if number < 2:
            last = program.alloc(MIB, *node)
            for one in (before, last):
                program.free(one, ENGINE)
            program.free(program.alloc(8 * MIB, *ADAM, *LOOP["optimizer"]))
            for one in gradients:
                program.free(one, OPTIM + "optimizer.py:zero_grad:1001", *LOOP["optimizer"])
    yield "backward-fails.pickle", program, [["oom", "With sharding over 8 devices (FSDP), 73.0 MiB instead of 94.0 MiB live at the OOM (planned)"]], []
    first, second = 0x7F0000000000, 0x7F1000000000
    for name, (sizes, states, asked) in {
        "two": ((96, 96, 60, 48), ("awaits", "awaits", "live", "free"), 150), "beside-free": ((96, 96, 60, 48), ("awaits", "free", "live", "free"), 150),
        "between": ((20, 96, 30, 60), ("free", "awaits", "free", "live"), 140),
    }.items():
        program, at, live, blocks = Program(stream=5), second, [], []
        program.event("segment_alloc", second, sum(sizes) * MIB)
        for size, state in zip(sizes, states):
            if state != "free":
                program.event("alloc", at, size * MIB, ["/app/pre.py:prefetch:8"])
            if state == "awaits":
                live.append((at, size))
            blocks.append((at, size * MIB, {"free": "inactive", "live": "active_allocated", "awaits": "inactive"}[state]))
            at += size * MIB
        for at, size in live:
            program.event("free_requested", at, size * MIB)
        program.oom(asked * MIB, "mlp:9", device_free=4 * MIB)
        for at, size in live:
            program.event("free_completed", at, size * MIB)
        made = {"segments": [segment(second, sum(sizes) * MIB, blocks, 5)], "device_traces": [program.trace]}
        yield f"awaited-{name}.pickle", made, [["oom", f"{sum(size for _, size in live):.3g}{'.0' if len(live) == 1 else ''} MiB awaited their free on stream 0x5 and would have fitted."]], []
    # Pages of an expandable segment are unmapped.
    program = Program()
    for action, at, size, stream in (("segment_map", first, 100, 0), ("alloc", first, 100, 0), ("segment_map", second, 120, 9), ("alloc", second, 120, 9), ("free_requested", second, 120, 9)):
        program.event(action, at, size * MIB, ["/app/m.py:gather:3"], stream)
    program.oom(110 * MIB, "mlp:9", device_free=4 * MIB)
    segments = [{**segment(at, size * MIB, [(at, size * MIB, state)], stream), "is_expandable": True} for at, size, state, stream in ((first, 100, "active_allocated", 0), (second, 120, "active_pending_free", 9))]
    yield "awaited-expandable.pickle", {"segments": segments, "device_traces": [program.trace]}, [["oom", "120 MiB awaited their free on stream 0x9 and would have fitted."]], []
    # Requests of less than 10 MiB share a segment of 20 MiB.
    program = Program()
    program.event("segment_alloc", first, 40 * MIB)
    for number in range(5):
        program.event("alloc", first + number * 8 * MIB, 4 * MIB, ["keep:3"])
    program.oom(8 * MIB, "grad:9", device_free=10 * MIB)
    blocks = [it for number in range(5) for at in (first + number * 8 * MIB,) for it in ((at, 4 * MIB, "active_allocated"), (at + 4 * MIB, 4 * MIB, "inactive"))]
    says = [["oom", "; a request of 8.00 MiB needs a segment of 20.0 MiB."], ["oom", "Fragmentation: "]]
    yield "shared-segment.pickle", {"segments": [segment(first, 40 * MIB, blocks)], "device_traces": [program.trace]}, says, ["The request may have fitted"]


def recordings():
    """Recordings without a part of the history."""
    program = Program()
    kept = program.alloc(8 * MIB, "model:1")
    for it in range(1100):
        program.free(program.alloc(MIB, f"f:{it % 7}"))
    program.trace, base = program.trace[-2048:], program.totals[-2049]
    yield "ring-2048.pickle", program.snapshot(), {"base": base, "events": 2048, "warnings": ["events_likely_overwritten"]}, []
    program = Program()
    program.free(program.alloc(MIB, "f:1"))
    program.alloc(8 * MIB, "model:1")
    made = program.snapshot()
    made["device_traces"][0] = [{**program.trace[2], "frames": []}]
    yield "single-free.pickle", made, [], ["freed at no stack"]


def all():
    for group in (annotations, setups, retained, decoding, advice, failures, recordings):
        for name, made, expected, lacks in group():
            value, numbers = (made.snapshot(), made.numbers()) if isinstance(made, Program) else (made, {})
            expected = expected if isinstance(expected, dict) else {"says": expected}
            yield name, value, {**numbers, **expected, "lacks": [["*", text] for text in lacks]}
