//! Unit tests of `src/cli/memory_warning.rs`.

use super::*;

#[test]
fn large_file_gives_memory_warning() {
    MemoryArgs { free_memory: Some(4 << 30) }.apply(true);
    assert_eq!(warning("a.pickle", 4 << 30), None);
    assert_eq!(
        warning("a.pickle", 20 << 30).as_deref(),
        Some(
            "a.pickle: 20.0 GiB, may not fit into memory. All events take from 2.00 GiB to 8.40 GiB, and 4.00 GiB is free. A range takes less: --load-last 1000000"
        )
    );
    assert!(warning("a.pickle", 60 << 30).is_some_and(|text| text.contains("at least 6.00 GiB, and 4.00 GiB is free")));
    // A compressed file needs more memory than its size.
    assert!(warning("a.pickle.gz", 1 << 30).is_some_and(|text| text.contains("from 1.00 GiB to 7.00 GiB")));
}

/// Writes the files of a cgroup. `names` and `values` are limit, usage and reclaimable bytes.
fn group(folder: &Path, names: [&str; 3], values: [&str; 3]) {
    fs::create_dir_all(folder).unwrap();
    let [limit, used, stat] = names;
    fs::write(folder.join(limit), values[0]).unwrap();
    fs::write(folder.join(used), values[1]).unwrap();
    fs::write(folder.join("memory.stat"), format!("anon 1\n{stat} {}\n", values[2])).unwrap();
}

#[test]
fn tightest_cgroup_limit_determines_free_memory() {
    let second = ["memory.max", "memory.current", "inactive_file"];
    let first = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"];
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    assert_eq!(cgroup_bytes_left(root, "0::/job/step\n"), None, "no cgroup");
    group(&root.join("job/step"), second, ["max\n", "70\n", "0"]);
    assert_eq!(cgroup_bytes_left(root, "0::/job/step\n"), None, "no limit");
    group(&root.join("job"), second, ["1000\n", "600\n", "50"]);
    assert_eq!(cgroup_bytes_left(root, "0::/job/step\n"), Some(450));
    group(&root.join("job/step"), second, ["500\n", "400\n", "0"]);
    assert_eq!(cgroup_bytes_left(root, "0::/job/step\n"), Some(100));
    // The usage may exceed a limit that was lowered later.
    group(&root.join("job/step"), second, ["300\n", "400\n", "0"]);
    assert_eq!(cgroup_bytes_left(root, "0::/job/step\n"), Some(0));
    let old = tempfile::tempdir().unwrap();
    group(&old.path().join("memory"), first, ["800\n", "300\n", "100"]);
    let table = "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/\n";
    assert_eq!(cgroup_bytes_left(old.path(), table), Some(600), "the path is that of the host");
}
