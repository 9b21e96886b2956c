//! What the code that [`flow`](macro@crate::flow) writes leans on. Not for use by hand.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::raw::flowhost::flow::types as wit;
use crate::{Context, Error, Result};

/// How every manifest begins: the contract that this SDK speaks.
pub const OPENING: &str = r#"{"contract":"0.1.0""#;

/// The context of the call that is going.
pub fn context() -> Context {
    Context::new()
}

/// What a function under `#[flow]` returns.
pub trait Outcome {
    /// What it answers.
    type Answer: Serialize + JsonSchema;

    /// As the contract carries it.
    fn carry(self) -> std::result::Result<String, wit::Error>;
}

impl<T: Serialize + JsonSchema, E: Into<Error>> Outcome for Result<T, E> {
    type Answer = T;

    fn carry(self) -> std::result::Result<String, wit::Error> {
        let answer = self.map_err(Into::into);
        let json = answer.and_then(|answer| serde_json::to_string(&answer).map_err(Error::from));
        json.map_err(Error::lower)
    }
}

/// The params that a flow was called with.
pub fn params<P: DeserializeOwned>() -> std::result::Result<P, wit::Error> {
    context().params().map_err(Error::lower)
}

/// The JSON Schema of a type, as text.
pub fn schema<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    serde_json::Value::from(settings.into_generator().into_root_schema_for::<T>()).to_string()
}

/// A string as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
