//! Rows of a survey of many files, which a lake of Parquet files stores: snapshots, call sites, OOMs and steps.
//!
//! `columns.rs` declares the five tables, `rows.rs` their rows, `device.rs` computes the rows of a device, and
//! `call_sites.rs` the sums by call site.

mod call_sites;
mod columns;
mod device;
mod rows;

pub use analysis::place::hash as id_of_text;
pub use columns::{CellFn, Column, OOM, SITE, SITE_USE, SNAPSHOT, STEP};
pub use device::{DeviceRows, device_rows};
pub use rows::{Key, Object, OomRow, SiteRow, SiteUseRow, SnapshotRow, StepRow};
