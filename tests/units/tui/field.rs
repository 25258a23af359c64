//! Editing of a text field.

use super::*;

fn press(field: &mut Field, code: KeyCode, modifiers: KeyModifiers) -> FieldResult {
    field.key(&KeyEvent::new(code, modifiers))
}

#[test]
fn text_is_edited_at_the_cursor() {
    let mut field = Field::new(FieldPurpose::Find, "añ");
    press(&mut field, KeyCode::Left, KeyModifiers::NONE);
    assert_eq!(press(&mut field, KeyCode::Char('b'), KeyModifiers::NONE), FieldResult::Changed);
    assert_eq!((field.text.as_str(), field.position), ("abñ", 2));
    press(&mut field, KeyCode::Delete, KeyModifiers::NONE);
    press(&mut field, KeyCode::Backspace, KeyModifiers::NONE);
    assert_eq!((field.text.as_str(), field.position), ("a", 1));
}

#[test]
fn ctrl_w_and_ctrl_u_remove_word_and_line() {
    let mut field = Field::new(FieldPurpose::Find, "train.py step  ");
    press(&mut field, KeyCode::Char('w'), KeyModifiers::CONTROL);
    assert_eq!(field.text, "train.py ");
    press(&mut field, KeyCode::Char('u'), KeyModifiers::CONTROL);
    assert_eq!((field.text.as_str(), field.position), ("", 0));
    assert_eq!(
        press(&mut field, KeyCode::Backspace, KeyModifiers::NONE),
        FieldResult::Cancelled,
        "nothing is left to remove"
    );
}

#[test]
fn pasted_text_becomes_one_line() {
    let mut field = Field::new(FieldPurpose::Find, "");
    field.insert("a\nb\u{1b}[31m");
    assert_eq!(field.text, "ab[31m");
}
