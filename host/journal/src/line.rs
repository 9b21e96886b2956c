//! A record on a line, both ways.
//!
//! A line of `--json` is `{"at-us":TIME,"type":NAME,FIELDS}`. A line of the journal has its checksum before that, of fixed
//! width so that it can be filled in afterwards: `{"crc":"01234567","at-us":TIME,"type":NAME,FIELDS}`.

use std::{fmt, io::Write as _, time::Duration};

use flowhost_core::record::Record;
use serde::{
    Deserialize, Deserializer,
    de::{
        self, DeserializeSeed, EnumAccess, IgnoredAny, IntoDeserializer, MapAccess, VariantAccess, Visitor,
        value::MapAccessDeserializer,
    },
    ser,
};

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
    tagged(record, to)?;
    // A document of the flow's own is kept as it was written, line ends between its tokens too; a line has none.
    for byte in &mut to[start..] {
        if *byte == b'\n' {
            *byte = b' ';
        }
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
    // Eight digits always fit.
    let _ = write!(&mut digits[..], "{checksum:08x}");
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
