//! What the page's SQLite is built without (`build_sql` in `run`), and its parser names all the same.
//!
//! The parser comes to these only by statements that [`super::statement`] refuses before it sees them: so they do nothing. Types are those of
//! the calls in C, where pointers and numbers are 32 bits.
#![allow(unsafe_code, reason = "names that C calls; they touch no memory")]
#![allow(non_snake_case, reason = "C's names")]

macro_rules! omitted {
    ($($name:ident($($value:ident),*) $(-> $result:ty)?;)*) => {
        $(
            // SAFETY: nothing else has this name: it is SQLite's own, or one of a C library that is not linked.
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
