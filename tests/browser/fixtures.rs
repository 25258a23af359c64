//! Small files for the tests, written by each run: a valid snapshot with known numbers, and other contents.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// Requested bytes of the lower block of [`halves`], allocated in `make_lower`.
pub(crate) const LOWER_BYTES: u64 = GIB;
/// Requested bytes of the upper block, allocated in `make_upper`.
pub(crate) const UPPER_BYTES: u64 = GIB + 512;
/// Number of small blocks that are allocated and freed on top of the two.
const SMALL_BLOCKS: u64 = 40;

/// Expected values of `#summary` for [`halves`], in the order of `SUMMARY`.
pub(crate) fn halves_summary() -> [String; 5] {
    let peak = LOWER_BYTES + UPPER_BYTES + MIB;
    // Event 2 allocates the first small block and is the first to reach the peak.
    [peak, 2, 3 * GIB, 2 + 3 * SMALL_BLOCKS, 2 + SMALL_BLOCKS].map(|number| number.to_string())
}

/// Writes a snapshot of two blocks that stay live from the first events to the end, each half of the plot's height, and
/// small blocks that are allocated and freed above them.
pub(crate) fn halves() -> PathBuf {
    static WRITTEN: OnceLock<PathBuf> = OnceLock::new();
    let write = || {
        let bytes = serde_pickle::to_vec(&halves_value(), serde_pickle::SerOptions::new()).expect("plain data");
        write_file("halves.pickle", &bytes)
    };
    WRITTEN.get_or_init(write).clone()
}

/// Writes a file with this content in the folder that the test server serves as `snapshots/`. An equal file is not
/// written again: the page of another test may be reading it, and browsers do not read a file that changed after it was
/// chosen.
pub(crate) fn write_file(name: &str, bytes: &[u8]) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let path = folder().join(name);
    let _one = ONE_AT_A_TIME.lock();
    if !std::fs::read(&path).is_ok_and(|before| before == bytes) {
        std::fs::write(&path, bytes).expect("target/tmp can be written");
    }
    path
}

/// Folder of the files.
pub(crate) fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
    std::fs::create_dir_all(&folder).expect("target/tmp can be written");
    folder
}

/// Content of [`halves`] as JSON.
pub(crate) fn halves_value() -> Value {
    const LOWER_ADDRESS: u64 = 0x7f00_0000_0000;
    const UPPER_ADDRESS: u64 = LOWER_ADDRESS + LOWER_BYTES;
    const SMALL_ADDRESS: u64 = UPPER_ADDRESS + UPPER_BYTES;
    let mut time_us: u64 = 1_700_000_000_000_000;
    let mut event = |action: &str, address: u64, size: u64, from_code: &str| {
        time_us += 10;
        json!({ "action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us,
                "frames": stack(from_code) })
    };
    let mut trace = vec![
        event("alloc", LOWER_ADDRESS, LOWER_BYTES, "make_lower"),
        event("alloc", UPPER_ADDRESS, UPPER_BYTES, "make_upper"),
    ];
    for _ in 0..SMALL_BLOCKS {
        for action in ["alloc", "free_requested", "free_completed"] {
            trace.push(event(action, SMALL_ADDRESS, MIB, "make_small"));
        }
    }
    let block = |address: u64, size: u64, state: &str, from_code: &str| json!({ "address": address, "size": size, "requested_size": size, "state": state, "frames": stack(from_code) });
    let segment = json!({
        "device": 0, "address": LOWER_ADDRESS, "total_size": 3 * GIB, "allocated_size": LOWER_BYTES + UPPER_BYTES,
        "active_size": LOWER_BYTES + UPPER_BYTES, "requested_size": LOWER_BYTES + UPPER_BYTES, "stream": 0, "segment_type": "large",
        "segment_pool_id": [0, 0], "is_expandable": false, "frames": [],
        "blocks": [
            block(LOWER_ADDRESS, LOWER_BYTES, "active_allocated", "make_lower"),
            block(UPPER_ADDRESS, UPPER_BYTES, "active_allocated", "make_upper"),
            block(SMALL_ADDRESS, 3 * GIB - LOWER_BYTES - UPPER_BYTES, "inactive", "make_small"),
        ],
    });
    json!({ "segments": [segment], "device_traces": [trace] })
}

fn stack(innermost: &str) -> Value {
    json!([
        { "name": innermost, "filename": "/home/user/train.py", "line": 12 },
        { "name": "main", "filename": "/home/user/train.py", "line": 40 },
    ])
}
