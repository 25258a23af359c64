//! Table of growing call sites.

use super::site_growth::SiteGrowth;
use super::statements::newest_live;
use super::{Growth, min_steps};
use crate::report::column::{self, sheet};
use crate::report::site_sums::{SiteSums, label};
use crate::report::writer::ReportWriter;
use base::units::group_digits;
use history::replay::AllocationId;
use protocol::{Cell, Evidence, SheetRow};

impl Growth {
    /// Returns the note above the table: the steps that it leaves out, and the call sites that it lists. `has_cut` is
    /// true if the last step of a listed call site is left out.
    fn note(&self, has_cut: bool) -> String {
        let steps = group_digits(self.steps.into());
        let [compared, rises] = match self.baseline {
            0 => ["With two or three steps, all are compared.".to_owned(), "rise in every step.".to_owned()],
            _ => [
                format!(
                    "The first two of the {steps} steps are left out: they allocate what stays, optimizer state and caches. \
                     A sentence above on each of the {steps} steps includes them."
                ),
                "never fall, and rise in at least half of the other steps or at even intervals, no less often than the \
                 threshold."
                    .to_owned(),
            ],
        };
        let cut = if has_cut {
            " Rows with one step fewer leave out the last step, because the trace ends before it is known what the step \
             keeps."
        } else {
            ""
        };
        format!("{compared} A call site is listed if its live bytes, without what is awaiting free, {rises}{cut}")
    }

    /// Writes the table. `ranked` has the groups of the growing call sites in the order of the table.
    pub(super) fn write_sheet(&self, writer: &mut ReportWriter<'_>, never_freed: &SiteSums, ranked: &[u32]) {
        let side = writer.side;
        let ranked: Vec<(u32, &SiteGrowth)> =
            ranked.iter().filter_map(|&group| Some((group, self.sites.get(group as usize)?))).collect();
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        let columns = [
            column::cell("growth_bytes", "growth", |(_, site): (u32, &SiteGrowth)| Cell::Change(signed(site.growth()))),
            column::bytes("growth_bytes_per_step", "growth per step (mean)", |(_, site): (u32, &SiteGrowth)| {
                site.growth() / u64::from(self.compared_of(site).max(1))
            }),
            column::count("rises", "steps with growth", |(_, site): (u32, &SiteGrowth)| site.rises.into()),
            column::count("steps", "steps compared", |(_, site): (u32, &SiteGrowth)| self.compared_of(site).into()),
            column::bytes("live_bytes", "live after the last step", |(_, site): (u32, &SiteGrowth)| {
                site.previous.bytes
            }),
            column::count("count", "allocations after the last step", |(_, site): (u32, &SiteGrowth)| {
                site.previous.count
            }),
            column::count("new_count", "additional allocations", |(_, site): (u32, &SiteGrowth)| {
                site.previous.count.saturating_sub(site.baseline.count)
            }),
            column::text("call_site", "call site", |(group, _): (u32, &SiteGrowth)| label(side, group)),
        ];
        let has_cut = ranked.iter().any(|(_, site)| site.is_cut);
        let mut sheet = sheet(["grows", "Growth per step", &self.note(has_cut)], &columns);
        sheet.threshold = Some(min_steps(writer.question));
        writer.add_sheet(sheet, &columns, &ranked, |writer, (group, site)| {
            let id = newest_live(&never_freed.get(group)).map(AllocationId);
            let row = id.map(|id| writer.allocation_row(id, None)).unwrap_or_default();
            let evidence = Some(Evidence { span: self.span_of(site), ..row.evidence.unwrap_or_default() });
            SheetRow { tone: self.tone(site), evidence, ..row }
        });
    }
}
