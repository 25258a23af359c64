//! Live bytes of all ranks over their traces, step under step: a row a rank, or a row for several where there are many.

use super::answer::{Rank, Ranks};
use super::survey::{BINS, Surveyed};
use engine::protocol::{ChartMap, MapRow};

/// Columns of the map.
const COLUMNS: u32 = 256;
/// Rows of it: of more ranks, neighbours share one.
const MOST_ROWS: usize = 128;
/// What a value of the map is a part of.
const WHOLE: u64 = 255;

impl Ranks {
    /// The map of those with a survey; `None` where there are fewer than two.
    pub(super) fn map(&self) -> Option<ChartMap> {
        let surveys: Vec<(&Rank, &Surveyed)> = self.surveys().map(|(_, rank, survey)| (rank, survey)).collect();
        if surveys.len() < 2 {
            return None;
        }
        let live = surveys.iter().map(|(rank, _)| rank.peak().unwrap_or(0)).max().unwrap_or(0);
        let capacity = surveys.iter().filter_map(|(_, survey)| survey.capacity).max().unwrap_or(0);
        let most = live.max(capacity).max(1);
        let steps = surveys.iter().map(|(_, survey)| survey.step_events.len()).min().unwrap_or(0);
        let edges_of_first = edges(surveys.first()?.1, steps);
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for together in surveys.chunks(surveys.len().div_ceil(MOST_ROWS)) {
            let mut row = vec![0u64; COLUMNS as usize];
            for (_, survey) in together {
                let edges = edges(survey, steps);
                let from = |column: u32| same_place(&edges_of_first, &edges, column);
                for (column, most) in (0..COLUMNS).zip(&mut row) {
                    *most = (*most).max(most_between(survey, from(column), from(column + 1)));
                }
            }
            values.extend(row.into_iter().map(|bytes| scaled(bytes, most)));
            let (first, last) = (together.first()?.0, together.last()?.0);
            let name = match (first.rank, last.rank, together.len()) {
                (Some(first), Some(last), count) if count > 1 => format!("ranks {first}–{last}"),
                _ => first.title(),
            };
            let highest = together.iter().max_by_key(|(rank, _)| rank.peak()).map_or(first, |(rank, _)| rank);
            let is_oom = together.iter().any(|(_, survey)| survey.out_of_memory.is_some());
            rows.push(MapRow { name, peak: highest.peak().unwrap_or(0), is_oom, place: highest.place });
        }
        Some(ChartMap { columns: COLUMNS, most, is_capacity: most == capacity, steps: steps as u32, rows, values })
    }
}

fn scaled(bytes: u64, most: u64) -> u8 {
    let part = u128::from(bytes) * u128::from(WHOLE) / u128::from(most);
    // What is live at all is seen.
    (part as u8).max(u8::from(bytes > 0))
}

/// Events where the trace, its steps and what is behind them begin, and its end.
fn edges(survey: &Surveyed, steps: usize) -> Vec<f64> {
    let spans = survey.step_events.iter().take(steps);
    let end = spans.clone().next_back().map(|&(_, to)| to);
    let begins = spans.map(|&(from, _)| from);
    std::iter::once(0).chain(begins).chain(end).chain([survey.events]).map(f64::from).collect()
}

/// The event of a trace that belongs to a column of the map, whose columns are even in the first trace.
fn same_place(first: &[f64], own: &[f64], column: u32) -> f64 {
    let end = first.last().copied().unwrap_or(0.0);
    let event = end * f64::from(column) / f64::from(COLUMNS);
    let edge = |edges: &[f64], at: usize| edges.get(at).copied().unwrap_or(0.0);
    let before = first.partition_point(|&edge| edge <= event).clamp(1, first.len().max(2) - 1);
    let (from, to) = (edge(first, before - 1), edge(first, before));
    let part = if to > from { ((event - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
    let (own_from, own_to) = (edge(own, before - 1), edge(own, before));
    own_from + part * (own_to - own_from)
}

/// The most live bytes of the parts of the curve that lie between two events.
fn most_between(survey: &Surveyed, from: f64, to: f64) -> u64 {
    let bin = |event: f64| (event / f64::from(survey.events.max(1)) * f64::from(BINS)) as usize;
    let from = bin(from).min(BINS as usize - 1);
    let to = bin(to).clamp(from + 1, BINS as usize);
    survey.curve.get(from..to).and_then(|part| part.iter().max()).copied().unwrap_or(0)
}
