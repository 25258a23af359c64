//! Unit tests of `src/ui/plots/axis.rs`.

use super::*;
use protocol::MappedRange;

fn map() -> AddressMap {
    let range = |address, bytes, axis_start| MappedRange { address, bytes, axis_start, segments: 1 };
    AddressMap {
        height: 5000,
        ranges: vec![range(0x1_0000, 1000, 0), range(0x9_0000, 3990, 1010)],
        ..AddressMap::default()
    }
}

#[test]
fn ranges_are_labelled_at_start_and_inside_if_large() {
    let view = View { bytes_per_px: 10.0, ..View::fit(1, 1, 100, 500) };
    let ticks = address_ticks(&map(), &view, 44.0);
    let at: Vec<(i64, u64)> = ticks.iter().map(|tick| (tick.at_px, tick.value)).collect();
    assert_eq!(at[0], (0, 0x1_0000));
    assert!(at.contains(&(101, 0x9_0000)), "{at:x?}");
    assert!(at.iter().skip(1).any(|(_, address)| *address > 0x9_0000 && address % 512 == 0), "{at:x?}");
    assert!(ticks.windows(2).all(|pair| pair[1].at_px - pair[0].at_px >= 17), "{at:x?}");
    assert!(ticks.iter().all(|tick| {
        map().ranges.iter().any(|range| (range.address..range.address + range.bytes).contains(&tick.value))
    }));
}

#[test]
fn gaps_are_labelled_with_length() {
    let view = View { bytes_per_px: 10.0, ..View::fit(1, 1, 100, 500) };
    let gaps = gaps_of(&map(), &view);
    assert_eq!(gaps.len(), 1);
    assert_eq!(gaps[0].y, [100.0, 101.0]);
    assert_eq!(gaps[0].text, "511 KiB of unmapped addresses");
}

#[test]
fn heights_map_to_addresses() {
    assert_eq!(address_or_last_mapped(&map(), 500), 0x1_0000 + 500);
    assert_eq!(address_or_last_mapped(&map(), 1005), 0x1_0000 + 999, "in the gap");
    assert_eq!(address_or_last_mapped(&map(), 1010), 0x9_0000);
    assert_eq!(address_or_last_mapped(&AddressMap::default(), 7), 0);
}
