//! Functions behind gates move to a second module.

use super::{Split, split};
use wasm_encoder::{
    CodeSection, ConstExpr, ElementSection, Elements, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, GlobalType, ImportSection, Instruction, MemorySection, MemoryType, Module, NameMap, NameSection,
    RefType, TableSection, TableType, TypeSection, ValType,
};
use wasmparser::{Operator, Parser, Payload};

/// Functions of the module: name, called functions, and number of further instructions.
type Functions<'a> = &'a [(&'a str, &'a [u32], usize)];

const GATE: &str = "base::later::gate::h0123456789abcdef";

/// Builds a module whose functions have no parameters. Function 0 is imported, function 1 is exported, and `in_table`
/// are in the table.
fn module(functions: Functions<'_>, in_table: &[u32]) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let mut imports = ImportSection::new();
    imports.import("js", "log", EntityType::Function(0));
    let (mut declared, mut code, mut names) = (FunctionSection::new(), CodeSection::new(), NameMap::new());
    for (index, (name, calls, further)) in (1..).zip(functions) {
        declared.function(0);
        let mut body = Function::new([]);
        for &to in *calls {
            body.instruction(&Instruction::Call(to));
        }
        for _ in 0..*further {
            body.instruction(&Instruction::GlobalGet(0)).instruction(&Instruction::Drop);
        }
        code.function(body.instruction(&Instruction::End));
        names.append(index, name);
    }
    let mut tables = TableSection::new();
    let table =
        |element_type, minimum| TableType { element_type, minimum, maximum: None, table64: false, shared: false };
    tables.table(table(RefType::EXTERNREF, 1)).table(table(RefType::FUNCREF, 1 + in_table.len() as u64));
    let mut memories = MemorySection::new();
    memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
    let mut globals = GlobalSection::new();
    globals.global(GlobalType { val_type: ValType::I32, mutable: true, shared: false }, &ConstExpr::i32_const(7));
    let mut exports = ExportSection::new();
    exports.export("main", ExportKind::Func, 1);
    let mut elements = ElementSection::new();
    elements.active(Some(1), &ConstExpr::i32_const(1), Elements::Functions(in_table.into()));
    let mut section = NameSection::new();
    section.functions(&names);
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&declared).section(&tables).section(&memories).section(&globals);
    module.section(&exports).section(&elements).section(&code).section(&section);
    module.finish()
}

/// Returns the number of instructions of each function of a module.
fn bodies(module: &[u8]) -> Vec<usize> {
    let bodies = Parser::new(0).parse_all(module).filter_map(|payload| match payload.unwrap() {
        Payload::CodeSectionEntry(body) => Some(body.get_operators_reader().unwrap().into_iter().count()),
        _ => None,
    });
    bodies.collect()
}

/// Returns the operators of a function of a module.
fn operators(module: &[u8], function: usize) -> String {
    let bodies = Parser::new(0).parse_all(module).filter_map(|payload| match payload.unwrap() {
        Payload::CodeSectionEntry(body) => Some(body),
        _ => None,
    });
    let body = bodies.collect::<Vec<_>>().remove(function);
    let operators: Vec<Operator<'_>> = body.get_operators_reader().unwrap().into_iter().map(Result::unwrap).collect();
    format!("{operators:?}")
}

#[test]
fn functions_behind_a_gate_move() {
    let functions: Functions<'_> =
        &[("main", &[2, 4], 0), (GATE, &[3, 4, 0], 0), ("report", &[4], 10), ("shared", &[], 20)];
    let wasm = module(functions, &[]);
    let Split { page, later } = split(&wasm).unwrap();
    assert_eq!(bodies(&page), [4, 41], "main and shared, with a constant for the call through the table");
    assert_eq!(bodies(&later), [4, 22], "the gate and the report");
    assert!(operators(&page, 0).contains("I32Const { value: 1 }, CallIndirect { type_index: 0, table_index: 1 }"));
    // The second module imports the functions 0 and 4, which become 0 and 1, before its own.
    let calls = "Call { function_index: 3 }, Call { function_index: 1 }, Call { function_index: 0 }";
    assert!(operators(&later, 0).contains(calls), "{}", operators(&later, 0));
}

#[test]
fn function_in_the_table_or_exported_stays() {
    let functions: Functions<'_> =
        &[("main", &[2], 0), (GATE, &[1, 3, 4], 600), ("method", &[5], 3), ("report", &[], 4), ("helper", &[], 5)];
    let Split { page, later } = split(&module(functions, &[3])).unwrap();
    assert_eq!(bodies(&page), [3, 8, 11], "main, the method and its helper");
    assert_eq!(bodies(&later), [1204, 9]);
}

#[test]
fn small_gate_that_calls_nothing_of_its_own_stays() {
    let functions: Functions<'_> = &[("main", &[2, 3, 4], 0), (GATE, &[3], 1), ("drop", &[], 2), (GATE, &[], 600)];
    let Split { page, later } = split(&module(functions, &[])).unwrap();
    assert_eq!(bodies(&page), [5, 4, 5], "an equal function may have been merged with the small gate");
    assert_eq!(bodies(&later), [1201]);
}

#[test]
fn module_without_names_is_an_error() {
    let wasm = module(&[("main", &[2], 0), ("gate", &[], 600)], &[]);
    assert_eq!(split(&wasm).err().unwrap(), "no function is behind a gate: were function names removed?");
}
