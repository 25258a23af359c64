//! The one primitive on the GPU: pipelines and buffers for `rects.wgsl`.

use super::drawing::Drawing;
use super::layers::{self, Frame, Layers};
use super::placement::Placement;
use crate::timeline::{Quad, Scene, View};
use wgpu::util::{BufferInitDescriptor, DeviceExt};

const SHADER: &str = include_str!("rects.wgsl");

/// Vertices of a rectangle: two triangles. Not instances of four: a renderer in software begins a batch for each.
const VERTICES: u32 = 6;

/// Everything on the device that drawing rectangles needs. Buffers only grow: a scene like the last allocates nothing.
#[derive(Debug)]
pub(crate) struct Rects {
    scene_pipeline: wgpu::RenderPipeline,
    overlay_pipeline: wgpu::RenderPipeline,
    bindings: wgpu::BindGroupLayout,
    /// What the scene's rectangles read, and the overlay's.
    bound: [wgpu::BindGroup; 2],
    frame: GrowingBuffer,
    edges: GrowingBuffer,
    colours: GrowingBuffer,
    scene_quads: GrowingBuffer,
    overlay_quads: GrowingBuffer,
    scene: Option<UploadedScene>,
}

#[derive(Debug)]
struct UploadedScene {
    view: View,
    quads: u32,
}

/// What of the buffers one picture uses.
#[derive(Debug)]
pub(crate) struct Prepared {
    scene_quads: u32,
    overlay_quads: u32,
}

impl Rects {
    pub(crate) fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Rects {
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("rects"),
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
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
        let pipeline = |label, corner, blend| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(label),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &shader,
                    entry_point: Some(corner),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: None,
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &shader,
                    entry_point: Some("pixel"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &[Some(wgpu::ColorTargetState { format, blend, write_mask: wgpu::ColorWrites::ALL })],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let scene_pipeline = pipeline("rects of the scene", "scene_corner", None);
        let overlay_pipeline =
            pipeline("rects of the overlay", "overlay_corner", Some(wgpu::BlendState::ALPHA_BLENDING));

        let buffer = |label, usage| GrowingBuffer::new(device, label, usage);
        let frame = buffer("rects frame", wgpu::BufferUsages::UNIFORM);
        let edges = buffer("rects edges", wgpu::BufferUsages::STORAGE);
        let colours = buffer("rects colours", wgpu::BufferUsages::STORAGE);
        let scene_quads = buffer("rects of the scene", wgpu::BufferUsages::STORAGE);
        let overlay_quads = buffer("rects of the overlay", wgpu::BufferUsages::STORAGE);
        let bound =
            [&scene_quads, &overlay_quads].map(|quads| bind(device, &bindings, [&frame, &edges, &colours, quads]));
        Rects {
            scene_pipeline,
            overlay_pipeline,
            bindings,
            bound,
            frame,
            edges,
            colours,
            scene_quads,
            overlay_quads,
            scene: None,
        }
    }

    pub(crate) fn upload(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, scene: &Scene) {
        let Layers { view, quads } = Layers::new(scene);
        self.scene_quads.write(device, queue, bytemuck::cast_slice(&quads));
        self.scene = Some(UploadedScene { view, quads: quads.len() as u32 });
    }

    pub(crate) fn clear_scene(&mut self) {
        self.scene = None;
    }

    /// Writes what `drawing` needs into the buffers; `window_px` is the size of the texture it will be drawn into.
    pub(crate) fn prepare(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        window_px: [u32; 2],
        drawing: &Drawing<'_>,
    ) -> Prepared {
        let placement = self.scene.as_ref().map(|scene| Placement::new(&scene.view, drawing.view));
        let scene_px = placement.as_ref().map_or([0, 0], |placement| [placement.width_px(), placement.height_px()]);
        let edges = placement.as_ref().map_or(&[][..], Placement::edges);
        let overlay: Vec<Quad> = layers::overlay_quads(drawing.overlay).collect();

        self.frame.write(device, queue, &Frame::new(window_px, scene_px, drawing.view).to_bytes());
        self.edges.write(device, queue, bytemuck::cast_slice(edges));
        self.colours.write(device, queue, layers::colours(drawing.look).as_flattened());
        self.overlay_quads.write(device, queue, bytemuck::cast_slice(&overlay));
        // Any of them may be a new buffer now; a bind group is cheap, knowing which is not.
        self.bound = [&self.scene_quads, &self.overlay_quads]
            .map(|quads| bind(device, &self.bindings, [&self.frame, &self.edges, &self.colours, quads]));
        Prepared {
            scene_quads: self.scene.as_ref().map_or(0, |scene| scene.quads),
            overlay_quads: overlay.len() as u32,
        }
    }

    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, prepared: &Prepared) {
        let pipelines = [&self.scene_pipeline, &self.overlay_pipeline];
        let counts = [prepared.scene_quads, prepared.overlay_quads];
        for ((pipeline, bound), count) in pipelines.into_iter().zip(&self.bound).zip(counts) {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, bound, &[]);
            pass.draw(0..count * VERTICES, 0..1);
        }
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

/// A buffer that is replaced by a larger one when what is written does not fit.
#[derive(Debug)]
struct GrowingBuffer {
    label: &'static str,
    usage: wgpu::BufferUsages,
    buffer: wgpu::Buffer,
}

impl GrowingBuffer {
    /// As large as one [`Frame`]: no binding may be empty.
    fn new(device: &wgpu::Device, label: &'static str, usage: wgpu::BufferUsages) -> GrowingBuffer {
        let usage = usage | wgpu::BufferUsages::COPY_DST;
        let buffer =
            device.create_buffer_init(&BufferInitDescriptor { label: Some(label), contents: &[0; Frame::SIZE], usage });
        GrowingBuffer { label, usage, buffer }
    }

    /// Puts `bytes`, a multiple of 4, at the buffer's start.
    fn write(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, bytes: &[u8]) {
        let needed = bytes.len() as u64;
        if needed > self.buffer.size() {
            // A quarter more, so that scenes that grow a little at a time do not each allocate.
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
