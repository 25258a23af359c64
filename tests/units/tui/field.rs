//! A line of text that is edited.

use super::*;

fn press(field: &mut Field, code: KeyCode, modifiers: KeyModifiers) -> Typed {
    field.key(&KeyEvent::new(code, modifiers))
}

#[test]
fn letters_come_where_the_cursor_is() {
    let mut field = Field::new(Of::Find, "añ");
    press(&mut field, KeyCode::Left, KeyModifiers::NONE);
    assert_eq!(press(&mut field, KeyCode::Char('b'), KeyModifiers::NONE), Typed::Changed);
    assert_eq!((field.text.as_str(), field.at), ("abñ", 2));
    press(&mut field, KeyCode::Delete, KeyModifiers::NONE);
    press(&mut field, KeyCode::Backspace, KeyModifiers::NONE);
    assert_eq!((field.text.as_str(), field.at), ("a", 1));
}

#[test]
fn words_and_lines_are_removed_at_once() {
    let mut field = Field::new(Of::Find, "train.py step  ");
    press(&mut field, KeyCode::Char('w'), KeyModifiers::CONTROL);
    assert_eq!(field.text, "train.py ");
    press(&mut field, KeyCode::Char('u'), KeyModifiers::CONTROL);
    assert_eq!((field.text.as_str(), field.at), ("", 0));
    assert_eq!(press(&mut field, KeyCode::Backspace, KeyModifiers::NONE), Typed::GivenUp, "nothing is left to remove");
}

#[test]
fn what_is_pasted_is_one_line() {
    let mut field = Field::new(Of::Find, "");
    field.insert("a\nb\u{1b}[31m");
    assert_eq!(field.text, "ab[31m");
}
