//! A small snapshot with the data of memscape's recorder: two steps of a two-layer model, which then runs out of
//! memory.

use serde_json::{Value, json};

pub(crate) const MIB: u64 = 1 << 20;
/// Path of the user's code.
pub(crate) const FILE: &str = "/home/user/project/train.py";
/// Text of [`FILE`]. Weights are allocated in line 2, gradients in line 3.
pub(crate) const SOURCE: &str = "def build():\n    return Model().cuda()\n    loss.backward()\n    return logits(x)\n";
/// Requested bytes at the peak: weight, gradient, optimizer state, buffer, activation.
pub(crate) const PEAK: u64 = (40 + 40 + 80 + 8 + 16) * MIB;

const START_US: u64 = 1_700_000_000_000_000;
const BASE_ADDRESS: u64 = 0x7f00_0000_0000;

/// Address, size and line of each allocation. The fifth is freed, and the sixth reuses its address.
const BLOCKS: [(u64, u64, u64); 6] = [
    (BASE_ADDRESS, 40 * MIB, 2),
    (BASE_ADDRESS + 64 * MIB, 40 * MIB, 3),
    (BASE_ADDRESS + 128 * MIB, 80 * MIB, 4),
    (BASE_ADDRESS + 256 * MIB, 8 * MIB, 2),
    (BASE_ADDRESS + 320 * MIB, 16 * MIB, 4),
    (BASE_ADDRESS + 320 * MIB, 12 * MIB, 4),
];

fn frames(line: u64) -> Value {
    json!([{ "name": "step", "filename": FILE, "line": line }])
}

pub(crate) fn snapshot() -> Value {
    let mut time_us = START_US;
    let mut event = |action: &str, place: usize| {
        let (address, size, line) = BLOCKS[place];
        time_us += 1_000;
        json!({ "action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us, "frames": frames(line) })
    };
    let mut trace: Vec<Value> = (0..5).map(|place| event("alloc", place)).collect();
    trace.extend(["free_requested", "free_completed"].map(|action| event(action, 4)));
    trace.push(event("alloc", 5));
    let mut oom = event("oom", 4);
    oom["device_free"] = json!(2 * MIB);
    oom["size"] = json!(60 * MIB);
    oom.as_object_mut().unwrap().remove("addr");
    trace.push(oom);
    let segment = |(address, size, line): (u64, u64, u64)| {
        json!({ "address": address, "total_size": size, "allocated_size": size, "active_size": size, "requested_size": size,
            "stream": 0, "device": 0, "segment_type": "large", "frames": [],
            "blocks": [{ "address": address, "size": size, "requested_size": size, "state": "active_allocated",
                         "frames": frames(line) }] })
    };
    let live = [0, 1, 2, 3, 5].map(|place| BLOCKS[place]);
    let segments: Vec<Value> = live.into_iter().map(segment).collect();
    let tensor = |place: usize, name: &str, kind: &str, shape: Value| {
        let (address, bytes, _) = BLOCKS[place];
        json!({ "addr": address, "bytes": bytes, "device": 0, "name": name, "kind": kind, "shape": shape,
                "dtype": "bfloat16", "offset": 0 })
    };
    json!({
        "segments": segments,
        "device_traces": [trace],
        "memscape": {
            "schema": 1, "version": "0.1.0", "reason": "oom", "step": 1, "program": "train.py", "torch": "2.11.0",
            "rank": 3, "world": 8, "host": "node7", "coords": { "tp": 1 }, "total_memory": 256 * MIB,
            "devices": [{ "device": 0, "name": "NVIDIA H100", "capacity_bytes": 256 * MIB, "free_bytes": 2 * MIB,
                          "process_bytes": 200 * MIB, "other_processes_bytes": 60 * MIB,
                          "stats": { "requested_bytes.all.peak": PEAK, "num_ooms": 1 } }],
            "steps": [[0, START_US + 500, START_US + 4_500], [1, START_US + 4_600, START_US + 9_500]],
            "tensors": [
                tensor(0, "layers.0.weight", "parameter", json!([4096, 5120])),
                tensor(1, "layers.0.weight", "gradient", json!([4096, 5120])),
                tensor(2, "layers.0.weight", "optimizer_state:exp_avg", json!([4096, 5120])),
                tensor(3, "rope.cache", "buffer", json!([])),
                // A freed tensor whose address is reused by an allocation of another size.
                tensor(4, "freed", "parameter", json!([1])),
            ],
            "source": { FILE: SOURCE },
        },
    })
}
