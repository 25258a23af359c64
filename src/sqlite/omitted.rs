//! Stubs for functions that are omitted from the page's build of SQLite (`build_sql` in `run`) but called by its
//! parser.
//!
//! The parser calls them only for statements that [`super::statement`] has already rejected, so they do nothing. Their
//! types match the C declarations on a target with 32-bit pointers and integers.
#![allow(unsafe_code, reason = "functions called from C; they access no memory")]
#![allow(non_snake_case, reason = "C's names")]

macro_rules! omitted {
    ($($name:ident($($value:ident),*) $(-> $result:ty)?;)*) => {
        $(
            // SAFETY: the name is unique, because it belongs to an omitted part of SQLite or to a C library that is not
            // linked.
            #[unsafe(no_mangle)]
            extern "C" fn $name($($value: u32),*) $(-> $result)? {
                let _ = ($($value,)*);
                $(<$result>::default())?
            }
        )*
    };
}

omitted! {
    sqlite3AlterAddConstraint(a, b, c, d, e, f, g);
    sqlite3AlterSetNotNull(a, b, c, d);
    sqlite3AlterDropConstraint(a, b, c, d);
    sqlite3AlterRenameColumn(a, b, c, d);
    sqlite3AlterDropColumn(a, b, c);
    sqlite3AlterBeginAddColumn(a, b);
    sqlite3AlterFinishAddColumn(a, b);
    sqlite3AlterRenameTable(a, b, c);
    sqlite3Analyze(a, b, c);
    sqlite3Reindex(a, b, c);
    sqlite3DropTrigger(a, b, c) -> u32;
    sqlite3TriggerSelectStep(a, b, c, d) -> u32;
    sqlite3TriggerDeleteStep(a, b, c, d, e) -> u32;
    sqlite3TriggerInsertStep(a, b, c, d, e, f, g, h) -> u32;
    sqlite3TriggerUpdateStep(a, b, c, d, e, f, g, h) -> u32;
    sqlite3BeginTrigger(a, b, c, d, e, f, g, h, i, j) -> u32;
    sqlite3FinishTrigger(a, b, c) -> u32;
    sqlite3Pragma(a, b, c, d, e);
    sqlite3Vacuum(a, b, c);
    sqlite3DeleteTriggerStep(a, b) -> u32;
    sqlite3PragmaVtabRegister(a, b) -> u32;
    sqlite3PagerClearCache(a);
    gmtime(a) -> u32;
    strftime(a, b, c, d) -> u32;
}
