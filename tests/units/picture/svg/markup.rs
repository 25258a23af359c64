//! Unit tests of `src/picture/svg/markup.rs`.

use super::*;

#[test]
fn special_characters_in_text_are_escaped() {
    let mut out = String::new();
    Markup::new(&mut out).text("</script>]]>&amp;\"\u{0}\u{1b}[31m\u{202e}a\nb\u{ffff}语").unwrap();
    assert_eq!(out, "&lt;/script&gt;]]&gt;&amp;amp;&quot;\u{fffd}\u{fffd}[31m\u{fffd}a b\u{fffd}语");
}

#[test]
fn numbers_have_at_most_two_decimals() {
    let mut out = String::new();
    Markup::new(&mut out).list(&[0.0, 12.0, -0.5, 2.71499, 7.05, -12.3, 99.999]).unwrap();
    assert_eq!(out, "0 12 -0.5 2.71 7.05 -12.3 100");
}

#[test]
fn colours_have_six_hex_digits() {
    assert_eq!(colour([0, 0x1f, 0xc9, 7]), "#001fc9");
}
