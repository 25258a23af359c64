//! Cutting, wrapping and drawing of text in cells.

use super::*;

#[test]
fn cut_text_ends_with_ellipsis() {
    assert_eq!(truncate("train.py", 8), "train.py");
    assert_eq!(truncate("train.py", 6), "train…");
    assert_eq!(truncate("内存内存", 5), "内存…", "wide characters take two cells");
    assert_eq!(truncate("abc", 0), "");
}

#[test]
fn lines_are_wrapped_between_words() {
    assert_eq!(wrap("Peak 4.27 GiB at event 3,216", 14), ["Peak 4.27 GiB", "at event 3,216"]);
    assert_eq!(wrap("Peak at event 3,216: 4.27 GiB", 24), ["Peak at event 3,216:", "4.27 GiB"]);
    assert_eq!(wrap("4.27 GiB", 4), ["4.27", "GiB"], "not enough room for both");
    assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
    assert_eq!(wrap("", 4), [""]);
}

#[test]
fn control_characters_are_not_drawn() {
    let area = Rect { x: 0, y: 0, width: 12, height: 1 };
    let mut buffer = Buffer::empty(area);
    write_text(&mut buffer, area, "a\u{1b}[2Jb\u{7}c", Style::new());
    let text: String = (0..12).map(|x| buffer.cell((x, 0)).unwrap().symbol().to_owned()).collect();
    assert_eq!(text.trim_end(), "a[2Jbc");
}
