//! Message for a file that could not be opened.

use super::Toast;

#[test]
fn toast_has_name_once_and_cuts_long_reason() {
    let toast = Toast::new("b.pickle".into(), "b.pickle: the file is empty");
    assert_eq!(toast.text, "Could not open b.pickle: the file is empty");
    assert!(toast.details.starts_with("b.pickle: the file is empty\n"));
    let long = "no snapshot here ".repeat(20);
    let toast = Toast::new("b.pickle".into(), &long);
    assert!(toast.text.ends_with("snapshot …") || toast.text.ends_with("here …") || toast.text.ends_with("no …"));
    assert!(toast.text.len() < 200 && toast.details.starts_with(&long), "{toast:?}");
    assert_eq!(Toast::new(String::new(), "gone").text, "Could not open the file: gone");
}
