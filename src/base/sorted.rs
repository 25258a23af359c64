//! Sorting of small or rarely sorted inputs by numeric keys. All types share one sort function, because each type that
//! `std` sorts adds 5–10 kB of wasm.

/// Returns `items` in ascending order of their keys. The sort is stable. Supports at most 2^32 items.
pub fn sorted_by_key<T>(items: Vec<T>, key: impl Fn(&T) -> u128) -> Vec<T> {
    let mut order: Vec<(u128, u32)> = items.iter().zip(0..).map(|(item, place)| (key(item), place)).collect();
    sort(&mut order);
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.iter().filter_map(|&(_, place)| items.get_mut(place as usize).and_then(Option::take)).collect()
}

/// Sorts `(key, number)` pairs by key, and by number if keys are equal. Returns the numbers.
pub fn sorted_numbers(mut numbers: Vec<(u128, u32)>) -> Vec<u32> {
    sort(&mut numbers);
    numbers.iter().map(|&(_, number)| number).collect()
}

/// Combines two numbers into a sort key. `first` is the more significant one.
pub fn two_part_key(first: u64, second: u64) -> u128 {
    u128::from(first) << 64 | u128::from(second)
}

/// Maps a signed value to an unsigned one with the same order.
pub fn signed_key(value: i64) -> u64 {
    value.cast_unsigned() ^ 1 << 63
}

/// Sorts `(key, number)` pairs by key, and by number if keys are equal.
#[inline(never)]
pub fn sort(order: &mut [(u128, u32)]) {
    order.sort_unstable();
}

#[cfg(test)]
#[path = "../../tests/units/base/sorted.rs"]
mod tests;
