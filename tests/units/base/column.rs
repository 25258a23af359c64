//! Unit tests of `src/base/column.rs`.

use super::*;

#[test]
fn column_behaves_like_vector_across_chunks() {
    let count = 3 * CHUNK_LEN + 7;
    let mut column: Column<u32> = (0..count as u32).collect();
    assert_eq!(column.len(), count);
    assert!(column.iter().eq(0..count as u32));
    assert_eq!(column.get(count), None);
    column.set(count, 9);
    assert_eq!((column.get(count), column.iter().count()), (None, count));
    assert_eq!(column.chunks().map(<[u32]>::len).collect::<Vec<_>>(), [CHUNK_LEN, CHUNK_LEN, CHUNK_LEN, 7]);
    column.set(CHUNK_LEN, 9);
    assert_eq!(column.at(CHUNK_LEN), 9);
    assert!(column.range(CHUNK_LEN - 1..CHUNK_LEN + 2).eq([CHUNK_LEN as u32 - 1, 9, CHUNK_LEN as u32 + 1]));
    for len in [2 * CHUNK_LEN + 1, 2 * CHUNK_LEN, 5, 0] {
        column.truncate(len);
        assert_eq!((column.len(), column.iter().count()), (len, len));
    }
}

#[test]
fn shrunk_column_keeps_its_values_and_grows_again() {
    for count in [0, 1, 5, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 1, 2 * CHUNK_LEN + 100] {
        let mut column: Column<u32> = (0..count as u32).collect();
        column.shrink();
        assert!(column.heap_bytes() < (count + 1) * 4 + 200);
        assert!(column.iter().eq(0..count as u32));
        (count as u32..3 * CHUNK_LEN as u32).for_each(|value| column.push(value));
        assert!(column.iter().eq(0..3 * CHUNK_LEN as u32));
        assert!(column.chunks().all(|chunk| chunk.len() == CHUNK_LEN));
    }
}
