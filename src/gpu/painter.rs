//! A graphics device that renders pictures to textures, and its errors.

use crate::rects::Rects;
use crate::signal::Signal;
use picture::render::{Drawing, RgbaImage};
use picture::timeline::Scene;
use std::future::Future;
use std::sync::Arc;

/// Failure of the WebGPU renderer. The message is one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// WebGPU has no graphics adapter.
    #[error("no graphics adapter for WebGPU: {0}")]
    NoAdapter(String),
    /// The adapter did not return a device.
    #[error("the graphics adapter has no device: {0}")]
    NoDevice(String),
    /// The canvas supports no texture format with 8 bits per channel.
    #[error("the canvas supports neither rgba8unorm nor bgra8unorm")]
    NoFormat,
    /// The canvas did not return a texture to draw into.
    #[error("the canvas has no texture: {0}")]
    NoTexture(&'static str),
    /// The device is gone: reset, unplugged or destroyed. A new one may be created.
    #[error("the graphics device was lost: {0}")]
    Lost(String),
    /// The device rejected an operation, usually because it is out of memory.
    #[error("the graphics device failed: {0}")]
    Failed(String),
}

/// A device with its pipelines and uploaded scenes. Draws into any texture of its format.
#[derive(Debug)]
pub struct Painter {
    device: wgpu::Device,
    queue: wgpu::Queue,
    format: wgpu::TextureFormat,
    rects: Rects,
    failure: Signal<RenderError>,
}

impl Painter {
    /// Creates a painter for textures of `format`, which must be `Rgba8Unorm` or `Bgra8Unorm`, because the colours are
    /// already sRGB bytes.
    ///
    /// # Errors
    /// Returns [`RenderError::NoDevice`] or [`RenderError::NoFormat`].
    pub async fn new(adapter: &wgpu::Adapter, format: wgpu::TextureFormat) -> Result<Painter, RenderError> {
        if !is_supported(format) {
            return Err(RenderError::NoFormat);
        }
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("memscape"),
                // Default limits, so that all machines draw the same. Only the window size may be larger.
                required_limits: wgpu::Limits::default().using_resolution(adapter.limits()),
                ..wgpu::DeviceDescriptor::default()
            })
            .await
            .map_err(|error| RenderError::NoDevice(error.to_string()))?;

        let failure = Signal::new();
        let lost = failure.clone();
        device.set_device_lost_callback(move |_, message| lost.set(RenderError::Lost(message)));
        let failed = failure.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            failed.set(RenderError::Failed(error.to_string()));
        }));
        let rects = Rects::new(&device, format);
        Ok(Painter { device, queue, format, rects, failure })
    }

    /// Uploads a scene with the id `number`. Replaces any earlier scene with this id.
    pub fn upload(&mut self, number: u32, scene: &Scene) {
        self.rects.upload(&self.device, &self.queue, number, scene);
    }

    /// Drops all scenes except those whose id satisfies `wanted`.
    pub fn retain_scenes(&mut self, wanted: &dyn Fn(u32) -> bool) {
        self.rects.keep_scenes(wanted);
    }

    /// Draws into `texture`, which must have the painter's format. If the sizes differ, the picture starts at the
    /// texture's lower left corner.
    ///
    /// # Errors
    /// Returns the device's failure if the device failed before.
    pub fn paint(&mut self, texture: &wgpu::Texture, drawing: &Drawing<'_>) -> Result<(), RenderError> {
        self.check()?;
        let window_px = [texture.width(), texture.height()];
        let prepared = self.rects.prepare(&self.device, &self.queue, window_px, drawing);
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            label: Some("picture"),
            format: Some(self.format),
            ..wgpu::TextureViewDescriptor::default()
        });
        let mut encoder =
            self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("picture") });
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(clear_colour(drawing.background)),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        self.rects.draw(&mut pass, &prepared, window_px, drawing);
        drop(pass);
        self.queue.submit([encoder.finish()]);
        Ok(())
    }

    /// Creates an offscreen texture for [`Painter::paint`]. Width and height must be between 1 and the device's limit.
    pub fn texture(&self, size_px: [u32; 2]) -> wgpu::Texture {
        let [width, height] = size_px;
        self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("image"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: self.format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    }

    /// Waits until everything painted so far is drawn. Returns at once in a browser, which does not allow waiting.
    ///
    /// # Errors
    /// Returns [`RenderError::Failed`] if the device cannot be polled.
    pub fn wait(&self) -> Result<(), RenderError> {
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        waited.map(|_| ()).map_err(|error| RenderError::Failed(error.to_string()))
    }

    /// Renders a picture to bytes, through a texture that is read back. The bytes are the same as on the canvas.
    ///
    /// # Errors
    /// Returns the device's failure if the device failed before or fails during drawing.
    pub async fn image(&mut self, drawing: &Drawing<'_>) -> Result<RgbaImage, RenderError> {
        let [width, height] = drawing.size_px;
        if width == 0 || height == 0 {
            return Ok(RgbaImage { width, height, pixels: Vec::new() });
        }
        let texture = self.texture(drawing.size_px);
        self.paint(&texture, drawing)?;

        let padded_row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("image read back"),
            size: u64::from(padded_row) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder =
            self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("image read back") });
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded_row),
                    rows_per_image: None,
                },
            },
            texture.size(),
        );
        self.queue.submit([encoder.finish()]);
        self.mapped(&buffer).await?;

        let bytes = buffer.get_mapped_range(..).map_err(|error| RenderError::Failed(error.to_string()))?;
        let mut pixels = Vec::with_capacity(width as usize * height as usize * 4);
        for row in bytes.chunks_exact(padded_row as usize) {
            pixels.extend(row.iter().take(width as usize * 4));
        }
        if self.format == wgpu::TextureFormat::Bgra8Unorm {
            pixels.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
        }
        Ok(RgbaImage { width, height, pixels })
    }

    /// Returns a future that resolves with the reason when the device fails or is lost. From then on, every
    /// [`Painter::paint`] returns the same error.
    pub fn failure(&self) -> impl Future<Output = RenderError> + use<> {
        self.failure.clone()
    }

    /// Destroys the device, like a driver reset. Used by tests.
    pub fn lose_device(&self) {
        self.device.destroy();
        // A browser reports the loss by itself. Elsewhere callbacks run when the device is polled.
        let _ = self.device.poll(wgpu::PollType::Poll);
    }

    /// Returns the device's failure, if any is known.
    pub(crate) fn check(&self) -> Result<(), RenderError> {
        self.failure.value().map_or(Ok(()), Err)
    }

    /// Returns the device, for configuring a surface.
    pub(crate) fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Returns the queue, for presenting.
    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    async fn mapped(&self, buffer: &wgpu::Buffer) -> Result<(), RenderError> {
        let mapped = Signal::new();
        let arrived = mapped.clone();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            arrived.set(result.map_err(|error| RenderError::Failed(error.to_string())));
        });
        // A browser maps the buffer by itself. Elsewhere the device must be polled.
        self.wait()?;
        mapped.await
    }
}

/// Returns true if pictures can be drawn in `format`: 8 bits per channel without conversion to sRGB.
pub(crate) fn is_supported(format: wgpu::TextureFormat) -> bool {
    matches!(format, wgpu::TextureFormat::Rgba8Unorm | wgpu::TextureFormat::Bgra8Unorm)
}

fn clear_colour(rgba: [u8; 4]) -> wgpu::Color {
    let [r, g, b, a] = rgba.map(|channel| f64::from(channel) / 255.0);
    wgpu::Color { r, g, b, a }
}
