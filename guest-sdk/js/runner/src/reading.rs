//! What JavaScript hands over, held to the contract's types: what does not fit is a `TypeError` that says what was expected, where
//! the border would end the flow without a word.

use boa_engine::{
    Context, JsError, JsNativeError, JsResult, JsString, JsValue, JsVariant,
    object::{
        JsObject,
        builtins::{JsArrayBuffer, JsUint8Array},
    },
    property::PropertyKey,
};

use crate::{handles::Resource, words::Word};

/// The first whole number that JavaScript cannot tell from its neighbour.
const UNSAFE: f64 = 9_007_199_254_740_992.0;

/// A `TypeError` about a value that is not what was expected.
pub(crate) fn wrong(what: &str, expected: &str, value: &JsValue) -> JsError {
    let found = match value.variant() {
        JsVariant::Undefined => "undefined".to_owned(),
        JsVariant::Null => "null".to_owned(),
        JsVariant::String(text) if text.len() <= 40 => format!("{:?}", text.to_std_string_lossy()),
        JsVariant::Object(object) if object.is_callable() => "a function".to_owned(),
        JsVariant::Object(object) if object.is_array() => "an array".to_owned(),
        JsVariant::Object(_) => "an object".to_owned(),
        JsVariant::String(_) => "a long string".to_owned(),
        _ => value.display().to_string(),
    };
    JsNativeError::typ().with_message(format!("{what} must be {expected}, not {found}")).into()
}

/// Whether nothing was said.
pub(crate) fn is_absent(value: &JsValue) -> bool {
    value.is_null_or_undefined()
}

/// A string; what of it is no Unicode is replaced.
pub(crate) fn text(value: &JsValue, what: &str) -> JsResult<String> {
    let text = value.as_string().ok_or_else(|| wrong(what, "a string", value))?;
    Ok(text.to_std_string_lossy())
}

/// `true` or `false`.
pub(crate) fn flag(value: &JsValue, what: &str) -> JsResult<bool> {
    value.as_boolean().ok_or_else(|| wrong(what, "true or false", value))
}

/// A number that is not negative.
pub(crate) fn amount(value: &JsValue, what: &str) -> JsResult<f64> {
    let amount = value.as_number().filter(|number| number.is_finite() && *number >= 0.0);
    amount.ok_or_else(|| wrong(what, "a number from 0 on", value))
}

/// A whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked on the line above")]
pub(crate) fn count(value: &JsValue, what: &str) -> JsResult<u64> {
    let count = amount(value, what)?;
    if count.fract() != 0.0 || count >= UNSAFE {
        return Err(wrong(what, "a whole number", value));
    }
    Ok(count as u64)
}

/// A whole number that is not large.
pub(crate) fn small_count(value: &JsValue, what: &str) -> JsResult<u32> {
    u32::try_from(count(value, what)?).map_err(|_| wrong(what, "a whole number below 2 ** 32", value))
}

/// Milliseconds, rounded up so that a wait is never shorter than asked.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
pub(crate) fn millis(value: &JsValue, what: &str) -> JsResult<u64> {
    Ok(amount(value, what)?.ceil() as u64)
}

/// A word of one of the contract's enums.
pub(crate) fn word<W: Word>(value: &JsValue, what: &str) -> JsResult<W> {
    let case = value.as_string().and_then(|text| W::of(&text.to_std_string_lossy()));
    case.ok_or_else(|| {
        let words: Vec<String> = W::ALL.iter().map(|(_, word)| format!("{word:?}")).collect();
        wrong(what, &format!("one of {}", words.join(" ")), value)
    })
}

/// Bytes: a `Uint8Array`, an `ArrayBuffer`, or a string as UTF-8.
pub(crate) fn bytes(value: &JsValue, what: &str, context: &mut Context) -> JsResult<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return Ok(text.to_std_string_lossy().into_bytes());
    }
    let expected = || wrong(what, "a string or a Uint8Array", value);
    let object = value.as_object().ok_or_else(expected)?;
    if let Ok(array) = JsUint8Array::from_object(object.clone()) {
        return array.to_vec(context);
    }
    let buffer = JsArrayBuffer::from_object(object.clone()).map_err(|_| expected())?;
    buffer.to_vec().ok_or_else(expected)
}

/// The items of an array.
pub(crate) fn items(value: &JsValue, what: &str, context: &mut Context) -> JsResult<Vec<JsValue>> {
    let array = value.as_object().filter(JsObject::is_array).ok_or_else(|| wrong(what, "an array", value))?;
    let length = array.get(JsString::from("length"), context)?.to_length(context)?;
    (0..length).map(|at| array.get(at, context)).collect()
}

/// An array of strings.
pub(crate) fn texts(value: &JsValue, what: &str, context: &mut Context) -> JsResult<Vec<String>> {
    let items = items(value, what, context).map_err(|_| wrong(what, "an array of strings", value))?;
    items.iter().enumerate().map(|(at, item)| text(item, &format!("{what}[{at}]"))).collect()
}

/// The entries of a plain object, in order.
pub(crate) fn entries(value: &JsValue, what: &str, context: &mut Context) -> JsResult<Vec<(String, JsValue)>> {
    let object =
        value.as_object().filter(|object| !object.is_array()).ok_or_else(|| wrong(what, "an object", value))?;
    let mut entries = Vec::new();
    for key in object.own_property_keys(context)? {
        let name = match &key {
            PropertyKey::String(name) => name.to_std_string_lossy(),
            PropertyKey::Index(index) => index.get().to_string(),
            PropertyKey::Symbol(_) => continue,
        };
        let value = object.get(key, context)?;
        entries.push((name, value));
    }
    Ok(entries)
}

/// An object of options, each read once and by name; one that nobody reads is a typing mistake and an error.
pub(crate) struct Options<'a> {
    of: &'a str,
    given: Vec<(String, JsValue)>,
    known: Vec<&'static str>,
}

impl<'a> Options<'a> {
    /// Those that were given to `of`; none is as good as an empty object.
    pub(crate) fn read(value: &JsValue, of: &'a str, context: &mut Context) -> JsResult<Self> {
        let given =
            if is_absent(value) { Vec::new() } else { entries(value, &format!("the options of {of}"), context)? };
        Ok(Self { of, given, known: Vec::new() })
    }

    /// Reads one that is there.
    pub(crate) fn take<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&JsValue, &str) -> JsResult<T>,
    ) -> JsResult<Option<T>> {
        self.known.push(name);
        match self.given.iter().position(|(given, _)| given == name) {
            None => Ok(None),
            Some(place) => {
                let (_, value) = self.given.swap_remove(place);
                if is_absent(&value) { Ok(None) } else { read(&value, name).map(Some) }
            }
        }
    }

    /// Reads a handle that is there.
    pub(crate) fn resource<R: Resource>(&mut self, name: &'static str) -> JsResult<Option<std::rc::Rc<R>>> {
        self.take(name, R::from_value)
    }

    /// Names that somebody else reads.
    pub(crate) fn leave(&mut self, name: &'static str) {
        self.known.push(name);
        self.given.retain(|(given, _)| given != name);
    }

    /// Nothing is left unread.
    pub(crate) fn end(self) -> JsResult<()> {
        let Some((name, _)) = self.given.first() else { return Ok(()) };
        let known = self.known.join(", ");
        let message = format!("{} has no option {name:?}; it has {known}", self.of);
        Err(JsNativeError::typ().with_message(message).into())
    }
}
