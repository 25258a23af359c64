//! Unit tests of `src/history/snapshot/stacks.rs`.

use super::*;

#[test]
fn equal_stacks_share_an_id_and_prefixes_share_nodes() {
    let mut stacks = Stacks::default();
    let a = stacks.intern(&[3, 2, 1]).unwrap();
    let b = stacks.intern(&[4, 2, 1]).unwrap();
    let inner = stacks.intern(&[2, 1]).unwrap();
    assert_eq!(stacks.intern(&[3, 2, 1]), Some(a));
    assert_eq!(stacks.len(), 5);
    let read = |id| stacks.frames(id).map(|frame| frame.0).collect::<Vec<_>>();
    assert_eq!(read(a), [3, 2, 1]);
    assert_eq!(read(b), [4, 2, 1]);
    assert_eq!(read(inner), [2, 1]);
    assert_eq!(read(StackId::EMPTY), Vec::<u32>::new());
    assert_eq!(read(StackId::NONE), Vec::<u32>::new());
}

#[test]
fn parents_come_before_children() {
    let mut stacks = Stacks::default();
    for seed in 0..500u32 {
        let frames: Vec<u32> = (0..seed % 17).map(|at| (seed.wrapping_mul(2_654_435_761) >> (at + 3)) % 5).collect();
        let id = stacks.intern(&frames).unwrap();
        assert_eq!(stacks.frames(id).map(|frame| frame.0).collect::<Vec<_>>(), frames);
    }
    assert!((1..stacks.len()).all(|id| stacks.nodes.at(id).0 < id as u32));
}
