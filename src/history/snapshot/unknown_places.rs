//! Warnings about unknown keys and values, each with the path of the first occurrence in the file.

use super::contents::HOST_DEVICE;
use super::reader::Reader;
use super::top_level::TopLevel;
use super::unknown::UnknownOwner;
use super::warning::{WarningKind, Warnings};

impl<S> Reader<S> {
    pub(super) fn warnings(&self, top: &TopLevel) -> Warnings {
        let mut warnings = Warnings::default();
        for unknown in &self.seen.unknown {
            let word = self.store.describe(unknown.word);
            let dotted = format!(".{word}");
            let (kind, place) = match unknown.owner {
                UnknownOwner::Action => {
                    (WarningKind::UnknownAction(word), self.event_place(unknown.row, top) + ".action")
                }
                UnknownOwner::Event => {
                    (WarningKind::UnknownKey("an event", word), self.event_place(unknown.row, top) + &dotted)
                }
                UnknownOwner::State => (WarningKind::UnknownState(word), self.block_place(unknown.row, top) + ".state"),
                UnknownOwner::Stage => {
                    (WarningKind::UnknownStage(word), format!("external_annotations[{}].stage", unknown.row))
                }
                UnknownOwner::Block => {
                    (WarningKind::UnknownKey("a block", word), self.block_place(unknown.row, top) + &dotted)
                }
                UnknownOwner::Segment => {
                    (WarningKind::UnknownKey("a segment", word), self.segment_place(unknown.row, top) + &dotted)
                }
                // A frame is shared by many stacks and has no single place.
                UnknownOwner::Frame => {
                    (WarningKind::UnknownKey("a frame", word), format!("frame {}", unknown.row) + &dotted)
                }
                UnknownOwner::History => {
                    (WarningKind::UnknownKey("a block's history", word), "history".to_owned() + &dotted)
                }
                UnknownOwner::Snapshot => (WarningKind::UnknownKey("the snapshot", word.clone()), word),
            };
            warnings.add(kind, unknown.count, || place);
        }
        warnings
    }

    fn event_place(&self, row: u32, top: &TopLevel) -> String {
        let place = self.seen.events.get(&row).copied().flatten();
        let device = place.and_then(|(trace, _)| top.traces.iter().find(|(_, number)| *number == trace));
        match (device, place) {
            (Some((HOST_DEVICE, _)), Some((_, index))) => format!("host_traces[{index}]"),
            (Some((device, _)), Some((_, index))) => format!("device_traces[{device}][{index}]"),
            _ => "a dict outside a trace".to_owned(),
        }
    }

    fn segment_place(&self, row: u32, top: &TopLevel) -> String {
        let place = top.segment_places.iter().find(|place| place.row == row);
        place.map_or_else(|| "a dict outside the list of segments".to_owned(), |place| place.text())
    }

    fn block_place(&self, row: u32, top: &TopLevel) -> String {
        let holder = top.segment_places.iter().zip(&top.segments).find(|(_, segment)| segment.blocks.contains(&row));
        match holder {
            Some((place, segment)) => format!("{}.blocks[{}]", place.text(), row - segment.blocks.start),
            None => "a dict outside a segment".to_owned(),
        }
    }
}
