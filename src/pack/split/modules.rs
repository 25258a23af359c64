//! Writes the two modules.

use super::program::Program;
use std::collections::BTreeSet;
use wasm_encoder::reencode::{self, Reencode, utils};
use wasm_encoder::{
    CodeSection, ConstExpr, ElementSection, Elements, EntityType, ExportKind, ExportSection, FunctionSection,
    ImportSection, Instruction, Module, RawSection, SectionId, TableSection,
};
use wasmparser::{
    CustomSectionReader, ExportSectionReader, FunctionBody, FunctionSectionReader, Operator, Parser, TableSectionReader,
};

/// Error of a module that cannot be written again.
pub(super) type Error = reencode::Error<String>;

/// Which functions move, and which ones connect the modules.
pub(super) struct Plan<'a> {
    program: &'a Program<'a>,
    is_later: Vec<bool>,
    /// Number of functions before each function that move.
    moved_before: Vec<u32>,
    /// Moved functions that the page calls, in the order of their new entries of the table.
    entries: Vec<u32>,
    /// Functions of the page that moved functions call.
    imports: Vec<u32>,
}

impl<'a> Plan<'a> {
    /// Plans to move the functions for which `is_later` is true.
    pub(super) fn new(program: &'a Program<'a>, is_later: Vec<bool>) -> Plan<'a> {
        let (mut entries, mut imports) = (BTreeSet::new(), BTreeSet::new());
        for (calls, &by_later) in program.calls.iter().zip(&is_later[program.imported..]) {
            let crossing = calls.iter().copied().filter(|&to| is_later[to as usize] != by_later);
            if by_later { imports.extend(crossing) } else { entries.extend(crossing) }
        }
        let (entries, imports) = (entries.into_iter().collect(), imports.into_iter().collect());
        let mut moved = 0;
        let count = |&is_later: &bool| {
            moved += u32::from(is_later);
            moved - u32::from(is_later)
        };
        let moved_before = is_later.iter().map(count).collect();
        Plan { program, is_later, moved_before, entries, imports }
    }

    /// Returns the module of the page.
    ///
    /// # Errors
    /// Returns an error if a moved function is used in an unsupported way.
    pub(super) fn page_module(&self, wasm: &[u8]) -> Result<Vec<u8>, Error> {
        let mut module = Module::new();
        let mut encoder = PageEncoder { plan: self, next: self.program.imported };
        utils::parse_core_module(&mut encoder, &mut module, Parser::new(0), wasm)?;
        Ok(module.finish())
    }

    /// Returns the module that is instantiated later.
    ///
    /// # Errors
    /// Returns an error if a function cannot be written again.
    pub(super) fn later_module(&self) -> Result<Vec<u8>, Error> {
        let mut encoder = LaterEncoder { plan: self };
        let (mut imports, mut exported) = (ImportSection::new(), self.exported().into_iter());
        let mut import = |kind: EntityType| {
            if let Some((name, ..)) = exported.next() {
                imports.import("", &name, kind);
            }
        };
        self.imports.iter().for_each(|&index| import(EntityType::Function(self.type_of(index))));
        for (index, table) in self.program.tables.iter().enumerate() {
            import(EntityType::Table(encoder.table_type(self.grown(index, *table))?));
        }
        for memory in &self.program.memories {
            import(EntityType::Memory(encoder.memory_type(*memory)?));
        }
        for global in &self.program.globals {
            import(EntityType::Global(encoder.global_type(*global)?));
        }
        let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
        for (index, body) in (self.program.imported..).zip(&self.program.bodies) {
            if self.is_later[index] {
                functions.function(self.program.functions[index]);
                encoder.parse_function_body(&mut code, body.clone())?;
            }
        }
        let entries: Result<Vec<u32>, Error> =
            self.entries.iter().map(|&index| encoder.function_index(index)).collect();
        let mut elements = ElementSection::new();
        let start = ConstExpr::i32_const(self.first_slot() as i32);
        elements.active(Some(self.program.table), &start, Elements::Functions(entries?.into()));
        let mut module = Module::new();
        module.section(&RawSection { id: SectionId::Type as u8, data: self.program.types });
        module.section(&imports).section(&functions).section(&elements).section(&code);
        Ok(module.finish())
    }

    /// Returns everything that the second module imports, with its name and its index in the original module.
    fn exported(&self) -> Vec<(String, ExportKind, u32)> {
        let count = |length: usize| 0..length as u32;
        let functions = self.imports.iter().map(|&index| (ExportKind::Func, index));
        let tables = count(self.program.tables.len()).map(|index| (ExportKind::Table, index));
        let memories = count(self.program.memories.len()).map(|index| (ExportKind::Memory, index));
        let globals = count(self.program.globals.len()).map(|index| (ExportKind::Global, index));
        let all = functions.chain(tables).chain(memories).chain(globals);
        all.enumerate().map(|(number, (kind, index))| (format!("@{number:x}"), kind, index)).collect()
    }

    fn type_of(&self, function: u32) -> u32 {
        self.program.functions[function as usize]
    }

    /// Returns the first new entry of the table.
    fn first_slot(&self) -> u64 {
        self.program.tables[self.program.table as usize].initial
    }

    /// Returns the type of a table with its new entries.
    fn grown(&self, index: usize, mut table: wasmparser::TableType) -> wasmparser::TableType {
        if index == self.program.table as usize {
            let added = self.entries.len() as u64;
            table.initial += added;
            table.maximum = table.maximum.map(|maximum| maximum + added);
        }
        table
    }
}

/// Writes the page's functions with new indices.
struct PageEncoder<'a> {
    plan: &'a Plan<'a>,
    /// Function whose body is read next.
    next: usize,
}

impl Reencode for PageEncoder<'_> {
    type Error = String;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        if self.plan.is_later[function as usize] {
            return Err(Error::UserError(format!("function {function} has moved")));
        }
        Ok(function - self.plan.moved_before[function as usize])
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        for (kind, is_later) in section.into_iter().zip(&self.plan.is_later[self.plan.program.imported..]) {
            let kind = kind?;
            if !is_later {
                functions.function(kind);
            }
        }
        Ok(())
    }

    fn parse_table_section(&mut self, tables: &mut TableSection, section: TableSectionReader<'_>) -> Result<(), Error> {
        let first = self.plan.program.tables.len() - section.count() as usize;
        for (index, table) in (first..).zip(section) {
            let mut table = table?;
            table.ty = self.plan.grown(index, table.ty);
            self.parse_table(tables, table)?;
        }
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: ExportSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_export_section(self, exports, section)?;
        for (name, kind, index) in self.plan.exported() {
            let index = if kind == ExportKind::Func { self.function_index(index)? } else { index };
            exports.export(&name, kind, index);
        }
        Ok(())
    }

    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> Result<(), Error> {
        self.next += 1;
        if self.plan.is_later[self.next - 1] {
            return Ok(());
        }
        let mut function = self.new_function_with_parsed_locals(&body)?;
        for operator in body.get_operators_reader()? {
            match operator? {
                Operator::Call { function_index } if self.plan.is_later[function_index as usize] => {
                    let entry = self.plan.entries.partition_point(|&other| other < function_index);
                    let (type_index, table_index) = (self.plan.type_of(function_index), self.plan.program.table);
                    function.instruction(&Instruction::I32Const((self.plan.first_slot() as usize + entry) as i32));
                    function.instruction(&Instruction::CallIndirect { type_index, table_index });
                }
                operator => {
                    function.instruction(&self.instruction(operator)?);
                }
            }
        }
        code.function(&function);
        Ok(())
    }

    /// Removes the names.
    fn parse_custom_section(&mut self, _: &mut Module, _: CustomSectionReader<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Writes the moved functions.
struct LaterEncoder<'a> {
    plan: &'a Plan<'a>,
}

impl Reencode for LaterEncoder<'_> {
    type Error = String;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        let Plan { is_later, moved_before, imports, .. } = self.plan;
        Ok(if is_later[function as usize] {
            imports.len() as u32 + moved_before[function as usize]
        } else {
            imports.partition_point(|&other| other < function) as u32
        })
    }
}
