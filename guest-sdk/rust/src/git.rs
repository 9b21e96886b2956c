//! What git writes.

/// File names as git lists them, one a line.
///
/// A name with a quote, a backslash, a control character or a byte beyond ASCII stands in quotes there; this gives the name itself.
/// What of it is not UTF-8 is replaced.
///
/// ```
/// let listed = "a.py\nwith space.py\n\"\\303\\274ber.py\"\n";
/// let names: Vec<String> = flowhost::git::names(listed).collect();
/// assert_eq!(names, ["a.py", "with space.py", "über.py"]);
/// ```
pub fn names(listed: &str) -> impl Iterator<Item = String> {
    listed.lines().map(unquoted)
}

/// The name that git means. One with a quote, a backslash, a control character or a byte beyond ASCII stands in double quotes, with
/// escapes as in C.
fn unquoted(listed: &str) -> String {
    let Some(inside) = listed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return listed.to_owned();
    };
    let mut name = Vec::with_capacity(inside.len());
    let mut rest = inside.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            name.push(*byte);
            continue;
        }
        if let Some((octal, after)) = rest.split_first_chunk::<3>()
            && let Some(value) = octal_value(*octal)
        {
            name.push(value);
            rest = after;
        } else if let Some((letter, after)) = rest.split_first() {
            name.push(escaped(*letter));
            rest = after;
        }
    }
    String::from_utf8_lossy(&name).into_owned()
}

fn octal_value(digits: [u8; 3]) -> Option<u8> {
    let text = std::str::from_utf8(&digits).ok()?;
    u8::from_str_radix(text, 8).ok()
}

fn escaped(letter: u8) -> u8 {
    match letter {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn a_plain_name_stays_as_it_is() {
        assert_eq!(unquoted("src/with space.py"), "src/with space.py");
        assert_eq!(unquoted(r"a\b.py"), r"a\b.py");
    }

    #[test]
    fn an_umlaut_comes_back() {
        assert_eq!(unquoted(r#""\303\274ber/a.py""#), "über/a.py");
    }

    #[test]
    fn quotes_backslashes_and_control_characters_come_back() {
        assert_eq!(unquoted(r#""a\"b\\c\td\ne.py""#), "a\"b\\c\td\ne.py");
    }

    #[test]
    fn what_git_never_writes_does_no_harm() {
        assert_eq!(unquoted(r#""a\""#), "a");
        assert_eq!(unquoted("\""), "\"");
        assert_eq!(unquoted(r#""\999""#), "999");
    }
}
