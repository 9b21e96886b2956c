//! Lines of a file, on bytes: its line ends, its byte order mark and the lack of a last line end are kept.

/// UTF-8's byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// What ends the file's first line, and so the lines that are added.
pub(super) fn newline(text: &[u8]) -> &'static [u8] {
    match text.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        Some(at) if text[at..].starts_with(b"\r\n") => b"\r\n",
        Some(at) if text[at] == b'\r' => b"\r",
        _ => b"\n",
    }
}

/// Where the text begins: after a byte order mark.
pub(super) fn start(text: &[u8]) -> usize {
    if text.starts_with(MARK) { MARK.len() } else { 0 }
}

/// The line that starts at `at`, without its end, and where the next one starts; none at the end of the text.
pub(super) fn line(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
    let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    let end = match &rest[length..] {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    };
    Some((&rest[..length], at + length + end))
}

/// The lines from `at` on, each with where the next one starts.
pub(super) fn lines(text: &[u8], at: usize) -> impl Iterator<Item = (&[u8], usize)> {
    let mut at = at;
    std::iter::from_fn(move || {
        let (line, next) = line(text, at)?;
        at = next;
        Some((line, next))
    })
}

/// Whether there is nothing to be seen in a line.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\x0c'))
}

/// `text` with `added` on lines of their own at `at`, the start of a line or the end of the text. Where something follows, a
/// blank line is between, and one before where `apart` says so. The last line of the text ends as it did.
pub(super) fn insert(text: &[u8], at: usize, added: &[String], apart: bool) -> Vec<u8> {
    let newline = newline(text);
    let (before, after) = text.split_at(at);
    let mut result = before.to_vec();
    let unended = at > start(text) && !before.ends_with(b"\n") && !before.ends_with(b"\r");
    if unended {
        result.extend(newline);
    }
    let above = lines(before, start(text)).last().is_some_and(|(line, _)| !is_blank(line));
    if apart && above {
        result.extend(newline);
    }
    for line in added {
        result.extend(line.as_bytes());
        result.extend(newline);
    }
    match lines(after, 0).next() {
        Some((line, _)) if !is_blank(line) => result.extend(newline),
        Some(_) => {}
        None if unended => result.truncate(result.len() - newline.len()),
        None => {}
    }
    result.extend(after);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_ends_its_lines_as_the_file_does() {
        let added = ["x".to_owned()];
        for (text, at, expected) in [
            ("", 0, "x\n"),
            ("a", 0, "x\n\na"),
            ("a", 1, "a\nx"),
            ("a\r\nb\r\n", 3, "a\r\nx\r\n\r\nb\r\n"),
            ("a\rb", 2, "a\rx\r\rb"),
            ("\n\nb", 0, "x\n\n\nb"),
        ] {
            assert_eq!(String::from_utf8(insert(text.as_bytes(), at, &added, false)).unwrap(), expected, "{text:?}");
        }
        assert_eq!(insert(b"a\n", 2, &added, true), b"a\n\nx\n");
        assert_eq!(insert(b"\xef\xbb\xbfa", 3, &added, true), b"\xef\xbb\xbfx\n\na");
    }
}
