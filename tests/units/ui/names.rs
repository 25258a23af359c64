//! Unit tests of `src/ui/text/names.rs`.

use super::*;

fn shortened(names: &[&str], width: usize) -> Vec<String> {
    let shared = shared_beginnings(names);
    names.iter().zip(shared).map(|(name, shared)| shorten(name, shared, width)).collect()
}

#[test]
fn shared_beginning_is_cut_and_differing_end_stays() {
    let names = ["transformer.py:138 softmax", "transformer.py:142 matmul", "transformer.py:17 forward"];
    assert_eq!(shortened(&names, 14), ["tr…138 softmax", "tra…142 matmul", "tra…17 forward"]);
    assert_eq!(shortened(&["ProfilerStep#28", "ProfilerStep#29"], 6), ["Pro…28", "Pro…29"]);
    assert_eq!(shortened(&["train_step_2", "train_step_29"], 8), ["train_…2", "train…29"]);
    assert_eq!(shortened(&names, 26), names, "names that fit stay");
}

#[test]
fn name_that_shares_nothing_is_cut_at_its_end() {
    assert_eq!(shortened(&["alpha.py:1 forward", "beta.py:2 backward"], 10), ["alpha.py:…", "beta.py:2…"]);
    assert_eq!(shortened(&["one name only.py:1"], 9), ["one name…"]);
    assert_eq!(shortened(&["a.b", "a.c"], 2), ["a…", "a…"], "too little is shared");
}

#[test]
fn name_is_never_cut_at_both_ends() {
    let names = ["layers.attention.scaled_dot_product", "layers.feed_forward.project_down"];
    assert_eq!(shortened(&names, 12), ["layers.atte…", "layers.feed…"], "the rests are too long for narrow lists");
    let names = ["evaluate.py:44 keep_features", "evaluate.py:17 next_batch"];
    assert_eq!(shortened(&names, 15), ["evaluate.py:44…", "e…17 next_batch"]);
    assert_eq!(shortened(&names, 14), ["44 keep_featu…", "…17 next_batch"]);
    let names = ["blocks.encoder.layers.attention.scaled_dot_product", "blocks.encoder.layers.attention.project"];
    assert_eq!(shortened(&names, 20), ["b…scaled_dot_product", "blocks.encod…project"]);
    for width in 0..40 {
        for name in shortened(&names, width) {
            assert!(name.matches('…').count() <= 1 && char_width(&name) <= width, "{width}: {name}");
        }
    }
}

#[test]
fn equal_and_wide_names_are_shortened() {
    assert_eq!(shared_beginnings(&["model.py:1", "model.py:1", "model.py:2"]), [9, 9, 9]);
    assert_eq!(shared_beginnings(&["", "", "x"]), [0, 0, 0]);
    assert_eq!(shortened(&["模型训练.第一步", "模型训练.第二步"], 9), ["模…第一步", "模…第二步"]);
}

#[test]
fn number_keeps_its_unit_and_line_begins_without_sign() {
    let kept = |text: &str| keep_units(text).replace('\u{a0}', "_");
    assert_eq!(kept("Peak 4.27 GiB of 16.0 GiB, 1.25 s"), "Peak 4.27_GiB of 16.0_GiB, 1.25_s");
    assert_eq!(kept("≤ 512 B · ≥ rounded, 40.0 % free"), "≤_512_B_· ≥_rounded, 40.0_% free");
    assert_eq!(kept("12 blocks, 3 segments, GiB 4"), "12 blocks, 3 segments, GiB 4");
    assert_eq!(kept("Live at event 9 · end · 3 allocations"), "Live at event 9_· end_· 3 allocations");
    assert_eq!(kept("lifetime in B − A, events"), "lifetime in B_−_A, events");
    assert_eq!(kept("A: 1.20 GiB → B: 3.40 GiB"), "A: 1.20_GiB_→ B: 3.40_GiB");
    assert_eq!(kept("5 ms"), "5_ms");
    assert!(matches!(keep_units("nothing to keep"), Cow::Borrowed(_)));
}
