//! Unit tests of `src/ui/features/events.rs`: a feature needs only its own state and the shared state, not the page.

use super::*;
use protocol::Details;

#[test]
fn event_of_selected_allocation_is_shown() {
    let mut shared = Shared::default();
    let mut run = |allocated_event: Option<Option<u32>>| {
        let details = |allocated_event| Box::new(Details { allocated_event, ..Details::default() });
        shared.selection = allocated_event.map(details);
        let mut out = Outbox::default();
        let missing = "It was allocated before recording.";
        commands::go_to_event(&shared, |details| details.allocated_event, missing, &mut out);
        (out.intents, out.effects)
    };
    let said = |remark: &str| (vec![Intent::Say(Some(remark.to_owned()))], vec![]);
    assert_eq!(run(None), said("Select an allocation first."));
    assert_eq!(run(Some(None)), said("It was allocated before recording."));
    let shown = vec![Intent::Show(Tab::Events), Intent::MoveCursor(8)];
    assert_eq!(run(Some(Some(7))), (shown, vec![Effect::FocusView]));
}
