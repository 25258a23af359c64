//! Checks that every shader is valid WGSL and agrees with its Rust counterpart: structs byte by byte, constants by
//! name. Needs no GPU. A browser compiles shaders late and reports errors only to its console.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use memscape::render::flames::{self, Tile};
use memscape::render::layers::{self, Frame};
use memscape::timeline::Quad;
use memscape::timeline::scene::{BAND, CONTINUED, PENDING};
use naga::{Expression, Literal, Module, ScalarKind, ShaderStage, TypeInner};
use std::mem::offset_of;
use std::path::{Path, PathBuf};

fn shaders() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gpu");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "wgsl")).collect()
}

fn parsed(path: &Path) -> Module {
    let source = std::fs::read_to_string(path).unwrap();
    naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(&source, &path.display().to_string())))
}

fn rects() -> Module {
    parsed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gpu/rects.wgsl"))
}

fn flames() -> Module {
    parsed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gpu/flames.wgsl"))
}

fn constant(module: &Module, name: &str) -> i64 {
    let (_, constant) = module.constants.iter().find(|(_, found)| found.name.as_deref() == Some(name)).unwrap();
    match module.global_expressions[constant.init] {
        Expression::Literal(Literal::U32(value)) => i64::from(value),
        Expression::Literal(Literal::I32(value)) => i64::from(value),
        ref other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn shaders_are_valid_wgsl() {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    assert!(!shaders().is_empty());
    for path in shaders() {
        // No capability beyond the WebGPU baseline.
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
        if let Err(error) = validator.validate(&parsed(&path)) {
            panic!("{}: {}", path.display(), error.into_inner());
        }
    }
}

#[test]
fn every_shader_has_a_rust_file() {
    for path in shaders() {
        let name = path.with_extension("rs");
        let twin = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/picture/render").join(name.file_name().unwrap());
        assert!(name.exists() || twin.exists(), "{} has no .rs", path.display());
    }
}

#[test]
fn frame_layout_matches_shader() {
    let module = rects();
    let (_, frame) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some("Frame")).unwrap();
    let TypeInner::Struct { members, span } = &frame.inner else { panic!("Frame is not a struct") };
    assert_eq!(*span as usize, Frame::SIZE);

    let bytes = Frame { window_px: [1, 2], scene_px: [3, 4], stripe_px: [5, 0] }.to_bytes();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let read = members.iter().map(|member| {
        let inner = &module.types[member.ty].inner;
        assert_eq!((inner.components(), inner.scalar_kind()), (Some(2), Some(ScalarKind::Uint)));
        (member.name.as_deref().unwrap(), [word(member.offset as usize), word(member.offset as usize + 4)])
    });
    assert_eq!(read.collect::<Vec<_>>(), [("window_px", [1, 2]), ("scene_px", [3, 4]), ("stripe_px", [5, 0])]);
}

#[test]
fn quad_layout_matches_shader() {
    assert_eq!([offset_of!(Quad, x), offset_of!(Quad, y), offset_of!(Quad, paint), size_of::<Quad>()], [0, 4, 8, 12]);
    let module = rects();
    let (_, quad) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some("Quad")).unwrap();
    let TypeInner::Struct { members, span } = &quad.inner else { panic!("Quad is not a struct") };
    assert_eq!(*span as usize, size_of::<Quad>());
    let seen = members.iter().map(|member| {
        let inner = &module.types[member.ty].inner;
        assert_eq!((inner.components(), inner.scalar_kind()), (None, Some(ScalarKind::Uint)));
        (member.name.as_deref().unwrap(), member.offset)
    });
    assert_eq!(seen.collect::<Vec<_>>(), [("x", 0), ("y", 4), ("paint", 8)]);
}

#[test]
fn scene_constants_match_shader() {
    let module = rects();
    let expected = [
        ("RESERVED", i64::from(layers::RESERVED)),
        ("ALLOCATED", i64::from(layers::ALLOCATED)),
        ("STRIPES_APART_PX", i64::from(layers::STRIPES_APART_PX)),
        ("STRIPE_PX", i64::from(layers::STRIPE_PX)),
        ("PENDING", i64::from(PENDING)),
        ("FILLS", i64::from(layers::FILLS)),
        ("LINED_HEIGHT_PX", i64::from(layers::LINED_HEIGHT_PX)),
        ("LINED_WIDTH_PX", i64::from(layers::LINED_WIDTH_PX)),
        ("BAND", i64::from(BAND)),
        ("CONTINUED", i64::from(CONTINUED)),
    ];
    for (name, rust) in expected {
        assert_eq!(constant(&module, name), rust, "{name}");
    }
}

#[test]
fn flame_graph_constants_match_shader() {
    let module = flames();
    let expected = [
        ("SEAM", i64::from(flames::SEAM)),
        ("MARK", i64::from(flames::MARK)),
        ("INDEX", i64::from(flames::INDEX_MASK)),
        ("HATCHED", i64::from(flames::HATCHED)),
        ("HATCH_APART_PX", i64::from(flames::HATCH_APART_PX)),
        ("SEAMED_PX", i64::from(flames::MIN_SEAMED_PX)),
        ("MARK_PART", i64::from(flames::MARK_HEIGHT_DIVISOR)),
    ];
    for (name, rust) in expected {
        assert_eq!(constant(&module, name), rust, "{name}");
    }
    assert_eq!(module.constants.len(), expected.len());
    assert_eq!([offset_of!(Tile, x), offset_of!(Tile, y), offset_of!(Tile, paint), size_of::<Tile>()], [0, 4, 8, 12]);
}

#[test]
fn shaders_have_expected_entry_points() {
    let module = rects();
    let entry_points: Vec<_> = module.entry_points.iter().map(|entry| (entry.name.as_str(), entry.stage)).collect();
    let expected = [
        ("scene_corner", ShaderStage::Vertex),
        ("overlay_corner", ShaderStage::Vertex),
        ("pixel", ShaderStage::Fragment),
    ];
    assert_eq!(entry_points, expected);
    let module = flames();
    let entry_points: Vec<_> = module.entry_points.iter().map(|entry| (entry.name.as_str(), entry.stage)).collect();
    assert_eq!(entry_points, [("tile_corner", ShaderStage::Vertex), ("tile_pixel", ShaderStage::Fragment)]);
}
