//! Comparison of two builds of the page and of the native engine, interleaved in one run: `./run measure --quick`.
//!
//! `cargo bench --bench memscape -- beside FOLDER [--smallest] [--browser NAME]`: the folder has the other build's
//! page, `dist/`, and its benchmark, `bench`. Both pages are measured by this benchmark, and each native engine by its
//! own. Each measurement has a process of its own, and the builds take turns to go first, so that a busy machine slows
//! both. The browser is chromium, firefox or webkitgtk.

use crate::browser;
use crate::cases::{Case, Extent, Generated, cases};
use crate::figure::{Figure, three_digits};
use crate::insights::NativeAnswers;
use crate::native::Memory;
use crate::opening::{Moves, NamedFigures};
use crate::{insights, machine, native, other_browsers, site, trace};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::Command;

/// First argument of the process that opens a file in the page and prints figures as JSON.
const PAGE: &str = "--page-once";
/// First argument of the process that prints the profile of opening a file in the page.
const PROFILE: &str = "--profile-once";
/// Name of the browser that is measured without `--browser`.
const CHROMIUM: &str = "chromium";
/// Number of measurements of each build.
const ROUNDS: usize = 4;
/// Smallest difference that is marked, in percent.
const MIN_PERCENT: f64 = 5.0;

/// One of the two builds.
struct Build {
    name: &'static str,
    dist: PathBuf,
    bench: PathBuf,
}

pub(crate) fn run(arguments: &[String]) {
    let (mut folder, mut browser, mut most) = (None, CHROMIUM.to_owned(), usize::MAX);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--smallest" => most = 1,
            "--browser" => browser = words.next().cloned().unwrap_or_default(),
            _ => folder = Some(word),
        }
    }
    let Some(folder) = folder else {
        eprintln!("error: beside needs the folder of the other build; ./run measure --quick makes it");
        std::process::exit(2);
    };
    let folder = std::path::absolute(folder).expect("a path");
    let own = std::env::current_exe().expect("the path of this program");
    let builds = [
        Build { name: "old", dist: folder.join("dist"), bench: folder.join("bench") },
        Build { name: "new", dist: site::dist(), bench: own },
    ];
    println!(
        "# The build in {} beside this one\n\n{}\nMedians of {ROUNDS} runs of each build, in turn. A ratio below 1 is \
         less time or memory than before. Marked: every run of one build took less than every run of the other, and the \
         medians differ by {MIN_PERCENT} % or more; the others are within the noise.\n",
        folder.display(),
        machine::describe(&browser::version())
    );
    for case in cases(Extent::Quick).into_iter().take(most) {
        match case.generate() {
            Ok(file) => measure(&case, &file, &builds, &browser),
            Err(reason) => println!("## {}\n\nSkipped: {reason}.\n", case.name),
        }
    }
}

/// Measures both builds and prints the table of a file.
fn measure(case: &Case, file: &Generated, builds: &[Build; 2], browser: &str) {
    // Moving depends little on the size, and takes longer than opening.
    let moves = if file.events >= 1_000_000 { Moves::Measured } else { Moves::LeftOut };
    let mut measured: [Vec<NamedFigures>; 2] = Default::default();
    for round in 0..ROUNDS {
        for turn in 0..2 {
            let which = (round + turn) % 2;
            eprintln!("measure: {}, the {} build, run {} of {ROUNDS}", case.name, builds[which].name, round + 1);
            match builds[which].measure(file, moves, browser) {
                Ok(figures) => measured[which].push(figures),
                Err(why) => println!("The {} build failed: {why}\n", builds[which].name),
            }
        }
    }
    println!("## {}\n\n| | old | new | ratio | |\n| --- | --- | --- | --- | --- |", case.name);
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in measured.iter().flatten().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let [old, new] = measured.each_ref().map(|runs| {
            let of_run =
                |figures: &NamedFigures| figures.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
            runs.iter().filter_map(of_run).collect::<Figure>()
        });
        println!("{}", row(name, &old, &new));
    }
    println!();
    if browser != CHROMIUM {
        return;
    }
    for build in builds {
        match build.run_page(PROFILE, file, Moves::LeftOut, browser) {
            Ok(profile) => println!("The {} build. {profile}\n", build.name),
            Err(why) => println!("The {} build has no profile: {why}\n", build.name),
        }
    }
}

/// Formats a row: medians, their ratio, and a mark if they differ by more than noise.
fn row(name: &str, old: &Figure, new: &Figure) -> String {
    let cell = |figure: &Figure| figure.median().map_or("–".to_owned(), three_digits);
    let ratio = new.ratio_to(old).filter(|ratio| ratio.is_finite());
    let is_apart = |less: &Figure, more: &Figure| less.worst() < more.best();
    let mark = match ratio {
        Some(ratio) if (ratio - 1.0).abs() * 100.0 < MIN_PERCENT => "",
        Some(_) if is_apart(new, old) => "**less**",
        Some(_) if is_apart(old, new) => "**more**",
        _ => "",
    };
    let ratio = ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
    format!("| {name} | {} | {} | {ratio} | {mark} |", cell(old), cell(new))
}

impl Build {
    /// Measures everything once. Figures that the other build's benchmark does not know are left out.
    fn measure(&self, file: &Generated, moves: Moves, browser: &str) -> Result<NamedFigures, String> {
        let mut figures = NamedFigures::new();
        let native = |what: &str| output(Command::new(&self.bench).arg(what).arg(&file.path));
        let seconds = native(native::OPEN)?;
        figures.push(("opened natively, s".to_owned(), seconds.parse().map_err(|_| seconds.clone())?));
        if let Ok(memory) = native(native::WEIGH)
            && let Ok(memory) = serde_json::from_str::<Memory>(&memory)
        {
            figures.push(("held natively, bytes an event".to_owned(), file.per_event(memory.sums()[1] as f64)));
            figures.push(("peak natively, bytes an event".to_owned(), file.per_event(memory.resident as f64)));
        }
        if let Ok(answers) = native(insights::ANSWER)
            && let Ok(answers) = serde_json::from_str::<NativeAnswers>(&answers)
        {
            figures.push(("all insights natively, s".to_owned(), answers.insights));
            figures.push(("the same, with the simulated settings, s".to_owned(), answers.simulated));
            let trees: Figure = answers.trees_ms.into_iter().collect();
            let late = trees.percentile(95).unwrap_or_default();
            figures.push(("one call tree after another natively, 95 in 100, ms".to_owned(), late));
        }
        let page = self.run_page(PAGE, file, moves, browser)?;
        figures.extend(serde_json::from_str::<NamedFigures>(&page).map_err(|error| format!("{error}: {page}"))?);
        Ok(figures)
    }

    /// Runs this benchmark on this build's page.
    fn run_page(&self, what: &str, file: &Generated, moves: Moves, browser: &str) -> Result<String, String> {
        let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
        command.arg(what).arg(&file.path).args([file.events.to_string(), format!("{moves:?}"), browser.to_owned()]);
        output(command.env("MEMSCAPE_DIST", &self.dist))
    }
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Measures the page and prints the result if this process was started for that; returns whether it was.
pub(crate) fn run_as_child(arguments: &[String]) -> bool {
    let [what, path, events, moves, browser] = arguments else { return false };
    if ![PAGE, PROFILE].contains(&what.as_str()) {
        return false;
    }
    let (path, events) = (PathBuf::from(path), events.parse().expect("a number"));
    let bytes = Path::new(&path).metadata().expect("the file exists").len();
    // The file belongs to the process that started this one.
    let file = ManuallyDrop::new(Generated { path, bytes, events });
    if what == PROFILE {
        print!("{}", trace::record(&file).report());
    } else {
        let moves = if *moves == format!("{:?}", Moves::Measured) { Moves::Measured } else { Moves::LeftOut };
        let others = (browser != CHROMIUM).then(other_browsers::browsers);
        let other = others.iter().flatten().find(|other| other.name.eq_ignore_ascii_case(browser));
        let figures = match other {
            Some(other) => other.open(&file, moves).expect("the file opens").figures(),
            None => browser::open(&file, moves).figures(&file),
        };
        println!("{}", serde_json::to_string(&figures).expect("plain data"));
    }
    true
}
