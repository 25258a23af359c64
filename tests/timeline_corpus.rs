//! The timeline geometry of real snapshots: silhouettes with the expected peaks, and stacks without gaps.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use memscape::engine::{Answer, Ask, Engine, Question, Reply, Request, Work};
use memscape::protocol::PlotSettings;
use memscape::timeline::{MAX_QUADS, Scene, View};
use std::path::Path;

const SNAPSHOTS: &str = "../shared/snapshots";

#[test]
fn real_snapshots_have_stacks_without_gaps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|above| above.join(SNAPSHOTS));
    let Some(folder) = folder.into_iter().find(|folder| folder.is_dir()) else {
        println!("SKIPPED: no {SNAPSHOTS} beside the project");
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "pickle"));
    files.sort();
    for path in files {
        let mut engine = Engine::new();
        engine.request(Request::open(&path.display().to_string(), None));
        engine.feed(std::fs::read(&path).unwrap());
        let _ = replies(&mut engine);
        engine.request(Request::EndOfFile);
        let opened = replies(&mut engine).into_iter().find_map(|reply| match reply {
            Reply::Opened(summary) => Some(summary),
            _ => None,
        });
        for device in opened.unwrap_or_else(|| panic!("{} does not open", path.display())).devices {
            let fit = View::fit(device.events + 1, device.drawn_peak, 1600, 900);
            for (closer, left_px) in [(1.0, 0), (5.0, 3000), (300.0, 100_000)] {
                let view = View { x_per_px: fit.x_per_px / closer, left_px, ..fit };
                engine.request(Request::Ask(Ask {
                    serial: 1,
                    device: device.device,
                    question: Question::Scene { view, plot_settings: PlotSettings::default() },
                }));
                let scene = replies(&mut engine).into_iter().find_map(|reply| match reply {
                    Reply::Answer { answer: Answer::Scene(scene), .. } => Some(scene),
                    _ => None,
                });
                let scene = scene.unwrap();
                check_filled_columns(&scene);
                if closer == 1.0 {
                    assert_eq!(
                        scene.columns.total.iter().copied().max(),
                        Some(device.drawn_peak),
                        "{}",
                        path.display()
                    );
                    let reserved = scene.columns.reserved.iter().copied().max().unwrap();
                    assert_eq!(reserved as i64, device.peak_reserved, "{}", path.display());
                }
            }
        }
    }
}

fn replies(engine: &mut Engine) -> Vec<Reply> {
    while engine.step(&mut || true) == Work::More {}
    std::iter::from_fn(|| engine.next_reply()).collect()
}

/// Checks that quads fill every column from the bottom to its total without overlap.
fn check_filled_columns(scene: &Scene) {
    assert!(scene.quads.len() <= MAX_QUADS && scene.quads.len() == scene.identities.len());
    let mut filled = vec![0i64; scene.columns.total.len()];
    for quad in &scene.quads {
        let column = |x: i16| scene.columns.edge_px.partition_point(|&edge| edge < i32::from(x));
        for rows in &mut filled[column(quad.x[0])..column(quad.x[1])] {
            *rows += i64::from(quad.y[1] - quad.y[0]);
        }
    }
    let height = i64::from(scene.view.height_px);
    for (rows, &total) in filled.iter().zip(&scene.columns.total) {
        assert_eq!(*rows, scene.view.row_from_bytes(total).clamp(0, height));
    }
}
