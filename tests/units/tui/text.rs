//! Text in cells.

use super::*;

#[test]
fn what_is_cut_says_so() {
    assert_eq!(cut("train.py", 8), "train.py");
    assert_eq!(cut("train.py", 6), "train…");
    assert_eq!(cut("内存内存", 5), "内存…", "wide signs take two cells");
    assert_eq!(cut("abc", 0), "");
}

#[test]
fn lines_break_between_words_and_long_words_where_they_must() {
    assert_eq!(wrapped("Peak 4.27 GiB at event 3,216", 14), ["Peak 4.27 GiB", "at event 3,216"]);
    assert_eq!(wrapped("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
    assert_eq!(wrapped("", 4), [""]);
}

#[test]
fn control_signs_of_a_file_reach_no_cell() {
    let area = Rect { x: 0, y: 0, width: 12, height: 1 };
    let mut buffer = Buffer::empty(area);
    put(&mut buffer, area, "a\u{1b}[2Jb\u{7}c", Style::new());
    let text: String = (0..12).map(|x| buffer.cell((x, 0)).unwrap().symbol().to_owned()).collect();
    assert_eq!(text.trim_end(), "a[2Jbc");
}
