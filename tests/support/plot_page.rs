//! A page with a worker that answers questions about maps, curves and scenes, for tests of the plots.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{
    AddressMap, Curves, DeviceSummary, HitAllocation, HitMemory, HitSegment, MappedRange, MemoryFilter, Plot,
    PlotSettings,
};
use memscape::timeline::scene::SceneColumns;
use memscape::timeline::{Quad, QuadIdentity, Scene, View};
use memscape::ui::features::command::Command;
use memscape::ui::plot::figure::Figure;
use memscape::ui::shell::action::Action;
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::effect::Effect;
use memscape::ui::state::plots::PlotAction;

pub(crate) const CANVAS: Canvas = Canvas { width_px: 100, height_px: 170, scale: 1.0 };
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const ADDRESSES: Plot = Plot::Addresses(MemoryFilter { pool: None, stream: None, address: None });
pub(crate) const RESERVED: Plot = Plot::Reserved(MemoryFilter { pool: None, stream: None, address: None });
/// First address of the upper range of [`map`].
pub(crate) const UPPER: u64 = 0x7f00_0a00_0000;

pub(crate) fn devices() -> Vec<DeviceSummary> {
    let device = |device, peak: u64| DeviceSummary {
        device,
        events: 999,
        peak_requested: peak as i64,
        drawn_peak: peak,
        peak_reserved: 40 * MIB as i64,
        time_us: Some((0, 99_900)),
        ..DeviceSummary::default()
    };
    vec![device(0, 30 * MIB), device(1, 3 * MIB)]
}

/// 20 MiB, a gap, 44 MiB.
pub(crate) fn map() -> AddressMap {
    AddressMap {
        height: 65 * MIB,
        ranges: vec![
            MappedRange { address: 0x7f00_0000_0000, bytes: 20 * MIB, axis_start: 0, segments: 1 },
            MappedRange { address: UPPER, bytes: 44 * MIB, axis_start: 21 * MIB, segments: 2 },
        ],
        pools: vec![(0, 0), (0, 7)],
        streams: vec![0, 16],
    }
}

pub(crate) fn segment_at(address: u64) -> HitSegment {
    HitSegment {
        range: 5,
        address,
        reserved: 40 * MIB,
        range_bytes: 20 * MIB,
        mapped_at: 3,
        unmapped_at: Some(900),
        pool: Some((0, 7)),
        stream: Some(16),
        small: false,
        expandable: true,
        call_site: Some("train.py:7 step".into()),
    }
}

/// A scene with one block, `id`, over the lower half of the window.
pub(crate) fn scene(view: View, id: u32) -> Scene {
    let columns = view.width_px as usize;
    let columns = SceneColumns {
        moment: (0..columns as u32).collect(),
        total: vec![40 * MIB; columns],
        reserved: vec![40 * MIB; columns],
        ..face::columns(view)
    };
    let quads = vec![Quad { x: [0, view.width_px as i16], y: [0, view.height_px as i16 / 2], paint: 0 }];
    let identities = vec![QuadIdentity { first: id, last: id, count: 1, bytes: [512, 0] }];
    Scene { view, band_px: 1, columns, quads, identities, ground: None }
}

pub(crate) fn curves(view: View) -> Curves {
    let columns = view.width_px as usize;
    let of = |bytes: u64| vec![bytes; columns];
    Curves {
        view: Some(view),
        edge_px: (0..=columns as i32).collect(),
        reserved: of(40 * MIB),
        rounded: of(30 * MIB),
        requested: of(29 * MIB),
        allocated: of(28 * MIB),
        awaiting_free: of(MIB),
        free: of(10 * MIB),
        reserved_at_max_free: of(40 * MIB),
        ..Curves::default()
    }
}

/// A worker that keeps effects until a test looks for them.
pub(crate) struct RecordingWorker;

impl Worker for RecordingWorker {
    const KEEPS_EFFECTS: bool = true;
}

pub(crate) type Page = face::Page<RecordingWorker>;

impl Page {
    pub(crate) fn open() -> Page {
        let mut page = Page::with_canvas(CANVAS, RecordingWorker);
        page.load(devices());
        page.settle();
        page
    }

    pub(crate) fn show(plot: usize) -> Page {
        let mut page = Page::open();
        page.act(Action::Plot(PlotAction::KindChosen(plot)));
        page.settle();
        page
    }

    pub(crate) fn press(&mut self, command: Command) {
        self.act(Action::Command(command));
    }

    pub(crate) fn take_request<T>(&mut self, what: fn(&Request) -> Option<T>) -> Option<T> {
        let of = |effect: &Effect| if let Effect::Ask(request) = effect { what(request) } else { None };
        let at = self.effects.iter().position(|effect| of(effect).is_some())?;
        of(&self.effects.remove(at))
    }

    /// Answers requests for maps, totals and scenes until there are none.
    pub(crate) fn settle(&mut self) {
        for _ in 0..50 {
            let scene_of = |request: &Request| match request {
                Request::Ask(Ask { serial, question: Question::Scene { view, .. }, .. }) => Some((*serial, *view)),
                _ => None,
            };
            let map_of = |request: &Request| match request {
                Request::Ask(Ask { serial, question: Question::Map(only), .. }) => Some((*serial, *only)),
                _ => None,
            };
            let curves_of = |request: &Request| match request {
                Request::Ask(Ask { serial, question: Question::Curves { view, only, with_stranded }, .. }) => {
                    Some((*serial, *view, *only, *with_stranded))
                }
                _ => None,
            };
            if let Some((serial, only)) = self.take_request(map_of) {
                let mut map = map();
                if only.address.is_some() {
                    map.ranges.remove(0);
                    map.ranges[0].axis_start = 0;
                    map.height = 44 * MIB;
                }
                self.answer_with(serial, Answer::Map(Box::new(map)));
            } else if let Some((serial, view, only, with_stranded)) = self.take_request(curves_of) {
                let mut curves = curves(view);
                if with_stranded {
                    curves.stranded = vec![5 * MIB; curves.free.len()];
                }
                if only.pool.is_some() {
                    curves.reserved.iter_mut().for_each(|bytes| *bytes = 12 * MIB);
                }
                self.answer_with(serial, Answer::Curves(Box::new(curves)));
            } else if let Some((serial, view)) = self.take_request(scene_of) {
                self.answer_with(serial, Answer::Scene(Box::new(scene(view, 5))));
            } else {
                return;
            }
        }
        panic!("requests do not end");
    }

    pub(crate) fn hit(&mut self, hit: Option<HitAllocation>, memory: Option<HitMemory>) -> PlotSettings {
        let hits = |request: &Request| match request {
            Request::Ask(Ask { serial, question: Question::Hit { plot_settings, .. }, .. }) => {
                Some((*serial, *plot_settings))
            }
            _ => None,
        };
        let (serial, plot_settings) = self.take_request(hits).expect("a hit request");
        self.answer_with(serial, Answer::Hit { hit, memory: memory.map(Box::new) });
        plot_settings
    }

    pub(crate) fn view(&self) -> View {
        self.state.view().expect("a window")
    }

    pub(crate) fn height(&self) -> f64 {
        let view = self.view();
        view.bytes_per_px * f64::from(view.height_px) * 16.0 / 17.0
    }

    pub(crate) fn figure(&self) -> Figure {
        Figure::for_window(&self.state, &self.view(), 1.0)
    }
}

pub(crate) fn block() -> HitAllocation {
    HitAllocation {
        allocation: 5,
        requested: 3 * MIB,
        allocated_at: 2,
        freed_at: Some(9),
        lowest_byte: 0,
        call_site: Some("a".into()),
        category: None,
    }
}
