//! Tests of `src/picture/svg/markup.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn text_stays_text() {
    let mut out = String::new();
    Markup::new(&mut out).text("</script>]]>&amp;\"\u{0}\u{1b}[31m\u{202e}a\nb\u{ffff}语").unwrap();
    assert_eq!(out, "&lt;/script&gt;]]&gt;&amp;amp;&quot;\u{fffd}\u{fffd}[31m\u{fffd}a b\u{fffd}语");
}

#[test]
fn numbers_are_short() {
    let mut out = String::new();
    Markup::new(&mut out).list(&[0.0, 12.0, -0.5, 2.71499, 7.05, -12.3, 99.999]).unwrap();
    assert_eq!(out, "0 12 -0.5 2.71 7.05 -12.3 100");
}

#[test]
fn colours_have_six_digits() {
    assert_eq!(colour([0, 0x1f, 0xc9, 7]), "#001fc9");
}
