//! Groups ranks with similar memory use: their peaks are nearly equal, and their live bytes by call site at the peak
//! are nearly proportional.

use super::answer::{Group, Rank, Ranks, SiteDelta, largest_first, quantile};
use hashbrown::HashMap;

/// Minimum cosine similarity between two ranks of a group, computed from their bytes by call site.
const MIN_COSINE: f64 = 0.999;
/// Maximum difference between the peaks of two ranks of a group, in percent.
const MAX_PERCENT: u128 = 2;
/// Maximum number of groups. Ranks that would need more groups are not grouped.
const MAX_GROUPS: usize = 64;
/// Maximum number of listed differences between two groups.
const MAX_DELTAS: usize = 5;

/// Live bytes by call site at the peak of a rank, sorted by call site id. All ranks share these ids.
struct Signature {
    sites: Vec<(u32, u64)>,
    length: f64,
    peak: u64,
}

impl Signature {
    fn is_like(&self, other: &Signature) -> bool {
        let apart = u128::from(self.peak.abs_diff(other.peak)) * 100;
        if apart > u128::from(self.peak.max(other.peak)) * MAX_PERCENT {
            return false;
        }
        let (mut product, mut rest) = (0.0, other.sites.iter().peekable());
        for &(site, bytes) in &self.sites {
            while rest.next_if(|&&(other, _)| other < site).is_some() {}
            if let Some(&(_, others)) = rest.next_if(|&&(other, _)| other == site) {
                product += bytes as f64 * others as f64;
            }
        }
        let lengths = self.length * other.length;
        lengths == 0.0 && self.length == other.length || product >= MIN_COSINE * lengths
    }
}

impl Ranks {
    /// Groups the ranks that were scanned.
    pub(super) fn group(&mut self) {
        let groups = self.found_groups();
        for (number, group) in groups.iter().enumerate() {
            for &index in &group.ranks {
                self.ranks.get_mut(index as usize).into_iter().for_each(|rank| rank.group = Some(number as u32));
            }
        }
        self.groups = groups;
    }

    fn found_groups(&self) -> Vec<Group> {
        let mut numbers: HashMap<&str, u32, foldhash::fast::RandomState> = HashMap::default();
        let mut names: Vec<&str> = Vec::new();
        let mut signatures: Vec<(u32, Signature)> = Vec::new();
        for (index, rank, survey) in self.surveys() {
            let mut sites = Vec::with_capacity(survey.sites.len());
            for site in &survey.sites {
                let known = *numbers.entry(&*site.site).or_insert_with(|| {
                    names.push(&site.site);
                    names.len() as u32 - 1
                });
                sites.push((known, site.bytes));
            }
            sites.sort_unstable();
            let length = sites.iter().map(|&(_, bytes)| (bytes as f64).powi(2)).sum::<f64>().sqrt();
            signatures.push((index as u32, Signature { sites, length, peak: rank.peak().unwrap_or(0) }));
        }
        // Ranks are compared with the first rank of each group, so that the result does not depend on the order of
        // files.
        let mut found: Vec<Vec<usize>> = Vec::new();
        for (place, (_, signature)) in signatures.iter().enumerate() {
            let first = |group: &Vec<usize>| group.first().and_then(|&first| signatures.get(first));
            let known = found.iter().position(|group| first(group).is_some_and(|(_, it)| it.is_like(signature)));
            match known {
                Some(known) => found.get_mut(known).into_iter().for_each(|group| group.push(place)),
                None if found.len() < MAX_GROUPS => found.push(vec![place]),
                None => {}
            }
        }
        let order = largest_first(found.iter().map(|group| group.len() as u64));
        let found: Vec<&Vec<usize>> = order.iter().filter_map(|&index| found.get(index as usize)).collect();
        let medians = |group: &[usize]| -> HashMap<u32, u64, foldhash::fast::RandomState> {
            let mut all: HashMap<u32, Vec<u64>, foldhash::fast::RandomState> = HashMap::default();
            for (_, signature) in group.iter().filter_map(|&place| signatures.get(place)) {
                signature.sites.iter().for_each(|&(site, bytes)| all.entry(site).or_default().push(bytes));
            }
            let median = |mut bytes: Vec<u64>| {
                bytes.resize(group.len(), 0);
                bytes.sort_unstable();
                quantile(&bytes, 50).unwrap_or(0)
            };
            all.into_iter().map(|(site, bytes)| (site, median(bytes))).collect()
        };
        let medians_of_first = found.first().map(|group| medians(group)).unwrap_or_default();
        let mut groups = Vec::new();
        for (number, places) in found.iter().enumerate() {
            let mut by_peak: Vec<(u64, u32)> =
                places.iter().filter_map(|&place| signatures.get(place)).map(|(index, it)| (it.peak, *index)).collect();
            let mut ranks: Vec<u32> = by_peak.iter().map(|&(_, index)| index).collect();
            ranks.sort_unstable();
            by_peak.sort_unstable();
            let (peak, median) = by_peak.get((by_peak.len().max(1) - 1) / 2).copied().unwrap_or_default();
            let (deltas, is_other_code) = match number {
                0 => (Vec::new(), false),
                _ => {
                    let medians_of_group = medians(places);
                    (
                        deltas(&medians_of_group, &medians_of_first, &names),
                        is_other_code(&medians_of_group, &medians_of_first),
                    )
                }
            };
            groups.push(Group { shared: shared(&self.ranks, &ranks), ranks, median, peak, deltas, is_other_code });
        }
        groups
    }
}

type Medians = HashMap<u32, u64, foldhash::fast::RandomState>;

fn is_other_code(group: &Medians, first: &Medians) -> bool {
    let sum = |medians: &Medians| medians.values().map(|&bytes| u128::from(bytes)).sum::<u128>();
    let both = group.iter().filter_map(|(site, &bytes)| Some(u128::from(bytes.min(*first.get(site)?))));
    both.sum::<u128>() * 2 < sum(group).min(sum(first))
}

/// Returns the differences between `group` and `first` by call site: largest first, and equal differences by name.
fn deltas(group: &Medians, first: &Medians, names: &[&str]) -> Vec<SiteDelta> {
    let others = first.keys().filter(|site| !group.contains_key(*site));
    let mut deltas: Vec<SiteDelta> = group
        .keys()
        .chain(others)
        .filter_map(|site| {
            let bytes = |medians: &Medians| i128::from(medians.get(site).copied().unwrap_or(0));
            let bytes = i64::try_from(bytes(group) - bytes(first)).unwrap_or(i64::MAX);
            Some(SiteDelta { site: names.get(*site as usize)?.to_string(), bytes }).filter(|_| bytes != 0)
        })
        .collect();
    deltas.sort_unstable_by(|a, b| (b.bytes.unsigned_abs(), &a.site).cmp(&(a.bytes.unsigned_abs(), &b.site)));
    deltas.truncate(MAX_DELTAS);
    deltas
}

/// Returns a device mesh coordinate that all ranks of the group and no other ranks have, such as `pp 0`.
fn shared(all: &[Rank], group: &[u32]) -> Option<String> {
    let first = all.get(*group.first()? as usize)?;
    let have = |coordinate: &(String, String)| all.iter().filter(|rank| rank.coords.contains(coordinate)).count();
    let is_own = |coordinate: &&(String, String)| {
        let within = group.iter().filter_map(|&index| all.get(index as usize));
        within.clone().all(|rank| rank.coords.contains(coordinate)) && have(coordinate) == group.len()
    };
    let found = first.coords.iter().find(is_own);
    found.map(|(name, value)| format!("{name} {value}"))
}
