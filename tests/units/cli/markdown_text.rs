//! Unit tests of `src/cli/markdown_text.rs`.

use super::to_text;

#[test]
fn paragraphs_lists_and_links_are_wrapped() {
    let markdown = "# Title\n\nA `code span` and\na [page](other.md#part), a [site](https://example.org).\n\n- one\n- two **three** four\n  five\n";
    let text = "Title\n=====\n\nA `code span` and a page\n(memscape help other), a\nsite\n<https://example.org>.\n\n- one\n- two three four five\n";
    assert_eq!(to_text(markdown, 24), text);
    assert!(to_text(markdown, 16).contains("- two three four\n  five\n"), "{}", to_text(markdown, 16));
}

#[test]
fn picture_is_replaced_by_its_description() {
    assert_eq!(to_text("# A\n\n![The timeline](pictures/a-light.webp)\n", 40), "A\n=\n\n[Picture: The timeline]\n");
}

#[test]
fn code_blocks_are_indented_and_not_wrapped() {
    let markdown = "## Code\n\n```sh\nmemscape live FILE --at peak\n\nls\n```\n\nEnd\n";
    let text = "Code\n----\n\n    memscape live FILE --at peak\n    \n    ls\n\nEnd\n";
    assert_eq!(to_text(markdown, 20), text.replace("    \n", "\n"));
}

#[test]
fn table_columns_fit_into_width() {
    let markdown = "| key | what it does |\n| --- | --- |\n| `a` | pans to the left and back |\n| `b\\|c` | |\n";
    let wide = "key    what it does\n-----  -------------------------\n`a`    pans to the left and back\n`b|c`\n";
    assert_eq!(to_text(markdown, 80), wide);
    let narrow = "key    what it does\n-----  ----------------\n`a`    pans to the left\n       and back\n`b|c`\n";
    assert_eq!(to_text(markdown, 23), narrow);
    assert_eq!(to_text("| | |\n| --- | --- |\n| a | b |\n", 80), "a  b\n");
}
