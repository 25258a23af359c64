//! Time of a frame from computed geometry: drawn by the WebGPU renderer into a texture, compared with the CPU renderer.
//!
//! `cargo bench --features gpu-test --bench memscape -- offscreen` uses a GPU with Vulkan or Mesa's lavapipe, which
//! draws on the processor; the output names the adapter. Without either it prints that nothing was measured. The files
//! are those of the benchmark `picture`, up to a million events.

use crate::cases::{Case, Extent};
use crate::figure::{Figure, three_digits};
use crate::{cases, native, windows};
use memscape::engine::Work;
use memscape::gpu::Painter;
use memscape::protocol::{Grouping, PlotSettings};
use memscape::render::{CpuRenderer, Drawing, Lane, PictureTheme, RgbaImage};
use memscape::timeline::{Axis, Scene, View};
use memscape::ui::state::navigate::Plane;
use std::time::{Duration, Instant};

/// Number of measured frames of a scene, after a first one that creates the buffers.
const FRAMES: u32 = 24;

pub(crate) fn run(_: &[String]) {
    let Some(adapter) = adapter() else { return };
    let info = adapter.get_info();
    let kind = match info.device_type {
        wgpu::DeviceType::Cpu => "a processor that plays GPU, so no figure of a real one",
        wgpu::DeviceType::DiscreteGpu => "a GPU with memory of its own",
        wgpu::DeviceType::IntegratedGpu => "a GPU that shares the processor's memory",
        wgpu::DeviceType::VirtualGpu => "a GPU lent to a virtual machine",
        wgpu::DeviceType::Other => "of unknown kind",
    };
    let mut painter = pollster::block_on(Painter::new(&adapter, wgpu::TextureFormat::Rgba8Unorm)).expect("a device");
    let (size, cores) = (windows::CANVAS, std::thread::available_parallelism().map_or(0, usize::from));
    println!("Adapter: {} ({}), {kind}; {cores} cores.", info.name, info.driver_info);
    println!(
        "{} × {} pixels; {FRAMES} frames a scene, each a pixel further and waited for; milliseconds.\n",
        size.width_px, size.height_px
    );
    println!(
        "| file | order | window | quads | upload | frame, median | worst | the twin's, median | twin ÷ GPU | pixels that differ |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in cases::picture_cases(Extent::Quick) {
        if let Err(reason) = measure(&case, &mut painter) {
            println!("| {} | skipped: {reason} | | | | | | | | |", case.name);
        }
    }
}

/// High-performance Vulkan adapter: a real GPU before lavapipe. Prints why if there is none.
fn adapter() -> Option<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let wanted = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..wgpu::RequestAdapterOptions::default()
    };
    pollster::block_on(instance.request_adapter(&wanted))
        .map_err(|error| println!("SKIPPED, no frame was drawn offscreen: {error}"))
        .ok()
}

/// Prints a row per scene: the whole trace and a sixteenth of the trace, in allocation order and by call site.
fn measure(case: &Case, painter: &mut Painter) -> Result<(), String> {
    let file = case.generate()?;
    let (mut engine, device) = native::open_with(&file.path, |_| {});
    while engine.step(&mut || true) == Work::More {}
    let plane = Plane::for_device(&device, Axis::Events);
    let whole = plane.fit(windows::CANVAS);
    let near = plane.zoom_events(whole, f64::from(whole.width_px) * 0.52, 1.0 / 16.0);
    for stacking in [None, Some(Grouping::CallSite)] {
        let plot_settings = PlotSettings { stacking, ..PlotSettings::default() };
        for (window, view) in [("all", whole), ("a sixteenth", near)] {
            let (_, scene) =
                windows::request_scene(&mut engine, device.device, view, plot_settings, &mut Duration::default());
            let order = stacking.map_or("birth", Grouping::name);
            println!(
                "| {} | {order} | {window} | {} | {} |",
                case.name,
                scene.quads.len(),
                frames(painter, &scene, &view)
            );
        }
    }
    Ok(())
}

/// Draws the scene with WebGPU and with the CPU renderer; returns the last cells of its row.
fn frames(painter: &mut Painter, scene: &Scene, view: &View) -> String {
    let mut twin = CpuRenderer::new();
    twin.upload(0, scene);
    let uploading = Instant::now();
    painter.upload(0, scene);
    let upload = ms(uploading);

    let look = PictureTheme::light();
    let texture = painter.texture([view.width_px, view.height_px]);
    let mut on_gpu = |frame: u32| {
        draw_panned(view, frame, &look, |drawing| {
            let started = Instant::now();
            painter.paint(&texture, drawing).expect("a device that works");
            painter.wait().expect("a device that works");
            ms(started)
        })
    };
    on_gpu(0);
    let gpu: Figure = (1..=FRAMES).map(&mut on_gpu).collect();
    let on_processor = |frame: u32| {
        draw_panned(view, frame, &look, |drawing| {
            let started = Instant::now();
            std::hint::black_box(twin.draw(drawing));
            ms(started)
        })
    };
    on_processor(0);
    let processor: Figure = (1..=FRAMES).map(on_processor).collect();

    let differ = draw_panned(view, FRAMES, &look, |drawing| {
        let shown = pollster::block_on(painter.image(drawing)).expect("a device that works");
        let drawn = shown.pixels.chunks(4).filter(|pixel| *pixel != look.background).count();
        assert!(drawn > shown.pixels.len() / 4 / 10, "the picture is nearly empty: {drawn} pixels");
        differing_pixels(&shown, &twin.draw(drawing))
    });
    let cell = |value: Option<f64>| value.map_or("–".to_owned(), three_digits);
    format!(
        "{} | {} | {} | {} | {} | {differ}",
        three_digits(upload),
        cell(gpu.median()),
        cell(gpu.worst()),
        cell(processor.median()),
        cell(processor.ratio_to(&gpu))
    )
}

/// Draws the scene panned to the right by this many pixels.
fn draw_panned<T>(view: &View, pixels: u32, look: &PictureTheme, draw: impl FnOnce(&Drawing<'_>) -> T) -> T {
    let view = View { left_px: view.left_px + i64::from(pixels), ..*view };
    let lanes = [Lane::single(&view, look)];
    draw(&Drawing {
        size_px: [view.width_px, view.height_px],
        background: look.background,
        lanes: &lanes,
        flame: None,
        overlay: &[],
    })
}

/// Number of pixels that differ.
fn differing_pixels(one: &RgbaImage, other: &RgbaImage) -> usize {
    assert_eq!((one.width, one.height), (other.width, other.height));
    one.pixels.chunks(4).zip(other.pixels.chunks(4)).filter(|(one, other)| one != other).count()
}

fn ms(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}
