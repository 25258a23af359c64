//! Reads the page's wasm, and finds the functions that move.

use std::collections::BTreeMap;
use wasmparser::{
    BinaryReaderError, CustomSectionReader, ElementItems, ElementKind, ExternalKind, FunctionBody, GlobalType,
    KnownCustom, MemoryType, Name, Operator, Parser, Payload, TableType, TypeRef,
};

/// Part of the name of each gate.
const GATE: &str = "later::gate";
/// Minimum size, in bytes, of a gate that moves although it calls no function that moves. wasm-opt merges equal
/// functions, so others may call a small one.
const MIN_GATE_BYTES: usize = 1000;

/// The parts of a module that matter here. Functions have their indices in the module, imported ones first.
#[derive(Default)]
pub(super) struct Program<'a> {
    pub(super) types: &'a [u8],
    /// Type of each function.
    pub(super) functions: Vec<u32>,
    pub(super) imported: usize,
    pub(super) bodies: Vec<FunctionBody<'a>>,
    /// Functions that each function calls.
    pub(super) calls: Vec<Vec<u32>>,
    names: BTreeMap<u32, &'a str>,
    pub(super) tables: Vec<TableType>,
    pub(super) memories: Vec<MemoryType>,
    pub(super) globals: Vec<GlobalType>,
    /// Functions that are called from outside or through a table.
    pinned: Vec<u32>,
    /// Index of the table of functions.
    pub(super) table: u32,
}

/// Appends a property of each item of a section.
fn append<I, T>(
    list: &mut Vec<T>,
    section: impl IntoIterator<Item = Result<I, BinaryReaderError>>,
    property: impl Fn(I) -> T,
) -> Result<(), BinaryReaderError> {
    for item in section {
        list.push(property(item?));
    }
    Ok(())
}

impl<'a> Program<'a> {
    /// Parses a module.
    ///
    /// # Errors
    /// Returns an error if the module is invalid.
    pub(super) fn parse(wasm: &'a [u8]) -> Result<Program<'a>, BinaryReaderError> {
        let mut program = Program::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => program.types = wasm.get(section.range()).unwrap_or_default(),
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        match import?.ty {
                            TypeRef::Func(kind) => program.functions.push(kind),
                            TypeRef::Table(table) => program.tables.push(table),
                            TypeRef::Memory(memory) => program.memories.push(memory),
                            TypeRef::Global(global) => program.globals.push(global),
                            _ => {}
                        }
                    }
                    program.imported = program.functions.len();
                }
                Payload::FunctionSection(section) => append(&mut program.functions, section, |kind| kind)?,
                Payload::TableSection(section) => append(&mut program.tables, section, |table| table.ty)?,
                Payload::MemorySection(section) => append(&mut program.memories, section, |memory| memory)?,
                Payload::GlobalSection(section) => append(&mut program.globals, section, |global| global.ty)?,
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        program.pinned.extend((export.kind == ExternalKind::Func).then_some(export.index));
                    }
                }
                Payload::StartSection { func, .. } => program.pinned.push(func),
                Payload::ElementSection(section) => {
                    for element in section {
                        let element = element?;
                        if let (ElementKind::Active { table_index, .. }, ElementItems::Functions(functions)) =
                            (element.kind, element.items)
                        {
                            program.table = table_index.unwrap_or(0);
                            for function in functions {
                                program.pinned.push(function?);
                            }
                        }
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    let index = (program.imported + program.bodies.len()) as u32;
                    let mut calls = Vec::new();
                    for operator in body.get_operators_reader()? {
                        match operator? {
                            Operator::Call { function_index } => calls.push(function_index),
                            // Not rewritten, so the function stays.
                            Operator::RefFunc { function_index } | Operator::ReturnCall { function_index } => {
                                program.pinned.push(function_index);
                            }
                            // The second module has no data.
                            Operator::MemoryInit { .. } | Operator::DataDrop { .. } => program.pinned.push(index),
                            _ => {}
                        }
                    }
                    program.bodies.push(body);
                    program.calls.push(calls);
                }
                Payload::CustomSection(section) => program.read_names(&section)?,
                _ => {}
            }
        }
        Ok(program)
    }

    fn read_names(&mut self, section: &CustomSectionReader<'a>) -> Result<(), BinaryReaderError> {
        if let KnownCustom::Name(names) = section.as_known() {
            for subsection in names {
                if let Name::Function(names) = subsection? {
                    for name in names {
                        let name = name?;
                        self.names.insert(name.index, name.name);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns, for each function, whether it moves.
    pub(super) fn later(&self) -> Vec<bool> {
        let count = self.functions.len();
        let (mut callers, mut is_pinned) = (vec![Vec::new(); count], vec![false; count]);
        for (index, calls) in self.calls.iter().enumerate() {
            calls.iter().for_each(|&to| callers[to as usize].push(self.imported + index));
        }
        self.pinned.iter().for_each(|&index| is_pinned[index as usize] = true);
        let is_gate = |index: usize| self.names.get(&(index as u32)).is_some_and(|name| name.contains(GATE));
        let gates: Vec<bool> = (0..count).map(|index| is_gate(index) && !is_pinned[index]).collect();
        let mut is_later = vec![false; count];
        loop {
            let mut changed = false;
            for (index, body) in (self.imported..count).zip(&self.bodies) {
                let joins = if gates[index] {
                    let calls = &self.calls[index - self.imported];
                    body.range().len() >= MIN_GATE_BYTES || calls.iter().any(|&to| is_later[to as usize])
                } else {
                    let callers = &callers[index];
                    !is_pinned[index] && !callers.is_empty() && callers.iter().all(|&by| is_later[by] || gates[by])
                };
                changed |= joins && !is_later[index];
                is_later[index] |= joins;
            }
            if !changed {
                return is_later;
            }
        }
    }
}
