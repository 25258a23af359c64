//! Unit tests of `src/ui/features/sources.rs`.

use super::data::best_match;
use super::*;

#[test]
fn file_with_longest_common_path_suffix_is_found() {
    let file = |path: &str| SourceFile { path: path.into(), ..SourceFile::default() };
    let files = [file("/a/model.py"), file("/b/src/model.py"), file("/b/train.py"), file("…b/deep.py")];
    let found = |name: &str| best_match(name, &files);
    assert_eq!(found("model.py"), Some(0), "the first is the heaviest");
    assert_eq!(found("src/model.py"), Some(1));
    assert_eq!(found("C:\\work\\src\\model.py"), Some(1));
    assert_eq!((found("deep.py"), found("odel.py"), found("other.py")), (Some(3), None, None));
}

#[test]
fn search_for_long_path_uses_end_of_path() {
    assert_eq!(line_query("/a/train.py", "12"), "@\"/a/train.py:12 \"");
    assert_eq!(line_query("/a/train.py", "0"), "@\"/a/train.py \"");
    let long = "ä".repeat(1000) + "/train.py";
    let typed = line_query(&long, "1");
    assert!(typed.ends_with("ä/train.py:1 \"") && (400..420).contains(&typed.len()), "{}", typed.len());
}
