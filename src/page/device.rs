//! Choice of the renderer (WebGPU or the CPU), replacement of a lost WebGPU device, and canvas sizes in device pixels.

use super::app::App;
use super::dom;
use crate::wire::ToWorker;
use gpu::Gpu;
use js_sys::{Array, Function, Promise, Reflect};
use ui::shell::action::Action;
use ui::state::drawing::Canvas;
use ui::state::stage::{Renderer, Stage};
use ui::text::renderer;
use ui::text::renderer::RequestedRenderer;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    HtmlCanvasElement, HtmlElement, ResizeObserverBoxOptions, ResizeObserverEntry, ResizeObserverOptions,
    ResizeObserverSize, Window,
};

/// Maximum number of WebGPU devices that are created. If all of them are lost, the CPU renderer is used.
const MAX_DEVICES: u32 = 4;

/// Selects the renderer: WebGPU if it works, otherwise the CPU renderer.
pub(super) fn select_renderer(app: &'static App) {
    spawn_local(async move {
        let request = app.painter.borrow_mut().reset();
        let canvases = app.painter.borrow().canvases();
        let gpu = if request > MAX_DEVICES {
            Err(Some("its device was lost repeatedly".to_owned()))
        } else {
            create_gpu(&app.dom.window, canvases).await
        };
        let renderer = match gpu {
            Ok(gpu) => {
                watch_device(app, &gpu, request);
                app.painter.borrow_mut().use_gpu(gpu);
                Renderer::WebGpu
            }
            Err(reason) => {
                app.painter.borrow_mut().use_cpu();
                Renderer::Cpu(reason)
            }
        };
        app.dispatch(Action::RendererChosen(renderer));
        if request == 1 && matches!(app.state.borrow().stage, Stage::Empty) {
            // The page is idle, so work that the first file would have to wait for is done now.
            dom::set_attribute(&app.dom.body, "data-prepared", "");
            app.client.send(&ToWorker::WarmUp);
            app.painter.borrow().warm_up(&app.theme.borrow());
        }
    });
}

/// Creates the WebGPU renderer. The error is the reason shown to the user, or `None` if none needs to be shown.
async fn create_gpu(window: &Window, [timeline, flame]: [HtmlCanvasElement; 2]) -> Result<Gpu, Option<String>> {
    let wanted = RequestedRenderer::from_query(&window.location().search().unwrap_or_default());
    if wanted == RequestedRenderer::Cpu {
        return Err(None);
    }
    // Checked first, because a canvas that has a WebGPU context cannot be used by the CPU renderer.
    match is_software(window).await {
        None => return Err(Some("this browser has no adapter".to_owned())),
        Some(true) if wanted == RequestedRenderer::Fastest => return Err(None),
        Some(_) => {}
    }
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let surface =
        |canvas| instance.create_surface(wgpu::SurfaceTarget::Canvas(canvas)).map_err(|error| Some(error.to_string()));
    let surfaces = [surface(timeline)?, surface(flame)?];
    Gpu::new(instance, surfaces).await.map_err(|error| Some(error.to_string()))
}

/// Returns whether the browser's adapter is a software renderer, or `None` if there is no adapter. Asks the browser
/// directly, because wgpu has only the adapter's description, which browsers leave empty.
async fn is_software(window: &Window) -> Option<bool> {
    let read = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).unwrap_or_default();
    let gpu = read(&window.navigator(), "gpu");
    let request: Function = read(&gpu, "requestAdapter").dyn_into().ok()?;
    let adapter = JsFuture::from(request.call0(&gpu).ok()?.dyn_into::<Promise>().ok()?).await.ok()?;
    if !adapter.is_object() {
        return None;
    }
    let info = read(&adapter, "info");
    let is_fallback = [&adapter, &info].into_iter().any(|it| read(it, "isFallbackAdapter").is_truthy());
    let names = ["vendor", "architecture", "device", "description"];
    let is_known =
        names.into_iter().any(|name| read(&info, name).as_string().is_some_and(|it| renderer::is_software(&it)));
    Some(is_fallback || is_known)
}

/// Selects a renderer again when this WebGPU device is lost. `request` is the serial number of the device.
fn watch_device(app: &'static App, gpu: &Gpu, request: u32) {
    let failure = gpu.failure();
    spawn_local(async move {
        failure.await;
        if app.painter.borrow().is_current(request) {
            select_renderer(app);
        }
    });
}

/// Dispatches the action that `then` creates from the size of a canvas, now and after each change.
pub(super) fn watch_size(app: &'static App, element: &HtmlElement, then: fn(Canvas) -> Action) -> Result<(), String> {
    let observer = dom::new_observer(Box::new(move |entries| {
        let entry = entries.get(entries.length().saturating_sub(1)).dyn_into::<ResizeObserverEntry>();
        if let Some(canvas) = entry.ok().and_then(|entry| canvas_size(app, &entry)) {
            app.dispatch(then(canvas));
        }
    }))?;
    if reports_device_pixels() {
        let options = ResizeObserverOptions::new();
        options.set_box(ResizeObserverBoxOptions::DevicePixelContentBox);
        observer.observe_with_options(element, &options);
    } else {
        observer.observe(element);
    }
    Ok(())
}

/// Property of `ResizeObserverEntry` that contains the size in device pixels.
const DEVICE_PIXELS: &str = "devicePixelContentBoxSize";

/// Returns whether the browser reports sizes in device pixels. WebKit does not (its bug 219005), and requesting them
/// throws.
fn reports_device_pixels() -> bool {
    let read = |of: &JsValue, name: &str| Reflect::get(of, &name.into());
    let prototype = read(&js_sys::global(), "ResizeObserverEntry").and_then(|class| read(&class, "prototype"));
    prototype.and_then(|prototype| Reflect::has(&prototype, &DEVICE_PIXELS.into())).unwrap_or(false)
}

/// Returns the canvas's size, or `None` while it is hidden.
fn canvas_size(app: &App, entry: &ResizeObserverEntry) -> Option<Canvas> {
    let scale = app.dom.window.device_pixel_ratio();
    let (width, height) = (entry.content_rect().width() * scale, entry.content_rect().height() * scale);
    // WebKit does not report the exact size, and an emulated screen reports the size on the physical one.
    let exact = Reflect::get(entry, &DEVICE_PIXELS.into()).ok().and_then(|sizes| sizes.dyn_into::<Array>().ok());
    let exact = exact.and_then(|sizes| sizes.get(0).dyn_into::<ResizeObserverSize>().ok());
    let exact = exact.map(|size| (size.inline_size(), size.block_size()));
    let near = |exact: &(f64, f64)| (exact.0 - width).abs() < 2.0 && (exact.1 - height).abs() < 2.0;
    let (width, height) = exact.filter(near).unwrap_or((width, height));
    let (width_px, height_px) = (width.round() as u32, height.round() as u32);
    (width_px > 0 && height_px > 0 && scale > 0.0).then_some(Canvas { width_px, height_px, scale })
}
