//! Report on all ranks: verdict, heat map, outliers, groups, steps, and each rank.

use super::answer::{Rank, Ranks};
use super::map::Order;
use crate::report::{TableBuilder, row, text};
use base::units::pluralize;
use protocol::{Cell, Chart, Evidence, Headline, Report, SheetRow, Statement, Tone, Topic};

/// Returns the report with at most `rows` rows per table. `order` is the order of the heat map's rows.
pub fn report(all: &Ranks, rows: usize, order: Order) -> Report {
    let say = |tone, text: &String| Statement { tone, text: text.clone(), ..Statement::default() };
    let mut statements: Vec<Statement> = all.verdict.iter().map(|text| say(Tone::Fact, text)).collect();
    if let (Some(first), Some(oom)) = (statements.first_mut(), &all.first_oom) {
        first.tone = Tone::Alarm;
        first.evidence = all.ranks.get(oom.at as usize).map(open_evidence);
    }
    if let Some(first) = statements.first_mut() {
        first.chart = all.map(order).map(Chart::HeatMap);
    }
    statements.extend(all.notes.iter().map(|text| say(Tone::Fact, text)));
    if !all.left_out.is_empty() {
        let text = pluralize(all.left_out.len() as u64, "file") + " of other steps not compared.";
        statements.push(say(Tone::Fact, &text));
    }
    let mut tables = TableBuilder::new(rows);
    outliers(all, &mut tables);
    groups(all, &mut tables);
    ranks(all, &mut tables);
    steps(all, &mut tables);
    let headline = all.verdict.first().map(|text| Headline { text: text.clone(), statement: 0 });
    Report { topic: Topic::Ranks, statements, sheets: tables.sheets, headline }
}

/// Returns a link that opens the snapshot of a rank.
fn open_evidence(rank: &Rank) -> Evidence {
    Evidence { open: rank.place.map(|place| (place, None)), ..Evidence::default() }
}

/// Returns a link that compares the snapshots of two ranks.
fn compare_evidence(ranks: &Ranks, rank: usize, with: usize) -> Option<Evidence> {
    let place = |index: usize| ranks.ranks.get(index)?.place;
    // A is the typical rank.
    Some(Evidence { open: Some((place(with)?, Some(place(rank)?))), ..Evidence::default() })
}

fn title(ranks: &Ranks, index: u32) -> String {
    ranks.ranks.get(index as usize).map(Rank::title).unwrap_or_default()
}

fn outliers(ranks: &Ranks, tables: &mut TableBuilder) {
    const COLUMNS: [(&str, &str); 6] = [
        ("name", "rank"),
        ("measure", "at"),
        ("live_bytes", "live (requested)"),
        ("delta_bytes", "Δ median"),
        ("compared_with", "compare with"),
        ("median_absolute_deviation", "median deviation"),
    ];
    let peaks = ranks.outliers.iter().map(|it| ("peak", it, Rank::peak as fn(&Rank) -> Option<u64>));
    let ends = ranks.end_outliers.iter().map(|it| ("end", it, Rank::end as _));
    let rows = peaks.chain(ends).map(|(measure, it, value)| {
        let median = ranks.median_of(it.at as usize);
        let cells = vec![
            text(title(ranks, it.at)),
            text(measure),
            Cell::Bytes(ranks.ranks.get(it.at as usize).and_then(value).unwrap_or(0)),
            Cell::Change(it.delta),
            median.map_or(Cell::Empty, |median| text(title(ranks, median as u32))),
            Cell::Bytes(it.deviation),
        ];
        let evidence = median.and_then(|median| compare_evidence(ranks, it.at as usize, median));
        SheetRow { evidence, ..row(cells) }
    });
    let note = "Peaks and live bytes at the end that are more than 5 median absolute deviations, and more than 2 %, from the median. \
                Select a row to compare it with the median rank of its group.";
    tables.add(["outliers", "Ranks that stand out", note], &COLUMNS, rows.collect());
}

fn groups(ranks: &Ranks, tables: &mut TableBuilder) {
    const COLUMNS: [(&str, &str); 5] = [
        ("name", "group"),
        ("ranks", "ranks"),
        ("peak_bytes", "median peak (requested)"),
        ("delta_bytes", "Δ first group"),
        ("median_rank", "median rank"),
    ];
    let Some(first) = ranks.groups.first().filter(|_| ranks.groups.len() > 1) else { return };
    let mut rows = Vec::new();
    for group in &ranks.groups {
        let numbers = super::verdict::numbers(ranks, &group.ranks);
        let name = group.shared.as_ref().map_or(numbers.clone(), |shared| [shared, " (", &numbers, ")"].concat());
        let delta = i64::try_from(i128::from(group.peak) - i128::from(first.peak)).unwrap_or(i64::MAX);
        let cells = vec![
            text(name),
            Cell::Count(group.ranks.len() as u64),
            Cell::Bytes(group.peak),
            Cell::Change(delta),
            text(title(ranks, group.median)),
        ];
        let evidence = match group.median == first.median {
            true => ranks.ranks.get(group.median as usize).map(open_evidence),
            false => compare_evidence(ranks, group.median as usize, first.median as usize),
        };
        rows.push(SheetRow { evidence, ..row(cells) });
        rows.extend(group.deltas.iter().map(|delta| {
            let cells = vec![text(&*delta.site), Cell::Empty, Cell::Empty, Cell::Change(delta.bytes), Cell::Empty];
            SheetRow { depth: 1, ..row(cells) }
        }));
    }
    let note = "Ranks with nearly the same live bytes by call site at the peak. Below each group, where it differs from the first.";
    tables.sheet(["groups", "Groups", note], &COLUMNS, rows, Vec::new());
}

fn ranks(all: &Ranks, tables: &mut TableBuilder) {
    const COLUMNS: [(&str, &str); 11] = [
        ("name", "rank"),
        ("peak_bytes", "peak (requested)"),
        ("delta_bytes", "Δ median"),
        ("reserved_bytes", "peak reserved"),
        ("headroom_bytes", "headroom to capacity"),
        ("end_bytes", "end (requested)"),
        ("out_of_memory_event", "out of memory, event"),
        ("group", "group"),
        ("host", "host"),
        ("file", "file"),
        ("error", "not readable"),
    ];
    let rank_row = |index: usize| {
        let rank = all.ranks.get(index)?;
        let words = |words: &str| if words.is_empty() { Cell::Empty } else { text(words) };
        let mut cells = vec![text(rank.rank.map_or("–".to_owned(), |rank| rank.to_string()))];
        cells.extend(match &rank.survey {
            None => vec![Cell::Empty; 6],
            Some(survey) => {
                let peak = rank.peak().unwrap_or(0);
                let median = all.peak.map_or(0, |peak| peak.median);
                let reserved = u64::try_from(survey.peak_reserved).unwrap_or(0);
                let headroom = survey.capacity.map(|capacity| capacity.saturating_sub(reserved));
                vec![
                    Cell::Bytes(peak),
                    Cell::Change(i64::try_from(i128::from(peak) - i128::from(median)).unwrap_or(i64::MAX)),
                    Cell::Bytes(reserved),
                    headroom.map_or(Cell::Empty, Cell::Bytes),
                    Cell::Bytes(survey.end_requested),
                    survey.out_of_memory.map_or(Cell::Empty, |oom| Cell::Event(oom.event.into())),
                ]
            }
        });
        cells.push(rank.group.map_or(Cell::Empty, |group| Cell::Count(u64::from(group) + 1)));
        cells.extend([rank.host.as_deref().unwrap_or_default(), &rank.file].map(words));
        cells.push(words(rank.error.as_deref().unwrap_or_default()));
        let tone = if rank.error.is_some() { Tone::Alarm } else { Tone::Fact };
        Some(SheetRow { tone, evidence: rank.survey.as_ref().map(|_| open_evidence(rank)), ..row(cells) })
    };
    let rows = all.most_important_first().into_iter().filter_map(rank_row).collect();
    let note =
        "Those that stand out, ran out of memory or can't be read come first. Select a row to open its snapshot.";
    tables.sheet(["ranks", "All ranks", note], &COLUMNS, rows, Vec::new());
}

fn steps(ranks: &Ranks, tables: &mut TableBuilder) {
    const COLUMNS: [(&str, &str); 7] = [
        ("name", "step"),
        ("min_bytes", "lowest peak"),
        ("p5_bytes", "5 %"),
        ("median_bytes", "median"),
        ("p95_bytes", "95 %"),
        ("max_bytes", "highest peak"),
        ("spread_bytes", "spread"),
    ];
    let rows = ranks.steps.iter().enumerate().map(|(number, spread)| {
        let all = [spread.min, spread.p5, spread.median, spread.p95, spread.max, spread.max - spread.min];
        row(std::iter::once(text(number.to_string())).chain(all.map(Cell::Bytes)).collect())
    });
    let note = "Peaks of requested bytes in each step, over ranks.";
    tables.add(["steps", "Steps", note], &COLUMNS, rows.collect());
}
