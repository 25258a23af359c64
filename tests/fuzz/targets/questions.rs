//! Opens a file through the engine, sends all requests of the page, and checks the answers.

use super::{events, states, trees};
use memscape::engine::{Answer, Ask, Engine, NeededBytes, Question, Reply, Request};
use memscape::protocol::{
    Access, DeviceSummary, FileSummary, HitAllocation, MomentSpec, PlotSettings, ReportQuestion, Step, Topic,
};
use memscape::protocol::{decode, encode};
use memscape::timeline::{Axis, MAX_QUADS, Scene, View};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// An open file.
pub(crate) struct Opened {
    pub(crate) engine: Engine,
    /// Summary sent to the page.
    pub(crate) summary: FileSummary,
}

/// Maximum number of slices for one file or answer. More is a hang.
const MAX_SLICES: usize = 3_000_000;

/// Opens a file in chunks of the given size. Each slice may check the clock `slice` times.
pub(crate) fn open(file: &[u8], chunk: usize, slice: u32) -> Result<Opened, String> {
    let mut engine = Engine::new();
    let (name, total_bytes) = ("f".to_owned(), Some(file.len() as u64));
    engine.request(Request::Open { name, total_bytes, access: Access::Random, member: None });
    let mut at = 0;
    for _ in 0..MAX_SLICES {
        if let Some(want) = engine.wants() {
            match want {
                NeededBytes::At(offset) => at = usize::try_from(offset).expect("an offset within the file"),
                NeededBytes::Next => {}
                NeededBytes::WholeFile => panic!("the file can be read anywhere"),
            }
            let rest = file.get(at..).expect("an offset within the file");
            let chunk = &rest[..rest.len().min(chunk)];
            at += chunk.len();
            match chunk {
                [] => engine.request(Request::EndOfFile),
                chunk => engine.feed(chunk.to_vec()),
            }
        }
        work(&mut engine, slice);
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Opened(summary) => {
                    check_round_trip(&*summary);
                    return Ok(Opened { engine, summary: *summary });
                }
                Reply::Failed { message } => {
                    let is_one_sentence = !message.is_empty() && message.len() < 10_000 && !message.contains('\n');
                    assert!(is_one_sentence, "{message:?}");
                    return Err(message);
                }
                Reply::Members(members) => check_round_trip(&members),
                Reply::Progress(progress) => {
                    assert!(progress.total_bytes.is_none_or(|total| progress.bytes <= total), "{progress:?}");
                }
                other => panic!("unexpected reply {other:?}"),
            }
        }
    }
    panic!("no end after {MAX_SLICES} slices");
}

fn work(engine: &mut Engine, slice: u32) {
    let mut left = slice;
    engine.step(&mut || {
        left = left.saturating_sub(1);
        left > 0
    });
}

/// Checks that a value survives encoding and decoding.
pub(crate) fn check_round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    assert_eq!(decode::<T>(&encode(value)).as_ref(), Some(value));
}

impl Opened {
    /// Sends a request and returns its answer.
    pub(crate) fn reply(&mut self, request: Request) -> Reply {
        self.engine.request(request);
        self.next_reply()
    }

    /// Returns the next answer.
    pub(crate) fn next_reply(&mut self) -> Reply {
        for _ in 0..MAX_SLICES {
            match self.engine.next_reply() {
                Some(reply) => return reply,
                None => work(&mut self.engine, 3),
            }
        }
        panic!("no answer after {MAX_SLICES} slices");
    }

    fn scene(&mut self, device: i64, view: View) -> Scene {
        match self.reply(Request::Ask(Ask {
            serial: 1,
            device,
            question: Question::Scene { view, plot_settings: PlotSettings::default() },
        })) {
            Reply::Answer { answer: Answer::Scene(scene), .. } => *scene,
            other => panic!("expected a scene, got {other:?}"),
        }
    }

    fn hit(&mut self, device: i64, moment: u32, byte: u64) -> Option<HitAllocation> {
        match self.reply(Request::Ask(Ask {
            serial: 1,
            device,
            question: Question::Hit { plot_settings: PlotSettings::default(), moment, byte },
        })) {
            Reply::Answer { answer: Answer::Hit { hit, .. }, .. } => hit,
            other => panic!("expected a hit, got {other:?}"),
        }
    }

    /// Requests scenes of the whole trace and of windows selected by `chance`, stacks of some moments, and details of
    /// allocations.
    pub(crate) fn check_all(&mut self, chance: &[u8]) {
        let mut bytes = chance.iter().rev().copied().chain(std::iter::repeat(7));
        let mut byte = || bytes.next().unwrap_or(0);
        for device in self.summary.devices.clone().iter().take(3) {
            let (moments, highest) = (device.events + 1, device.drawn_peak);
            // Sums beyond 63 bits saturate. Then they do not add up, but all requests still have answers.
            let adds_up = i64::try_from(highest).is_ok_and(|peak| peak < i64::MAX);
            let whole = View::fit(moments, highest, 1 + u32::from(byte()), 1 + u32::from(byte()));
            let narrow = View { x_per_px: 1.0 / f64::from(1 + byte() % 64), left_px: i64::from(byte()) - 9, ..whole };
            let close = View { bytes_per_px: 0.3, bottom_px: i64::from(byte()) << (byte() % 48), ..narrow };
            let odd = View { left_px: i64::MIN + 7, bottom_px: i64::MAX - 3, ..whole };
            for view in [whole, narrow, close, odd, View { bytes_per_px: f64::NAN, ..whole }] {
                let scene = self.scene(device.device, view);
                check_scene(&scene, adds_up);
                if view == whole && adds_up {
                    assert_eq!(scene.columns.total.iter().max(), Some(&highest), "peak of the scene");
                }
                let column = usize::from(byte()) % scene.columns.moment.len().max(1);
                if let (Some(&moment), true) = (scene.columns.moment.get(column), adds_up) {
                    let total = self.stack(device, moment);
                    assert_eq!(scene.columns.total[column], total, "the column's total is the sum of its blocks");
                }
            }
            check_summary(device, &self.summary, adds_up);
            let some = [0, 1, 2, u32::from(byte()), u32::MAX, (device.allocations as u32).wrapping_sub(1)];
            for allocation in some {
                match self.reply(Request::Ask(Ask {
                    serial: 1,
                    device: device.device,
                    question: Question::Details(allocation),
                })) {
                    Reply::Answer { answer: Answer::Details(details), .. } => {
                        details.iter().for_each(|details| check_round_trip(&**details));
                    }
                    other => panic!("expected details, got {other:?}"),
                }
            }
            trees::check(self, device, &mut byte, adds_up);
            states::check(self, device, &mut byte);
            events::check(self, device, &mut byte);
            for topic in Topic::ALL {
                let (at, rows) = (Some(u32::from(byte())), u32::from(byte()) % 16);
                let question = ReportQuestion { topic, at, thresholds: Vec::new(), rows, ..ReportQuestion::default() };
                match self.reply(Request::Ask(Ask {
                    serial: 1,
                    device: device.device,
                    question: Question::Report(question),
                })) {
                    Reply::Answer { answer: Answer::Report(report), .. } => check_round_trip(&*report),
                    other => panic!("expected a report, got {other:?}"),
                }
            }
            for moment in [0, u32::MAX, device.events as u32] {
                for at in [0, u64::MAX, highest] {
                    self.hit(device.device, moment, at);
                    for step in [Step::Above, Step::Below, Step::Earlier, Step::Later, Step::To(moment)] {
                        self.step(device, moment, at, step);
                    }
                }
            }
        }
    }

    /// Checks that a step ends inside the trace, and that all moments returned are inside it.
    fn step(&mut self, device: &DeviceSummary, moment: u32, byte: u64, step: Step) {
        let plot_settings = PlotSettings::default();
        let to = match self.reply(Request::Ask(Ask {
            serial: 1,
            device: device.device,
            question: Question::Step { plot_settings, moment, byte, step },
        })) {
            Reply::Answer { answer: Answer::Step(to), .. } => to,
            other => panic!("expected a step, got {other:?}"),
        };
        check_round_trip(&to);
        assert!(u64::from(to.moment) <= device.events, "{to:?}");
        let x = f64::from(moment) * 0.7;
        let at = vec![
            MomentSpec::Moment(to.moment),
            MomentSpec::X(Axis::Events, x),
            MomentSpec::X(Axis::Time, x),
            MomentSpec::X(Axis::Time, -x),
        ];
        match self.reply(Request::Ask(Ask { serial: 1, device: device.device, question: Question::Moments(at) })) {
            Reply::Answer { answer: Answer::Moments(moments), .. } => {
                check_round_trip(&moments);
                assert_eq!((moments.len(), moments[0].moment), (4, to.moment));
                assert!(moments.iter().all(|facts| u64::from(facts.moment) <= device.events), "{moments:?}");
            }
            other => panic!("expected moments, got {other:?}"),
        }
    }

    /// Returns the height of the stack at a moment, walking the blocks from the bottom.
    fn stack(&mut self, device: &DeviceSummary, moment: u32) -> u64 {
        let mut height = 0;
        while let Some(hit) = self.hit(device.device, moment, height) {
            assert_eq!(hit.lowest_byte, height, "blocks are stacked without gaps");
            assert!(
                hit.allocated_at <= moment && hit.freed_at.is_none_or(|freed_at| moment < freed_at),
                "{hit:?} is not live at {moment}"
            );
            height += hit.requested;
        }
        height
    }
}

/// Checks relations between the numbers of a device.
fn check_summary(device: &DeviceSummary, file: &FileSummary, adds_up: bool) {
    assert_eq!(device.actions.iter().map(|(_, count)| count).sum::<u64>(), device.events);
    assert!(device.min_requested <= device.median_requested && device.median_requested <= device.peak_requested);
    assert!((-1..device.events as i64).contains(&device.peak_event), "{}", device.peak_event);
    let is_odd = |kinds: &[&str]| file.warnings.iter().any(|warning| kinds.contains(&warning.kind.as_str()));
    let odd = ["negative_remainder", "allocated_twice", "size_of_free_differs", "free_of_unknown_block", "freed_twice"];
    if adds_up && !is_odd(&odd) {
        assert_eq!(u64::try_from(device.peak_requested), Ok(device.drawn_peak), "drawn and counted peaks agree");
    }
}

/// Checks that each column is filled from the bottom to its total.
fn check_scene(scene: &Scene, adds_up: bool) {
    assert!(scene.quads.len() <= MAX_QUADS && scene.quads.len() == scene.identities.len());
    let columns = &scene.columns;
    let mut filled = vec![0i64; columns.total.len()];
    for quad in &scene.quads {
        assert!(quad.x[0] < quad.x[1] && quad.y[0] < quad.y[1], "{quad:?} is empty");
        let column = |x: i16| columns.edge_px.partition_point(|&edge| edge < i32::from(x));
        for rows in &mut filled[column(quad.x[0])..column(quad.x[1])] {
            *rows += i64::from(quad.y[1]) - i64::from(quad.y[0]);
        }
    }
    let row = |bytes: u64| scene.view.row_from_bytes(bytes).clamp(0, i64::from(scene.view.height_px));
    for (rows, &total) in filled.iter().zip(&columns.total) {
        assert!(!adds_up || *rows == row(total) - row(0), "{rows} rows are filled, {} are the total", row(total));
    }
}
