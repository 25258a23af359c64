"""Small workloads for record.py. Each makes the same requests in the same order under all settings, until one fails."""

from __future__ import annotations

import random
from typing import Callable

import torch
from torch import nn
from torch.autograd.profiler import record_function
from torch.nn import functional

MIB = 1 << 20
DEVICE = torch.device("cuda")


def allocate(size: int) -> torch.Tensor:
    return torch.empty(size, dtype=torch.uint8, device=DEVICE)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.mix, self.project = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.mix(self.norm(x)).chunk(3, dim=-1)
        x = x + self.project(torch.softmax(query @ key.transpose(-1, -2), -1) @ value)
        return x + self.down(functional.gelu(self.up(x)))


class Trainer:
    """A transformer, and Adam as a loop: torch.optim would import the compiler, which takes longer than a workload."""

    def __init__(self, layers: int, width: int, vocabulary: int = 8192) -> None:
        with DEVICE:
            blocks = [Block(width) for _ in range(layers)]
            self.model = nn.Sequential(nn.Embedding(vocabulary, width), *blocks, nn.Linear(width, vocabulary))
        self.moments: dict[nn.Parameter, tuple[torch.Tensor, torch.Tensor]] = {}

    def step(self, batch: int, length: int) -> None:
        tokens = torch.zeros((batch, length), dtype=torch.long, device=DEVICE)
        with record_function("## forward ##"):
            loss = functional.cross_entropy(self.model(tokens).flatten(0, 1), tokens.flatten())
        with record_function("## backward ##"):
            loss.backward()
        with record_function("## optimizer ##"), torch.no_grad():
            for parameter in self.model.parameters():
                if parameter not in self.moments:
                    self.moments[parameter] = torch.zeros_like(parameter), torch.zeros_like(parameter)
                first, second = self.moments[parameter]
                parameter.addcdiv_(first, second.sqrt().add_(1e-8))
                parameter.grad = None


def training() -> None:
    """Sequences of varying length, with empty_cache() after every fourth step."""
    rng = random.Random(1)
    trainer = Trainer(6, 512)
    for step in range(12):
        trainer.step(rng.choice([2, 4, 6]), rng.randrange(100, 700))
        if step % 4 == 3:
            torch.cuda.empty_cache()


def churn(rng: random.Random, count: int, most: int, largest: float) -> None:
    """Allocate and free buffers of any size in any order, with at most `most` live bytes."""
    live: list[tuple[int, torch.Tensor]] = []
    total = 0

    def drop() -> int:
        at = rng.randrange(len(live))
        live[at], live[-1] = live[-1], live[at]
        return live.pop()[0]

    for _ in range(count):
        size = int(2 ** rng.uniform(5, largest))
        while live and (total + size > most or len(live) > 300):
            total -= drop()
        live.append((size, allocate(size)))
        total += size
        if rng.random() < 0.35:
            total -= drop()


def mixed() -> None:
    """Any sizes, while the device has plenty of memory."""
    churn(random.Random(2), 2500, 4096 * MIB, 28)


def tight() -> None:
    """Live bytes nearly fill the device, so that requests are retried after the cache was emptied."""
    churn(random.Random(7), 2500, 2600 * MIB, 27.5)


def streams() -> None:
    """Buffers on three streams that are used on another one, and are freed late (record_stream)."""
    rng = random.Random(8)
    sides = [torch.cuda.Stream() for _ in range(3)]
    shards = [allocate(rng.randrange(4, 40) * MIB + 512 * rng.randrange(1000)) for _ in range(12)]
    for _ in range(12):
        kept = []
        for at, shard in enumerate(shards):
            with torch.cuda.stream(sides[at % 3]):
                full = allocate(shard.numel() * 4)
            activation = allocate(rng.randrange(1, 64) * MIB // 3)
            activation.record_stream(sides[(at + 1) % 3])
            full.record_stream(torch.cuda.default_stream())
            kept.append(activation)
            if at % 3 == 2:
                kept.pop(rng.randrange(len(kept)))
            del full
        del kept


def pools() -> None:
    """Buffers in a MemPool, graphs that share a private pool, and empty_cache() once both pools have no users."""
    rng = random.Random(9)
    pool, graphs = torch.cuda.MemPool(), []
    kept: list[torch.Tensor] = []
    trainer, handle, side = Trainer(2, 256), torch.cuda.graph_pool_handle(), torch.cuda.Stream()
    with torch.no_grad():
        for length in (384, 320, 256, 192):
            with torch.cuda.use_mem_pool(pool):
                kept += [allocate(rng.randrange(1, 30) * MIB // 4) for _ in range(30)]
            rng.shuffle(kept)
            del kept[len(kept) * 2 // 3 :]
            tokens = torch.zeros((2, length), dtype=torch.long, device=DEVICE)
            with torch.cuda.stream(side):
                trainer.model(tokens)
            graphs.append(torch.cuda.CUDAGraph())
            with torch.cuda.graph(graphs[-1], pool=handle):
                out = trainer.model(tokens)
            graphs[-1].replay()
    del graphs, out, pool, kept
    torch.cuda.empty_cache()


def out_of_memory() -> None:
    """A batch that grows until a request fails."""
    trainer = Trainer(4, 512)
    for batch in range(2, 200, 4):
        trainer.step(batch, 256 + 32 * (batch % 5))


WORKLOADS: dict[str, Callable[[], None]] = {
    function.__name__: function for function in (training, mixed, tight, streams, pools, out_of_memory)
}
# Total memory of the device in MiB, for workloads that need little.
MEMORY_MIB: dict[str, int] = {"tight": 4600, "out_of_memory": 3000}
DEFAULT_MEMORY_MIB = 24 * 1024


def memory_of(workload: str) -> int:
    return MEMORY_MIB.get(workload, DEFAULT_MEMORY_MIB) * MIB
