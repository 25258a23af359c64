//! Test harness for links: a page that follows them, and a worker with answers about two devices.

use crate::face::opened_reply;
use crate::plot_page;
use memscape::protocol::{
    AddressMap, Answer, Ask, AxisPoint, Details, DeviceSummary, HitMemory, HitSegment, LegendEntry, Member,
    MomentFacts, MomentSpec, Plot, Question, Reply, Report, Request, SegmentsPage, Sheet, SheetRow, SourceFile,
    SourceLine, SourcesPage, StepOutcome, StepResult, Threshold, Weight,
};
use memscape::timeline::Axis;
use memscape::ui::features::State;
use memscape::ui::shell::action::Action;
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::effect::{Effect, GivenFile};
use memscape::ui::state::link::Link;
use memscape::ui::update;

const CANVAS: Canvas = Canvas { width_px: 640, height_px: 300, scale: 1.0 };
/// Fingerprint of the test file.
pub(crate) const FINGERPRINT: &str = "12-00112233445566778899aabbccddeeff";

pub(crate) fn devices() -> Vec<DeviceSummary> {
    let device = |device, events| DeviceSummary {
        device,
        events,
        peak_requested: 1 << 30,
        peak_event: 7,
        drawn_peak: 1 << 30,
        peak_reserved: 2 << 30,
        time_us: Some((1_700_000_000_000_000, 1_700_000_009_000_000)),
        ..DeviceSummary::default()
    };
    vec![device(0, 1_000_000), device(3, 90)]
}

/// A page whose worker answers the questions that links depend on.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) state: State,
    /// Files loaded, with the member index for archives.
    pub(crate) loads: Vec<String>,
    /// Devices of the files. If empty, [`devices`].
    pub(crate) devices: Vec<DeviceSummary>,
    /// True if the worker also answers requests for the timeline, and most bytes have a category.
    pub(crate) has_categories: bool,
}

impl Page {
    pub(crate) fn new() -> Page {
        let mut page = Page::default();
        page.act(Action::Resized(CANVAS));
        page
    }

    /// Creates a page that has followed a link.
    pub(crate) fn following(fragment: &str) -> Page {
        let mut page = Page::new();
        page.follow(fragment);
        page.open();
        page.reply_fingerprint(FINGERPRINT);
        page
    }

    pub(crate) fn act(&mut self, action: Action) {
        let mut waiting = update(&mut self.state, action, 0.0);
        while let Some(effect) = waiting.pop() {
            let reply = match effect {
                Effect::Load { origin, member, .. } => {
                    let member = member.map_or(String::new(), |member| format!(" member {member}"));
                    self.loads.push(format!("{origin:?}{member}"));
                    continue;
                }
                Effect::Ask(request) => answer(request, self.has_categories),
                _ => continue,
            };
            let Some(reply) = reply else { continue };
            let load = self.state.load;
            waiting.extend(update(&mut self.state, Action::Replied { load, reply }, 0.0));
        }
    }

    pub(crate) fn follow(&mut self, fragment: &str) {
        self.act(Action::LinkGiven(Box::new(Link::parse(fragment))));
    }

    pub(crate) fn reply(&mut self, reply: Reply) {
        self.act(Action::Replied { load: self.state.load, reply });
    }

    /// Replies that the file contains several snapshots with the given names.
    pub(crate) fn list_members(&mut self, names: &[&str]) {
        let members = names.iter().map(|name| Member { name: (*name).into(), bytes: 5 });
        self.reply(Reply::Members(members.collect()));
    }

    pub(crate) fn open(&mut self) {
        let devices = if self.devices.is_empty() { devices() } else { self.devices.clone() };
        self.reply(opened_reply(devices));
    }

    pub(crate) fn drop_file(&mut self, print: &str) {
        self.act(Action::FilesGiven(vec![GivenFile { name: "a.pickle".into(), bytes: 12 }]));
        self.open();
        self.reply_fingerprint(print);
    }

    pub(crate) fn reply_fingerprint(&mut self, print: &str) {
        self.act(Action::Fingerprinted { load: self.state.load, print: print.to_owned() });
    }

    pub(crate) fn fragment(&self) -> String {
        Link::from_state(&self.state).unwrap().fragment()
    }

    pub(crate) fn notice(&self) -> &str {
        self.state.linked.notice.as_deref().unwrap_or_default()
    }
}

fn answer(request: Request, has_categories: bool) -> Option<Reply> {
    Some(match request {
        Request::Ask(Ask { serial, question: Question::Scene { view, .. }, .. }) if has_categories => {
            Reply::Answer { serial, answer: Answer::Scene(Box::new(plot_page::scene(view, 0))) }
        }
        Request::Ask(Ask { serial, question: Question::Legend { .. }, .. }) if has_categories => {
            let entry = |peak_requested| LegendEntry {
                slot: 0,
                label: String::new(),
                groups: 1,
                peak_requested,
                peak_count: 1,
                at: Weight::default(),
            };
            Reply::Answer { serial, answer: Answer::Legend(vec![entry(99), entry(1)]) }
        }
        Request::Ask(Ask { serial, question: Question::Details(allocation), .. }) => {
            let details = Details { allocation, allocated_event: Some(3), ..Details::default() };
            Reply::Answer { serial, answer: Answer::Details((allocation < 5000).then(|| Box::new(details))) }
        }
        Request::Ask(Ask { serial, question: Question::Map(_), .. }) => {
            let (pools, streams) = (vec![(0, 0), (0, 7)], vec![0, 42]);
            let map = AddressMap { height: 3 << 30, pools, streams, ..AddressMap::default() };
            Reply::Answer { serial, answer: Answer::Map(Box::new(map)) }
        }
        Request::Ask(Ask { serial, question: Question::Moments(at), .. }) => {
            Reply::Answer { serial, answer: Answer::Moments(at.into_iter().map(facts).collect()) }
        }
        Request::Ask(Ask { serial, question: Question::Step { moment, byte, .. }, .. }) => {
            let to = StepResult { moment: moment + 2, byte: byte / 2 + 1, outcome: StepOutcome::Arrived };
            Reply::Answer { serial, answer: Answer::Step(to) }
        }
        Request::Ask(Ask { serial, question: Question::Hit { plot_settings, byte, .. }, .. }) => {
            let segment = HitSegment { address: byte & !511, ..HitSegment::default() };
            let memory = HitMemory { segment: Some(segment), free: None };
            let memory = (plot_settings.plot != Plot::Stack).then(|| Box::new(memory));
            Reply::Answer { serial, answer: Answer::Hit { hit: None, memory } }
        }
        Request::Ask(Ask { serial, question: Question::State(question), .. }) => {
            let bytes_per_px = if question.bytes_per_px > 0.0 { question.bytes_per_px } else { 12345.6 };
            let page = SegmentsPage { moment: question.moment, bytes_per_px, ..SegmentsPage::default() };
            Reply::Answer { serial, answer: Answer::State(Box::new(page)) }
        }
        Request::Ask(Ask { serial, question: Question::Sources(_), .. }) => {
            let line = SourceLine { line: "5".into(), ..SourceLine::default() };
            let file =
                |path: &str| SourceFile { path: path.into(), lines: vec![line.clone()], ..SourceFile::default() };
            let files = ["/a/train.py", "/b, c/100%/m.py", "…tail.py"].map(file).to_vec();
            Reply::Answer { serial, answer: Answer::Sources(Box::new(SourcesPage { files, ..SourcesPage::default() })) }
        }
        Request::Ask(Ask { serial, question: Question::Report(question), .. }) => {
            let value = question.thresholds.first().map_or(100, |(_, value)| *value);
            let threshold = Threshold { key: "alive".into(), label: String::new(), unit: String::new(), value };
            let rows = vec![SheetRow::default(); question.rows.min(40) as usize];
            let sheet = Sheet { key: "held".into(), threshold: Some(threshold), rows, ..Sheet::default() };
            let report = Report { topic: question.topic, sheets: vec![sheet], ..Report::default() };
            Reply::Answer { serial, answer: Answer::Report(Box::new(report)) }
        }
        _ => return None,
    })
}

fn facts(at: MomentSpec) -> MomentFacts {
    let moment = match at {
        MomentSpec::Moment(moment) => moment,
        MomentSpec::X(Axis::Events, x) => x as u32,
        MomentSpec::X(Axis::Time, x) => (x / 100_000.0) as u32,
        MomentSpec::PeakReserved => 77,
        MomentSpec::OutOfMemory => 66,
        MomentSpec::After(_) => 0,
    };
    let time = u64::from(moment) * 100_000;
    let place = AxisPoint { events: f64::from(moment), time };
    MomentFacts {
        moment,
        position: place,
        start: time,
        requested: 1 << 29,
        reserved: 1 << 30,
        ..MomentFacts::default()
    }
}
