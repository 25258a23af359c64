//! Carries out the intents of features.

use crate::features::insights::InsightsTab;
use crate::plot::{capacity, lane_focus, planned, slices};
use crate::scope::{cursor, find, selecting};
use crate::session::ranks;
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::state::stage::SnapshotChoice;

/// Carries out the pending intents, in the order of the features.
pub(crate) fn carry_out(shared: &mut Shared, insights: &mut InsightsTab, out: &mut Outbox) {
    for intent in std::mem::take(&mut out.intents) {
        match intent {
            Intent::Say(remark) => shared.remark = remark,
            Intent::SayWhenCopied(remark) => shared.copied_remark = Some(remark),
            Intent::Select(Some(allocation)) => selecting::select(shared, allocation, out),
            Intent::Select(None) => (shared.selection, shared.selecting) = (None, None),
            Intent::SelectOfEvent(allocation) => {
                shared.selected_event_allocation = Some(allocation);
                selecting::select(shared, allocation, out);
            }
            Intent::Segment(segment) => shared.segment = segment,
            Intent::Node(node) => shared.views.node = node,
            Intent::NodeLabel(label) => {
                shared.selected_label = shared.views.node.map(|node| (shared.views.arrangement, node, label));
            }
            Intent::Arrange(arrangement) => {
                if std::mem::replace(&mut shared.views.arrangement, arrangement) != arrangement {
                    shared.views.node = None;
                }
            }
            Intent::Search(text) => find::set_text(shared, text),
            Intent::MoveCursor(moment) => cursor::go_to(shared, moment),
            Intent::EndRange => drop(cursor::end_range(shared)),
            Intent::FollowPointer => shared.tools.crosshair.follow_pointer(),
            Intent::ShowRange(edges) => slices::zoom_to_x(shared, edges),
            Intent::Focus(index) => drop(lane_focus::focus(shared, index)),
            Intent::Show(tab) => shared.views.show(tab),
            Intent::GiveRoom(has_room) => shared.views.has_room = has_room,
            Intent::OpenTopic(topic) => insights.requested_topic = Some(topic),
            Intent::DrawCurve(drawn) => planned::draw_curve(shared, drawn),
            Intent::DrawRun(course) => planned::draw_course(shared, course),
            Intent::Plan(plan) => capacity::change_height(shared, |shared| shared.planned.plan = plan),
            Intent::Simulation(serial) => {
                if serial.is_some() {
                    insights.interrupt_background_simulation();
                }
                shared.simulation = serial;
            }
            Intent::EndBackgroundSimulation => insights.end_background_simulation(),
            Intent::CompareAt(at) => shared.comparing.at = at,
            Intent::OpenFile(index, with) => ranks::open(shared, index, with, out),
            Intent::ListFiles(addresses) => {
                shared.snapshots.extend(addresses.into_iter().map(SnapshotChoice::linked));
                ranks::on_files_listed(shared);
            }
            Intent::CountFiles(count) => ranks::on_files_counted(shared, count),
        }
    }
    shared.topic = insights.topic;
    shared.report_is_pending = insights.pending.is_some();
}
