//! File name patterns with fields such as `{rank}`.

use super::Pattern;

#[test]
fn fields_are_extracted_from_path() {
    type Fields = Option<&'static [(&'static str, &'static str)]>;
    let cases: [(&str, &str, Fields); 14] = [
        ("{host}_{rank}", "run/gpu-b_3.pickle.gz", Some(&[("host", "gpu-b"), ("rank", "3")])),
        ("{rank}-of-8.pickle", "7-of-8.pickle", Some(&[("rank", "7")])),
        ("{rank}-of-8", "7-of-16.pickle", None),
        ("*_dev{rank}_*", "a_b_dev2_x_y.pkl", Some(&[("rank", "2")])),
        ("pp{pp}/tp{tp}/{rank}", "all/pp1/tp0/5.pickle", Some(&[("pp", "1"), ("tp", "0"), ("rank", "5")])),
        ("pp{pp}/{rank}", "pp1/x5.pickle", None),
        (
            "{host}/{rank}_step{step}",
            "node 7/0003_step20.pickle",
            Some(&[("host", "node 7"), ("rank", "0003"), ("step", "20")]),
        ),
        ("{host}_final", "a_final_b_final.pickle", Some(&[("host", "a_final_b")])),
        ("*{rank}", "snapshot12.pickle", Some(&[("rank", "12")])),
        ("{rank}", "12.pickle", Some(&[("rank", "12")])),
        ("{rank}", "a12.pickle", None),
        ("{rank}*", "12", Some(&[("rank", "12")])),
        ("{host}{rank}", "höst12", Some(&[("host", "höst"), ("rank", "12")])),
        ("*x{rank}", "a/x1", Some(&[("rank", "1")])),
    ];
    for (typed, path, expected) in cases {
        let pattern = Pattern::parse(typed).unwrap();
        assert_eq!(pattern.match_path(path).as_deref(), expected, "{typed} {path}");
    }
}

#[test]
fn invalid_pattern_reports_cause() {
    for (typed, cause) in [
        ("", "write {rank}"),
        ("rank*.pickle", "write {rank}"),
        ("{rank", "has no }"),
        ("{}", "{} is no field"),
        ("{Rank}", "{Rank} is no field"),
        ("{a b}", "{a b} is no field"),
    ] {
        let error = Pattern::parse(typed).unwrap_err();
        assert!(error.contains(cause), "{typed}: {error}");
    }
    assert!(Pattern::parse(&"*{a}".repeat(40)).is_err());
}

#[test]
fn arbitrary_pattern_does_not_panic() {
    proptest::proptest!(|(typed in "[*{}/_a-c0-2é]{0,12}", path in "[*{}/_a-c0-2é.]{0,12}")| {
        if let Ok(pattern) = Pattern::parse(&typed)
            && let Some(fields) = pattern.match_path(&path)
        {
            assert!(fields.iter().all(|(name, value)| !name.is_empty() && path.contains(value)));
        }
    });
}
