//! JSON that is known when the flow is compiled.

/// A string as JSON.
pub(crate) fn string(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for each in text.chars() {
        match each {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            each if u32::from(each) < 0x20 => json.push_str(&format!("\\u{:04x}", u32::from(each))),
            each => json.push(each),
        }
    }
    json.push('"');
    json
}

/// A list of what is JSON already.
pub(crate) fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// An object whose values are JSON already.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members = members.into_iter().map(|(key, value)| format!("{}:{value}", string(key)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_escaped() {
        assert_eq!(string("a \"b\" \\ \n\u{1}ü"), r#""a \"b\" \\ \n\u0001ü""#);
    }

    #[test]
    fn values_are_put_as_they_are() {
        let json = object([("a", list(["1".into(), "true".into()])), ("b", string("c"))]);
        assert_eq!(json, r#"{"a":[1,true],"b":"c"}"#);
    }
}
