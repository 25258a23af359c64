//! Small files from random sequences of allocations and frees.

use serde_json::{Value, json};

/// Builds a file from turns of `(size, which, stack)`. A turn whose `which` is a multiple of three frees a live
/// allocation, and the others allocate. Two allocations exist before recording. `stack` selects a stack of up to four
/// frames.
pub(crate) fn file(turns: &[(u64, usize, u64)]) -> Vec<u8> {
    let frames = |stack: u64| -> Value {
        let frame = |at: u64| {
            let (name, file) =
                [("Forward", "/home/me/Train.py"), ("step", "/x/torch/nn.py"), ("at::empty", "??"), ("<module>", "")]
                    [at as usize % 4];
            json!({ "name": name, "filename": file, "line": at % 3 * 7 })
        };
        (0..stack % 5).map(|depth| frame(stack / 5 + depth)).collect()
    };
    let mut live: Vec<(u64, u64, u64)> = Vec::new();
    let mut trace = Vec::new();
    let mut event = |action: &str, (address, size, stack): (u64, u64, u64)| {
        trace.push(json!({ "action": action, "addr": address, "size": size, "stream": 0, "frames": frames(stack) }));
    };
    let block = |(address, size, stack): (u64, u64, u64)| json!({ "address": address, "size": size.div_ceil(512).max(1) * 512, "requested_size": size, "state": "active_allocated", "frames": frames(stack) });
    // Allocated before recording.
    live.push((1 << 20, 3000, 7));
    live.push((2 << 20, 70, 13));
    for &(size, which, stack) in turns {
        if which % 3 == 0 && !live.is_empty() {
            let gone = live.swap_remove(which / 3 % live.len());
            event("free_requested", gone);
            event("free_completed", gone);
        } else {
            // Free addresses are reused first.
            let address = (3..).map(|place| place << 20).find(|&at| live.iter().all(|it| it.0 != at)).unwrap();
            live.push((address, size, stack));
            event("alloc", (address, size, stack));
        }
    }
    let blocks: Vec<Value> = live.iter().map(|&it| block(it)).collect();
    let segment = json!({ "device": 0, "address": 0, "total_size": 1u64 << 40, "allocated_size": 0, "active_size": 0, "requested_size": 0, "stream": 0, "segment_type": "large", "blocks": blocks });
    serde_json::to_vec(&json!({ "segments": [segment], "device_traces": [trace] })).unwrap()
}
