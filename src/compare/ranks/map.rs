//! Heat map of the live bytes of all ranks over time, with aligned steps. If there are many ranks, several share a row.
//! Also contains the distribution over ranks.

use super::answer::{Rank, RankQuantiles, Ranks, largest_first};
use super::survey::{BINS, RankSurvey};
use super::verdict::numbers;
use base::sorted::sorted_by_key;
use protocol::{HeatMap, HeatMapRow};

/// Number of columns of the heat map.
const COLUMNS: u32 = 256;
/// Maximum number of rows. If there are more ranks, adjacent ranks share a row.
const MAX_ROWS: usize = 128;
/// Cell value of the maximum live bytes.
const MAX_VALUE: u64 = 255;

base::listed! {
    /// Order of the rows of the heat map.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Order {
        #[default]
        Rank = "rank",
        /// By pipeline stage, then by rank.
        Pp = "pp",
        /// By position in the tensor-parallel group, then by rank.
        Tp = "tp",
        /// By peak, highest first.
        Peak = "peak",
    }
}

impl Order {
    /// Returns the name of the device mesh coordinate that rows are sorted by, if any.
    fn coordinate(self) -> Option<&'static str> {
        match self {
            Order::Pp => Some("pp"),
            Order::Tp => Some("tp"),
            Order::Rank | Order::Peak => None,
        }
    }
}

impl Ranks {
    /// Returns the indices of the scanned ranks in the given order. Sorts by rank if no rank has the coordinate that
    /// the order requires.
    fn in_order(&self, order: Order) -> Vec<usize> {
        let surveys = self.surveys();
        match order.coordinate() {
            Some(name) => {
                let first = |rank: &Rank| rank.coordinate(name).unwrap_or(u64::MAX);
                sorted_by_key(surveys.map(|(index, rank, _)| (index, first(rank))).collect(), |(_, first)| {
                    (*first).into()
                })
                .into_iter()
                .map(|(index, _)| index)
                .collect()
            }
            None if order == Order::Peak => {
                let places: Vec<usize> = surveys.map(|(index, ..)| index).collect();
                let peaks = places.iter().map(|&index| self.ranks.get(index).and_then(Rank::peak).unwrap_or(0));
                largest_first(peaks).into_iter().filter_map(|index| places.get(index as usize).copied()).collect()
            }
            None => surveys.map(|(index, ..)| index).collect(),
        }
    }

    /// Returns the heat map of the scanned ranks, or `None` if there are fewer than two. Ranks without a curve, whose
    /// results come from the tables of `memscape fleet`, have no row.
    pub(super) fn map(&self, order: Order) -> Option<HeatMap> {
        let mut places = self.in_order(order);
        let survey = |at: usize| self.ranks.get(at)?.survey.as_ref();
        places.retain(|&at| survey(at).is_some_and(|survey| !survey.curve.is_empty()));
        if places.len() < 2 {
            return None;
        }
        let surveyed = |&at: &usize| {
            let rank = self.ranks.get(at)?;
            Some((rank, rank.survey.as_ref()?))
        };
        let surveys: Vec<(&Rank, &RankSurvey)> = places.iter().filter_map(surveyed).collect();
        // Not the device's capacity: all rows of a small model would look alike.
        let live = surveys.iter().map(|(rank, _)| rank.peak().unwrap_or(0)).max().unwrap_or(0);
        let reserved = surveys.iter().filter_map(|(_, survey)| u64::try_from(survey.peak_reserved).ok()).max();
        let reserved = reserved.unwrap_or(0);
        let max_bytes = live.max(reserved).max(1);
        let steps = surveys.iter().map(|(_, survey)| survey.step_events.len()).min().unwrap_or(0);
        let edges_of_first = edges(self.surveys().next()?.2, steps);
        // One value per column and rank.
        let columns_of = |survey: &RankSurvey| -> Vec<u64> {
            let edges = edges(survey, steps);
            let from = |column: u32| same_place(&edges_of_first, &edges, column);
            (0..COLUMNS).map(|column| most_between(survey, from(column), from(column + 1))).collect()
        };
        let all: Vec<Vec<u64>> = surveys.iter().map(|(_, survey)| columns_of(survey)).collect();
        let together = surveys.len().div_ceil(MAX_ROWS);
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for ((members, edges_of_members), places) in
            surveys.chunks(together).zip(all.chunks(together)).zip(places.chunks(together))
        {
            let highest =
                |column: usize| edges_of_members.iter().filter_map(|row| row.get(column)).max().copied().unwrap_or(0);
            values.extend((0..COLUMNS as usize).map(|column| scaled(highest(column), max_bytes)));
            let highest = members.iter().max_by_key(|(rank, _)| rank.peak()).map(|(rank, _)| *rank)?;
            let is_oom = members.iter().any(|(_, survey)| survey.out_of_memory.is_some());
            let name = self.row_name(places, order);
            rows.push(HeatMapRow { name, peak: highest.peak().unwrap_or(0), is_oom, file_index: highest.place });
        }
        let spread = |column: usize| {
            let spread = RankQuantiles::from_values(all.iter().filter_map(|row| row.get(column)).copied().collect())?;
            let RankQuantiles { min, p5, median, p95, max } = spread;
            Some([min, p5, median, p95, max].map(|bytes| scaled(bytes, max_bytes)))
        };
        let end = edges_of_first.last().copied().unwrap_or(0.0).max(1.0);
        let begins = edges_of_first.get(1..=steps).unwrap_or_default();
        Some(HeatMap {
            columns: COLUMNS,
            max: max_bytes,
            is_reserved: max_bytes == reserved,
            steps: steps as u32,
            rows,
            values,
            step_columns: begins.iter().map(|begins| (begins / end * f64::from(COLUMNS)) as u32).collect(),
            ribbon: (0..COLUMNS as usize).filter_map(spread).collect(),
        })
    }

    /// Returns the label of a row, such as `rank 3` or `ranks 8–11`. Includes the value of the coordinate that rows are
    /// sorted by.
    fn row_name(&self, places: &[usize], order: Order) -> String {
        let Some(rank) = places.first().and_then(|&first| self.ranks.get(first)) else { return String::new() };
        let mut name = match places.len() {
            1 => rank.title(),
            _ => {
                let mut ranks: Vec<u32> = places.iter().map(|&index| index as u32).collect();
                ranks.sort_unstable();
                ["ranks ", &numbers(self, &ranks)].concat()
            }
        };
        if let Some(coordinate) = order.coordinate()
            && let Some(value) = rank.coordinate(coordinate)
        {
            name = [&name, " · ", coordinate, " ", &value.to_string()].concat();
        }
        name
    }
}

fn scaled(bytes: u64, max_bytes: u64) -> u8 {
    let part = u128::from(bytes) * u128::from(MAX_VALUE) / u128::from(max_bytes);
    // Values above 0 stay visible.
    (part as u8).max(u8::from(bytes > 0))
}

/// Returns the boundaries between the sections of a trace, as event indices: start of the trace, start of each step,
/// end of the last step, and end of the trace.
fn edges(survey: &RankSurvey, steps: usize) -> Vec<f64> {
    let spans = survey.step_events.iter().take(steps);
    let end = spans.clone().next_back().map(|&(_, to)| to);
    let begins = spans.map(|&(from, _)| from);
    std::iter::once(0).chain(begins).chain(end).chain([survey.events]).map(f64::from).collect()
}

/// Returns the event index in the trace `other` that corresponds to a column. Columns divide the first trace evenly,
/// and each section between two boundaries is scaled linearly.
fn same_place(first: &[f64], other: &[f64], column: u32) -> f64 {
    let end = first.last().copied().unwrap_or(0.0);
    let event = end * f64::from(column) / f64::from(COLUMNS);
    let edge = |edges: &[f64], index: usize| edges.get(index).copied().unwrap_or(0.0);
    let before = first.partition_point(|&edge| edge <= event).clamp(1, first.len().max(2) - 1);
    let (from, to) = (edge(first, before - 1), edge(first, before));
    let part = if to > from { ((event - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
    let (own_from, own_to) = (edge(other, before - 1), edge(other, before));
    own_from + part * (own_to - own_from)
}

/// Returns the maximum of the live bytes between two events.
fn most_between(survey: &RankSurvey, from: f64, to: f64) -> u64 {
    let bin = |event: f64| (event / f64::from(survey.events.max(1)) * f64::from(BINS)) as usize;
    let from = bin(from).min(BINS as usize - 1);
    let to = bin(to).clamp(from + 1, BINS as usize);
    survey.curve.get(from..to).and_then(|part| part.iter().max()).copied().unwrap_or(0)
}
