//! How what a call gave stands in the record (J1).

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    env::Output,
    error::{Error, Result},
    record::{Json, Outcome},
};

/// The outcome of a call. Fails where JSON cannot say it.
pub(crate) fn outcome_of<T: Serialize>(result: &Result<T>) -> Result<Outcome<Json>> {
    Ok(match result {
        Ok(value) => {
            let json =
                serde_json::value::to_raw_value(value).map_err(|error| Error::other(format!("the record: {error}")))?;
            Outcome::Ok(json.into())
        }
        Err(error) => Outcome::Error(error.clone()),
    })
}

/// What a command left, as it stands in the record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ran {
    /// Its exit status.
    pub status: i32,
    /// What it wrote.
    pub stdout: Bytes,
    /// What it complained of.
    pub stderr: Bytes,
    /// Whether either was cut.
    pub truncated: bool,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let Output { status, stdout, stderr, truncated } = output;
        Self { status, stdout: Bytes(stdout), stderr: Bytes(stderr), truncated }
    }
}

impl From<Ran> for Output {
    fn from(ran: Ran) -> Self {
        let Ran { status, stdout, stderr, truncated } = ran;
        Self { status, stdout: stdout.0, stderr: stderr.0, truncated }
    }
}

/// Bytes in the record: a string where they are UTF-8, else `{"hex": …}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => to.serialize_str(text),
            Err(_) => {
                let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
                HexBytes { hex }.serialize(to)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Hex(HexBytes),
        }
        match Either::deserialize(from)? {
            Either::Text(text) => Ok(Self(text.into_bytes())),
            Either::Hex(HexBytes { hex }) => {
                let digits = |at: usize| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
                let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(digits).collect();
                bytes.map(Self).ok_or_else(|| de::Error::custom("not hexadecimal digits"))
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
struct HexBytes {
    hex: String,
}
