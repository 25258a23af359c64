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
