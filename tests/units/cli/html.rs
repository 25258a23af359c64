//! Unit tests of `src/cli/html.rs`.

use super::*;

const VIEWER: [&str; 2] = ["<html><body><script id=\"part-wasm\"></script>", "</body></html>"];

#[test]
fn hostile_file_name_and_content_are_escaped() {
    let hostile = "x</script><script>alert(1)</script>\"><img src=x>";
    let carried = EmbeddedSnapshot { raw_bytes: 7, encoding: "gzip", bytes: hostile.as_bytes().to_vec() };
    let mut out = Vec::new();
    let opens_with = SavedPage { view: "v=1&at=\"3\"".to_owned(), rules: hostile.to_owned() };
    let size = write_parts(VIEWER, opens_with, &[(hostile.to_owned(), carried)], &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    let tags = VIEWER.concat();
    assert_eq!(page.matches("</script").count(), 2, "{page}");
    assert_eq!(page.matches('<').count(), tags.matches('<').count() + 2, "{page}");
    assert!(page.contains(" data-view=\"v=1&amp;at=&quot;3&quot;\" data-rules=\"x&lt;/script&gt;"), "{page}");
    assert!(page.ends_with("</script>\n</body></html>") && size == page.len() as u64, "{page}");
}

#[test]
fn summary_states_sizes_and_compression() {
    let carried = EmbeddedSnapshot { raw_bytes: 7000, encoding: "gzip", bytes: vec![0; 7] };
    let of = |carried| [("a.pickle".to_owned(), carried)];
    let text = "1012 B (1,012 B), with the snapshot as 7 B of gzip";
    assert_eq!(summary_text(1012, &of(carried)), format!("{text} from 7,000 B"));
    let carried = || EmbeddedSnapshot { raw_bytes: 7, encoding: "gzip", bytes: vec![0; 7] };
    assert_eq!(summary_text(1012, &of(carried())), text);
    assert!(summary_text(30_000_000, &of(carried())).ends_with("too large for most mail servers"));
    let two = [("a.pickle".to_owned(), carried()), ("b.pickle".to_owned(), carried())];
    assert_eq!(summary_text(1012, &two), "1012 B (1,012 B), with the snapshots as 7 B of gzip and 7 B of gzip");
}
