//! Sorting what is small or rare, by numbers: one sort for all types, because each type that `std` sorts costs 5–10 kB of wasm.

/// `items` in ascending order of their keys; equal ones keep their order. At most 2^32 of them.
pub fn sorted_by_key<T>(items: Vec<T>, key: impl Fn(&T) -> u128) -> Vec<T> {
    let mut order: Vec<(u128, u32)> = items.iter().zip(0..).map(|(item, place)| (key(item), place)).collect();
    sort(&mut order);
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.iter().filter_map(|&(_, place)| items.get_mut(place as usize).and_then(Option::take)).collect()
}

/// The numbers in ascending order of the keys before them; of equal keys the lower number first.
pub fn sorted_numbers(mut numbers: Vec<(u128, u32)>) -> Vec<u32> {
    sort(&mut numbers);
    numbers.iter().map(|&(_, number)| number).collect()
}

/// A key out of two parts, the first of which counts more.
pub fn pair(first: u64, second: u64) -> u128 {
    u128::from(first) << 64 | u128::from(second)
}

/// A number that is as large among the unsigned as `value` is among the signed.
pub fn ascending(value: i64) -> u64 {
    value.cast_unsigned() ^ 1 << 63
}

/// Sorts numbers by the keys before them; those with equal keys by themselves.
#[inline(never)]
pub fn sort(order: &mut [(u128, u32)]) {
    order.sort_unstable();
}

#[cfg(test)]
#[path = "../../tests/units/base/sorted.rs"]
mod tests;
