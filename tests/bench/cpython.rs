//! Measurement of CPython's `pickle.load` with the same file, in a new process.

use crate::machine;
use memscape::units::Bytes;
use std::path::Path;
use std::process::Command;

/// State of CPython's garbage collector while it loads. By default it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GarbageCollector {
    On,
    Off,
}

/// Upper bound of the memory that `pickle.load` needs per byte of the file: 4.8 was measured.
const MEMORY_PER_BYTE: u64 = 6;

/// Checks whether the machine has enough memory to load a file of this size.
///
/// # Errors
/// If there is not, as one sentence.
pub(crate) fn check_memory_for(bytes: u64) -> Result<(), String> {
    let (needs, has) = (bytes * MEMORY_PER_BYTE, machine::available_memory());
    if needs > has {
        return Err(format!("it may need {} of memory, and {} are free", Bytes(needs), Bytes(has)));
    }
    Ok(())
}

/// Returns the seconds that `pickle.load` takes.
pub(crate) fn load(path: &Path, collector: GarbageCollector) -> f64 {
    let before = if collector == GarbageCollector::Off { "gc.disable()" } else { "" };
    // Exits without cleanup: freeing tens of millions of objects takes longer than creating them.
    let script = format!(
        "import gc, os, pickle, sys, time\n{before}\nf = open(sys.argv[1], 'rb')\nt = time.perf_counter()\nvalue = pickle.load(f)\n\
         print(time.perf_counter() - t, flush=True)\nos._exit(0)"
    );
    let output =
        Command::new("python3").args(["-c", &script]).arg(path).output().expect("python3 is needed to compare");
    let stdout = String::from_utf8_lossy(&output.stdout);
    stdout.trim().parse().unwrap_or_else(|_| panic!("pickle.load failed: {}", String::from_utf8_lossy(&output.stderr)))
}
