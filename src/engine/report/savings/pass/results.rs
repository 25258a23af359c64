//! Results of the pass: the peak that remains without a group.

use super::{HeldOver, PeakPass};
use crate::report::savings::groupings::NumberedGrouping;
use crate::report::savings::kinds::SavingKind;
use crate::report::savings::matched_stacks::MatchedStacks;
use crate::roles::Role;
use crate::side::Side;
use analysis::GroupEffect;
use base::units::Moment;
use history::replay::AllocationId;

impl PeakPass {
    /// Returns the peak that remains without the bytes that a change saves.
    pub(in crate::report::savings) fn without_kind(&self, kind: SavingKind) -> GroupEffect {
        let is_unknown = match kind {
            // Without a backward pass in any stack, it is unknown when the gradients are needed.
            SavingKind::UnfreedGradients => self.kept_gradients.excluded_spans.is_empty(),
            // Checkpointing saves nothing that is kept for a backward pass.
            SavingKind::Activations | SavingKind::Loss => !self.has_backward(),
            SavingKind::BucketViews => !self.has_gradients_beside_buckets(),
            SavingKind::KeptActivations => self.has_backward() || !self.kept_activations.are_usual(),
            _ => false,
        };
        if is_unknown {
            return GroupEffect { peak: self.peak.1, moment: self.peak.0, ..GroupEffect::default() };
        }
        self.without_group(self.site_count + self.category_count + kind as u32)
    }

    /// Returns whether gradients are live at the peak beside buckets of their size: all of them, or at least half in a
    /// backward pass. Padding makes up to 2 %.
    fn has_gradients_beside_buckets(&self) -> bool {
        let [buckets, gradients] = [self.bucket_bytes, self.unbucketed_bytes].map(i128::from);
        buckets > 0 && gradients * 2 >= buckets && gradients * 50 <= buckets * 51
    }

    /// Returns whether the trace has a backward pass or an optimizer. Without them, it runs inference, or ends in the
    /// forward pass.
    pub(in crate::report::savings) fn has_backward(&self) -> bool {
        self.stale_gradients.has_backward() || self.kept_activations.is_training()
    }

    /// Returns the peak that remains without a category. `category` is its group number in [`Grouping::Category`].
    pub(in crate::report::savings) fn without_category(&self, category: u32) -> GroupEffect {
        self.without_group(self.site_count + category)
    }

    /// Returns the peak that remains without an annotation, region or module. `number` is its index within the
    /// grouping.
    pub(in crate::report::savings) fn without_numbered(&self, by: NumberedGrouping, number: u32) -> GroupEffect {
        self.without_group(self.groupings.group(by, number))
    }

    /// Returns the peak that remains without a call site. `site` is its group number in [`Grouping::CallSite`].
    pub(in crate::report::savings) fn without_site(&self, site: u32) -> GroupEffect {
        self.without_group(site)
    }

    pub(in crate::report::savings) fn category_count(&self) -> u32 {
        self.category_count
    }

    /// Returns the peak that remains without a group. `group` is its number in the pass.
    pub(in crate::report::savings) fn without_group(&self, group: u32) -> GroupEffect {
        self.results.get(group as usize).copied().unwrap_or_default()
    }

    /// Returns the bytes of an allocation that is live at the peak, or 0 if the change does not affect it.
    pub(in crate::report::savings) fn concerned_bytes(
        &self,
        side: Side<'_>,
        matched: &MatchedStacks,
        (kind, id): (SavingKind, AllocationId),
    ) -> u64 {
        let traits = self.traits(side, id);
        let bytes = side.history.allocations.size(id);
        // The start of the step with the peak.
        let begin = self.held_over.step_starts.iter().rev().find(|&&begin| begin < self.peak.0).copied().unwrap_or(0);
        let is_held = || HeldOver::includes(traits) && side.history.allocations.allocated_at(id).0 <= begin;
        let is_concerned = match kind {
            SavingKind::PreviousGradients => {
                traits.role == Role::Gradient && self.stale_gradients.is_stale_at(side.history, id, Moment(self.peak.0))
            }
            SavingKind::HeldOver => is_held(),
            SavingKind::KeptActivations => self.kept_activations.contains(side.history, id, traits.role),
            SavingKind::AttentionScores => matched.is_attention_score(side.stack(id)),
            SavingKind::UnfreedGradients => {
                let is_left_out = |&(from, to): &(u32, u32)| (from..to).contains(&self.peak.0);
                traits.role == Role::Gradient
                    && side.history.allocations.freed_at(id).is_none()
                    && self
                        .kept_gradients
                        .excluded_spans
                        .iter()
                        .any(|span| is_left_out(span) && side.history.allocations.allocated_at(id).0 <= span.0)
            }
            SavingKind::Loss => matched.is_loss(side.stack(id)),
            SavingKind::BucketViews => traits.role == Role::Gradient && !matched.is_bucket(side.stack(id)),
            SavingKind::Activations if matched.is_checkpointed(side.stack(id)) => false,
            SavingKind::AwaitingFree => side.device_data().awaits_free_at(id, self.peak.0),
            kind => kind.saved_bytes(traits.role, i64::try_from(bytes).unwrap_or(i64::MAX)) > 0,
        };
        if is_concerned { bytes } else { 0 }
    }
}
