//! Unit tests of `src/cli/check/baseline.rs`.

use super::*;

fn folder(names: &[&str]) -> Baseline {
    let candidates = names.iter().zip(identities(names)).map(|(name, identity)| Candidate {
        path: PathBuf::from(name),
        name: (*name).to_owned(),
        identity,
    });
    Baseline { candidates: candidates.collect(), is_folder: true }
}

fn partner<'a>(baseline: &'a Baseline, name: &str) -> Option<&'a str> {
    let identity = identities(&[name]).remove(0);
    baseline.partner(name, &identity).map(|(_, name)| name)
}

#[test]
fn identity_is_read_from_file_name() {
    let [oom, other] = identities(&["a/rank00003_step000120_oom-2.pickle.gz", "model.pickle"]).try_into().unwrap();
    assert_eq!(oom, Identity { rank: Some(3), step: Some(120), reason: Some("oom") });
    assert_eq!(other, Identity::default());
}

#[test]
fn folder_pairs_files_by_rank_step_and_reason() {
    let baseline = folder(&[
        "rank00000_step000010_step.pickle.gz",
        "rank00000_step000020_exit.pickle.gz",
        "rank00001_step000010_step.pickle.gz",
        "rank00001_step000020_exit.pickle.gz",
        "rank00001_step000030_exit.pickle.gz",
    ]);
    assert_eq!(partner(&baseline, "x/rank00001_step000020_exit.pickle"), Some("rank00001_step000020_exit.pickle.gz"));
    // Another step: the only file of the rank with this reason.
    assert_eq!(partner(&baseline, "rank00000_step000021_exit.pickle"), Some("rank00000_step000020_exit.pickle.gz"));
    // Two files would fit, and none does.
    assert_eq!(partner(&baseline, "rank00001_step000040_exit.pickle"), None);
    assert_eq!(partner(&baseline, "rank00000_step000010_oom.pickle"), None);
    assert_eq!(partner(&baseline, "rank00002_step000020_exit.pickle"), None);
}

#[test]
fn file_name_decides_between_files_of_equal_identity() {
    let baseline = folder(&["small.pickle", "large.pickle"]);
    assert_eq!(partner(&baseline, "out/large.pickle"), Some("large.pickle"));
    assert_eq!(partner(&folder(&["only.pickle"]), "new.pickle"), Some("only.pickle"));
    assert_eq!(partner(&folder(&[]), "new.pickle"), None);
}
