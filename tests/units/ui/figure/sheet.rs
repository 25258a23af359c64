//! Unit tests of `src/ui/plot/figure/sheet.rs`.

use super::*;
use crate::plot::legend::Line;

#[test]
fn legend_keeps_the_part_of_a_name_that_differs() {
    let names = ["train_annotated/transformer_block.py:138 softmax", "train_annotated/transformer_block.py:7 matmul"];
    let shared = "train_annotated/transformer_block.py:".len();
    let line = |label: &&str| {
        let (label, bytes) = ((*label).to_owned(), "1.00 GiB · 1 block".to_owned());
        Line { label, shared, bytes, ..Line::default() }
    };
    let words = SheetText { legend: names.iter().map(line).collect(), ..SheetText::default() };
    let mut layout = Layout { scale: 1.0, left: 0.0, right: MIN_COLUMN_WIDTH, y: 0.0, shapes: Vec::new() };
    layout.legend(&words);
    let texts = layout.shapes.iter().filter_map(|shape| match shape {
        Shape::Text(Text { text, style: FontStyle::Mono, .. }) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(texts.collect::<Vec<&str>>(), ["train_annotate…138 softmax", "train_annotated/t…7 matmul"]);
}
