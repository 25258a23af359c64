// A rectangle of whole device pixels in a flat colour, with optional lines along its top and left edge.
//
// All decisions are made in integers, as in `layers.rs` (`PlacedRect::new`), with the same names.

const RESERVED: u32 = 512u;
const ALLOCATED: u32 = 513u;
const FILLS: u32 = 514u;
const STRIPES_APART_PX: u32 = 6u;
const STRIPE_PX: u32 = 2u;
const LINED_HEIGHT_PX: i32 = 4;
const LINED_WIDTH_PX: i32 = 3;
const BAND: u32 = 65536u;
const CONTINUED: u32 = 131072u;
const PENDING: u32 = 262144u;

/// A column or row outside every window.
const NOWHERE: i32 = -32769;

struct Frame {
    /// Width and height of the window.
    window_px: vec2<u32>,
    /// Width and height of the window that the scene was built for.
    scene_px: vec2<u32>,
    /// The window's lower left pixel in the scaled plane, modulo STRIPES_APART_PX.
    stripe_px: vec2<u32>,
}

@group(0) @binding(0) var<uniform> frame: Frame;
/// Positions of the scene's column edges in the window, then of its row edges (`placement.rs`).
@group(0) @binding(1) var<storage, read> edges: array<i32>;
/// FILLS fills, then FILLS line colours. Red is the lowest byte.
@group(0) @binding(2) var<storage, read> colours: array<u32>;
/// Rectangles of the scene, or of the overlay.
@group(0) @binding(3) var<storage, read> quads: array<Quad>;

/// Same as `Quad` in Rust: two 16-bit edges per word, the lower edge in the low bits.
struct Quad {
    x: u32,
    y: u32,
    paint: u32,
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) fill: u32,
    @location(1) @interpolate(flat) line: u32,
    /// Column of the left line, and row of the top line from the top.
    @location(2) @interpolate(flat) lines: vec2<i32>,
    /// Nonzero if the rectangle is not drawn on stripes.
    @location(3) @interpolate(flat) striped: u32,
}

/// Returns the rectangle of a vertex. Each rectangle has six vertices, in two triangles. Instances of four vertices
/// would be slow in software renderers, which start a batch for each instance.
fn quad_of(vertex: u32) -> Quad {
    return quads[vertex / 6u];
}

/// Returns the corner of a vertex. The two triangles have the corners 0, 1, 2 and 2, 1, 3.
fn corner_of(vertex: u32) -> u32 {
    return (0x312210u >> (vertex % 6u * 4u)) & 3u;
}

/// Unpacks two signed edges.
fn edges_of(packed: u32) -> vec2<i32> {
    return vec2(bitcast<i32>(packed << 16u) >> 16u, bitcast<i32>(packed) >> 16u);
}

/// Converts corner 0–3 (left or right, lower or upper) of a rectangle to clip space. `y` counts upwards. Edges are
/// exact in f32, and a pixel's centre is half a pixel away from every edge, so rounding cannot change which pixels are
/// covered.
fn clip_from_window(corner: u32, x: vec2<i32>, y: vec2<i32>) -> vec4<f32> {
    let at = vec2(f32(select(x.x, x.y, (corner & 1u) != 0u)), f32(select(y.x, y.y, (corner & 2u) != 0u)));
    return vec4(at / vec2<f32>(frame.window_px) * 2.0 - 1.0, 0.0, 1.0);
}

fn column(x: i32) -> i32 {
    return edges[clamp(x, 0, i32(frame.scene_px.x))];
}

fn row(y: i32) -> i32 {
    return edges[i32(frame.scene_px.x) + 1 + clamp(y, 0, i32(frame.scene_px.y))];
}

/// Vertex of a scene rectangle: its edges are looked up, its colour is an index.
@vertex
fn scene_corner(@builtin(vertex_index) vertex: u32) -> Corner {
    let quad = quad_of(vertex);
    let columns = edges_of(quad.x);
    let rows = edges_of(quad.y);
    let x = vec2(column(columns.x), column(columns.y));
    let y = vec2(row(rows.x), row(rows.y));
    let colour = min(quad.paint & 0xffffu, ALLOCATED);
    let is_curve = colour == RESERVED;
    let is_block = colour < RESERVED && (quad.paint & BAND) == 0u;
    let is_tall = y.y - y.x >= LINED_HEIGHT_PX;
    let is_wide = x.y - x.x >= LINED_WIDTH_PX;
    let top_is_cut = rows.y >= i32(frame.scene_px.y);
    let left_is_cut = columns.x <= 0 || (quad.paint & CONTINUED) != 0u;
    let top_line = !top_is_cut && (is_curve || (is_block && is_tall));
    let left_line = !left_is_cut && is_block && is_tall && is_wide;

    var out: Corner;
    out.position = clip_from_window(corner_of(vertex), x, y);
    out.fill = colours[colour];
    out.line = colours[colour + FILLS];
    out.lines = vec2(select(NOWHERE, x.x, left_line), select(NOWHERE, i32(frame.window_px.y) - y.y, top_line));
    out.striped = quad.paint & PENDING;
    return out;
}

/// Vertex of an overlay rectangle: edges are pixels of the window, `paint` is its colour.
@vertex
fn overlay_corner(@builtin(vertex_index) vertex: u32) -> Corner {
    let quad = quad_of(vertex);
    var out: Corner;
    out.position = clip_from_window(corner_of(vertex), edges_of(quad.x), edges_of(quad.y));
    out.fill = quad.paint;
    out.line = quad.paint;
    out.lines = vec2(NOWHERE);
    out.striped = 0u;
    return out;
}

@fragment
fn pixel(corner: Corner) -> @location(0) vec4<f32> {
    // The position is the pixel's centre, counted from the top left.
    let at = vec2<u32>(corner.position.xy);
    let is_line = any(vec2<i32>(at) == corner.lines);
    let upwards = frame.window_px.y - 1u - at.y;
    let stripe = (frame.stripe_px.x + at.x + frame.stripe_px.y + upwards) % STRIPES_APART_PX;
    if corner.striped != 0u && !is_line && stripe < STRIPE_PX {
        discard;
    }
    return unpack4x8unorm(select(corner.fill, corner.line, is_line));
}
