//! Snapshots of devices that are not NVIDIA's: how their kind is found, and that reports name their devices and
//! functions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened::open_in_chunks;
use memscape::protocol::{Backend, Topic};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Address of an XPU. No other device has addresses this high.
const XPU_ADDRESS: u64 = 18_446_720_620_317_114_368;

/// Returns a snapshot whose program ran out of memory: a step kept 3 GiB, a segment is empty, and 4 GiB failed.
fn snapshot(address: u64, frame: &Value, more: &Value) -> Value {
    const GIB: u64 = 1 << 30;
    let frames = json!([frame, {"name": "train_step", "filename": "/home/me/train.py", "line": 9}]);
    let event = |action: &str, address: u64, size: u64| json!({"action": action, "addr": address, "size": size, "stream": 0, "frames": frames});
    let block = |address: u64, size: u64, state: &str| json!({"address": address, "size": size, "requested_size": size, "state": state, "frames": frames});
    let segment = |address: u64, size: u64, block: Value| json!({"device": 0, "address": address, "total_size": size, "stream": 0, "segment_type": "large", "blocks": [block]});
    let other = address + 8 * GIB;
    let failed = json!({"action": "oom", "device_free": GIB / 2, "size": 4 * GIB, "stream": 0, "frames": frames});
    let mut value = json!({
        "segments": [
            segment(address, 3 * GIB, block(address, 3 * GIB, "active_allocated")),
            segment(other, 2 * GIB, block(other, 2 * GIB, "inactive")),
        ],
        "device_traces": [[
            event("segment_alloc", address, 3 * GIB), event("alloc", address, 3 * GIB),
            event("segment_alloc", other, 2 * GIB), event("alloc", other, 2 * GIB),
            event("free_requested", other, 2 * GIB), event("free_completed", other, 2 * GIB), failed,
        ]],
    });
    let fields = more.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(fields);
    value
}

fn python(filename: &str) -> Value {
    json!({"name": "malloc", "filename": filename, "line": 1})
}

fn native(name: &str) -> Value {
    json!({"name": name, "filename": "??", "line": 0})
}

/// Returns a snapshot of each kind, with its name and the kind.
fn snapshots() -> Vec<(&'static str, Backend, Value)> {
    let user = python("/home/me/torch_npu_tests.py");
    let cuda = json!({"allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""}});
    let xpu = json!({"allocator_settings": {"PYTORCH_ALLOC_CONF": "", "expandable_segments": false}});
    let both = json!({"allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "PYTORCH_ALLOC_CONF": ""}});
    let npu = json!({"allocator_settings": {"PYTORCH_NPU_ALLOC_CONF": ""}});
    let rocm = json!({"memscape": {"schema": 1, "hip": "6.4"}});
    let none = json!({});
    let torch_npu = python("/usr/lib/python3/site-packages/torch_npu/npu/memory.py");
    vec![
        ("nothing", Backend::Cuda, snapshot(4096, &user, &none)),
        ("cuda-setting", Backend::Cuda, snapshot(4096, &user, &cuda)),
        ("both-settings", Backend::Cuda, snapshot(4096, &user, &both)),
        ("hip-frame", Backend::Hip, snapshot(4096, &native("c10::hip::HIPCachingAllocator::malloc(void**)"), &cuda)),
        ("hip-recorder", Backend::Hip, snapshot(4096, &user, &rocm)),
        ("npu-frame", Backend::Npu, snapshot(4096, &torch_npu, &none)),
        ("npu-native-frame", Backend::Npu, snapshot(4096, &native("c10_npu::NPUCachingAllocator::malloc()"), &none)),
        ("npu-setting", Backend::Npu, snapshot(4096, &user, &npu)),
        ("xpu-setting", Backend::Xpu, snapshot(4096, &user, &xpu)),
        ("xpu-address", Backend::Xpu, snapshot(XPU_ADDRESS, &user, &none)),
        ("xpu-frame", Backend::Xpu, snapshot(4096, &native("c10::xpu::XPUCachingAllocator::malloc()"), &none)),
        ("mps-frame", Backend::Mps, snapshot(4096, &native("at::mps::HeapAllocator::malloc()"), &none)),
    ]
}

fn write(name: &str, value: &Value) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("backend-{name}.json"));
    std::fs::write(&path, serde_json::to_vec(value).unwrap()).unwrap();
    path
}

/// Runs the program, and returns what it prints.
fn memscape(arguments: &[&str], path: &Path) -> String {
    let (command, options) = arguments.split_first().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).arg(command).arg(path).args(options).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn kind_of_device_is_found_in_settings_frames_addresses_and_recorder() {
    for (name, backend, value) in snapshots() {
        let opened = open_in_chunks(&serde_json::to_vec(&value).unwrap(), 1 << 20, usize::MAX).unwrap();
        assert_eq!(opened.summary.devices[0].backend, backend, "{name}");
    }
}

#[test]
fn headings_and_json_name_the_device() {
    for (name, backend, value) in snapshots() {
        let path = write(name, &value);
        let device = backend.name_of(0);
        assert!(memscape(&["oom"], &path).lines().next().unwrap().ends_with(&device), "{name}");
        let summary: Value = serde_json::from_str(&memscape(&["summary", "--json"], &path)).unwrap();
        assert_eq!(summary[0]["devices"][0]["backend"], json!(backend.name()), "{name}");
    }
}

/// CUDA graphs keep their name, because no other device has them, and so do keys of settings that the file has.
#[test]
fn reports_about_other_devices_do_not_speak_of_cuda() {
    for (name, backend, value) in snapshots().into_iter().filter(|(_, backend, _)| *backend != Backend::Cuda) {
        let path = write(&format!("words-{name}"), &value);
        for topic in Topic::ALL {
            let text = memscape(&[topic.name()], &path);
            let text = text.replace("CUDA graph", "");
            let words = ["torch.cuda", "CUDA", "NCCL", "nvidia", "GPU"];
            let is_own = |word: &str| {
                let own = [backend.device(), backend.module(), backend.outside(), backend.settings()];
                own.iter().any(|own| own.contains(word))
            };
            let wrong = words.into_iter().find(|word| text.contains(word) && !is_own(word));
            let has_setting = topic == Topic::Settings && text.contains("PYTORCH_CUDA_ALLOC_CONF");
            assert!(wrong.is_none() || has_setting, "{name}, {}: {wrong:?}: {text}", topic.name());
        }
    }
}

#[test]
fn oom_names_what_uses_memory_outside_the_allocator() {
    let (_, _, value) = snapshots().into_iter().find(|(name, ..)| *name == "npu-frame").unwrap();
    let text = memscape(&["oom"], &write("npu-outside", &value));
    assert!(
        text.contains("NPU memory beyond that was in use outside the allocator (NPU context, HCCL, other processes)."),
        "{text}"
    );
    let text = memscape(&["fragmentation", "--at", "end"], &write("npu-empty", &value));
    assert!(text.contains("with torch.npu.empty_cache(), as PyTorch does before an OOM"), "{text}");
}

#[test]
fn every_kind_has_its_own_words() {
    for backend in Backend::ALL {
        assert_eq!(Backend::from_name(backend.name()), Some(backend));
        assert_eq!(serde_json::to_value(backend).unwrap(), json!(backend.name()));
        assert_eq!(backend.name_of(-1), "Host (pinned)");
    }
    assert_eq!([Backend::Cuda, Backend::Npu, Backend::Xpu].map(|it| it.name_of(3)), ["GPU 3", "NPU 3", "XPU 3"]);
}
