//! Temporary: events per second.
#![allow(clippy::unwrap_used)]
use crate::files::{recordings, whole};
use crate::recording::{Recording, Step, What};
use crate::{Check, Inference, Plan, Run, StartState};
use std::time::Instant;
fn repeated(recording: &Recording) -> Recording {
    let mut all = Recording { steps: Default::default(), allocations: Default::default(), ..recording.clone() };
    let (mut event, mut base) = (0, 0);
    let count = recording.allocations.len() as u32;
    while (all.steps.len() as u64) < 1_000_000 {
        recording.allocations.iter().for_each(|allocation| all.allocations.push(allocation));
        let mut live = vec![false; count as usize];
        if base > 0 {
            for early in &recording.early {
                live[early.allocation as usize] = true;
                all.steps.push(Step { event, what: What::Alloc(base + early.allocation) });
                event += 1;
            }
        }
        recording.early.iter().for_each(|early| live[early.allocation as usize] = true);
        for step in recording.steps.iter() {
            let what = match step.what {
                What::Alloc(number) => {
                    live[number as usize] = true;
                    What::Alloc(base + number)
                }
                What::FreeRequested(number) => What::FreeRequested(base + number),
                What::FreeCompleted(number) => {
                    live[number as usize] = false;
                    What::FreeCompleted(base + number)
                }
                What::Oom(_) => continue,
                what => what,
            };
            all.steps.push(Step { event, what });
            event += 1;
        }
        for (number, _) in (0..count).zip(&live).filter(|(_, live)| **live) {
            all.steps.push(Step { event, what: What::FreeCompleted(base + number) });
            event += 1;
        }
        base += count;
    }
    all.events = event;
    all
}
#[test]
#[ignore]
fn speed() {
    for name in ["train-fp32-1185-segments.pickle", "train-annotated-mixed-precision.pickle"] {
        let recording = recordings(name).unwrap().into_iter().next().unwrap();
        let all = repeated(&recording);
        for line in ["", "expandable_segments:True", "max_split_size_mb:128"] {
            let settings = crate::conf::parse(line).unwrap().0;
            let plan = Plan { settings, start: StartState::Fresh, ..Plan::default() };
            let mut best = f64::MAX;
            for _ in 0..7 {
                let started = Instant::now();
                let mut run = Run::new(&all, &plan);
                whole(|slice| run.step(&all, slice));
                best = best.min(started.elapsed().as_secs_f64());
            }
            println!("{name} {line:28} {:.2} M steps/s", all.steps.len() as f64 / best / 1e6);
        }
        let mut inference = Inference::default();
        let proof = whole(|slice| inference.step(&recording, slice));
        let mut best = f64::MAX;
        for _ in 0..20 {
            let started = Instant::now();
            let mut check = Check::new(&recording, &proof.settings, proof.backend);
            whole(|slice| check.step(&recording, slice));
            best = best.min(started.elapsed().as_secs_f64());
        }
        println!("{name} check {:.2} M steps/s", recording.steps.len() as f64 / best / 1e6);
    }
}
