//! Every shader is valid WGSL and agrees with the Rust it belongs to: structs byte for byte, constants by name. No GPU needed; a browser
//! compiles shaders late and reports what is wrong with them to a console nobody reads.

use memscape::render::layers::{self, Frame};
use memscape::timeline::Quad;
use memscape::timeline::scene::{BAND, CONTINUED};
use naga::{Expression, Literal, Module, ScalarKind, ShaderStage, TypeInner};
use std::mem::offset_of;
use std::path::{Path, PathBuf};

fn shaders() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/render");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "wgsl")).collect()
}

fn parsed(path: &Path) -> Module {
    let source = std::fs::read_to_string(path).unwrap();
    naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(&source, &path.display().to_string())))
}

fn rects() -> Module {
    parsed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/render/rects.wgsl"))
}

#[test]
fn every_shader_is_valid() {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    assert!(!shaders().is_empty());
    for path in shaders() {
        // No capability beyond what every WebGPU has.
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
        if let Err(error) = validator.validate(&parsed(&path)) {
            panic!("{}: {}", path.display(), error.into_inner());
        }
    }
}

#[test]
fn every_shader_lies_beside_its_rust() {
    for path in shaders() {
        assert!(path.with_extension("rs").exists(), "{} has no .rs", path.display());
    }
}

/// The members of a struct: name, offset, size in bytes; and the size of the whole.
fn members(module: &Module, name: &str) -> (Vec<(String, u32, u32)>, u32) {
    let (_, found) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some(name)).unwrap();
    let TypeInner::Struct { members, span } = &found.inner else { panic!("{name} is no struct") };
    let member = |member: &naga::StructMember| {
        (member.name.clone().unwrap(), member.offset, module.types[member.ty].inner.size(module.to_ctx()))
    };
    (members.iter().map(member).collect(), *span)
}

#[test]
fn the_frame_has_one_layout() {
    let (members, size) = members(&rects(), "Frame");
    let expected = [("window_px", offset_of!(Frame, window_px)), ("scene_px", offset_of!(Frame, scene_px))];
    assert_eq!(members, expected.map(|(name, offset)| (name.to_owned(), offset as u32, 8)));
    assert_eq!(size as usize, size_of::<Frame>());
}

/// Vertex attributes are converted on the way, so the shader sees wider types in the same order; the vertex layout in `rects.rs` is
/// `Sint16x2, Sint16x2, Uint32`, packed.
#[test]
fn a_quad_is_an_instance() {
    assert_eq!([offset_of!(Quad, x), offset_of!(Quad, y), offset_of!(Quad, paint), size_of::<Quad>()], [0, 4, 8, 12]);
    let module = rects();
    let (_, quad) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some("Quad")).unwrap();
    let TypeInner::Struct { members, .. } = &quad.inner else { panic!("Quad is no struct") };
    let seen = members.iter().map(|member| {
        let Some(naga::Binding::Location { location, .. }) = member.binding else {
            panic!("a member without location")
        };
        let inner = &module.types[member.ty].inner;
        (member.name.as_deref().unwrap(), location, inner.components().unwrap_or(1), inner.scalar_kind().unwrap())
    });
    let expected = [("x", 0, 2, ScalarKind::Sint), ("y", 1, 2, ScalarKind::Sint), ("paint", 2, 1, ScalarKind::Uint)];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
}

#[test]
fn constants_have_one_value() {
    let module = rects();
    let value = |name: &str| {
        let (_, constant) = module.constants.iter().find(|(_, found)| found.name.as_deref() == Some(name)).unwrap();
        match module.global_expressions[constant.init] {
            Expression::Literal(Literal::U32(value)) => i64::from(value),
            Expression::Literal(Literal::I32(value)) => i64::from(value),
            ref other => panic!("{name} is {other:?}"),
        }
    };
    let expected = [
        ("RESERVED", i64::from(layers::RESERVED)),
        ("FILLS", i64::from(layers::FILLS)),
        ("LINED_HEIGHT_PX", i64::from(layers::LINED_HEIGHT_PX)),
        ("LINED_WIDTH_PX", i64::from(layers::LINED_WIDTH_PX)),
        ("BAND", i64::from(BAND)),
        ("CONTINUED", i64::from(CONTINUED)),
    ];
    for (name, rust) in expected {
        assert_eq!(value(name), rust, "{name}");
    }
}

#[test]
fn the_pipelines_find_their_entry_points() {
    let module = rects();
    let entry_points: Vec<_> = module.entry_points.iter().map(|entry| (entry.name.as_str(), entry.stage)).collect();
    let expected = [
        ("scene_corner", ShaderStage::Vertex),
        ("overlay_corner", ShaderStage::Vertex),
        ("pixel", ShaderStage::Fragment),
    ];
    assert_eq!(entry_points, expected);
}
