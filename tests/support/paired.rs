//! Drives a pair of files as the page's worker does.

use crate::opened::snapshots;
use memscape::compare::{FileSlot, Pair};
use memscape::engine::{Answer, Ask, Engine, NeededBytes, Question, Reply, Request, Work};
use memscape::protocol::{Access, DeltaCurve, FileSummary, PairAnswer, PairMap, PairQuestion, Pairing, Report};
use memscape::timeline::View;
use memscape::units::Moment;

/// A worker that holds a pair of files.
pub(crate) struct Worker {
    pub(crate) pair: Pair,
    serial: u32,
}

impl Worker {
    pub(crate) fn new() -> Worker {
        Worker { pair: Pair::new(Engine::without_simulator), serial: 0 }
    }

    /// Opens a file in the shortest possible slices.
    pub(crate) fn open(&mut self, which: FileSlot, bytes: &[u8]) -> Result<FileSummary, String> {
        let open = Request::Open {
            name: "a.pickle".to_owned(),
            total_bytes: Some(bytes.len() as u64),
            access: Access::Random,
            member: None,
        };
        match which {
            FileSlot::First => self.pair.request(open),
            FileSlot::Second => self.pair.open_second(open),
        }
        let mut at = 0;
        loop {
            match self.pair.wants() {
                Some(NeededBytes::At(offset)) => at = offset as usize,
                Some(NeededBytes::Next) if at < bytes.len() => {
                    let end = bytes.len().min(at + 50_000);
                    self.pair.feed(bytes[at..end].to_vec());
                    at = end;
                }
                Some(NeededBytes::Next) => self.pair.request(Request::EndOfFile),
                _ => {}
            }
            self.pair.step(&mut || false);
            while let Some((of, reply)) = self.pair.next_reply() {
                assert_eq!(of, which);
                match reply {
                    Reply::Opened(file) => return Ok(*file),
                    Reply::Failed { message } => return Err(message),
                    _ => {}
                }
            }
        }
    }

    pub(crate) fn open_real(&mut self, which: FileSlot, name: &str) -> Option<FileSummary> {
        let bytes = std::fs::read(snapshots()?.join(format!("{name}.pickle"))).unwrap();
        Some(self.open(which, &bytes).unwrap())
    }

    /// Sends a question and returns its answer, or `None` if there is none.
    pub(crate) fn ask(&mut self, device: i64, what: Question) -> Option<Answer> {
        self.serial += 1;
        self.pair.request(Request::Ask(Ask { serial: self.serial, device, question: what }));
        loop {
            let work = self.pair.step(&mut || false);
            if let Some((_, Reply::Answer { serial, answer })) = self.pair.next_reply() {
                assert_eq!(serial, self.serial);
                return Some(answer);
            }
            if work == Work::Idle {
                return None;
            }
        }
    }

    pub(crate) fn pair_answer(&mut self, device: i64, question: PairQuestion) -> PairAnswer {
        match self.ask(device, Question::Pair(question)) {
            Some(Answer::Pair(answer)) => *answer,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn map(&mut self, device: i64, pairing: Pairing, places: u32) -> PairMap {
        match self.pair_answer(device, PairQuestion::Map(pairing, places)) {
            PairAnswer::Map(map) => map,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn aligned(
        &mut self,
        device: i64,
        pairing: Pairing,
        is_of_b: bool,
        moment: u32,
    ) -> ([u32; 2], [u64; 2]) {
        match self.pair_answer(device, PairQuestion::Aligned(pairing, is_of_b, moment)) {
            PairAnswer::Aligned(a, b, live_a, live_b) => ([a, b], [live_a, live_b]),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn curve(&mut self, device: i64, pairing: Pairing, view: View) -> DeltaCurve {
        match self.pair_answer(device, PairQuestion::Curve(pairing, view)) {
            PairAnswer::Curve(curve) => *curve,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn report(&mut self, device: i64, pairing: Pairing, rows: u32) -> Report {
        match self.ask(device, Question::Comparison(pairing, rows)) {
            Some(Answer::Report(report)) => *report,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the live bytes of a device at each moment, summed event by event.
    pub(crate) fn live_bytes(&self, device: i64) -> Vec<i64> {
        let side = self.pair.side(device).unwrap();
        let mut now = side.history.drawn_at(Moment::START);
        let mut all = vec![now];
        for moment in 1..=side.history.event_count() {
            now += side.history.drawn_change(Moment(moment).event().unwrap());
            all.push(now);
        }
        all
    }
}

/// Returns the device that is shown first.
pub(crate) fn device(file: &FileSummary) -> i64 {
    file.devices[file.default_device()].device
}
