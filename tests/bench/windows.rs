//! Native time of geometry, through the engine: the first window, later ones, other orders, and hit tests.

use crate::figure::Figure;
use crate::native;
use memscape::engine::{Answer, Ask, Engine, Question, Reply, Request, Work};
use memscape::protocol::{DeviceSummary, Grouping, PlotSettings};
use memscape::timeline::{Axis, Scene, View};
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::navigate::Plane;
use std::path::Path;
use std::time::{Duration, Instant};

/// Size of the canvas in device pixels, which is a large one.
pub(crate) const CANVAS: Canvas = Canvas { width_px: 2000, height_px: 1000, scale: 1.0 };
/// Maximum length of a slice of work, as in the page's worker.
const SLICE: Duration = Duration::from_millis(8);
/// Number of hit tests.
const HIT_TESTS: u64 = 200;

/// Times of windows of a file in one order, in milliseconds.
pub(crate) struct WindowTimes {
    /// Name of the order.
    pub(crate) name: &'static str,
    /// First window, which is the whole trace.
    pub(crate) first: f64,
    /// Later windows, with the page's margin.
    pub(crate) later: Figure,
    /// Longest time that the engine worked without checking the clock.
    pub(crate) longest_slice: f64,
    /// Hit tests in the stacked plot.
    pub(crate) hits: Figure,
    /// Number of quads in the first scene.
    pub(crate) quads: usize,
    /// Height of a band in the first scene, in pixels.
    pub(crate) band_px: u32,
}

/// Windows after the whole trace: several zooms and positions, some zoomed in bytes too.
pub(crate) fn later_views(plane: Plane, canvas: Canvas) -> Vec<View> {
    let whole = plane.fit(canvas);
    let (width, height) = (f64::from(canvas.width_px), f64::from(canvas.height_px));
    let at = |zoom: f64, place: f64| {
        let near = plane.zoom_events(whole, width * place, 1.0 / zoom);
        if zoom > 50.0 { plane.zoom_bytes(near, height * place, 0.3) } else { near }
    };
    let zooms = [1.5, 4.0, 16.0, 64.0, 512.0, 1e4, 1e6];
    zooms.into_iter().flat_map(|zoom| [0.1, 0.52, 0.9].map(|place| plane.with_margin(at(zoom, place)))).collect()
}

/// Opens a file and measures allocation order and several groupings.
pub(crate) fn measure(path: &Path) -> Vec<WindowTimes> {
    let (mut engine, device) = native::open_with(path, |_| {});
    // Background work that only speeds up answers.
    while engine.step(&mut || true) == Work::More {}
    let orders = [None, Some(Grouping::CallSite), Some(Grouping::Size), Some(Grouping::Stream)];
    orders
        .map(|stacking| measure_order(&mut engine, &device, PlotSettings { stacking, ..PlotSettings::default() }))
        .into()
}

fn measure_order(engine: &mut Engine, device: &DeviceSummary, plot_settings: PlotSettings) -> WindowTimes {
    let plane = Plane::for_device(device, Axis::Events);
    let mut longest_slice = Duration::ZERO;
    let (first, scene) = request_scene(engine, device.device, plane.fit(CANVAS), plot_settings, &mut longest_slice);
    let mut later = Vec::new();
    for view in later_views(plane, CANVAS) {
        later.push(request_scene(engine, device.device, view, plot_settings, &mut longest_slice).0);
    }
    let mut chance = 1u64;
    let mut below = |end: u64| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 20) % end.max(1)
    };
    let mut hit = || {
        let (moment, byte) = (below(device.events + 1) as u32, below(device.drawn_peak));
        let started = Instant::now();
        engine.request(Request::Ask(Ask {
            serial: 0,
            device: device.device,
            question: Question::Hit { plot_settings, moment, byte },
        }));
        let took = started.elapsed();
        assert!(
            matches!(engine.next_reply(), Some(Reply::Answer { answer: Answer::Hit { .. }, .. })),
            "a hit is answered at once"
        );
        ms(took)
    };
    WindowTimes {
        name: plot_settings.stacking.map_or("birth", Grouping::name),
        first,
        later: later.into_iter().collect(),
        hits: (0..HIT_TESTS).map(|_| hit()).collect(),
        longest_slice: ms(longest_slice),
        quads: scene.quads.len(),
        band_px: scene.band_px,
    }
}

/// Requests a scene; returns the milliseconds until it arrives, and the scene. `longest` is raised to the longest
/// slice.
pub(crate) fn request_scene(
    engine: &mut Engine,
    device: i64,
    view: View,
    plot_settings: PlotSettings,
    longest: &mut Duration,
) -> (f64, Scene) {
    let started = Instant::now();
    engine.request(Request::Ask(Ask { serial: 0, device, question: Question::Scene { view, plot_settings } }));
    loop {
        let slice = Instant::now();
        engine.step(&mut || slice.elapsed() < SLICE);
        *longest = slice.elapsed().max(*longest);
        if let Some(Reply::Answer { answer: Answer::Scene(scene), .. }) = engine.next_reply() {
            return (ms(started.elapsed()), *scene);
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
