//! The sequence diff against a dynamic-programming table.

use super::*;
use proptest::prelude::*;

/// Returns the length of the longest common subsequence, computed with the full table.
fn longest(a: &[u32], b: &[u32]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for one in a {
        let mut corner = 0;
        for (at, other) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if one == other { corner + 1 } else { above.max(row[at]) };
            corner = above;
        }
    }
    row[b.len()]
}

/// Returns all pairs and whether the diff is exact. Each slice ends at its first clock check.
fn pairs(a: &[u32], b: &[u32]) -> (Vec<(u32, u32)>, bool) {
    let whole = Window { a: (0, a.len() as u32), b: (0, b.len() as u32) };
    let (mut diff, mut found) = (Diff::new([whole].into_iter()), Vec::new());
    while diff.step(a, b, &mut |x, y| found.push((x, y)), &mut TimeSlice::new(&mut || false)).is_err() {}
    (found, diff.is_exact())
}

fn check(a: &[u32], b: &[u32]) -> (usize, bool) {
    let (found, is_exact) = pairs(a, b);
    assert!(found.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "in order: {found:?}");
    assert!(found.iter().all(|&(x, y)| a[x as usize] == b[y as usize]), "equal: {found:?}");
    (found.len(), is_exact)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn diff_finds_longest_common_subsequence(
        a in prop::collection::vec(0u32..5, 0..120),
        b in prop::collection::vec(0u32..5, 0..120),
    ) {
        prop_assert_eq!(check(&a, &b), (longest(&a, &b), true));
    }

    #[test]
    fn diff_of_edited_sequence_is_optimal(
        a in prop::collection::vec(0u32..40, 1..400),
        edits in prop::collection::vec((0usize..400, 0u32..60), 0..60),
    ) {
        let mut b = a.clone();
        for (at, value) in edits {
            let at = at % b.len();
            match value % 3 {
                0 => b.insert(at, value),
                1 if b.len() > 1 => drop(b.remove(at)),
                _ => b[at] = value,
            }
        }
        prop_assert_eq!(check(&a, &b), (longest(&a, &b), true));
    }
}

#[test]
fn equal_sequences_are_paired_completely() {
    let a: Vec<u32> = (0..10_000).map(|at| at * 7 % 13).collect();
    assert_eq!(check(&a, &a), (a.len(), true));
}

#[test]
fn diff_with_too_many_edits_is_inexact() {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 24
    };
    let a: Vec<u32> = (0..20_000).map(|_| random()).collect();
    let b: Vec<u32> = (0..20_000).map(|_| random()).collect();
    let (paired, is_exact) = check(&a, &b);
    assert!(!is_exact);
    // Random sequences over 256 values have about an eighth in common. The bounded search finds a part.
    assert!(paired > 1_000, "{paired}");
}
