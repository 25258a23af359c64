//! Ranks of streams, pools and places. Streams are ranked by handle, as the allocator compares them. The default pool
//! has rank 0.

use super::recording::{Place, Recording};
use base::sorted::{sort, two_part_key};

/// Recorded ids of a stream and a pool. `None` is the default one.
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

/// Fills `streams`, `pools` and `places` of the recording with all recorded pairs.
pub(crate) fn rank_all(recording: &mut Recording, named: &[Named]) {
    let keys = |key: &dyn Fn(&Named) -> u128| ascending(named.iter().map(|named| (key(named), 0)).collect());
    recording.streams = keys(&|(stream, _)| stream.unwrap_or(0).into()).iter().map(|key| *key as u64).collect();
    recording.pools = halves(&keys(&|(_, pool)| pool_key(pool.unwrap_or_default())));
    let places = keys(&|(stream, pool)| place_key(rank(recording, *stream, *pool)));
    let place = |&(stream, pool): &(u64, u64)| Place { stream: stream as u32, pool: pool as u32 };
    recording.places = halves(&places).iter().map(place).collect();
}

/// Returns the index in `places` of a pair that was passed to [`rank_all`].
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
