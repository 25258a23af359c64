//! Unit tests of `src/analysis/filter.rs`.

use super::*;
use crate::query::FrameMatcher;

fn shown(text: &str) -> String {
    let one = |term: &Term| match term {
        Term::Age(least, most) => format!("age {least}..{most}"),
        Term::Life(least, most) => format!("life {least}..{most}"),
        Term::Query(Query::Frame(FrameMatcher::Text(text))) => format!("text {text}"),
        Term::Query(Query::Frame(FrameMatcher::Exactly(text))) => format!("exactly {text}"),
        Term::Query(Query::Frame(FrameMatcher::Expression(_))) => "expression".to_owned(),
        Term::Query(Query::Site(_)) => "site".to_owned(),
        Term::Query(Query::HeldBy(_)) => "held by".to_owned(),
        Term::Query(Query::Size(least, most)) => format!("size {least}..{most}"),
        Term::Query(Query::Number(number)) => format!("number {number}"),
        Term::Query(Query::Category(name)) => format!("category {name}"),
        Term::Query(Query::Freed(freed)) => format!("freed {freed}"),
        Term::Query(Query::Metadata(matcher)) => format!("metadata {matcher:?}"),
        Term::Query(Query::Stream(stream)) => format!("stream {stream}"),
        Term::Query(Query::Pool(pool)) => format!("pool {pool:?}"),
        Term::Query(Query::Address(address)) => format!("address {address}"),
        Term::Query(Query::Addresses(from, to)) => format!("addresses {from}..{to}"),
    };
    match Filter::parse(text) {
        Ok(filter) => filter.terms.iter().map(one).collect::<Vec<_>>().join("; "),
        Err(wrong) => wrong.to_string(),
    }
}

#[test]
fn filter_terms_are_parsed() {
    let max = u64::MAX;
    let cases = [
        ("", String::new()),
        (" & ", String::new()),
        ("train.py", "text train.py".to_owned()),
        ("train.py & >=1KiB & age>1,000", format!("text train.py; size 1024..{max}; age 1001..{max}")),
        ("age 10..500", "age 10..500".to_owned()),
        ("age=5 & life<=7", "age 5..5; life 0..7".to_owned()),
        ("life..9", "life 0..9".to_owned()),
        ("agent.py", "text agent.py".to_owned()),
        ("@agent.py & age=5", "site; age 5..5".to_owned()),
        ("@category temporary & >=1KiB", format!("category temporary; size 1024..{max}")),
        ("lifetime", "text lifetime".to_owned()),
        ("age", "text age".to_owned()),
        ("page.py:12 & #3", "text page.py:12; number 3".to_owned()),
        ("/a & b/", "text /a; text b/".to_owned()),
        ("std::vector<T&>&&", "text std::vector<T&>&&".to_owned()),
        ("train.py & ", "text train.py".to_owned()),
        ("age>5k", QueryError::Events.to_string()),
        ("age>", QueryError::Events.to_string()),
        ("age 5", QueryError::Events.to_string()),
        ("age<0", QueryError::EmptyRange.to_string()),
        ("life=1.5", QueryError::Fraction.to_string()),
        ("a & #", QueryError::Number.to_string()),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn filter_with_too_many_terms_is_an_error() {
    let terms = |count: usize| Filter::parse(&vec!["a"; count].join(" & ")).map(|filter| filter.terms.len());
    assert_eq!(terms(16), Ok(16));
    assert_eq!(terms(17), Err(QueryError::TooManyTerms));
    assert_eq!(terms(100_000), Err(QueryError::TooManyTerms));
}
