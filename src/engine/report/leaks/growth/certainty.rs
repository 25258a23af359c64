//! Certainty that a growing call site leaks.

use super::Growth;
use super::site_growth::SiteGrowth;
use protocol::Tone;

/// Certainty that a growing call site leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The bytes rise in every step, at least three times, and nothing is freed.
    Likely,
    /// The bytes do not rise in every step, or allocations of earlier steps are freed, or there are only two steps.
    Possible,
    /// A part of the growth is freed after the last step.
    FreedLater,
    /// A step frees as many bytes of earlier steps as it allocates.
    Evicts,
    /// The bytes rise in few steps.
    Unsteady,
    /// The number of allocations does not grow: one is replaced by a larger one.
    Larger,
}

impl Growth {
    pub(super) fn certainty(&self, site: &SiteGrowth) -> Certainty {
        match () {
            () if !site.has_more_allocations() => Certainty::Larger,
            () if site.freed_later() > 0 => Certainty::FreedLater,
            () if site.evicts => Certainty::Evicts,
            () if !self.is_steady(site) => Certainty::Unsteady,
            () if site.rises == self.compared_of(site) && self.steps > 2 && !site.frees_older => Certainty::Likely,
            () => Certainty::Possible,
        }
    }

    pub(super) fn tone(&self, site: &SiteGrowth) -> Tone {
        match self.certainty(site) {
            Certainty::Likely => Tone::Alarm,
            Certainty::Possible if self.steps > 2 => Tone::Alarm,
            _ => Tone::Fact,
        }
    }

    pub(super) fn is_leak(&self, site: &SiteGrowth) -> bool {
        matches!(self.certainty(site), Certainty::Likely | Certainty::Possible)
    }
}
