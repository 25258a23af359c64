//! GPU pipelines and buffers for `rects.wgsl` and `flames.wgsl`.

use picture::render::layers::{self, Frame, Layers};
use picture::render::placement::Placement;
use picture::render::{Drawing, Flame};
use picture::timeline::{Quad, Scene, View};
use wgpu::util::{BufferInitDescriptor, DeviceExt};

const SHADER: &str = include_str!("rects.wgsl");
const FLAMES_SHADER: &str = include_str!("flames.wgsl");

/// Number of vertices per rectangle, as two triangles. Instances of four vertices would be slow in software renderers,
/// which start a batch for each instance.
const VERTICES: u32 = 6;

/// GPU state for drawing rectangles. Buffers never shrink, so uploading a scene of similar size allocates nothing.
#[derive(Debug)]
pub(crate) struct Rects {
    scene_pipeline: wgpu::RenderPipeline,
    overlay_pipeline: wgpu::RenderPipeline,
    flame_pipeline: wgpu::RenderPipeline,
    bindings: wgpu::BindGroupLayout,
    scenes: Vec<UploadedScene>,
    overlay: Bound,
    flame: Bound,
}

#[derive(Debug)]
struct UploadedScene {
    number: u32,
    view: View,
    count: u32,
    bound: Bound,
}

/// Buffer contents that [`Rects::prepare`] has written, for [`Rects::draw`].
#[derive(Debug)]
pub(crate) struct Prepared {
    overlay_quads: u32,
}

impl Rects {
    pub(crate) fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Rects {
        let [shader, flames_shader] = [SHADER, FLAMES_SHADER].map(|source| {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("rects"),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            })
        });
        let bindings = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("rects bindings"),
            entries: &[
                binding(0, wgpu::BufferBindingType::Uniform),
                binding(1, wgpu::BufferBindingType::Storage { read_only: true }),
                binding(2, wgpu::BufferBindingType::Storage { read_only: true }),
                binding(3, wgpu::BufferBindingType::Storage { read_only: true }),
            ],
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("rects layout"),
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: 0,
        });
        let pipeline = |label, shader: &wgpu::ShaderModule, [corner, pixel]: [&str; 2], blend| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(label),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: shader,
                    entry_point: Some(corner),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: None,
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: shader,
                    entry_point: Some(pixel),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &[Some(wgpu::ColorTargetState { format, blend, write_mask: wgpu::ColorWrites::ALL })],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let scene_pipeline = pipeline("rects of the scene", &shader, ["scene_corner", "pixel"], None);
        let blend = Some(wgpu::BlendState::ALPHA_BLENDING);
        let overlay_pipeline = pipeline("rects of the overlay", &shader, ["overlay_corner", "pixel"], blend);
        let flame_pipeline = pipeline("flames", &flames_shader, ["tile_corner", "tile_pixel"], None);

        let [overlay, flame] = [(); 2].map(|()| Bound::new(device, &bindings));
        Rects { scene_pipeline, overlay_pipeline, flame_pipeline, bindings, scenes: Vec::new(), overlay, flame }
    }

    pub(crate) fn upload(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, number: u32, scene: &Scene) {
        let Layers { view, quads } = Layers::new(scene);
        let before = self.scenes.iter().position(|scene| scene.number == number);
        let bound = before.map(|index| self.scenes.swap_remove(index).bound);
        let mut bound = bound.unwrap_or_else(|| Bound::new(device, &self.bindings));
        bound.quads.write(device, queue, bytemuck::cast_slice(&quads));
        self.scenes.push(UploadedScene { number, view, count: quads.len() as u32, bound });
    }

    pub(crate) fn keep_scenes(&mut self, wanted: &dyn Fn(u32) -> bool) {
        self.scenes.retain(|scene| wanted(scene.number));
    }

    /// Writes the data of `drawing` into the buffers. `window_px` is the size of the target texture.
    pub(crate) fn prepare(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        window_px: [u32; 2],
        drawing: &Drawing<'_>,
    ) -> Prepared {
        for lane in drawing.lanes {
            let Some(scene) = self.scenes.iter_mut().find(|scene| scene.number == lane.scene) else { continue };
            let view = lane.picture_view();
            let placement = Placement::new(&scene.view, &view);
            let frame = Frame::new(window_px, [placement.width_px(), placement.height_px()], &view);
            let colours = layers::colours(lane.look);
            scene.bound.write(device, queue, &self.bindings, frame, placement.edges(), colours.as_flattened());
        }
        let overlay: Vec<Quad> = layers::overlay_quads(drawing.overlay).collect();
        let frame = Frame { window_px, scene_px: [0; 2], stripe_px: [0; 2] };
        if let Some(Flame { tiles, colours }) = drawing.flame {
            self.flame.quads.write(device, queue, bytemuck::cast_slice(tiles));
            self.flame.write(device, queue, &self.bindings, frame, &[], colours.as_flattened());
        }
        self.overlay.quads.write(device, queue, bytemuck::cast_slice(&overlay));
        self.overlay.write(device, queue, &self.bindings, frame, &[], &[]);
        Prepared { overlay_quads: overlay.len() as u32 }
    }

    pub(crate) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        prepared: &Prepared,
        [width, height]: [u32; 2],
        drawing: &Drawing<'_>,
    ) {
        pass.set_pipeline(&self.scene_pipeline);
        for lane in drawing.lanes {
            let rows = lane.rows(height);
            let scene = self.scenes.iter().find(|scene| scene.number == lane.scene);
            let Some(scene) = scene.filter(|_| !rows.is_empty()) else { continue };
            pass.set_scissor_rect(0, height - rows.end, width, rows.end - rows.start);
            pass.set_bind_group(0, &scene.bound.group, &[]);
            draw_rects(pass, scene.count);
        }
        pass.set_scissor_rect(0, 0, width, height);
        if let Some(flame) = drawing.flame {
            pass.set_pipeline(&self.flame_pipeline);
            pass.set_bind_group(0, &self.flame.group, &[]);
            draw_rects(pass, flame.tiles.len() as u32);
        }
        pass.set_pipeline(&self.overlay_pipeline);
        pass.set_bind_group(0, &self.overlay.group, &[]);
        draw_rects(pass, prepared.overlay_quads);
    }
}

/// Draws `count` rectangles. Skips empty draws, because browsers warn about them.
fn draw_rects(pass: &mut wgpu::RenderPass<'_>, count: u32) {
    if count > 0 {
        pass.draw(0..count * VERTICES, 0..1);
    }
}

/// Buffers that the shaders read, and the bind group that contains them.
#[derive(Debug)]
struct Bound {
    frame: GrowingBuffer,
    edges: GrowingBuffer,
    colours: GrowingBuffer,
    quads: GrowingBuffer,
    group: wgpu::BindGroup,
}

impl Bound {
    fn new(device: &wgpu::Device, layout: &wgpu::BindGroupLayout) -> Bound {
        let buffer = |label, usage| GrowingBuffer::new(device, label, usage);
        let frame = buffer("rects frame", wgpu::BufferUsages::UNIFORM);
        let edges = buffer("rects edges", wgpu::BufferUsages::STORAGE);
        let colours = buffer("rects colours", wgpu::BufferUsages::STORAGE);
        let quads = buffer("rects", wgpu::BufferUsages::STORAGE);
        let group = bind(device, layout, [&frame, &edges, &colours, &quads]);
        Bound { frame, edges, colours, quads, group }
    }

    fn write(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        layout: &wgpu::BindGroupLayout,
        frame: Frame,
        edges: &[i32],
        colours: &[u8],
    ) {
        self.frame.write(device, queue, &frame.to_bytes());
        self.edges.write(device, queue, bytemuck::cast_slice(edges));
        self.colours.write(device, queue, colours);
        // Any buffer may have been replaced. Creating a bind group is cheaper than tracking that.
        self.group = bind(device, layout, [&self.frame, &self.edges, &self.colours, &self.quads]);
    }
}

fn binding(binding: u32, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

fn bind(device: &wgpu::Device, layout: &wgpu::BindGroupLayout, buffers: [&GrowingBuffer; 4]) -> wgpu::BindGroup {
    let [frame, edges, colours, quads] = buffers.map(|buffer| buffer.buffer.as_entire_binding());
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("rects bound"),
        layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: frame },
            wgpu::BindGroupEntry { binding: 1, resource: edges },
            wgpu::BindGroupEntry { binding: 2, resource: colours },
            wgpu::BindGroupEntry { binding: 3, resource: quads },
        ],
    })
}

/// A buffer that is replaced by a larger one when its content does not fit.
#[derive(Debug)]
struct GrowingBuffer {
    label: &'static str,
    usage: wgpu::BufferUsages,
    buffer: wgpu::Buffer,
}

impl GrowingBuffer {
    /// Creates a buffer with the size of one [`Frame`], because a binding must not be empty.
    fn new(device: &wgpu::Device, label: &'static str, usage: wgpu::BufferUsages) -> GrowingBuffer {
        let usage = usage | wgpu::BufferUsages::COPY_DST;
        let buffer =
            device.create_buffer_init(&BufferInitDescriptor { label: Some(label), contents: &[0; Frame::SIZE], usage });
        GrowingBuffer { label, usage, buffer }
    }

    /// Writes `bytes` at the buffer's start. The length must be a multiple of 4.
    fn write(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, bytes: &[u8]) {
        let needed = bytes.len() as u64;
        if needed > self.buffer.size() {
            // A quarter more, so that slowly growing scenes do not reallocate each time.
            let size = (needed + needed / 4).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
            self.buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(self.label),
                size,
                usage: self.usage,
                mapped_at_creation: false,
            });
        }
        if !bytes.is_empty() {
            queue.write_buffer(&self.buffer, 0, bytes);
        }
    }
}
