//! Unit tests of `src/ui/features/save_page.rs`.

use super::*;
use crate::state::outbox::Intent;

#[test]
fn hostile_file_name_is_escaped() {
    let hostile = "x</script><script>alert(1)</script>\"><img src=x onerror='1'>&";
    let page = |view: &str, rules: &str| SavedPage { view: view.into(), rules: rules.into() };
    let element = start_tag(super::ELEMENTS[0], hostile, &mut page("v=1&at=\"", ""));
    assert_eq!((element.matches('<').count(), element.matches('>').count()), (1, 1), "{element}");
    assert_eq!(element.matches('"').count(), 8, "{element}");
    assert!(element.ends_with(" data-view=\"v=1&amp;at=&quot;\">"), "{element}");
    let element = start_tag(super::ELEMENTS[0], "a", &mut page("v=1", hostile));
    assert_eq!((element.matches('<').count(), element.matches('>').count()), (1, 1), "{element}");
    assert_eq!(element.matches('"').count(), 10, "{element}");
}

#[test]
fn only_rules_in_use_are_embedded() {
    let own = "{\"mine\":\r\n \"model\"}";
    let mut rules = Rules::default();
    let embedded = |rules: &Rules| rules_to_embed(rules, LeaveOut::default());
    assert_eq!(embedded(&rules), "");
    rules.set_text(own.into());
    assert_eq!(embedded(&rules), "");
    rules.choose(SetChoice::Mosaic);
    assert_eq!(embedded(&rules), "memscape rules 1 mosaic 0\n");
    rules.choose(SetChoice::Own);
    // Invalid text is not in use.
    rules.set_text("{\"mine\": \"(\"}".into());
    let text = embedded(&rules);
    // HTML attributes cannot hold carriage returns.
    assert!(!text.contains('\r'), "{text}");
    let mut loaded = Rules::default();
    loaded.load(&text).expect("stored text");
    assert_eq!((loaded.choice, loaded.set()), (SetChoice::Own, rules.set()));
    assert_eq!(loaded.set().categories()[0], "mine");
    assert_eq!(rules_to_embed(&rules, LeaveOut::ALL), "");
}

#[test]
fn snapshot_is_inserted_only_into_single_file_page() {
    let page = "<body><script id=\"part-wasm\"></script></body></html>";
    assert_eq!(insert_offset(page), Ok(page.len() - 14));
    assert!(insert_offset("<body>Not found</body>").unwrap_err().contains("not the single-file page"));
    assert!(insert_offset(&page.replace("</body>", "<script id=\"part-snapshot\"></script></body>")).is_err());
}

#[test]
fn progress_and_result_of_saving_are_reported() {
    let mut html = SaveState::Running(LeaveOut::default());
    let packing = SnapshotEncoding::Compressed;
    let saved = SaveProgress::Saved { file: "a.html".into(), bytes: 3 << 20, snapshot: 1 << 20, packing };
    for (step, saving, said) in [
        (
            SaveProgress::Done(1 << 20, 3 << 20),
            SaveState::Running(LeaveOut::default()),
            "Saving: 1.00 MiB of 3.00 MiB of the snapshot.",
        ),
        (saved, SaveState::Idle, "Saved a.html: 3.00 MiB, including the snapshot (1.00 MiB, compressed)."),
        (SaveProgress::Failed("no".into()), SaveState::Idle, "The page could not be saved: no."),
    ] {
        let mut out = Outbox::default();
        on_action(&mut html, &Shared::default(), step, &mut out);
        assert_eq!((html, out.intents), (saving, vec![Intent::Say(Some(said.to_owned()))]));
    }
}
