//! The canvas's size in device pixels, and what draws into it: a WebGPU device, a new one when it is lost, or the CPU twin.

use super::App;
use super::dom;
use picture::render::Gpu;
use std::rc::Rc;
use ui::Action;
use ui::flame::FlameAction;
use ui::memory::MemoryAction;
use ui::state::{Canvas, Renderer};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::spawn_local;
use web_sys::{
    HtmlCanvasElement, HtmlElement, ResizeObserver, ResizeObserverBoxOptions, ResizeObserverEntry,
    ResizeObserverOptions, ResizeObserverSize,
};

/// After so many lost devices the twin draws: a driver that keeps failing will go on failing.
const MOST_DEVICES: u32 = 4;

/// Chooses what draws: WebGPU where it works.
pub(super) fn choose(app: &Rc<App>) {
    let app = app.clone();
    spawn_local(async move {
        let made = app.painter.borrow_mut().begin();
        let canvases = app.painter.borrow().canvases(&app.elements);
        let gpu = if made > MOST_DEVICES {
            Err("its device was lost again and again".to_owned())
        } else {
            gpu(canvases).await
        };
        let renderer = match gpu {
            Ok(gpu) => {
                watch(&app, &gpu, made);
                app.painter.borrow_mut().use_gpu(gpu);
                Renderer::WebGpu
            }
            Err(reason) => {
                app.painter.borrow_mut().use_twin(&app.elements);
                Renderer::Cpu(reason)
            }
        };
        app.dispatch(Action::RendererChosen(renderer));
    });
}

async fn gpu([timeline, flame]: [HtmlCanvasElement; 2]) -> Result<Gpu, String> {
    // Asking first leaves the canvas free for the twin where the answer is no.
    if !wgpu::util::is_browser_webgpu_supported().await {
        return Err("this browser offers no adapter".to_owned());
    }
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let surface =
        |canvas| instance.create_surface(wgpu::SurfaceTarget::Canvas(canvas)).map_err(|error| error.to_string());
    let surfaces = [surface(timeline)?, surface(flame)?];
    Gpu::new(instance, surfaces).await.map_err(|error| error.to_string())
}

/// Chooses anew when the device made as number `made` is lost.
fn watch(app: &Rc<App>, gpu: &Gpu, made: u32) {
    let (app, failure) = (app.clone(), gpu.failure());
    spawn_local(async move {
        failure.await;
        if app.painter.borrow().is_current(made) {
            choose(&app);
        }
    });
}

/// Tells the state the canvases' sizes, now and whenever they change.
pub(super) fn watch_sizes(app: &Rc<App>) -> Result<(), String> {
    watch_size(app, &app.elements.plot, Action::Resized)?;
    watch_size(app, &app.elements.flame_plot, |canvas| Action::Flame(FlameAction::Resized(canvas)))?;
    watch_size(app, &app.elements.memory_plot, |canvas| Action::Memory(MemoryAction::Resized(canvas)))
}

fn watch_size(app: &Rc<App>, element: &HtmlElement, then: fn(Canvas) -> Action) -> Result<(), String> {
    let changed = Closure::<dyn FnMut(js_sys::Array)>::new({
        let app = app.clone();
        move |entries: js_sys::Array| {
            let entry = entries.get(entries.length().saturating_sub(1)).dyn_into::<ResizeObserverEntry>();
            if let Some(canvas) = entry.ok().and_then(|entry| size(&app, &entry)) {
                app.dispatch(then(canvas));
            }
        }
    });
    let observer = ResizeObserver::new(changed.as_ref().unchecked_ref()).map_err(|error| dom::cause(&error))?;
    let options = ResizeObserverOptions::new();
    options.set_box(ResizeObserverBoxOptions::DevicePixelContentBox);
    observer.observe_with_options(element, &options);
    // It observes as long as the page lives.
    changed.forget();
    Ok(())
}

/// The canvas's size; `None` while it is hidden.
fn size(app: &App, entry: &ResizeObserverEntry) -> Option<Canvas> {
    let scale = app.elements.window.device_pixel_ratio();
    let (width, height) = (entry.content_rect().width() * scale, entry.content_rect().height() * scale);
    // Safari does not tell, and an emulated screen tells the size on the real one.
    let exact = entry.device_pixel_content_box_size().get(0).dyn_into::<ResizeObserverSize>().ok();
    let exact = exact.map(|size| (size.inline_size(), size.block_size()));
    let near = |exact: &(f64, f64)| (exact.0 - width).abs() < 2.0 && (exact.1 - height).abs() < 2.0;
    let (width, height) = exact.filter(near).unwrap_or((width, height));
    let (width_px, height_px) = (width.round() as u32, height.round() as u32);
    (width_px > 0 && height_px > 0 && scale > 0.0).then_some(Canvas { width_px, height_px, scale })
}
