//! Views of several devices at once: the engine caches one order per device, and answers do not depend on the sequence
//! of requests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;

use generate::Options;
use memscape::engine::{Answer, Ask, Question, Reply, Request, Work};
use memscape::protocol::{Grouping, PlotSettings};
use memscape::timeline::{Scene, View};
use opened::{Opened, open_in_chunks};

fn devices() -> Opened {
    let words = "--devices 3 --events 3000 --frames 6 --layers 4";
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).unwrap();
    let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
    open_in_chunks(&bytes, 1 << 20, usize::MAX).unwrap()
}

fn scene(opened: &mut Opened, device: i64, by: Option<Grouping>) -> Scene {
    let summary = opened.summary.devices.iter().find(|it| it.device == device).unwrap();
    let view = View::fit(summary.events + 1, summary.drawn_peak, 200, 100);
    let plot_settings = PlotSettings { stacking: by, ..PlotSettings::default() };
    opened.engine.request(Request::Ask(Ask {
        serial: device as u32,
        device,
        question: Question::Scene { view, plot_settings },
    }));
    loop {
        let work = opened.engine.step(&mut || true);
        while let Some(reply) = opened.engine.next_reply() {
            if let Reply::Answer { serial, answer: Answer::Scene(scene) } = reply {
                assert_eq!(i64::from(serial), device);
                return *scene;
            }
        }
        assert_eq!(work, Work::More);
    }
}

fn order_bytes(opened: &Opened) -> usize {
    opened.engine.heap_bytes().into_iter().filter(|(table, _)| *table == "orders").map(|(_, bytes)| bytes).sum()
}

#[test]
fn stacking_orders_of_all_devices_are_cached_within_limit() {
    let (mut first, mut alone) = (devices(), [devices(), devices(), devices()]);
    let allocations: u64 = first.summary.devices.iter().map(|device| device.allocations).sum();
    let mut expected = 0;
    for (device, alone) in (0..3).zip(&mut alone) {
        assert_eq!(scene(&mut first, device, Some(Grouping::Size)), scene(alone, device, Some(Grouping::Size)));
        expected += order_bytes(alone);
        assert_eq!(order_bytes(&first), expected, "earlier orders are kept");
    }
    let again: Vec<Scene> = (0..3).map(|device| scene(&mut first, device, Some(Grouping::Size))).collect();
    assert_eq!(order_bytes(&first), expected, "no order is computed twice");
    for by in [Grouping::Lifetime, Grouping::Age, Grouping::Stream] {
        (0..3).for_each(|device| drop(scene(&mut first, device, Some(by))));
        assert!(order_bytes(&first) as u64 <= 16 * (allocations + 3) + 64, "{} bytes", order_bytes(&first));
    }
    let after: Vec<Scene> = (0..3).map(|device| scene(&mut first, device, Some(Grouping::Size))).collect();
    assert_eq!(after, again);
    let birth: Vec<Scene> = (0..3).map(|device| scene(&mut first, device, None)).collect();
    assert_ne!(birth, after);
}
