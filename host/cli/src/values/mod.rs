//! What people write on the command line, read: measures, budgets, params, grants, and `ROLE=…`.

pub mod budget;
pub mod grant;
pub mod limit;
pub mod near;
pub mod params;
pub mod role;

pub use flowhost_core::measure;
