//! The result of `memscape check` as JUnit XML, which CI systems show as tests: a test suite for each device of a file,
//! a test case for each check.

use super::verdict::{Check, CheckedDevice, Outcome, Verdict};
use base::units::Bytes;
use compare::signed;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Class name of all test cases.
const CLASS: &str = "memscape.check";

/// Formats the result.
///
/// # Errors
/// Returns an error message if the XML cannot be written.
pub(super) fn as_junit(verdict: &Verdict) -> Result<String, String> {
    let mut report = Report::new("memscape");
    for device in &verdict.devices {
        let mut suite = TestSuite::new(device.title());
        suite.add_test_cases(device.checks.iter().map(|check| test_case(device, check)));
        report.add_test_suite(suite);
    }
    for (file, error) in &verdict.errors {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(error.as_str());
        let mut suite = TestSuite::new(file.as_str());
        suite.add_test_case(named("snapshot can be read", status));
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|error| error.to_string())
}

fn named(title: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(title, status);
    case.set_classname(CLASS);
    case
}

fn test_case(device: &CheckedDevice, check: &Check) -> TestCase {
    let status = match check.outcome {
        Outcome::Kept => TestCaseStatus::success(),
        Outcome::Skipped => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(check.detail.as_str());
            status
        }
        Outcome::Exceeded => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(check.detail.as_str()).set_type(check.property.name());
            if check.baseline.is_some() {
                let grown = device.grown.iter().map(|site| {
                    let [before, now] = [site.bytes.a, site.bytes.b].map(Bytes);
                    format!("{}  {}: {before} → {now}", signed(site.bytes.delta()), site.name)
                });
                status.set_description(grown.collect::<Vec<_>>().join("\n"));
            }
            status
        }
    };
    named(&check.title, status)
}
