//! Splits the page's wasm in two: functions that are reached only through `base::later::gate` move to a second module,
//! which shares the memory, the tables, the globals and the functions of the first.
//!
//! ```text
//! page    exports everything that the second module uses, under names that start with @. A call of a moved function
//!         becomes a call through the table, whose entry is empty until the second module is instantiated.
//! later   imports all that from the module "", and writes its functions into the table.
//! ```
//!
//! This runs after wasm-opt, so the first module stays as small as wasm-opt has made it. Function names have to be kept
//! until then (`-g`). Both modules are written without names.

mod modules;
mod program;

use modules::Plan;
use program::Program;
use wasmparser::Validator;

/// Both modules.
pub(crate) struct Split {
    pub(crate) page: Vec<u8>,
    pub(crate) later: Vec<u8>,
}

/// Splits a module that has function names.
///
/// # Errors
/// Returns an error if the module is invalid or has no gates, or if one of the new modules would be invalid.
pub(crate) fn split(wasm: &[u8]) -> Result<Split, String> {
    let program = Program::parse(wasm).map_err(|error| error.to_string())?;
    let is_later = program.later();
    if !is_later.contains(&true) {
        return Err("no function is behind a gate: were function names removed?".to_owned());
    }
    let plan = Plan::new(&program, is_later);
    let split = || Ok(Split { page: plan.page_module(wasm)?, later: plan.later_module()? });
    let split = split().map_err(|error: modules::Error| error.to_string())?;
    for module in [&split.page, &split.later] {
        Validator::new()
            .validate_all(module)
            .map_err(|error| format!("a module is invalid after splitting: {error}"))?;
    }
    Ok(split)
}

#[cfg(test)]
#[path = "../../tests/units/pack/split.rs"]
mod tests;
