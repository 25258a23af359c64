//! Unit tests of `src/cli/table.rs`.

use super::*;

fn table(names: &[&str]) -> Table {
    let mut table = Table::new(2, [number_column("bytes", 12), name_column("call site")]);
    names.iter().for_each(|name| table.push(["1,048,576", name]));
    table
}

impl Table {
    fn text_in(&self, width: Option<usize>, has_headings: bool) -> String {
        self.texts_in(width).split_off(usize::from(!has_headings)).concat()
    }
}

fn widths(text: &str) -> usize {
    text.lines().map(text_width).max().unwrap()
}

#[test]
fn table_without_a_width_has_full_names_and_minimum_widths() {
    let long = "x".repeat(300);
    let text = table(&["a", &long]).text_in(None, true);
    assert_eq!(text, format!("         bytes  call site\n     1,048,576  a\n     1,048,576  {long}\n"));
}

#[test]
fn table_that_fits_terminal_is_printed_unchanged() {
    assert_eq!(table(&["a", "b"]).text_in(Some(80), true), table(&["a", "b"]).text_in(None, true));
}

#[test]
fn name_that_is_too_long_is_cut_in_the_middle() {
    let text = table(&["forward (/home/user/project/very/long/path/to/model.py:233)", "b"]).text_in(Some(40), true);
    assert!(text.contains("forward (/hom…odel.py:233)\n") || text.contains('…'), "{text}");
    assert!(text.contains("forward (") && text.contains("model.py:233)"), "{text}");
    assert!(widths(&text) <= 40, "{text}");
}

#[test]
fn common_prefix_of_long_names_is_elided() {
    let text = table(&["/home/user/project/model/attention.py:1", "/home/user/project/model/linear.py:27"])
        .text_in(Some(36), true);
    assert!(text.contains("  …attention.py:1\n") && text.contains("  …linear.py:27\n"), "{text}");
}

#[test]
fn names_that_would_be_ambiguous_when_cut_are_wrapped() {
    let [one, other] = ["a", "b"].map(|middle| ["x".repeat(30), middle.to_owned(), "y".repeat(30)].concat());
    let text = table(&[&one, &other]).text_in(Some(40), true);
    assert!(!text.contains('…') && widths(&text) <= 40, "{text}");
    let letters: String = text.chars().filter(|letter| "xyab".contains(*letter)).collect();
    assert!(letters.contains(&one) && letters.contains(&other), "{text}");
}

#[test]
fn numbers_are_wrapped_and_never_cut() {
    let columns: Vec<Column> =
        (0..8).map(|at| number_column(format!("column {at}"), 15)).chain([name_column("call site")]).collect();
    let mut table = Table::new(2, columns);
    table.push((0..8).map(|at| format!("{at},234,567,890")).chain(["f (a.py:3)".to_owned()]));
    for width in [20, 40, 60, 80, 100] {
        let text = table.text_in(Some(width), true);
        assert!(widths(&text) <= width, "{width}: {text}");
        for at in 0..8 {
            assert!(text.contains(&format!("{at},234,567,890")) && text.contains(&format!("column {at}")), "{text}");
        }
        assert!(text.contains("f (a.py:3)"), "{text}");
    }
}

#[test]
fn indent_of_a_tree_is_kept() {
    let names =
        [4, 8, 12].map(|depth| [&" ".repeat(depth), "forward (/home/user/project/model/attention.py:1)"].concat());
    let text = table(&names.each_ref().map(String::as_str)).text_in(Some(70), false);
    let depths: Vec<usize> = text.lines().map(|line| line.find("forward").unwrap()).collect();
    assert_eq!([depths[1] - depths[0], depths[2] - depths[1]], [4, 4], "{text}");
}

#[test]
fn long_cell_is_not_cut_without_a_width() {
    let mut table = Table::new(0, [name_column("name").max_width(10), number_column("bytes", 0)]);
    [["x", "1"], ["a name of more than ten", "2"]].iter().for_each(|row| table.push(row));
    assert_eq!(table.text_in(None, false), "x               1\na name of more than ten      2\n");
}

#[test]
fn wide_letters_take_two_columns() {
    let text = table(&[&"漢字".repeat(30), "b"]).text_in(Some(40), true);
    assert!(text.contains('…') && widths(&text) <= 40, "{text}");
}

#[test]
fn control_characters_of_a_cell_are_replaced() {
    let text = table(&["a\u{1b}[31mb\nc\u{9b}"]).text_in(Some(80), false);
    assert_eq!(text, "     1,048,576  a\u{fffd}[31mb\u{fffd}c\u{fffd}\n");
}
