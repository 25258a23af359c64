//! Normalized paths of five systems and their hashes, compared with values computed by Python's hashlib.

use super::*;

const ROOTS: [&str; 2] = ["/mnt/lab/llm/", r"D:\train"];

fn roots() -> Vec<String> {
    ROOTS.map(str::to_owned).to_vec()
}

/// Path as recorded, normal form.
const PATHS: [(&str, &str); 44] = [
    // A plain Linux machine, with virtual environments, conda and system packages.
    ("/home/ann/exp/train.py", "home:exp/train.py"),
    ("/home/ann/exp_20261123/train.py", "home:*/train.py"),
    ("/root/train.py", "home:train.py"),
    ("/workspace/llm/train.py", "home:llm/train.py"),
    ("/home/ann/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py", "pkg:torch/nn/modules/module.py"),
    ("/usr/lib/python3/dist-packages/numpy/core.py", "pkg:numpy/core.py"),
    ("/opt/conda/lib/python3.10/site-packages/a/site-packages/b.py", "pkg:b.py"),
    ("/opt/conda/lib/python3.10/threading.py", "py:threading.py"),
    ("/usr/lib64/python3.12/contextlib.py", "py:contextlib.py"),
    ("/opt/python3.12/contextlib.py", "/opt/python3.12/contextlib.py"),
    ("/data/projects/loop.py", "/data/projects/loop.py"),
    ("train.py", "train.py"),
    ("./src/train.py", "./src/train.py"),
    ("", ""),
    // Root folders that the user names.
    ("/mnt/lab/llm/data/load.py", "work:data/load.py"),
    ("/mnt/lab/llm", "/mnt/lab/llm"),
    ("/mnt/lab/llm2/data/load.py", "/mnt/lab/llm2/data/load.py"),
    (r"D:\train\data\load.py", "work:data/load.py"),
    // macOS.
    ("/Users/bo/exp/train.py", "home:exp/train.py"),
    ("/Library/Frameworks/Python.framework/Versions/3.12/lib/python3.12/ast.py", "py:ast.py"),
    // Windows.
    (r"C:\Users\bo\exp\train.py", "home:exp/train.py"),
    (r"C:\Users\bo\env\Lib\site-packages\torch\optim\adam.py", "pkg:torch/optim/adam.py"),
    (r"C:\Python312\Lib\asyncio\events.py", "py:asyncio/events.py"),
    (r"E:\jobs\2026-11-23\run.py", "E:/jobs/*/run.py"),
    // Schedulers and build systems: Ray, Bazel, SLURM, Kubernetes.
    ("/tmp/ray/session_1/runtime_resources/working_dir_files/_ray_pkg_0a1b2c3d4e5f/ppo/loop.py", "work:ppo/loop.py"),
    ("/tmp/ray/_ray_pkg_xyz/ppo/loop.py", "/tmp/ray/_ray_pkg_xyz/ppo/loop.py"),
    ("/cache/bazel/bin/train.runfiles/lab/train.py", "work:lab/train.py"),
    ("/scratch/slurm-123456/code/train.py", "/scratch/*/code/train.py"),
    ("/scratch/123456/code/train.py", "/scratch/*/code/train.py"),
    ("/scratch/2026-11-23T10:00:00/code/train.py", "/scratch/*/code/train.py"),
    ("/pods/123e4567-e89b-12d3-a456-426614174000/code/train.py", "/pods/*/code/train.py"),
    ("/jobs/0a1b2c3/code/train.py", "/jobs/*/code/train.py"),
    ("/jobs/effaced/code/train.py", "/jobs/effaced/code/train.py"),
    ("/jobs/run_12/code/train.py", "/jobs/run_12/code/train.py"),
    ("/jobs/run_1234/code/train.py", "/jobs/*/code/train.py"),
    ("/jobs/123/code/train.py", "/jobs/123/code/train.py"),
    ("/jobs/a/train_20261123.py", "/jobs/a/train_20261123.py"),
    // Generated code and notebooks.
    ("/tmp/torchinductor_ann/ab/cabcdef.py", "inductor:"),
    ("/tmp/ipykernel_4711/2816347201.py", "ipython:2816347201"),
    ("<ipython-input-3-0a1b2c>", "ipython:3"),
    ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>"),
    ("<string>", "<string>"),
    ("/", "/"),
    ("////", "////"),
];

#[test]
fn paths_of_five_systems_have_normal_form() {
    for (path, expected) in PATHS {
        assert_eq!(normalize(path, &roots()), expected, "{path}");
    }
}

#[test]
fn normal_form_of_normal_form_is_unchanged() {
    for (path, expected) in PATHS {
        assert_eq!(normalize(expected, &[]), expected, "{path}");
    }
}

#[test]
fn native_frames_have_no_line() {
    let cases = [
        ("/usr/lib/libpython3.11.so.1.0", "native:libpython3.11.so.1.0"),
        ("/lib/x86_64-linux-gnu/libc.so.6", "native:libc.so.6"),
        ("/opt/torch/lib/libtorch_cpu.so", "native:libtorch_cpu.so"),
        ("/home/ann/bin/python3.11", "native:python3.11"),
        ("bin/python", "native:python"),
        ("??", "native:??"),
    ];
    for (path, file) in cases {
        let site = CallSite::new(path, 1_731_810, "at::empty", &[]);
        assert_eq!((&*site.file, site.line, &*site.function), (file, 0, "at::empty"), "{path}");
    }
    for path in ["/home/ann/libc.so.py", "/home/ann/python3.11", "/home/ann/bin/python.py", "a.socket"] {
        assert_eq!(CallSite::new(path, 7, "step", &[]).line, 7, "{path}");
    }
}

/// Values from `hashlib.sha256("home:exp/train.py\nstep\n12".encode()).hexdigest()[:16]`, and so on.
#[test]
fn hashes_equal_those_of_python() {
    let site = CallSite::new("/home/ann/exp/train.py", 12, "step", &[]);
    assert_eq!(site.site(), "80ec4c9f5591787f");
    assert_eq!(site.place(), "e4cac871b9920c80");
    let below = CallSite::new("/root/exp/train.py", 99, "step", &[]);
    assert_eq!((below.place(), below.site() == site.site()), (site.place(), false));
    assert_eq!(CallSite::default().site(), "8bce48c578ed64b7");
    assert_eq!(CallSite::new("", 5, "", &[]), CallSite::default());
    assert_eq!(hash(&["ä", "\u{fffd}"]), "5459e60f80c16e1f");
}

#[test]
fn hostile_texts_are_truncated() {
    let site = CallSite::new(&"é/".repeat(5_000), i128::MAX, &"é".repeat(5_000), &[]);
    assert!(site.file.len() <= 4_096 && site.function.len() <= 4_096);
    assert_eq!(site.line, 0);
    assert_eq!(CallSite::new("a.py", -1, "f", &[]).line, 0);
}
