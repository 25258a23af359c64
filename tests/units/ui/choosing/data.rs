//! Unit tests of `src/ui/state/load_dialog.rs`.

use super::*;

#[test]
fn large_file_prompts_with_memory_estimate() {
    let entry = |name: &str, bytes: u64| {
        is_large(name, bytes).then(|| LoadDialog::new(name.to_owned(), name, Some(bytes), None).text)
    };
    assert_eq!(entry("a.pickle", 2_000_000_000), None);
    assert_eq!(entry("a.pickle", 4 << 30).as_deref(), Some("4.00 GiB. All events take at most 1.68 GiB of memory."));
    assert_eq!(
        entry("a.pickle", 10 << 30).as_deref(),
        Some(
            "10.0 GiB. All events take from 1.00 GiB to 4.20 GiB of memory, and a page can have 4.00 GiB. A range takes less."
        )
    );
    assert_eq!(
        entry("a.pickle", 40 << 30).as_deref(),
        Some(
            "40.0 GiB. All events take at least 4.00 GiB of memory, and a page can have 4.00 GiB: load a range of them, or use the command line."
        )
    );
    // A compressed file needs more memory than its size.
    assert_eq!(entry("a.pickle.gz", 400 << 20), None);
    assert!(entry("a.pickle.GZ", 500 << 20).is_some_and(|text| text.contains("from 500 MiB to 3.42 GiB")));
}
