//! Opens columns with random sections and valid checksums. The result is a summary or an error that does not depend on
//! the chunk size. Cache files are only opened, because their histories are trusted beyond the bounds of tables.

use super::questions;
use memscape::compact::{CACHE_FLAG, MAGIC, VERSION, checksum, fast_checksum};

/// Runs the target on one input.
pub(crate) fn run(input: &[u8]) {
    let file = with_checksums(input);
    let whole = questions::open(&file, usize::MAX, 1000);
    let cut = questions::open(&file, 1 + input.len() % 13, 1);
    match (whole, cut) {
        (Ok(mut whole), Ok(cut)) => {
            assert_eq!(whole.summary, cut.summary);
            if file[MAGIC.len()] == VERSION {
                whole.check_all(input);
            }
        }
        (Err(whole), Err(cut)) => assert_eq!(whole, cut),
        (whole, cut) => panic!("{:?} in one piece, {:?} in chunks", whole.map(drop), cut.map(drop)),
    }
}

/// Returns the input as columns: sections as long as their headers say, or as the input allows, with valid checksums.
fn with_checksums(input: &[u8]) -> Vec<u8> {
    // The seeds are whole files. One of them is a cache file.
    let kept = [&MAGIC[..], &[VERSION | CACHE_FLAG]].concat();
    let is_kept = input.starts_with(&kept);
    let (mut file, sum): (_, fn(&[u8]) -> u32) =
        if is_kept { (kept, fast_checksum) } else { ([&MAGIC[..], &[VERSION]].concat(), checksum) };
    let mut rest = input.strip_prefix(file.as_slice()).unwrap_or(input);
    while let Some((head, payload)) = rest.split_first_chunk::<5>() {
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let (payload, behind) = payload.split_at(length.min(payload.len()));
        let mut section = vec![head[0]];
        section.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        section.extend_from_slice(payload);
        file.extend_from_slice(&section);
        file.extend_from_slice(&sum(&section).to_le_bytes());
        rest = behind.get(4..).unwrap_or_default();
    }
    file
}
