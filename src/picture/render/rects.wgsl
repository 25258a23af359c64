// The one primitive: a rectangle of whole device pixels in a flat colour, with at most a line along its top and its left.
//
// All decisions are made in integers, as in `layers.rs` (`Placed::new`), whose names this file keeps.

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

/// No pixel of any window has this column or row.
const NOWHERE: i32 = -32769;

struct Frame {
    /// Width and height of the window.
    window_px: vec2<u32>,
    /// Width and height of the window the scene was made for.
    scene_px: vec2<u32>,
    /// The window's lower left pixel in the scaled plane, modulo STRIPES_APART_PX.
    stripe_px: vec2<u32>,
}

@group(0) @binding(0) var<uniform> frame: Frame;
/// Where the scene's column edges lie in the window, then its row edges (`placement.rs`).
@group(0) @binding(1) var<storage, read> edges: array<i32>;
/// FILLS fills, then FILLS line colours; red is the lowest byte.
@group(0) @binding(2) var<storage, read> colours: array<u32>;
/// The rectangles: of the scene, or of the overlay.
@group(0) @binding(3) var<storage, read> quads: array<Quad>;

/// As `Quad` in Rust: each edge has 16 bits, the lower edge the low ones.
struct Quad {
    x: u32,
    y: u32,
    paint: u32,
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) fill: u32,
    @location(1) @interpolate(flat) line: u32,
    /// The column of the left line and the row, from the top, of the top line.
    @location(2) @interpolate(flat) lines: vec2<i32>,
    /// Whether it is not drawn on stripes.
    @location(3) @interpolate(flat) striped: u32,
}

/// Which rectangle a vertex is of. Six each, two triangles: instances of four would be one small batch each, a hundred times as dear
/// where a processor draws.
fn quad_of(vertex: u32) -> Quad {
    return quads[vertex / 6u];
}

/// Which of its corners: 0, 1, 2 and 2, 1, 3.
fn corner_of(vertex: u32) -> u32 {
    return (0x312210u >> (vertex % 6u * 4u)) & 3u;
}

/// Two edges, with their signs.
fn edges_of(packed: u32) -> vec2<i32> {
    return vec2(bitcast<i32>(packed << 16u) >> 16u, bitcast<i32>(packed) >> 16u);
}

/// Corner 0–3 (left or right, lower or upper) of a rectangle whose `y` counts upwards. The edges are exact in f32, and a pixel's centre lies
/// half a pixel away from every edge: what f32 loses on the way to clip space cannot change which pixels are covered.
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

/// A rectangle of the scene: its edges are looked up, its colour is an index.
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

/// A rectangle of the overlay: pixels of the window, `paint` is its colour.
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
