//! Unit tests of `src/ui/features/html.rs`.

use super::*;

#[test]
fn hostile_file_name_is_escaped() {
    let hostile = "x</script><script>alert(1)</script>\"><img src=x onerror='1'>&";
    let element = element(super::ELEMENTS[0], hostile, "v=1&at=\"");
    assert_eq!((element.matches('<').count(), element.matches('>').count()), (1, 1), "{element}");
    assert_eq!(element.matches('"').count(), 8, "{element}");
    assert!(element.ends_with(" data-view=\"v=1&amp;at=&quot;\">"), "{element}");
}

#[test]
fn snapshot_is_inserted_only_into_single_file_page() {
    let page = "<body><script id=\"part-wasm\"></script></body></html>";
    assert_eq!(place(page), Ok(page.len() - 14));
    assert!(place("<body>Not found</body>").unwrap_err().contains("not the single-file page"));
    assert!(place(&page.replace("</body>", "<script id=\"part-snapshot\"></script></body>")).is_err());
}

#[test]
fn progress_and_result_of_saving_are_reported() {
    let (mut html, mut shared, mut effects) = (Saving::Underway, Shared::default(), Vec::new());
    let packing = Packing::Compressed;
    let saved = Step::Saved { file: "a.html".into(), bytes: 3 << 20, snapshot: 1 << 20, packing };
    for (step, saving, said) in [
        (Step::Done(1 << 20, 3 << 20), Saving::Underway, "Saving: 1.00 MiB of 3.00 MiB of the snapshot."),
        (saved, Saving::Idle, "Saved a.html: 3.00 MiB, including the snapshot (1.00 MiB, compressed)."),
        (Step::Failed("no".into()), Saving::Idle, "The page could not be saved: no."),
    ] {
        act(&mut html, &mut shared, step, &mut effects);
        assert_eq!((html, shared.remark.as_deref()), (saving, Some(said)));
    }
}
