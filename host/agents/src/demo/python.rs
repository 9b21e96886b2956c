//! Where things stand in a Python file.

use std::ops::Range;

use super::{
    code::{code, masked, python_literal},
    language::Language,
    layout::{is_blank, lines, start},
};

/// Where the first comment of the file ends, shebang and encoding line among it: the start of a line. The start of the text
/// where something else comes first.
pub(super) fn after_first_comment(text: &[u8]) -> usize {
    let mut end = start(text);
    let mut within = false;
    for (line, next) in lines(text, end) {
        match line.trim_ascii_start().first() {
            Some(b'#') => (end, within) = (next, true),
            _ if is_blank(line) && !within => {}
            _ => break,
        }
    }
    end
}

/// Whether the file's first statement is its docstring.
pub(super) fn has_docstring(text: &[u8]) -> bool {
    statements(text).first().is_some_and(|first| is_docstring(&text[first.clone()]))
}

/// Where `__all__` goes: after the docstring and what it imports from the future.
pub(super) fn after_future(text: &[u8]) -> usize {
    let mut end = after_first_comment(text);
    let masked = masked(Language::Python, text);
    for (nth, statement) in statements(text).into_iter().enumerate() {
        let code = String::from_utf8_lossy(&masked[statement.clone()]);
        let mut words = code.split_whitespace();
        let future = words.next() == Some("from") && words.next() == Some("__future__");
        if future || nth == 0 && is_docstring(&text[statement.clone()]) {
            end = statement.end;
        } else {
            break;
        }
    }
    end
}

/// The logical lines that are statements, each with its line end.
fn statements(text: &[u8]) -> Vec<Range<usize>> {
    let mut statements = Vec::new();
    let (mut from, mut depth) = (start(text), 0_u32);
    let mut end_line = |from: &mut usize, end: usize| {
        let line = text[*from..end].trim_ascii_start();
        if !line.is_empty() && line[0] != b'#' {
            statements.push(*from..end);
        }
        *from = end;
    };
    for span in code(Language::Python, text).unwrap_or_default() {
        for at in span.clone() {
            match text[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'\n' | b'\r' => {
                    // One line end of two bytes, and one that a backslash carries on.
                    let half = text[at] == b'\r' && text.get(at + 1) == Some(&b'\n');
                    let line = &text[span.start..at];
                    let line = line.strip_suffix(b"\r").filter(|_| text[at] == b'\n').unwrap_or(line);
                    if depth == 0 && !half && !line.ends_with(b"\\") {
                        end_line(&mut from, at + 1);
                    }
                }
                _ => {}
            }
        }
    }
    end_line(&mut from, text.len());
    statements
}

/// Whether a statement, or the first of those on its line, is nothing but text.
fn is_docstring(statement: &[u8]) -> bool {
    let (mut at, mut depth, mut text) = (0, 0_u32, false);
    while let Some(byte) = statement.get(at) {
        match byte {
            b' ' | b'\t' | b'\x0c' => at += 1,
            b'\\' if statement[at..].starts_with(b"\\\r\n") => at += 3,
            b'\\' if matches!(statement.get(at + 1), Some(b'\n' | b'\r')) => at += 2,
            b'#' | b';' | b'\n' | b'\r' if depth == 0 && text => return true,
            b'\n' | b'\r' => at += 1,
            b'#' => at += lines(statement, at).next().map_or(1, |(line, _)| line.len()),
            b'(' if !text => (depth, at) = (depth + 1, at + 1),
            b')' if text && depth > 0 => (depth, at) = (depth - 1, at + 1),
            _ => match python_literal(statement, at) {
                Some((end, true)) => (text, at) = (true, end),
                _ => return false,
            },
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_docstring_is_known_in_all_its_forms() {
        for text in [
            "\"\"\"x\"\"\"",
            "'x'\n",
            "# c\n\n'x' 'y'\n",
            "('x')\n",
            "(\n# c\n'x'\n'y'\n)\n",
            "r'x'; import a\n",
            "u'x' # c\n",
            "\\\n'x'\n",
            "\u{feff}'x'",
            "'x' \\\n 'y'\n",
            "\"\"\"a\n\"b\" ''' \\\"\"\"\n\"\"\"\n",
        ] {
            assert!(has_docstring(text.as_bytes()), "{text:?}");
        }
        for text in [
            "",
            "# c\n",
            "b'x'\n",
            "f'x'\n",
            "'x', 1\n",
            "'x' + 'y'\n",
            "'x'.y\n",
            "()\n",
            "('x',)\n",
            "x = 'y'\n",
            "'a' b'c'\n",
            "f'a' 'b'\n",
            "'x' % 1\n",
        ] {
            assert!(!has_docstring(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn the_first_comment_has_shebang_and_encoding_in_it() {
        for (text, end) in [
            ("import a\n", 0),
            ("#!/x\n# coding: latin-1\n\nimport a\n", 23),
            ("\n# coding: x\nimport a\n", 13),
            ("\nimport a\n", 0),
            ("# a\n\n# b\n", 4),
            ("# a", 3),
            ("\u{feff}# a\nx", 7),
        ] {
            assert_eq!(after_first_comment(text.as_bytes()), end, "{text:?}");
        }
    }

    #[test]
    fn what_is_imported_from_the_future_comes_first() {
        let text =
            "'x'\nfrom __future__ import (\n  annotations,\n)\n\n# c\nfrom  __future__ import a; import b\nimport c\n";
        let end = after_future(text.as_bytes());
        assert_eq!(&text[end..], "import c\n");
        assert_eq!(after_future(b"import a\nfrom __future__ import b\n"), 0);
    }
}
