//! The command line, on the page's own engine: `memscape summary` prints what the page's summary shows, one for each snapshot in a
//! file; `live` and `peak` what is live at a moment and which code made it; `find` what a search finds; `state` the allocator's
//! segments; `events` what happened; `report` and its like say why; `plot` writes a picture.
//!
//! Exit status: 0; 1 when a file can't be read (one sentence on standard error); 2 for wrong usage.

mod asking;
mod begun;
mod carried;
mod events;
mod find;
mod html;
mod input;
mod live;
mod opening;
mod options;
mod plot;
mod report;
mod serve;
mod state;
mod terms;
mod viewer;
mod written;

use base::units::{Bytes, counted, duration_us, grouped};
use engine::protocol::{DeviceSummary, FileSummary, Topic};
use input::Input;
use opening::{name_of, open};
use options::Options;
use std::io::{self, Write};
use std::process::ExitCode;
use terms::Terms;

const USAGE: &str = "usage: memscape summary FILE... [--json]
       memscape live FILE [--at WHEN] [--by KEY] [--inverted] [--hide-internal] [--counting HOW] [--top N] [--device N]
                     [--json]
       memscape peak FILE [--from TIME] [--to TIME] [--by KEY] [--inverted] [--hide-internal] [--counting HOW] [--top N]
                     [--device N] [--json]
       memscape find FILE PATTERN [--at WHEN] [--top N] [--device N] [--json]
       memscape state FILE [--at WHEN] [--pool A,B] [--stream N] [--request BYTES] [--blocks] [--top N] [--device N] [--json]
       memscape events FILE [--from WHEN] [--to WHEN] [--action NAME,...] [--filter TEXT] [--stream N] [--pool A,B] [--size SIZE]
                     [--top N] [--device N] [--json]
       memscape report|oom|categories|stages|layers|leaks|fragmentation|pools|settings FILE [--at WHEN] [--threshold KEY=N]...
                     [--rules FILE] [--top N] [--device N] [--json | --markdown]
       memscape plot FILE -o OUT.svg [--device N] [--width PX] [--height PX] [--from EVENT] [--to EVENT] [--time]
                     [--stack KIND] [--colour KIND] [--dark]
       memscape html FILE -o OUT.html [--at WHEN] [--device N] [--view FRAGMENT] [--viewer PAGE]
       memscape serve [FILE|FOLDER]... [--port N] [--host NAME] [--viewer PAGE] [--no-browser]

FILE - reads standard input, -o - writes to standard output.

live: what is live at a moment, and which code made it. WHEN: peak (the default: of live bytes), reserved-peak, end, an event's number (what holds
after it; -1: before the first), a TIME (after the events up to then: 1759252605604106us since 1970, 350ms or 1.25s since the first event),
alloc:7f89b4000000_0 or free_completed:7f89b4000000_0 (after that event on the address; behind the _ how many frees of it have
completed before). KEY: site (the default: the innermost frame that is not internal), function, file, or tree (all frames;
--inverted begins with the innermost).
peak: the same at the peak; with --from and --to, both included, at the most that was live at once between these times.
HOW: whole (the default), or mosaic: only what was born in the trace, no baseline, as Mosaic's reports have it.
find: the allocations that a search finds, the largest first. PATTERN is what the page's table takes: text or /expression/ in a
frame of the stack, @text in the innermost frame of your own code, \"@category activation\", #number, an address (0x7f89b4000000: whose bytes hold it), a size
(>=1MiB, 1MiB..2MiB), age>1000 or life<10 in events; several with \" & \" between them. With --at: those live then.

state: the allocator's segments at a moment, by pool, stream and size, with what is free in them; with --blocks the blocks as well.
--request says where a request of so many bytes (3145728 or 3MiB) would go.

events: what happened, from one event (or WHEN) to another, both included; NAME as the file has it (alloc, segment_map); TEXT is what
the page's list of events takes: what find takes (#number and text of what an event is about), 7f89b4000000_0 (an address and how
many have ended there before), stream:0, pool:0,1, an action; several with \" & \" between them.

report: when the most was live, how much, and what made it. oom: what the driver refused, and what stood in the way. categories: what
the bytes are for; stages: annotations and steps; layers: what happened in which module; leaks: leaks and waste;
fragmentation: what is reserved and free; pools: private pools and host memory; settings: the allocator's, and what the trace says
for others. KEY is a threshold the report names, N its value (1048576 or 1MiB); WHEN a moment as above; --rules what tells categories: default, mosaic, or a file
of rules (our JSON, Mosaic's JSON or YAML). --top says how many rows of each sheet (10).

plot: a picture. --width is that of the whole picture (1200), --height that of
its timeline (480). With --time the axis is wall-clock, and --from and --to are seconds since the first event. Kinds: site,
category, size, lifetime, age, stream, pool, annotation, region; for --stack birth as well.

html: the page with the snapshot in it, one file that opens anywhere, offline too, at WHEN if that is told. --view is what stands
behind the # of a link that the page copied. --viewer is the memscape.html to take, where this program was built without one.

serve: the page and these snapshots, at an address of this machine that only it can reach, and only who knows all of it; from
elsewhere by ssh -L, or with --host at a name or number of this machine, unencrypted. Folders are looked through anew whenever the
address is opened; the 200 newest files are listed, links in folders are not followed. Ctrl+C ends it, with status 0.";

/// Runs the program on its own arguments.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, words): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with('-') && argument.len() > 1);
    if flags.iter().any(|flag| ["--help", "-h"].contains(&flag.as_str())) {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    if flags.iter().any(|flag| ["--version", "-V"].contains(&flag.as_str())) {
        println!("memscape {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    if let Some((command, rest)) = arguments.split_first() {
        let refused = |what: String| {
            eprintln!("memscape {command}: {what}; memscape --help says what does.");
            ExitCode::from(2)
        };
        let tells: Option<Tells> = match command.as_str() {
            "html" => return html::Html::of(rest).map_or_else(refused, |html| page(&html)),
            "serve" => return serve::Serve::of(rest).map_or_else(refused, |serve| serves(&serve)),
            "plot" => return Options::of(rest).map_or_else(refused, |options| plot(&options)),
            "events" => {
                return Terms::of(command, rest).map_or_else(refused, |terms| ended(&terms, events::events(&terms)));
            }
            "live" => Some(live::live),
            "peak" => Some(live::highest),
            "find" => Some(find::find),
            "state" => Some(state::state),
            name if Topic::named(name).is_some() => Some(report::report),
            _ => None,
        };
        if let Some(tell) = tells {
            return Terms::of(command, rest).map_or_else(refused, |terms| told(&terms, tell));
        }
    }
    let json = flags.iter().any(|flag| flag.as_str() == "--json");
    match (words.split_first(), flags.iter().all(|flag| flag.as_str() == "--json")) {
        (Some((command, files)), true) if command.as_str() == "summary" && !files.is_empty() => {
            summary(files, Output { json })
        }
        _ => wrong_usage(),
    }
}

fn wrong_usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn plot(options: &Options) -> ExitCode {
    match plot::plot(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("memscape: {}: {}", options.file, printable(&message));
            ExitCode::from(1)
        }
    }
}

fn serves(serve: &serve::Serve) -> ExitCode {
    match serve.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("memscape serve: {}", printable(&message));
            ExitCode::from(1)
        }
    }
}

fn page(html: &html::Html) -> ExitCode {
    match html.write() {
        Ok(what) => {
            eprintln!("memscape: {}: {what}", html.out);
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("memscape: {}: {}", html.file, printable(&message));
            ExitCode::from(1)
        }
    }
}

/// A command that answers with text, or with one sentence about what went wrong.
type Tells = fn(&Terms) -> Result<String, String>;

fn told(terms: &Terms, tell: Tells) -> ExitCode {
    // A closed pipe (`| head`) is no failure of ours.
    ended(terms, tell(terms).map(|text| drop(io::stdout().write_all(text.as_bytes()))))
}

fn ended(terms: &Terms, result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("memscape: {}: {}", terms.file, printable(&message));
            ExitCode::from(1)
        }
    }
}

struct Output {
    json: bool,
}

fn summary(files: &[&String], output: Output) -> ExitCode {
    let mut summaries = Vec::new();
    let mut failed = false;
    for file in files {
        for opened in open_all(file) {
            match opened {
                Ok(summary) => summaries.push(summary),
                Err(message) => {
                    eprintln!("memscape: {file}: {}", printable(&message));
                    failed = true;
                }
            }
        }
    }
    let text = if output.json {
        serde_json::to_string_pretty(&summaries).map(|text| text + "\n").unwrap_or_default()
    } else {
        summaries.iter().map(describe).collect::<Vec<_>>().join("\n")
    };
    // A closed pipe (`| head`) is no failure of ours.
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::from(u8::from(failed))
}

/// Reads a file; the summary of each snapshot in it, or one sentence.
fn open_all(path: &str) -> Vec<Result<FileSummary, String>> {
    let mut input = match Input::open(path) {
        Ok(input) => input,
        Err(error) => return vec![Err(error.to_string())],
    };
    let name = name_of(path);
    let mut members = Vec::new();
    let mut summary = |member, members: &mut _| open(&mut input, name, member, members).map(|(summary, _)| summary);
    let mut all = vec![summary(None, &mut members)];
    for place in 1..u32::try_from(members.len()).unwrap_or(0) {
        all.push(summary(Some(place), &mut Vec::new()));
    }
    all
}

/// A file's summary for people.
fn describe(summary: &FileSummary) -> String {
    let torch = summary.torch.as_ref().map_or_else(String::new, |torch| format!(", PyTorch {torch}"));
    let mut lines = vec![format!("{}: {}{torch}", summary.file, summary.format)];
    if summary.devices.is_empty() {
        lines.push("  no device has events or segments".to_owned());
    }
    summary.devices.iter().for_each(|device| describe_device(device, &mut lines));
    for warning in &summary.warnings {
        let times =
            if warning.count > 1 { format!("{} times, first: ", grouped(warning.count)) } else { String::new() };
        lines.push(printable(&format!("  warning: {} ({times}{})", warning.message, warning.example)));
    }
    lines.join("\n") + "\n"
}

/// Names from a file may hold escape sequences, which a terminal would obey.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

fn describe_device(device: &DeviceSummary, lines: &mut Vec<String>) {
    let name = if device.device < 0 { "host memory".to_owned() } else { format!("device {}", device.device) };
    let span = device
        .time_us
        .map_or_else(String::new, |(first, last)| format!(" in {}", duration_us(last.saturating_sub(first))));
    lines.push(format!(
        "  {name}: {}{span}, {}, {}, {}",
        counted(device.events, "event"),
        counted(device.allocations, "allocation"),
        counted(device.segments, "segment"),
        counted(device.annotations, "annotation mark"),
    ));
    let mut row = |label: &str, bytes: i64, note: String| {
        let sign = if bytes < 0 { "−" } else { "" };
        let bytes = bytes.unsigned_abs();
        let exact = format!("{sign}{}", grouped(bytes));
        let short = format!("{sign}{}", Bytes(bytes));
        lines.push(format!("    {label:<28}{short:>10}  {exact:>19} bytes{note}"));
    };
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let at = if device.peak_event < 0 { "before the trace".to_owned() } else { format!("event {}", device.peak_event) };
    row("peak requested", device.peak_requested, format!(", {at}"));
    row("requested before the trace", device.base_requested, String::new());
    row("requested at the end", signed(device.end_requested), String::new());
    if device.knows_rounded() {
        row("  the same, rounded", signed(device.end_rounded), String::new());
    }
    row("least requested", device.min_requested, String::new());
    row("mean over events", device.mean_requested.round() as i64, String::new());
    row("median over events", device.median_requested, String::new());
    if let Some(mean) = device.time_weighted_mean_requested {
        row("mean over time", mean.round() as i64, String::new());
    }
    row(
        "freed, born before the trace",
        signed(device.unmatched_free_bytes),
        format!(", {}", counted(device.unmatched_frees, "block")),
    );
    row("never in the trace", signed(device.static_requested), format!(", {}", counted(device.static_blocks, "block")));
    if device.unexplained_requested > 0 {
        row("unexplained", signed(device.unexplained_requested), String::new());
    }
    if device.knows_reserved() {
        row("peak reserved", device.peak_reserved, String::new());
        row("reserved at the end", signed(device.reserved_end), String::new());
    }
}
