//! From a core module to a component.

use wasm_encoder::{CustomSection, Section as _};
use wit_component::ComponentEncoder;

/// The component that a core module is, by a section that says which type it is to have. The error is a line.
pub(super) fn of_module(mut module: Vec<u8>, ty: &[u8]) -> Result<Vec<u8>, String> {
    CustomSection { name: "component-type:flowhost".into(), data: ty.into() }.append_to(&mut module);
    let component = ComponentEncoder::default().validate(true).module(&module).and_then(|mut encoder| encoder.encode());
    component.map_err(|error| format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" "))
}
