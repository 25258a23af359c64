//! Tests of `src/ui/features/sources.rs`, a module of its: they reach what is private there.

use super::data::best_match;
use super::*;

#[test]
fn the_longest_shared_end_of_a_path_is_the_file() {
    let file = |path: &str| SourceFile { path: path.into(), ..SourceFile::default() };
    let files = [file("/a/model.py"), file("/b/src/model.py"), file("/b/train.py"), file("…b/deep.py")];
    let found = |name: &str| best_match(name, &files);
    assert_eq!(found("model.py"), Some(0), "the first is the heaviest");
    assert_eq!(found("src/model.py"), Some(1));
    assert_eq!(found("C:\\work\\src\\model.py"), Some(1));
    assert_eq!((found("deep.py"), found("odel.py"), found("other.py")), (Some(3), None, None));
}

#[test]
fn a_line_is_searched_for_by_the_end_of_its_path() {
    assert_eq!(query("/a/train.py", "12"), "@\"/a/train.py:12 \"");
    assert_eq!(query("/a/train.py", "0"), "@\"/a/train.py \"");
    let long = "ä".repeat(1000) + "/train.py";
    let typed = query(&long, "1");
    assert!(typed.ends_with("ä/train.py:1 \"") && (400..420).contains(&typed.len()), "{}", typed.len());
}
