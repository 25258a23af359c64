//! Registration of the Segments tab as a feature.

use crate::features::feature::Feature;
use crate::features::segments::{SegmentsAction, SegmentsTab, ask, handle_action, link, reset, take};
use crate::state::change::AskPhase;

pub(crate) const FEATURE: Feature<SegmentsTab, SegmentsAction> =
    Feature::with_rows(reset, &[(AskPhase::WithScene, ask)], take, handle_action, link::LINKS);
