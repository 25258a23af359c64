//! Indices of streams, pools, and their combinations (places), in sorted order. Streams are sorted by handle, like in
//! PyTorch's allocator. The default pool has index 0.

use super::recording::{Place, Recording};
use base::sorted::{sort, two_part_key};

/// Recorded stream handle and pool id. `None` stands for the default stream or pool.
pub(crate) type Named = (Option<u64>, Option<(u64, u64)>);

/// Returns the keys sorted and without duplicates.
pub(crate) fn ascending(mut keys: Vec<(u128, u32)>) -> Vec<u128> {
    sort(&mut keys);
    keys.dedup();
    keys.iter().map(|(key, _)| *key).collect()
}

/// Splits each key into its upper and lower 64 bits.
pub(crate) fn halves(keys: &[u128]) -> Vec<(u64, u64)> {
    keys.iter().map(|key| ((key >> 64) as u64, *key as u64)).collect()
}

/// Fills `streams`, `pools` and `places` of the recording from all recorded pairs of stream and pool.
pub(crate) fn rank_all(recording: &mut Recording, named: &[Named]) {
    let keys = |key: &dyn Fn(&Named) -> u128| ascending(named.iter().map(|named| (key(named), 0)).collect());
    recording.streams = keys(&|(stream, _)| stream.unwrap_or(0).into()).iter().map(|key| *key as u64).collect();
    recording.pools = halves(&keys(&|(_, pool)| pool_key(pool.unwrap_or_default())));
    let places = keys(&|(stream, pool)| place_key(rank(recording, *stream, *pool)));
    let place = |&(stream, pool): &(u64, u64)| Place { stream: stream as u32, pool: pool as u32 };
    recording.places = halves(&places).iter().map(place).collect();
}

/// Returns the index in [`Recording::places`] of a stream and pool that were passed to [`rank_all`].
pub(crate) fn number(recording: &Recording, stream: Option<u64>, pool: Option<(u64, u64)>) -> u32 {
    let key = place_key(rank(recording, stream, pool));
    recording.places.partition_point(|place| place_key(*place) < key) as u32
}

fn rank(recording: &Recording, stream: Option<u64>, pool: Option<(u64, u64)>) -> Place {
    let (stream, pool) = (stream.unwrap_or(0), pool_key(pool.unwrap_or_default()));
    let stream = recording.streams.partition_point(|other| *other < stream) as u32;
    Place { stream, pool: recording.pools.partition_point(|other| pool_key(*other) < pool) as u32 }
}

fn pool_key((first, second): (u64, u64)) -> u128 {
    two_part_key(first, second)
}

fn place_key(Place { stream, pool }: Place) -> u128 {
    two_part_key(stream.into(), pool.into())
}
