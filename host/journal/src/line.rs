//! A record on a line, both ways.
//!
//! A line of `--json` is `{"at-us":TIME,"type":NAME,FIELDS}`. A line of the journal has its checksum before that, of fixed
//! width so that it can be filled in afterwards: `{"crc":"01234567","at-us":TIME,"type":NAME,FIELDS}`.

use std::{fmt, time::Duration};

use flowhost_core::record::Record;
use serde::{
    Deserialize, Deserializer,
    de::{
        self, DeserializeSeed, EnumAccess, IgnoredAny, IntoDeserializer, MapAccess, VariantAccess, Visitor,
        value::MapAccessDeserializer,
    },
    ser,
};

use crate::hot;

/// The longest line of a journal, in bytes: what one call carries (128 MiB) fits, with some of it escaped. The journal of a
/// run that needs a longer one breaks, as it does when the disk is full; a reader takes no longer one either.
pub const LONGEST_LINE: usize = 256 << 20;

const HEAD: &[u8; HEAD_LEN] = br#"{"crc":"00000000","#;
const HEAD_LEN: usize = 18;
const DIGITS: std::ops::Range<usize> = 8..16;

/// Adds a record to `to` as an object on one line, without a line end: what `--json` prints.
///
/// # Errors
/// Only where a record has something that JSON cannot say; none has today.
pub fn line(at: Duration, record: &Record, to: &mut Vec<u8>) -> serde_json::Result<()> {
    to.push(b'{');
    fields(at, record, to)
}

/// Adds a record to `to` as a line of the journal, with its checksum and line end.
pub(crate) fn checked_line(at: Duration, record: &Record, to: &mut Vec<u8>) -> serde_json::Result<()> {
    let start = to.len();
    to.extend_from_slice(HEAD);
    fields(at, record, to)?;
    let digits = hex(crc32fast::hash(&to[start + HEAD_LEN..]));
    to[start..][DIGITS].copy_from_slice(&digits);
    to.push(b'\n');
    Ok(())
}

/// `"at-us":TIME,"type":NAME,FIELDS}`
fn fields(at: Duration, record: &Record, to: &mut Vec<u8>) -> serde_json::Result<()> {
    let start = to.len();
    to.extend_from_slice(b"\"at-us\":");
    serde_json::to_writer(&mut *to, &u64::try_from(at.as_micros()).unwrap_or(u64::MAX))?;
    to.push(b',');
    if !hot::write(record, to)? {
        tagged(record, to)?;
    }
    // A document of the flow's own is kept as it was written, line ends between its tokens too; a line has none.
    for byte in &mut to[start..] {
        *byte = if *byte == b'\n' { b' ' } else { *byte };
    }
    Ok(())
}

/// `"type":NAME,FIELDS}` from serde's `{NAME:{FIELDS}}`, in place: the first is five bytes longer up to the fields.
fn tagged(record: &Record, to: &mut Vec<u8>) -> serde_json::Result<()> {
    let start = to.len();
    to.extend_from_slice(b"     ");
    serde_json::to_writer(&mut *to, record)?;
    let text = &mut to[start..];
    let name_len = text.get(7..).and_then(|name| name.iter().position(|byte| *byte == b'"')).unwrap_or_default();
    let fields = 10 + name_len;
    if !(text.starts_with(b"     {\"") && text[7 + name_len..].starts_with(b"\":{\"") && text.ends_with(b"}}")) {
        return Err(ser::Error::custom("a record without fields has no form on a line"));
    }
    text.copy_within(7..7 + name_len, 8);
    text[..8].copy_from_slice(b"\"type\":\"");
    text[8 + name_len..fields].copy_from_slice(b"\",");
    to.pop();
    Ok(())
}

/// Whether a line, without its line end, is one that a host wrote to its end.
pub(crate) fn is_whole(line: &[u8]) -> bool {
    line.len() > HEAD_LEN
        && line[..DIGITS.start] == HEAD[..DIGITS.start]
        && line[DIGITS.end..HEAD_LEN] == HEAD[DIGITS.end..]
        && line[DIGITS] == hex(crc32fast::hash(&line[HEAD_LEN..]))
}

/// What a line says; the error also of a record that a newer host knows and this one does not.
pub(crate) fn parse(line: &[u8]) -> serde_json::Result<(Duration, Record)> {
    serde_json::from_slice(line).map(|Line { at, record }| (at, record))
}

fn hex(checksum: u32) -> [u8; 8] {
    let mut digits = [0; 8];
    for (two, byte) in digits.chunks_exact_mut(2).zip(checksum.to_be_bytes()) {
        two.copy_from_slice(&hot::hex(byte));
    }
    digits
}

struct Line {
    at: Duration,
    record: Record,
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Line;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a record on a line")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
                let mut at = None;
                while let Some(key) = map.next_key()? {
                    match key {
                        Key::AtUs => at = Some(Duration::from_micros(map.next_value()?)),
                        // Everything after the type is the record's own.
                        Key::Type => {
                            let name = map.next_value()?;
                            let at = at.ok_or_else(|| de::Error::missing_field("at-us"))?;
                            return Ok(Line { at, record: Record::deserialize(Tagged { name, fields: map })? });
                        }
                        Key::Other => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Err(de::Error::missing_field("type"))
            }
        }
        from.deserialize_map(Keys)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Key {
    AtUs,
    Type,
    #[serde(other)]
    Other,
}

/// A record's name and the fields that follow it in its object, as serde's derived `Deserialize` wants them.
struct Tagged<A> {
    name: String,
    fields: A,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Tagged<A> {
    type Error = A::Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, A::Error> {
        Err(de::Error::custom("a record is an enum"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Tagged<A> {
    type Error = A::Error;
    type Variant = Fields<A>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Fields<A>), A::Error> {
        Ok((seed.deserialize(self.name.into_deserializer())?, Fields(self.fields)))
    }
}

struct Fields<A>(A);

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Fields<A> {
    type Error = A::Error;

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        seed.deserialize(MapAccessDeserializer::new(self.0))
    }

    fn unit_variant(self) -> Result<(), A::Error> {
        Err(de::Error::custom("a record has fields"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, A::Error> {
        Err(de::Error::custom("the fields of a record have names"))
    }
}

#[cfg(test)]
#[path = "../tests/sample/mod.rs"]
mod sample;

#[cfg(test)]
mod tests {
    use flowhost_core::{
        harness::Event,
        id::{BranchId, CallId, SessionId, TurnId},
        record::{Answer, Key, Outcome},
    };
    use proptest::prelude::*;

    use super::*;

    /// Whether it is written by hand, after it was compared with serde's.
    fn same_by_hand(record: &Record) -> bool {
        let (mut by_hand, mut by_serde) = (Vec::new(), Vec::new());
        tagged(record, &mut by_serde).unwrap();
        let written = hot::write(record, &mut by_hand).unwrap();
        if written {
            assert_eq!(String::from_utf8(by_hand).unwrap(), String::from_utf8(by_serde).unwrap());
        } else {
            assert!(by_hand.is_empty());
        }
        written
    }

    #[test]
    fn what_is_written_by_hand_is_what_serde_writes() {
        let by_hand = sample::records().iter().filter(|record| same_by_hand(record)).count();
        assert!(by_hand >= 12, "{by_hand}");
    }

    proptest! {
        #[test]
        fn whatever_text_and_numbers_are_in_it(text in any::<String>(), number in any::<u32>(), long in any::<u64>(), bytes in any::<[u8; 16]>(), dollars in 0.0f64..1e6) {
            let (branch, key) = (BranchId(text.as_str().into()), Key(bytes));
            let usage = flowhost_core::usage::Usage {
                turns: number,
                input_tokens: long,
                cost: flowhost_core::usage::Usd::from_dollars(dollars),
                duration_ms: long / 2,
                ..sample::usage()
            };
            let document = sample::json(&serde_json::to_string(&text).unwrap());
            let (turn, session, call) = (TurnId(number), SessionId(number / 2), CallId(number));
            let text = std::sync::Arc::<str>::from(text);
            let (role, agent, directory, prompt) = (text.clone(), text.clone(), text.clone(), text.clone());
            let (function, label) = (text.clone(), text.clone());
            let answer = Answer { text: text.clone(), value: Some(document.clone()) };
            let all = [
                Record::Session { session, branch: branch.clone(), role, agent, directory, nth: number, fork_of: None },
                Record::Turn { turn, session, branch: branch.clone(), key, prompt, schema: Some(document.clone()) },
                Record::Event { turn, event: Event::Text { text: text.to_string() } },
                Record::Event { turn, event: Event::Usage { usage } },
                Record::TurnEnd { turn, outcome: Outcome::Ok(answer), usage },
                Record::Call { call, branch: branch.clone(), function, key, label, repeatable: false },
                Record::CallEnd { call, outcome: Outcome::Ok(document.clone()) },
                Record::Value { branch: branch.clone(), function: text.clone(), key: Some(key), outcome: Outcome::Ok(document) },
                Record::Delivered { branch, of: text },
            ];
            prop_assert!(all.iter().all(same_by_hand));
        }
    }
}
