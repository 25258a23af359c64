//! Unit tests of argument parsing.

use super::common_args::TimeArg;
use super::events::Events;
use super::insight_command::InsightCommand;
use super::live_rows::GroupBy;
use super::serve::Serve;
use super::{Command, Memscape};
use clap::{CommandFactory, Parser};
use protocol::{Grouping, Topic};
use std::path::Path;

fn read(line: &str) -> Result<Command, clap::Error> {
    let memscape = Memscape::try_parse_from(["memscape"].into_iter().chain(line.split_whitespace()))?;
    match memscape.command.conflict(&memscape.load, Memscape::command) {
        Some(conflict) => Err(Memscape::command().error(clap::error::ErrorKind::ArgumentConflict, conflict)),
        None => Ok(memscape.command),
    }
}

fn wrong(lines: &[&str]) {
    lines.iter().for_each(|line| assert!(read(line).is_err(), "{line}"));
}

#[test]
fn cli_definition_is_valid() {
    Memscape::command().debug_assert();
}

#[test]
fn every_insight_has_a_command() {
    let command = Memscape::command();
    for topic in Topic::ALL {
        let name = topic.name();
        let Ok(Command::Insights(insights)) = read(&format!("insights a --topic {name}")) else { panic!("{name}") };
        assert_eq!(insights.topics, [topic]);
        assert_eq!(Topic::from_name(name), Some(topic));
        // `peak` lists what is live. The insight on the peak is available through `insights`.
        assert!(command.find_subcommand(name).is_some(), "{name}");
    }
    let Ok(Command::Insights(insights)) = read("insights a --topic oom,leaks --top 3") else { panic!() };
    assert_eq!((insights.topics, insights.terms.top), (vec![Topic::OutOfMemory, Topic::Leaks], 3));
    wrong(&["insights", "insights a --topic report", "insights a --topic"]);
}

#[test]
fn old_command_names_are_hidden_aliases() {
    for (earlier, now) in [
        ("stages a", "steps a"),
        ("layers a", "modules a"),
        ("waste a", "leaks a"),
        ("state a", "segments a"),
        ("memory a", "segments a"),
        ("find a x", "allocations a x"),
        ("live a --by site", "live a --by call-site"),
        ("plot a -o b --stack birth", "plot a -o b --stack allocation"),
    ] {
        let kind = |line: &str| {
            let command = read(line).unwrap_or_else(|error| panic!("{error}"));
            let topic = if let Command::Insight(insight) = &command { Some(insight.topic) } else { None };
            (std::mem::discriminant(&command), topic)
        };
        assert_eq!(kind(earlier), kind(now), "{earlier}");
    }
    assert!(matches!(read("report a"), Ok(Command::Report(_))));
    let help = Memscape::command().render_long_help().to_string();
    for name in ["stages", "layers", "waste", "state", "memory", "find", "report"] {
        assert!(!help.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))), "{name}: {help}");
    }
    for (earlier, now) in [("report", "peak"), ("stages", "steps"), ("layers", "modules"), ("waste", "leaks")] {
        assert_eq!(Topic::from_name(earlier), Topic::from_name(now));
    }
}

#[test]
fn arguments_are_accepted_in_any_order() {
    let line = "live --by tree --top=7 a.pickle --inverted --json --hide-internal --device 1 --at -1";
    let Ok(Command::Live(live)) = read(line) else { panic!("{line}") };
    assert_eq!((live.terms.by, live.terms.output.top, live.terms.output.json), (GroupBy::Tree, 7, true));
    assert_eq!((live.source.device, live.terms.inverted && live.terms.hide_internal), (Some(1), true));
    let Ok(Command::Allocations(find)) = read("allocations a.pickle -- -x") else { panic!() };
    assert_eq!((find.source.file.as_path(), find.pattern.as_deref()), (Path::new("a.pickle"), Some("-x")));
    assert!(matches!(read("allocations a.pickle"), Ok(Command::Allocations(find)) if find.pattern.is_none()));
    let Ok(Command::Peak(peak)) = read("peak a --from 3us --to 9") else { panic!() };
    assert_eq!([peak.from, peak.to], [3, 9].map(|us| Some(TimeArg::Since1970(us))));
    let Ok(Command::Live(live)) = read("live a --top 3 --top 4") else { panic!() };
    assert_eq!(live.terms.output.top, 4, "the last value wins");
    wrong(&[
        "live",
        "allocations",
        "find a b c",
        "live a b",
        "peak a --at 3",
        "live a --by colour",
        "peak a --from 9 --to 3",
        "live a --at soon",
    ]);
}

#[test]
fn thresholds_are_numbers_with_optional_unit() {
    let line = "leaks a --threshold late=10 --threshold leak=3MiB --markdown --rules r.json";
    let Ok(Command::Insight(InsightCommand { topic: Topic::Leaks, terms: leaks, .. })) = read(line) else {
        panic!("{line}")
    };
    assert_eq!(leaks.thresholds, [("late".to_owned(), 10), ("leak".to_owned(), 3 << 20)]);
    assert_eq!((leaks.markdown, leaks.rules.rules.as_deref(), leaks.top), (true, Some(Path::new("r.json")), 10));
    for value in ["late", "late=", "late=x", "late=-1", "late=1kB", "late=99999999999999999999", "late=16EiB"] {
        wrong(&[&format!("leaks a --threshold {value}")]);
    }
    wrong(&["find a b --markdown", "leaks a --markdown --json"]);
}

#[test]
fn segments_accept_pool_and_stream() {
    let line = "segments a --pool 1,2 --stream 0x7f --request 3MiB --blocks --at end";
    let Ok(Command::Segments(read)) = read(line) else { panic!("{line}") };
    assert_eq!((read.pool, read.stream, read.request, read.blocks), (Some((1, 2)), Some(0x7f), Some(3 << 20), true));
    wrong(&["segments a --pool 1", "segments a --pool 1,x", "segments a --stream 0xg", "segments a --request 3MB"]);
}

#[test]
fn event_options_become_one_filter() {
    let line =
        "events a --action alloc,oom --size >=1MiB --stream 0 --pool 0,1 --filter x --filter y --from 3 --to end";
    let Ok(Command::Events(events)) = read(line) else { panic!("{line}") };
    assert_eq!(events.filter(), "alloc,oom & >=1MiB & stream:0 & pool:0,1 & x & y");
    wrong(&["events a --action", "events a --action frees", "events a --size x", "events a --at 3"]);
    assert!(matches!(read("events a --from -1"), Ok(Command::Events(Events { from: Some(_), to: None, .. }))));
}

#[test]
fn plot_arguments_are_parsed() {
    let line = "plot --dark -o - a.pickle --from 3 --to 7 --stack pool --color size --device -1";
    let Ok(Command::Plot(plot)) = read(line) else { panic!("{line}") };
    assert_eq!((plot.source.file.as_path(), plot.out.path()), (Path::new("a.pickle"), Path::new("-")));
    assert_eq!((plot.source.device, plot.dark, plot.from, plot.to), (Some(-1), true, Some(3.0), Some(7.0)));
    assert_eq!((plot.stack.as_str(), plot.colour), ("pool", Grouping::Size));
    assert!(matches!(read("plot - -o x.svg"), Ok(Command::Plot(plot)) if plot.source.file.as_os_str() == "-"));
    let whole = ["plot", "plot a", "plot -o x", "plot a b -o x", "plot a -o"];
    wrong(&whole);
    for option in
        ["--width 3", "--width", "--from x", "--from 5 --to 2", "--stack foo", "--png", "--from nan", "--colour birth"]
    {
        wrong(&[&format!("plot a -o x {option}")]);
    }
}

#[test]
fn view_is_taken_from_link_fragment() {
    let html = |line: &str| match read(&["html a -o b ", line].concat()) {
        Ok(Command::Html(html)) => html.fragment(),
        read => panic!("{line}: {read:?}"),
    };
    assert_eq!(html("--view #v=1&tab=why").as_deref(), Ok("v=1&tab=why"));
    assert_eq!(html("--view tab=why").as_deref(), Ok("v=1&tab=why"));
    assert_eq!(html("--view https://a.b/c#v=1&url=https://d.e/f&at=3&url=x").as_deref(), Ok("v=1&at=3"));
    assert_eq!(html("").as_deref(), Ok(""));
    assert!(html("--view device=3 --at 4").is_ok());
    let Ok(Command::Html(read)) = read("html --at peak -o b.html --device 1 -- -a.pickle") else { panic!() };
    assert_eq!((read.source.file.as_path(), read.source.device), (Path::new("-a.pickle"), Some(1)));
    wrong(&["html", "html a", "html a b -o c", "html -o b", "html a -o", "html a -o b --at soon"]);
    wrong(&["html a -o b --device x", "html a -o b --json", "html a -o b --view at=3 --at 4"]);
}

#[test]
fn serve_accepts_paths_and_port() {
    let line = "serve a.pickle --port 80 --no-browser --host node7 b -- --c";
    let Ok(Command::Serve(Serve { paths, port, no_browser, host, .. })) = read(line) else { panic!("{line}") };
    assert_eq!((paths.len(), port, no_browser), (3, Some(80), true));
    assert_eq!((host.as_deref(), paths[2].as_path()), (Some("node7"), Path::new("--c")));
    assert!(matches!(read("serve"), Ok(Command::Serve(Serve { paths, .. })) if paths.is_empty()));
    wrong(&["serve --port", "serve --port x", "serve --port 65536", "serve --bind", "serve -", "serve --host"]);
}
