//! Native time of all insights of an open file, and of one call tree after another. Each run has its own process.

use crate::answers::tree;
use crate::native;
use memscape::engine::{Engine, Work};
use memscape::protocol::{Arrangement, ReportQuestion, Scope, Topic};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Instant;

/// First argument of the process that opens a file and prints [`NativeAnswers`].
pub(crate) const ANSWER: &str = "--answer-once";

/// Number of call trees: a cursor that is dragged over the whole trace in two seconds.
const TREES: u64 = 120;

/// Times of answers about an open file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NativeAnswers {
    /// Seconds for all insights that the page shows, without the simulations of settings that they quote.
    pub(crate) insights: f64,
    /// The same with these simulations.
    pub(crate) simulated: f64,
    /// Milliseconds of each call tree under a cursor that moves from the first event to the last.
    pub(crate) trees_ms: Vec<f64>,
}

/// Opens the file in a new process and asks for its answers.
pub(crate) fn measure(path: &Path) -> NativeAnswers {
    serde_json::from_str(&native::child(ANSWER, path)).expect("the child prints JSON")
}

/// Prints the measurement if this process was started by [`measure`]; returns whether it was.
pub(crate) fn run_as_child(arguments: &[String]) -> bool {
    let [what, path] = arguments else { return false };
    if what != ANSWER {
        return false;
    }
    let mut trees_ms = Vec::new();
    let mut open = |engine: Engine| {
        let (mut engine, device) = native::open_in(engine, Path::new(path), |_| {});
        // Background work that only speeds up answers.
        work(&mut engine);
        let topics = Topic::ALL.into_iter().filter(|topic| !topic.depends_on_range());
        let questions = topics.map(|topic| ReportQuestion { topic, rows: 100, ..ReportQuestion::default() });
        let questions: Vec<ReportQuestion> = questions.collect();
        let started = Instant::now();
        // As the command line does, on all cores.
        engine.reports(device.device, &questions, &|| true).expect("the file is open");
        let seconds = started.elapsed().as_secs_f64();
        trees_ms.clear();
        for step in 0..TREES {
            let at = (device.events * step / TREES) as u32;
            let started = Instant::now();
            engine.request(tree(&device, Scope::At(at), Arrangement::default(), Vec::new()));
            work(&mut engine);
            trees_ms.push(started.elapsed().as_secs_f64() * 1e3);
        }
        // The first one prepares what all share.
        trees_ms.remove(0);
        seconds
    };
    let (insights, simulated) = (open(Engine::without_simulator()), open(Engine::new()));
    let answers = NativeAnswers { insights, simulated, trees_ms };
    println!("{}", serde_json::to_string(&answers).expect("plain data"));
    true
}

/// Works until all requests are answered, and drops the answers.
fn work(engine: &mut Engine) {
    while engine.step(&mut || true) == Work::More {}
    while engine.next_reply().is_some() {}
}
