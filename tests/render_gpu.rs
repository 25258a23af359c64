//! Compares the GPU renderer with the CPU renderer pixel by pixel. Needs a Vulkan driver (Mesa's lavapipe works) and
//! `--features gpu-test`. Without a driver the tests print a note and pass.
#![cfg(feature = "gpu-test")]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use memscape::gpu::{Painter, RenderError};
use memscape::render::{CpuRenderer, Drawing, Lane, OverlayRect, PictureTheme, RgbaImage};
use memscape::timeline::scene::{BAND, CONTINUED, FADED, PENDING, SceneColumns};
use memscape::timeline::{Axis, Quad, Scene, View};
use wgpu::TextureFormat::{Bgra8Unorm, Rgba8Unorm, Rgba8UnormSrgb};

fn adapter() -> Option<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
    match &adapter {
        Ok(adapter) => println!("adapter: {}", adapter.get_info().name),
        Err(error) => println!("SKIPPED, the GPU was not compared with its twin: {error}"),
    }
    adapter.ok()
}

fn painter(format: wgpu::TextureFormat) -> Option<Painter> {
    adapter().map(|adapter| pollster::block_on(Painter::new(&adapter, format)).unwrap())
}

/// Deterministic pseudo-random numbers (splitmix64).
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

const WIDTH: u32 = 301;
const HEIGHT: u32 = 203;

fn view() -> View {
    View {
        axis: Axis::Events,
        x_per_px: 7.0 / 3.0,
        bytes_per_px: 1.0e6 / 7.0,
        left_px: (1 << 40) + 11,
        bottom_px: 0,
        width_px: WIDTH,
        height_px: HEIGHT,
    }
}

/// Quads of all sizes, overlapping, some cut by the window, in every paint and with every flag.
fn scene(seed: u64) -> Scene {
    let mut numbers = SplitMix64(seed);
    let mut edges = |largest: u32| {
        let from = numbers.below(u64::from(largest)) as u32;
        let length = numbers.below(if from.is_multiple_of(3) { 60 } else { 7 }) as u32;
        [from as i16, (from + length).min(largest) as i16]
    };
    let places: Vec<_> = (0..3000).map(|_| (edges(WIDTH), edges(HEIGHT))).collect();
    let quads = places.into_iter().map(|(x, y)| {
        let flags = [0, 0, BAND, CONTINUED, PENDING, PENDING | CONTINUED][numbers.below(6) as usize];
        let faded = [0, FADED][numbers.below(2) as usize];
        Quad { x, y, paint: (numbers.below(256) as u32 + faded) | flags }
    });
    let quads = quads.collect();
    // Runs of equal columns, as in real curves. A third of them have no bytes awaiting free.
    let mut curve = |most: u64| -> Vec<u64> {
        let mut bytes = 0;
        (0..WIDTH)
            .map(|_| {
                if numbers.below(4) == 0 {
                    bytes = numbers.below(most) * 1_000_000;
                }
                bytes
            })
            .collect()
    };
    let (reserved, total, parts) = (curve(40), curve(30), curve(10));
    let part = |(total, part): (&u64, &u64)| total * (part / 1_000_000).saturating_sub(3) / 7;
    let pending = total.iter().zip(&parts).map(part).collect();
    let edge_px = (0..=WIDTH as i32).collect();
    let columns = SceneColumns { edge_px, reserved, total, pending, ..SceneColumns::default() };
    Scene { view: view(), band_px: 1, columns, quads, identities: Vec::new(), ground: None }
}

fn views() -> Vec<View> {
    let still = view();
    let mut views = vec![
        still,
        View { left_px: still.left_px - 40, bottom_px: 17, ..still },
        View { width_px: 77, height_px: 400, ..still },
    ];
    // Zooming about the middle by factors that keep edges off exact pixel boundaries.
    for factor in [0.1, 0.73, 1.31, 3.7, 41.0] {
        let middle = (still.left_px as f64 + f64::from(WIDTH) / 2.0) / factor;
        views.push(View {
            x_per_px: still.x_per_px * factor,
            bytes_per_px: still.bytes_per_px * factor,
            left_px: middle as i64 - i64::from(WIDTH) / 2,
            ..still
        });
    }
    views
}

/// A drawing with the size of its first lane.
fn drawing<'a>(lanes: &'a [Lane<'a>], overlay: &'a [OverlayRect]) -> Drawing<'a> {
    let Lane { view, look, .. } = lanes[0];
    Drawing { size_px: [view.width_px, view.height_px], background: look.background, lanes, flame: None, overlay }
}

fn max_difference(one: &RgbaImage, other: &RgbaImage) -> u8 {
    assert_eq!((one.width, one.height, one.pixels.len()), (other.width, other.height, other.pixels.len()));
    one.pixels.iter().zip(&other.pixels).map(|(one, other)| one.abs_diff(*other)).max().unwrap_or(0)
}

#[test]
fn gpu_matches_cpu_renderer() {
    for format in [Rgba8Unorm, Bgra8Unorm] {
        let Some(mut painter) = painter(format) else { return };
        let mut twin = CpuRenderer::new();
        let looks = [
            PictureTheme::light(),
            PictureTheme::dark(),
            PictureTheme::light().with_ordered_palette(),
            PictureTheme::dark().with_faded(|slot| slot % 3 == 0),
        ];
        for (seed, look) in (1..).zip(looks) {
            painter.upload(0, &scene(seed));
            twin.upload(0, &scene(seed));
            for view in &views() {
                let opaque = OverlayRect::outline([20, 90], [-5, 60], 2, look.selection);
                let lanes = [Lane::single(view, &look)];
                let drawing = drawing(&lanes, &opaque);
                let expected = twin.draw(&drawing);
                assert!(expected.pixels.chunks(4).any(|pixel| pixel != look.background), "picture is empty");
                let shown = pollster::block_on(painter.image(&drawing)).unwrap();
                assert_eq!(max_difference(&shown, &expected), 0, "{format:?}, {view:?}");

                let clear = [OverlayRect { x: [3, 200], y: [-9, 300], rgba: [200, 30, 90, 77] }];
                let drawing = Drawing { overlay: &clear, ..drawing };
                let shown = pollster::block_on(painter.image(&drawing)).unwrap();
                assert!(max_difference(&shown, &twin.draw(&drawing)) <= 1, "blended, {format:?}, {view:?}");
            }
        }
    }
}

#[test]
fn lanes_are_clipped_like_cpu_renderer() {
    let Some(mut painter) = painter(Rgba8Unorm) else { return };
    let mut twin = CpuRenderer::new();
    for number in 0..3 {
        painter.upload(number, &scene(number.into()));
        twin.upload(number, &scene(number.into()));
    }
    let (light, dark) = (PictureTheme::light(), PictureTheme::dark());
    for view in &views() {
        let low = View { height_px: 70, bottom_px: view.bottom_px + 20, ..*view };
        let lane = |scene, look, bottom_px| Lane { scene, view: &low, look, bottom_px };
        // The last lane extends above the picture, and one has no scene.
        let lanes = [lane(0, &light, 0), lane(1, &dark, 71), lane(9, &dark, 100), lane(2, &light, 150)];
        let overlay = OverlayRect::outline([5, 40], [60, 160], 1, light.peak);
        let drawing = Drawing {
            size_px: [WIDTH, HEIGHT],
            background: dark.background,
            lanes: &lanes,
            flame: None,
            overlay: &overlay,
        };
        let shown = pollster::block_on(painter.image(&drawing)).unwrap();
        assert_eq!(max_difference(&shown, &twin.draw(&drawing)), 0, "{view:?}");
    }
}

#[test]
fn drawing_without_scene_shows_background_and_overlay() {
    let Some(mut painter) = painter(Rgba8Unorm) else { return };
    let look = PictureTheme::dark();
    let overlay = [OverlayRect { x: [1, 2], y: [0, 1], rgba: look.peak }];
    let view = View { width_px: 3, height_px: 2, ..view() };
    let lanes = [Lane::single(&view, &look)];
    let drawing = drawing(&lanes, &overlay);
    let first = pollster::block_on(painter.image(&drawing)).unwrap();
    assert_eq!(first, CpuRenderer::new().draw(&drawing));
    painter.upload(0, &scene(3));
    painter.retain_scenes(&|number| number > 0);
    assert_eq!(pollster::block_on(painter.image(&drawing)).unwrap(), first);
}

#[test]
fn lost_device_reports_error_and_new_device_draws_same_image() {
    let Some(mut painter) = painter(Rgba8Unorm) else { return };
    let (view, look) = (view(), PictureTheme::light());
    let lanes = [Lane::single(&view, &look)];
    let drawing = drawing(&lanes, &[]);
    painter.upload(0, &scene(4));
    let before = pollster::block_on(painter.image(&drawing)).unwrap();

    let failure = painter.failure();
    painter.lose_device();
    let failure_text = pollster::block_on(failure);
    assert!(matches!(failure_text, RenderError::Lost(_)), "{failure_text:?}");
    assert_eq!(pollster::block_on(painter.image(&drawing)), Err(failure_text));

    let mut painter = self::painter(Rgba8Unorm).unwrap();
    painter.upload(0, &scene(4));
    assert_eq!(pollster::block_on(painter.image(&drawing)).unwrap(), before);
}

#[test]
fn srgb_format_is_refused() {
    let Some(adapter) = adapter() else { return };
    let refused = pollster::block_on(Painter::new(&adapter, Rgba8UnormSrgb));
    assert_eq!(refused.err(), Some(RenderError::NoFormat));
}
