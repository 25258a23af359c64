//! Comparison of ranks: groups, outliers, missing ranks, first OOM.

use super::*;
use proptest::prelude::*;

const GIB: u64 = 1 << 30;

/// Returns a rank whose peak is the sum of the bytes of these call sites.
fn rank(number: u32, sites: &[(&str, u64)]) -> Rank {
    let sites: Vec<SiteBytes> =
        sites.iter().map(|&(site, bytes)| SiteBytes { site: site.to_owned(), bytes, allocations: 1 }).collect();
    let peak = sites.iter().map(|site| site.bytes).sum::<u64>();
    let survey = RankSurvey { peak_requested: peak as i64, sites, ..RankSurvey::default() };
    let file = format!("rank{number}.pickle");
    Rank { rank: Some(number), file, survey: Some(survey), ..Rank::default() }
}

fn oom(mut rank: Rank, time_us: Option<i64>) -> Rank {
    let survey = rank.survey.as_mut().unwrap();
    let (requested_bytes, live_bytes) = (GIB, 10 * GIB);
    survey.out_of_memory = Some(OutOfMemory {
        event: 7,
        time_us,
        requested_bytes,
        device_free_bytes: Some(0),
        live_bytes,
        reserved_bytes: 11 * GIB,
    });
    rank
}

#[test]
fn rank_with_higher_peak_is_an_outlier() {
    let mut ranks: Vec<Rank> =
        (0..8).map(|number| rank(number, &[("a.py:1", 10 * GIB), ("b.py:2", 2 * GIB)])).collect();
    ranks[5] = rank(5, &[("a.py:1", 10 * GIB), ("b.py:2", 2 * GIB), ("leak.py:3", 3 * GIB)]);
    let of = Ranks::new(ranks, Vec::new());
    assert_eq!(
        of.groups.iter().map(|group| group.ranks.clone()).collect::<Vec<_>>(),
        [vec![0, 1, 2, 3, 4, 6, 7], vec![5]]
    );
    assert_eq!(of.groups[1].deltas, [SiteDelta { site: "leak.py:3".to_owned(), bytes: 3 * GIB as i64 }]);
    assert_eq!(of.outliers, [Outlier { at: 5, delta: 3 * GIB as i64, deviation: 0 }]);
    assert_eq!(of.peak.map(|peak| (peak.min, peak.median, peak.max)), Some((12 * GIB, 12 * GIB, 15 * GIB)));
    assert_eq!(
        of.verdict,
        [
            "7 ranks alike (peak 12.0 GiB); rank 5 peaks at 15.0 GiB (+3.00 GiB), +3.00 GiB in leak.py:3.",
            "Rank 5 (+3.00 GiB) is far from the median peak, 12.0 GiB."
        ]
    );
    // A rank alone in its group is compared with the median of the largest group.
    assert_eq!(of.median_of(5), Some(3));
    assert_eq!(of.median_of(3), Some(0), "the rank is the median itself, so the nearest other one");
}

#[test]
fn rank_without_counterpart_in_its_group_is_compared_with_nearest_other_rank() {
    let rank_with_end = |number: u32, gib: u64, end: u64| {
        let mut rank = rank(number, &[("a.py:1", gib * GIB)]);
        rank.survey.as_mut().unwrap().end_requested = end;
        rank
    };
    // Ranks 0 and 1 are a group of their own, and both differ from the others at the end.
    let mut ranks: Vec<Rank> = (0..2).map(|number| rank_with_end(number, 11, 3 * GIB)).collect();
    ranks.extend((2..12).map(|number| rank_with_end(number, if number < 7 { 10 } else { 12 }, 2 * GIB)));
    let of = Ranks::new(ranks, Vec::new());
    assert_eq!(of.groups.iter().map(|group| group.ranks.len()).collect::<Vec<_>>(), [5, 5, 2]);
    assert_eq!((of.differs_only_at_end(0), of.differs_only_at_end(1), of.differs_at_peak(0)), (true, true, false));
    assert_eq!((of.median_of(0), of.median_of(1)), (Some(2), Some(2)));
    // No two ranks are alike, so the first one is the largest group.
    let of = Ranks::new(vec![rank_with_end(0, 10, GIB), rank_with_end(1, 20, GIB)], Vec::new());
    assert_eq!((of.median_of(0), of.median_of(1)), (Some(1), Some(0)));
    assert_eq!(Ranks::new(vec![rank_with_end(0, 10, GIB)], Vec::new()).median_of(0), None);
}

#[test]
fn rank_with_more_live_bytes_at_its_end_is_an_outlier() {
    let with_end = |number: u32, end_requested: u64| {
        let mut rank = rank(number, &[("a.py:1", 10 * GIB)]);
        rank.survey.as_mut().unwrap().end_requested = end_requested;
        rank
    };
    let ranks = |ends: &[u64]| {
        let ranks = ends.iter().zip(0..).map(|(&end, number)| with_end(number, end));
        Ranks::new(ranks.collect(), Vec::new())
    };
    let of = ranks(&[2 * GIB, 2 * GIB, 3 * GIB, 2 * GIB]);
    assert_eq!(of.end_outliers, [Outlier { at: 2, delta: GIB as i64, deviation: 0 }]);
    assert_eq!((&*of.outliers, of.differs_only_at_end(2), of.differs_only_at_end(1)), (&[][..], true, false));
    assert_eq!(
        of.verdict,
        [
            "Rank 2 (+1.00 GiB) is far from the median live bytes at the end, 2.00 GiB.",
            "All ranks alike at the peak, 10.0 GiB requested, but not at the end: 2.00 GiB–3.00 GiB."
        ]
    );
    assert_eq!(of.most_important_first(), [2, 0, 1, 3]);
    let report = report(&of, 10, Order::Rank);
    let outliers = report.sheets.iter().find(|sheet| sheet.key == "outliers").unwrap();
    assert_eq!(
        outliers.rows[0].cells[1..4],
        [protocol::Cell::Text("end".to_owned()), protocol::Cell::Bytes(3 * GIB), protocol::Cell::Change(GIB as i64)]
    );
    // Fewer than four ranks have no outliers, but their ends are shown.
    let of = ranks(&[2 * GIB, 2 * GIB, 3 * GIB]);
    assert!(of.end_outliers.is_empty());
    assert!(of.verdict[0].contains("but not at the end"), "{:?}", of.verdict);
    assert_eq!(ranks(&[1000, 1000, 1020, 1000]).verdict, ["All ranks alike: peak 10.0 GiB requested."]);
}

#[test]
fn first_of_different_ranks_is_named_like_the_others() {
    let of = Ranks::new((0..2).map(|at| rank(at, &[("a.py:1", u64::from(at + 1) * GIB)])).collect(), Vec::new());
    let first = "No two ranks alike: rank 0 peaks at 1.00 GiB; rank 1 peaks at 2.00 GiB (+1.00 GiB)";
    assert!(of.verdict[0].starts_with(first), "{:?}", of.verdict);
}

#[test]
fn rank_that_reserves_more_is_named_first() {
    let ranks = (0..6).map(|number| {
        let mut rank = rank(number, &[("a.py:1", 10 * GIB)]);
        rank.survey.as_mut().unwrap().peak_reserved = if number == 4 { 13 << 30 } else { 11 << 30 };
        rank
    });
    let of = Ranks::new(ranks.collect(), Vec::new());
    let expected = [
        "Rank 4 (+2.00 GiB) is far from the median peak reserved, 11.0 GiB.",
        "All ranks alike: peak 10.0 GiB requested.",
    ];
    assert_eq!(of.verdict, expected);
}

/// On the scale of an 80 GiB device, curves of a few GiB would all look alike.
#[test]
fn map_scales_to_highest_peak_reserved_of_all_ranks() {
    let map = |reserved: [i64; 2]| {
        let ranks = [4, 8].into_iter().zip(reserved).zip(0..).map(|((peak, reserved), number)| {
            let mut rank = rank(number, &[("a.py:1", peak * GIB)]);
            let survey = rank.survey.as_mut().unwrap();
            (survey.peak_reserved, survey.capacity) = (reserved << 30, Some(80 * GIB));
            (survey.events, survey.curve) = (10, vec![peak * GIB; survey::BINS as usize]);
            rank
        });
        Ranks::new(ranks.collect(), Vec::new()).map(Order::Rank).unwrap()
    };
    let reserved = map([16, 10]);
    assert_eq!((reserved.max, reserved.is_reserved), (16 * GIB, true));
    assert_eq!((reserved.values[0], reserved.values[256]), (63, 127));
    let live = map([0, 0]);
    assert_eq!((live.max, live.is_reserved), (8 * GIB, false));
}

#[test]
fn widely_different_peaks_have_no_outliers() {
    let ranks = (4..12).map(|gib| rank(gib - 4, &[("a.py:1", u64::from(gib) * GIB)]));
    let of = Ranks::new(ranks.collect(), Vec::new());
    assert!(of.outliers.is_empty());
    assert_eq!(of.verdict[1], "Peaks differ widely: 4.00 GiB–11.0 GiB, median 7.00 GiB.");
}

#[test]
fn group_is_named_by_shared_coordinate() {
    let of_stage = |mut rank: Rank, stage: &str| {
        rank.coords = vec![("tp".to_owned(), "0".to_owned()), ("pp".to_owned(), stage.to_owned())];
        rank
    };
    let first = (0..2).map(|number| of_stage(rank(number, &[("a.py:1", GIB), ("embedding.py:12", GIB)]), "0"));
    let rest = (2..8).map(|number| of_stage(rank(number, &[("a.py:1", GIB)]), "1"));
    let of = Ranks::new(first.chain(rest).collect(), Vec::new());
    assert_eq!(of.groups[1].shared.as_deref(), Some("pp 0"));
    assert_eq!(
        of.verdict[0],
        "6 ranks alike (peak 1.00 GiB); 2 ranks of pp 0 (0–1) peak at 2.00 GiB (+1.00 GiB), +1.00 GiB in embedding.py:12."
    );
}

#[test]
fn ranks_running_other_code_form_a_group() {
    let of = Ranks::new(
        vec![rank(0, &[("a.py:1", GIB)]), rank(1, &[("a.py:1", GIB)]), rank(2, &[("z.py:9", GIB)])],
        Vec::new(),
    );
    assert!(of.groups[1].is_other_code);
    assert!(of.verdict[0].ends_with("rank 2 peaks at the same size, with other call sites."), "{:?}", of.verdict);
}

#[test]
fn missing_and_unreadable_ranks_are_listed() {
    let broken =
        Rank { rank: Some(3), file: "rank3.pickle".to_owned(), ..Rank::default() }.with_error("cut off".to_owned());
    let of = Ranks::new(vec![rank(0, &[("a.py:1", GIB)]), broken, rank(4, &[("a.py:1", GIB)])], Vec::new());
    let rows: Vec<_> = of.ranks.iter().map(|rank| (rank.rank, rank.error.as_deref())).collect();
    assert_eq!(
        rows,
        [
            (Some(0), None),
            (Some(1), Some("no file")),
            (Some(2), Some("no file")),
            (Some(3), Some("cut off")),
            (Some(4), None)
        ]
    );
    assert_eq!(of.verdict[1], "No file of 2 ranks (1–2); 1 file not readable (3).");
    // The recorder gives the expected number of ranks.
    let mut first = rank(0, &[]);
    first.survey.as_mut().unwrap().recorder = vec![("world".to_owned(), "4".to_owned())];
    assert_eq!(Ranks::new(vec![first], Vec::new()).ranks.len(), 4);
    // A date is not a rank.
    assert_eq!(Ranks::new(vec![rank(20_260_101, &[])], Vec::new()).ranks.len(), 1);
}

#[test]
fn ranks_are_assigned_by_name_if_files_have_none() {
    let unnamed = |file: &str| Rank { rank: None, file: file.to_owned(), ..rank(0, &[("a.py:1", GIB)]) };
    let failed = Rank { file: "b.pickle".to_owned(), ..Rank::default() }.with_error("no snapshot".to_owned());
    let of = Ranks::new(vec![unnamed("c.pickle"), failed, unnamed("a.pickle")], Vec::new());
    let rows: Vec<_> = of.ranks.iter().map(|rank| (rank.rank, &*rank.file)).collect();
    assert_eq!(rows, [(Some(0), "a.pickle"), (Some(1), "c.pickle"), (None, "b.pickle")]);
    assert_eq!(of.notes, ["Ranks are numbered in the order of the files: no name has a rank."]);
    assert_eq!(of.ranks[1].title_with_file(), "rank 1 (c.pickle)", "the number alone names no file");
    // If one file names its rank, files without a rank have none.
    let of = Ranks::new(vec![unnamed("c.pickle"), rank(0, &[])], Vec::new());
    assert_eq!(of.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [Some(0), None]);
}

#[test]
fn step_with_most_ranks_is_compared() {
    let of_step =
        |number, step| Rank { step: Some(step), file: format!("step_{step}/rank{number}.pickle"), ..rank(number, &[]) };
    let files = vec![of_step(0, 10), of_step(1, 10), of_step(2, 10), of_step(0, 20), of_step(1, 20)];
    let of = Ranks::new(files, Vec::new());
    assert_eq!(of.ranks.iter().map(|rank| rank.step).collect::<Vec<_>>(), [Some(10); 3]);
    assert_eq!(of.left_out, ["step_20/rank0.pickle", "step_20/rank1.pickle"]);
}

#[test]
fn first_rank_to_run_out_of_memory_is_reported() {
    let files = |times: [Option<i64>; 2]| {
        let mut other = rank(2, &[("a.py:1", GIB)]);
        other.survey.as_mut().unwrap().by_time = Some((0, 511, (0..512).collect()));
        vec![oom(rank(0, &[("a.py:1", GIB)]), times[0]), oom(rank(1, &[("a.py:1", GIB)]), times[1]), other]
    };
    let of = Ranks::new(files([Some(300), Some(200)]), Vec::new());
    assert_eq!(of.first_oom, Some(FirstOom { at: 1, ranks: 2, is_by_time: true, others: Some((200, 200, 1)) }));
    assert_eq!(
        of.verdict[0],
        "Rank 1 ran out of memory, the first of 2 ranks that did: 1.00 GiB requested with 10.0 GiB live and 0 B free on the device; \
         1 other rank had about 200 B live at that time."
    );
    let of = Ranks::new(files([Some(300), None]), Vec::new());
    let first = of.first_oom.unwrap();
    assert_eq!((first.at, first.is_by_time), (0, false));
}

#[test]
fn quantile_is_value_at_nearest_rank() {
    let spread = RankQuantiles::from_values((1..=20).rev().collect()).unwrap();
    assert_eq!(spread, RankQuantiles { min: 1, p5: 1, median: 10, p95: 19, max: 20 });
    assert_eq!(RankQuantiles::from_values(Vec::new()), None);
}

/// Returns the median as DuckDB computes it.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    f64::midpoint(numbers[(numbers.len() - 1) / 2], numbers[numbers.len() / 2])
}

proptest! {
    /// The rule of `odd_ranks` in `src/python/memscape/fleet/questions.py`, as written there.
    #[test]
    fn outliers_are_the_ranks_that_odd_ranks_lists(
        peaks in proptest::collection::vec(prop_oneof![900u64..1100, 0u64..2000], 1..12),
    ) {
        let bytes: Vec<f64> = peaks.iter().map(|&peak| peak as f64).collect();
        let middle = median(bytes.clone());
        let usual = (5.0 * median(bytes.iter().map(|it| (it - middle).abs()).collect())).max(middle / 50.0);
        let is_odd = |index: &usize| bytes.len() >= 4 && (bytes[*index] - middle).abs() > usual;
        let ranks = peaks.iter().zip(0..).map(|(&peak, number)| rank(number, &[("a.py:1", peak)]));
        let of = Ranks::new(ranks.collect(), Vec::new());
        let mut found: Vec<usize> = of.outliers.iter().map(|it| it.at as usize).collect();
        found.sort_unstable();
        prop_assert_eq!(found, (0..bytes.len()).filter(is_odd).collect::<Vec<_>>());
    }

    #[test]
    fn file_order_does_not_change_result(
        peaks in proptest::collection::vec((0u64..4, 0u64..3, any::<bool>()), 1..12),
        swaps in proptest::collection::vec((0usize..12, 0usize..12), 0..12),
    ) {
        let files: Vec<Rank> = peaks.iter().zip(0..).map(|(&(a, b, is_oom), number)| {
            let rank = rank(number % 9, &[("a.py:1", a * GIB), ("b.py:2", b * GIB)]);
            let rank = Rank { file: format!("{number}/rank{}.pickle", number % 9), ..rank };
            if is_oom { oom(rank, Some(i64::from(number))) } else { rank }
        }).collect();
        let mut others = files.clone();
        for (one, other) in swaps {
            let count = others.len();
            others.swap(one % count, other % count);
        }
        prop_assert_eq!(Ranks::new(files, Vec::new()), Ranks::new(others, Vec::new()));
    }
}

/// Returns a rank with this many events and a curve that rises linearly to a peak of `gib` GiB.
fn with_curve(number: u32, events: u32, stage: &str, gib: u64) -> Rank {
    let mut rank = rank(number, &[("a.py:1", gib * GIB)]);
    rank.coords = vec![("pp".to_owned(), stage.to_owned())];
    let survey = rank.survey.as_mut().unwrap();
    survey.events = events;
    survey.curve = (1..=u64::from(BINS)).map(|bin| gib * GIB * bin / u64::from(BINS)).collect();
    survey.step_events = vec![(0, events / 2), (events / 2, events)];
    rank
}

#[test]
fn heat_map_rows_follow_requested_order() {
    let stages = [("1", 3), ("0", 1), ("1", 2), ("0", 4)];
    let ranks = stages.iter().zip(0..).map(|(&(stage, gib), number)| with_curve(number, 1000, stage, gib)).collect();
    let of = Ranks::new(ranks, Vec::new());
    let names = |order: Order| -> Vec<String> { of.map(order).unwrap().rows.into_iter().map(|row| row.name).collect() };
    assert_eq!(names(Order::Rank), ["rank 0", "rank 1", "rank 2", "rank 3"]);
    assert_eq!(names(Order::Pp), ["rank 1 · pp 0", "rank 3 · pp 0", "rank 0 · pp 1", "rank 2 · pp 1"]);
    assert_eq!(names(Order::Peak), ["rank 3", "rank 0", "rank 2", "rank 1"]);
    // No rank has a tp coordinate.
    assert_eq!(names(Order::Tp), names(Order::Rank));
    let map = of.map(Order::Peak).unwrap();
    assert_eq!((map.max, map.values[255], map.values[511]), (4 * GIB, 255, 191));
}

#[test]
fn ribbon_shows_spread_of_each_column() {
    let ranks = (0..20).map(|number| with_curve(number, 1000 + 100 * number, "0", u64::from(number) + 1)).collect();
    let map = Ranks::new(ranks, Vec::new()).map(Order::Rank).unwrap();
    assert_eq!((map.ribbon.len(), &*map.step_columns), (256, &[0, 128][..]));
    // In the last column all ranks are at their peaks, 1 to 20 GiB.
    let part = |gib: u64| (gib * 255 / 20) as u8;
    assert_eq!(map.ribbon[255], [part(1), part(1), part(10), part(19), part(20)]);
    assert!(map.ribbon.iter().all(|spread| spread.is_sorted()));
    for (column, spread) in map.ribbon.iter().enumerate() {
        let values: Vec<u8> = map.values.chunks(256).map(|row| row[column]).collect();
        assert_eq!((values.iter().min(), values.iter().max()), (Some(&spread[0]), Some(&spread[4])));
    }
}

#[test]
fn hosts_and_files_are_in_natural_order() {
    let unnamed = |file: &str| Rank { rank: None, file: file.to_owned(), ..rank(0, &[("a.py:1", GIB)]) };
    let of = Ranks::new(["dump10.pickle", "dump2.pickle", "dump1.pickle"].map(unnamed).to_vec(), Vec::new());
    let files: Vec<&str> = of.ranks.iter().map(|rank| &*rank.file).collect();
    assert_eq!(files, ["dump1.pickle", "dump2.pickle", "dump10.pickle"]);
    let on = |host: &str| Rank { host: Some(host.to_owned()), ..rank(0, &[]) };
    let of = Ranks::new(["node-10", "node-9"].map(on).to_vec(), Vec::new());
    assert_eq!(of.ranks.iter().map(|rank| rank.host.as_deref()).collect::<Vec<_>>(), [Some("node-9"), Some("node-10")]);
}

#[test]
fn many_missing_ranks_are_noted_instead_of_listed() {
    let mut first = rank(0, &[]);
    first.survey.as_mut().unwrap().recorder = vec![("world_size".to_owned(), "8192".to_owned())];
    let of = Ranks::new(vec![first], Vec::new());
    assert_eq!(
        (of.ranks.len(), of.notes),
        (1, vec!["The recorder names 8,192 ranks; there are files of 1 rank.".to_owned()])
    );
}

#[test]
fn ranks_without_a_curve_are_compared_without_a_heat_map() {
    let mut ranks: Vec<Rank> = (0..4).map(|number| rank(number, &[("a.py:1", 10 * GIB)])).collect();
    ranks[2] = rank(2, &[("a.py:1", 10 * GIB), ("leak.py:3", 3 * GIB)]);
    let of = Ranks::new(ranks.clone(), Vec::new());
    assert_eq!(of.outliers.iter().map(|outlier| outlier.at).collect::<Vec<_>>(), [2]);
    assert!(of.map(Order::Rank).is_none());
    // Ranks that have one are drawn.
    for number in [1, 3] {
        ranks[number].survey.as_mut().unwrap().curve = vec![10 * GIB; BINS as usize];
    }
    let map = Ranks::new(ranks, Vec::new()).map(Order::Rank).unwrap();
    assert_eq!(map.rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>(), ["rank 1", "rank 3"]);
}
