//! A snapshot decoded here and sent as columns: a sixth of what gzip makes of the file, and less work for the page. On a line of
//! 20 MB/s the picture is there sooner (tests/bench/serve.rs), though nothing is sent before all is decoded.

use super::{Input, open};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::path::Path;
use std::sync::Mutex;

/// Bytes of files that are decoded here. Smaller ones are there at once as they are; larger ones would take gigabytes of memory on a
/// machine that others use, and a packed file unpacks to ten or twenty times its length.
const PLAIN: std::ops::RangeInclusive<u64> = 8 << 20..=2 << 30;
const PACKED: std::ops::RangeInclusive<u64> = 8 << 20..=128 << 20;

/// One is decoded at a time, however many are asked for.
static ONE: Mutex<()> = Mutex::new(());

/// The snapshot as columns in gzip; `None` where it is sent as it is: because of its length, because there are several in the file, or
/// because it is none, which the page then says.
pub(super) fn columns(path: &Path, length: u64, is_packed: bool) -> Option<Vec<u8>> {
    if !(if is_packed { PACKED } else { PLAIN }).contains(&length) {
        return None;
    }
    // One that panicked would have ended the program.
    let _one = ONE.lock().ok()?;
    let mut input = Input::open(path.to_str()?).ok()?;
    let mut members = Vec::new();
    let (_, engine) = open(&mut input, "", None, &mut members).ok()?;
    if members.len() > 1 {
        return None;
    }
    let gzip = engine.write_columns(GzEncoder::new(Vec::new(), Compression::fast())).ok()?;
    gzip.finish().ok().filter(|columns| (columns.len() as u64) < length)
}
