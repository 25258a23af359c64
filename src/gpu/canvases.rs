//! WebGPU renderer for the two canvases of the page.

use crate::painter::{self, Painter, RenderError};
use picture::render::{Drawing, RgbaImage};
use picture::timeline::Scene;
use std::future::Future;

/// WebGPU renderer for the page's canvases. After a failure, drop it, create another and upload the scenes again.
#[derive(Debug)]
pub struct Gpu {
    screens: [Screen; 2],
    painter: Painter,
}

/// Identifies a canvas of the page: the timeline or the flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceId {
    Timeline,
    Flame,
}

/// A canvas surface and its size.
#[derive(Debug)]
struct Screen {
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
}

impl Gpu {
    /// Creates a renderer for the surfaces of the timeline and the flame graph, which must have been created by
    /// `instance`. The adapter is chosen to support the timeline's surface.
    ///
    /// # Errors
    /// Returns [`RenderError::NoAdapter`], [`RenderError::NoDevice`] or [`RenderError::NoFormat`]. The caller should
    /// then use the CPU renderer.
    pub async fn new(instance: wgpu::Instance, surfaces: [wgpu::Surface<'static>; 2]) -> Result<Gpu, RenderError> {
        let adapter = instance
            .request_adapter(&wgpu::RequestAdapterOptions {
                compatible_surface: surfaces.first(),
                ..wgpu::RequestAdapterOptions::default()
            })
            .await
            .map_err(|error| RenderError::NoAdapter(error.to_string()))?;
        let formats = surfaces.first().map(|surface| surface.get_capabilities(&adapter).formats).unwrap_or_default();
        let format = formats.into_iter().find(|&format| painter::is_supported(format)).ok_or(RenderError::NoFormat)?;
        let painter = Painter::new(&adapter, format).await?;
        let configuration = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: 0,
            height: 0,
            present_mode: wgpu::PresentMode::Fifo,
            desired_maximum_frame_latency: 2,
            alpha_mode: wgpu::CompositeAlphaMode::Opaque,
            view_formats: Vec::new(),
        };
        let screens = surfaces.map(|surface| Screen { surface, configuration: configuration.clone() });
        Ok(Gpu { screens, painter })
    }

    /// Uploads a scene with the id `number`. Replaces any earlier scene with this id.
    pub fn upload(&mut self, number: u32, scene: &Scene) {
        self.painter.upload(number, scene);
    }

    /// Drops all scenes except those whose id satisfies `wanted`.
    pub fn retain_scenes(&mut self, wanted: &dyn Fn(u32) -> bool) {
        self.painter.retain_scenes(wanted);
    }

    /// Draws a picture on a surface and presents it. The surface is resized to the picture, between 1 × 1 pixel and the
    /// device's limit. Does nothing if the surface is hidden.
    ///
    /// # Errors
    /// Returns [`RenderError::Lost`] or [`RenderError::Failed`] if the device failed before, and
    /// [`RenderError::NoTexture`] if the surface has no texture.
    pub fn draw(&mut self, which: SurfaceId, drawing: &Drawing<'_>) -> Result<(), RenderError> {
        // A surface must not be configured with a lost device.
        self.painter.check()?;
        let [timeline, flame] = &mut self.screens;
        let screen = if which == SurfaceId::Flame { flame } else { timeline };
        screen.resize(self.painter.device(), drawing.size_px);
        if let Some(frame) = screen.next_frame(self.painter.device())? {
            self.painter.paint(&frame.texture, drawing)?;
            self.painter.queue().present(frame);
        }
        Ok(())
    }

    /// Renders a picture to bytes, without touching the surfaces.
    ///
    /// # Errors
    /// Returns the device's failure if the device failed before or fails during drawing.
    pub async fn image(&mut self, drawing: &Drawing<'_>) -> Result<RgbaImage, RenderError> {
        self.painter.image(drawing).await
    }

    /// Returns a future that resolves with the reason when the device fails or is lost. It may outlive the `Gpu`.
    pub fn failure(&self) -> impl Future<Output = RenderError> + use<> {
        self.painter.failure()
    }

    /// Destroys the device, like a driver reset. Used by tests.
    pub fn lose_device(&self) {
        self.painter.lose_device();
    }
}

impl Screen {
    fn resize(&mut self, device: &wgpu::Device, size_px: [u32; 2]) {
        let largest = device.limits().max_texture_dimension_2d;
        let size = size_px.map(|side| side.clamp(1, largest));
        if size != [self.configuration.width, self.configuration.height] {
            [self.configuration.width, self.configuration.height] = size;
            self.surface.configure(device, &self.configuration);
        }
    }

    fn next_frame(&mut self, device: &wgpu::Device) -> Result<Option<wgpu::SurfaceTexture>, RenderError> {
        use wgpu::CurrentSurfaceTexture::{Lost, Occluded, Outdated, Suboptimal, Success, Timeout, Validation};
        // Retries once after reconfiguring the surface. More retries would not help.
        for _ in 0..2 {
            match self.surface.get_current_texture() {
                Success(frame) | Suboptimal(frame) => return Ok(Some(frame)),
                Timeout | Occluded => return Ok(None),
                Outdated => self.surface.configure(device, &self.configuration),
                Lost => return Err(RenderError::NoTexture("its surface is lost")),
                Validation => return Err(RenderError::NoTexture("its configuration is not valid")),
            }
        }
        Err(RenderError::NoTexture("its surface stays outdated"))
    }
}
