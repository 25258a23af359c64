//! Unit tests of `src/ui/text/fingerprint.rs`.

use super::*;
use proptest::prelude::*;

fn print(bytes: &[u8], chunk: usize) -> String {
    let mut tap = FingerprintHasher::new(bytes.len() as u64);
    bytes.chunks(chunk).for_each(|chunk| tap.update(chunk));
    tap.finish().unwrap()
}

#[test]
fn short_file_is_hashed_completely() {
    let text = b"abc";
    let hash = blake3::hash(text).to_hex();
    assert_eq!(print(text, 2), format!("3-{}", &hash[..32]));
    assert_eq!(length(&print(text, 1)), Some(3));
}

#[test]
fn truncated_file_has_no_fingerprint() {
    let mut tap = FingerprintHasher::new(4);
    tap.update(b"abc");
    assert_eq!(tap.finish(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn fingerprint_covers_length_and_three_parts(length in 0..5_000_000usize, chunk in 1..700_000usize, flip: prop::sample::Index) {
        let mut bytes: Vec<u8> = (0..length).map(|at| ((at * 31) >> 7) as u8).collect();
        let of_parts: Vec<u8> = parts(length as u64).into_iter()
            .flat_map(|part| bytes[part.start as usize..part.end as usize].to_vec()).collect();
        prop_assert_eq!(&print(&bytes, chunk)[length.to_string().len() + 1..], &blake3::hash(&of_parts).to_hex()[..32]);
        if length > 0 {
            let before = print(&bytes, chunk);
            let at = flip.index(length);
            bytes[at] ^= 1;
            let is_in = parts(length as u64).iter().any(|part| part.contains(&(at as u64)));
            prop_assert_eq!(print(&bytes, length) != before, is_in);
        }
    }
}
