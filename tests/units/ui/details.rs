//! Unit tests of `src/ui/scope/details.rs`.

use super::*;
use protocol::CategoryDetails;

fn sample() -> Details {
    let frame = |name: &str, filename: &str, is_user_code| FrameText {
        name: name.into(),
        filename: filename.into(),
        line: "7".into(),
        is_user_code,
        is_internal: !is_user_code,
        fx: vec![],
    };
    Details {
        allocation: 12,
        requested: 3 << 20,
        rounded: 3 << 20,
        is_rounded_estimated: true,
        address: Some(0x7f00_0000),
        category: Some(CategoryDetails { name: "activation".into(), rule: Some(3), reason: "it says so".into() }),
        allocated_event: Some(10),
        allocated_us: Some(1_700_000_000_000_000),
        freed_event: Some(25),
        freed_us: Some(1_700_000_000_001_250),
        lifetime_us: Some(1250),
        free_requested_event: Some(24),
        live_after: 5 << 20,
        stream: Some(0),
        pool: Some((0, 0)),
        frames: vec![
            frame("at::empty", "??", false),
            frame("linear", "/x/torch/nn/functional.py", false),
            frame("step", "/home/me/train.py", true),
        ],
        ..Details::default()
    }
}

#[test]
fn details_are_formatted_as_text() {
    let expected = "\
Requested: 3.00 MiB · 3,145,728 B
Allocated (rounded): ≥ 3.00 MiB · 3,145,728 B
Address: 0x7f000000
Category: activation · rule 3: it says so
Allocated at: event 10 · 22:13:20.000000 UTC
Free requested at: event 24
Freed at: event 25 · 22:13:20.001250 UTC
Lifetime: 15 events · 1.25 ms
Live after: 5.00 MiB · 5,242,880 B
Stream: 0 (default)
Pool: default
Allocation: #12 on GPU 0
Stack · 3 frames, innermost first:
  at::empty
  linear  /x/torch/nn/functional.py:7
▸ step  /home/me/train.py:7";
    assert_eq!(text(&sample()), expected);
    assert_eq!(view(&sample()).call_site.as_deref(), Some("train.py:7 step"));
}

#[test]
fn details_explain_missing_alloc_event() {
    let early = Details { origin: Origin::FreedOnly, allocated_event: None, is_free_stack: true, ..sample() };
    let view = view(&early);
    assert!(view.warning.is_some_and(|text| text.contains("freed it")));
    assert!(view.stack_title.starts_with("Stack of the free"));
    assert!(view.facts.contains(&Fact { label: "Allocated at".into(), value: "before recording".into() }));
    assert!(!view.facts.iter().any(|fact| fact.label == "Lifetime"));
    let lifetime = |details: &Details| super::view(details).summary.pop().map(|fact| fact.value);
    assert_eq!(lifetime(&early).as_deref(), Some("from before recording to event 25"));
    let kept = Details { freed_event: None, ..early };
    assert_eq!(lifetime(&kept).as_deref(), Some("never freed"));
}
