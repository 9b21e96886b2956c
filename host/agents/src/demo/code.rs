//! Tells code from strings and comments, on bytes, so that any encoding that has ASCII in it is kept as it is.

use std::ops::Range;

use super::{language::Language, layout::start};

/// How deep expressions inside strings inside expressions are followed.
const NESTING: u32 = 8;

/// The spans of `text` that are code, in order; none where the language is not known well enough to tell.
pub(super) fn code(language: Language, text: &[u8]) -> Option<Vec<Range<usize>>> {
    let first = start(text);
    let mut scan = Scan { text, at: first, open: first, spans: Vec::new() };
    match language {
        Language::Python => scan.python(false, 0),
        Language::Rust => scan.rust(),
        Language::JavaScript => scan.javascript(false, 0),
        Language::C | Language::Java | Language::Go => scan.c(language),
        Language::Shell | Language::Line(_) | Language::Block(..) | Language::Plain => return None,
    }
    scan.at = text.len();
    scan.opaque_to(text.len());
    Some(scan.spans)
}

/// A copy of `text` in which all but code is blank, line ends kept.
pub(super) fn masked(language: Language, text: &[u8]) -> Vec<u8> {
    let Some(spans) = code(language, text) else { return text.to_vec() };
    let mut masked: Vec<u8> =
        text.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { *byte } else { b' ' }).collect();
    for span in spans {
        masked[span.clone()].copy_from_slice(&text[span]);
    }
    masked
}

/// Whether a byte can be part of a name. What is not ASCII can.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Where the Python string that starts at `at` ends, and whether it is plain text: neither bytes nor formatted.
pub(super) fn python_literal(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let prefix = text[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (quote, letters) = (at + prefix, text[at..at + prefix].to_ascii_lowercase());
    if !matches!(text.get(quote), Some(b'"' | b'\''))
        || !matches!(&letters[..], b"" | b"r" | b"u" | b"b" | b"br" | b"rb")
    {
        return None;
    }
    let mut scan = Scan { text, at: quote, open: quote, spans: Vec::new() };
    scan.python_string(quote, false, false, 0);
    Some((scan.at, !letters.contains(&b'b')))
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// Where the code that is being read started.
    open: usize,
    spans: Vec<Range<usize>>,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn looking_at(&self, what: &[u8]) -> bool {
        self.text[self.at..].starts_with(what)
    }

    /// Ends the code here and goes on as code at `end`.
    fn opaque_to(&mut self, end: usize) {
        let end = end.min(self.text.len());
        if self.open < self.at {
            self.spans.push(self.open..self.at);
        }
        (self.at, self.open) = (end, end);
    }

    /// Where the line ends, without its end.
    fn line_end(&self, from: usize) -> usize {
        let rest = &self.text[from.min(self.text.len())..];
        from + rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len())
    }

    /// Where `close` ends, from `from` on.
    fn after(&self, from: usize, close: &[u8]) -> usize {
        let rest = &self.text[from.min(self.text.len())..];
        rest.windows(close.len())
            .position(|window| window == close)
            .map_or(self.text.len(), |at| from + at + close.len())
    }

    fn word(&mut self) -> Range<usize> {
        let start = self.at;
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
        start..self.at
    }

    /// How long the backslash and what it quotes are.
    fn escape(&self, at: usize) -> usize {
        if self.text[at..].starts_with(b"\\\r\n") { 3 } else { 2 }
    }

    /// The end of a string on one line that opens at `at`: after its quote, or where its line ends.
    fn one_line_string(&self, at: usize) -> usize {
        let (quote, mut at) = (self.text[at], at + 1);
        while let Some(byte) = self.text.get(at) {
            match byte {
                b'\\' => at += self.escape(at),
                b'\n' | b'\r' => return at,
                byte if *byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        // A backslash at the very end quotes nothing.
        at.min(self.text.len())
    }

    /// The end of a string over many lines in which a backslash quotes.
    fn long_string(&self, mut at: usize, close: &[u8]) -> usize {
        while at < self.text.len() && !self.text[at..].starts_with(close) {
            at += if self.text[at] == b'\\' { self.escape(at) } else { 1 };
        }
        at + close.len()
    }

    /// Python, to the end; in the braces of a string, to what ends the expression.
    fn python(&mut self, in_braces: bool, nesting: u32) {
        let mut depth = 0_u32;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'#' => self.opaque_to(self.line_end(self.at)),
                b'"' | b'\'' => self.python_string(self.at, false, false, nesting),
                byte if is_word(byte) => {
                    let word = self.word();
                    let prefix = self.text[word.clone()].to_ascii_lowercase();
                    const PREFIXES: [&[u8]; 11] =
                        [b"r", b"u", b"b", b"f", b"t", b"br", b"rb", b"fr", b"rf", b"tr", b"rt"];
                    if matches!(self.peek(0), Some(b'"' | b'\'')) && PREFIXES.contains(&&prefix[..]) {
                        let quote = self.at;
                        self.at = word.start;
                        let formatted = prefix.contains(&b'f') || prefix.contains(&b't');
                        self.python_string(quote, formatted, prefix.contains(&b'r'), nesting);
                    }
                }
                b'}' | b':' if in_braces && depth == 0 => return,
                b'!' if in_braces && depth == 0 && self.peek(1) != Some(b'=') => return,
                b'(' | b'[' | b'{' => (depth, self.at) = (depth + 1, self.at + 1),
                b')' | b']' | b'}' => (depth, self.at) = (depth.saturating_sub(1), self.at + 1),
                _ => self.at += 1,
            }
        }
    }

    /// A string whose code before it ends here and whose quote is at `quote`.
    fn python_string(&mut self, quote: usize, formatted: bool, raw: bool, nesting: u32) {
        let triple = [self.text[quote]; 3];
        let close = if self.text[quote..].starts_with(&triple) { &triple[..] } else { &triple[..1] };
        if !formatted || nesting >= NESTING {
            let end = if close.len() == 3 { self.long_string(quote + 3, close) } else { self.one_line_string(quote) };
            return self.opaque_to(end);
        }
        let mut at = quote + close.len();
        while at < self.text.len() {
            let rest = &self.text[at..];
            if rest.starts_with(close) {
                at += close.len();
                break;
            }
            at = match rest[0] {
                b'\n' | b'\r' if close.len() == 1 => break,
                b'\\' if !raw && rest.starts_with(b"\\N{") => self.after(at, b"}"),
                b'\\' if matches!(rest.get(1), Some(b'{' | b'}')) => at + 1,
                b'\\' => at + self.escape(at),
                b'{' if rest.get(1) == Some(&b'{') => at + 2,
                b'{' => self.python_field(at + 1, close, nesting + 1),
                _ => at + 1,
            };
        }
        self.opaque_to(at);
    }

    /// The expression of a replacement field, which is code, and its format, which is not; gives where the field ends.
    fn python_field(&mut self, start: usize, close: &[u8], nesting: u32) -> usize {
        self.opaque_to(start);
        self.python(true, nesting);
        let mut at = self.at;
        while at < self.text.len() {
            let rest = &self.text[at..];
            at = match rest[0] {
                b'}' => {
                    at += 1;
                    break;
                }
                b'{' if nesting < NESTING => self.python_field(at + 1, close, nesting + 1),
                _ if rest.starts_with(close) => break,
                _ => at + 1,
            };
            self.opaque_to(at);
        }
        self.opaque_to(at);
        at
    }

    fn rust(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'/' if self.looking_at(b"//") => self.opaque_to(self.line_end(self.at)),
                b'/' if self.looking_at(b"/*") => self.opaque_to(self.nested_comment()),
                b'"' => self.opaque_to(self.long_string(self.at + 1, b"\"")),
                b'\'' => self.opaque_to(self.rust_quote()),
                byte if is_word(byte) => {
                    let word = self.word();
                    let prefix = &self.text[word.clone()];
                    let raw = matches!(prefix, b"r" | b"br" | b"cr");
                    let hashes = self.text[self.at..].iter().take_while(|byte| **byte == b'#').count();
                    if raw && self.peek(hashes) == Some(b'"') {
                        let mut close = vec![b'"'];
                        close.resize(hashes + 1, b'#');
                        let end = self.after(self.at + hashes + 1, &close);
                        self.at = word.start;
                        self.opaque_to(end);
                    } else if matches!(prefix, b"b" | b"c") && self.peek(0) == Some(b'"') {
                        let end = self.long_string(self.at + 1, b"\"");
                        self.at = word.start;
                        self.opaque_to(end);
                    } else if prefix == b"b" && self.peek(0) == Some(b'\'') {
                        let end = self.one_line_string(self.at);
                        self.at = word.start;
                        self.opaque_to(end);
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    fn nested_comment(&self) -> usize {
        let (mut at, mut depth) = (self.at + 2, 1);
        while at < self.text.len() && depth > 0 {
            let rest = &self.text[at..];
            (at, depth) = if rest.starts_with(b"/*") {
                (at + 2, depth + 1)
            } else if rest.starts_with(b"*/") {
                (at + 2, depth - 1)
            } else {
                (at + 1, depth)
            };
        }
        at
    }

    /// The end of a character or of a lifetime.
    fn rust_quote(&self) -> usize {
        let rest = &self.text[self.at + 1..];
        if rest.first() == Some(&b'\\') {
            return self.one_line_string(self.at);
        }
        let character = rest.iter().skip(1).take_while(|byte| **byte & 0xc0 == 0x80).count() + 1;
        if rest.get(character) == Some(&b'\'') {
            return self.at + 1 + character + 1;
        }
        self.at + 1 + rest.iter().take_while(|byte| is_word(**byte)).count()
    }

    /// JavaScript and TypeScript, to the end; in the braces of a template, to what ends the expression.
    fn javascript(&mut self, in_braces: bool, nesting: u32) {
        if self.at == start(self.text) && self.looking_at(b"#!") {
            self.opaque_to(self.line_end(self.at));
        }
        let mut depth = 0_u32;
        // Whether a slash would start a regular expression: after an operator it does, after a value it divides.
        let mut value = false;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'/' if self.looking_at(b"//") => self.opaque_to(self.line_end(self.at)),
                b'/' if self.looking_at(b"/*") => self.opaque_to(self.after(self.at + 2, b"*/")),
                b'/' if !value => match self.regular_expression() {
                    Some(end) => {
                        self.opaque_to(end);
                        value = true;
                    }
                    None => self.at += 1,
                },
                b'"' | b'\'' => {
                    let end = self.one_line_string(self.at);
                    // An apostrophe in the text of a tag opens nothing.
                    let closed = end > self.at + 1 && self.text[end - 1] == byte;
                    if closed {
                        self.opaque_to(end)
                    } else {
                        self.at += 1
                    }
                    value = true;
                }
                b'`' => {
                    self.template(nesting);
                    value = true;
                }
                byte if is_word(byte) || byte == b'$' => {
                    let start = self.at;
                    while self.peek(0).is_some_and(|byte| is_word(byte) || byte == b'$') {
                        self.at += 1;
                    }
                    const BEFORE_EXPRESSION: [&[u8]; 13] = [
                        b"return",
                        b"typeof",
                        b"case",
                        b"in",
                        b"of",
                        b"delete",
                        b"void",
                        b"throw",
                        b"new",
                        b"else",
                        b"do",
                        b"instanceof",
                        b"await",
                    ];
                    value = !BEFORE_EXPRESSION.contains(&&self.text[start..self.at]);
                }
                b'}' if in_braces && depth == 0 => return,
                b'{' | b'}' => {
                    depth = if byte == b'{' { depth + 1 } else { depth.saturating_sub(1) };
                    (value, self.at) = (false, self.at + 1);
                }
                byte => {
                    if !byte.is_ascii_whitespace() {
                        value = matches!(byte, b')' | b']');
                    }
                    self.at += 1;
                }
            }
        }
    }

    /// The end of the regular expression that starts here, if one does: it ends on its line, and is not the slash of a tag.
    fn regular_expression(&self) -> Option<usize> {
        if self.peek(1) == Some(b'>') || self.text[..self.at].ends_with(b"<") {
            return None;
        }
        let (mut at, mut class) = (self.at + 1, false);
        loop {
            match *self.text.get(at)? {
                b'\n' | b'\r' => return None,
                b'\\' => at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    let flags = self.text[at + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                    return Some(at + 1 + flags);
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn template(&mut self, nesting: u32) {
        let mut at = self.at + 1;
        while at < self.text.len() {
            let rest = &self.text[at..];
            at = match rest[0] {
                b'`' => {
                    at += 1;
                    break;
                }
                b'\\' => at + 2,
                b'$' if rest.get(1) == Some(&b'{') && nesting < NESTING => {
                    self.opaque_to(at + 2);
                    self.javascript(true, nesting + 1);
                    let end = self.at;
                    self.opaque_to(end);
                    end
                }
                _ => at + 1,
            };
        }
        self.opaque_to(at);
    }

    /// C, C++, Java and Go.
    fn c(&mut self, language: Language) {
        let mut line_start = true;
        while let Some(byte) = self.peek(0) {
            let starts_line = line_start;
            line_start &= byte.is_ascii_whitespace();
            match byte {
                b'/' if self.looking_at(b"//") => {
                    let mut end = self.line_end(self.at);
                    // C: a backslash at its end carries the comment on.
                    while language == Language::C && self.text[..end].ends_with(b"\\") && end < self.text.len() {
                        let next = end + if self.text[end..].starts_with(b"\r\n") { 2 } else { 1 };
                        end = self.line_end(next);
                    }
                    self.opaque_to(end);
                }
                b'/' if self.looking_at(b"/*") => self.opaque_to(self.after(self.at + 2, b"*/")),
                b'#' if language == Language::C && starts_line => {
                    let line = &self.text[self.at + 1..self.line_end(self.at)];
                    if line.trim_ascii_start().starts_with(b"include") {
                        self.opaque_to(self.line_end(self.at));
                    } else {
                        self.at += 1;
                    }
                }
                b'"' if language == Language::Java && self.looking_at(b"\"\"\"") => {
                    self.opaque_to(self.long_string(self.at + 3, b"\"\"\""));
                }
                b'"' | b'\'' => self.opaque_to(self.one_line_string(self.at)),
                b'`' if language == Language::Go => self.opaque_to(self.after(self.at + 1, b"`")),
                byte if is_word(byte) => {
                    let word = self.word();
                    if byte.is_ascii_digit() {
                        // 1'000'000
                        while language == Language::C
                            && self.peek(0) == Some(b'\'')
                            && self.peek(1).is_some_and(is_word)
                        {
                            self.at += 1;
                            self.word();
                        }
                    } else if language == Language::C
                        && self.peek(0) == Some(b'"')
                        && matches!(&self.text[word.clone()], b"R" | b"LR" | b"uR" | b"UR" | b"u8R")
                    {
                        let mark_end = self.after(self.at + 1, b"(") - 1;
                        let close = [b")", &self.text[(self.at + 1).min(mark_end)..mark_end], b"\""].concat();
                        let end = self.after(self.at + 1, &close);
                        self.at = word.start;
                        self.opaque_to(end);
                    }
                }
                b'\n' | b'\r' => (line_start, self.at) = (true, self.at + 1),
                _ => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text with all but code taken out.
    fn only_code(language: Language, text: &str) -> String {
        let spans = code(language, text.as_bytes()).unwrap();
        spans.into_iter().map(|span| String::from_utf8_lossy(&text.as_bytes()[span]).into_owned()).collect()
    }

    #[test]
    fn python_is_told_from_its_text() {
        for (text, expected) in [
            ("a = 'x' # y\nb", "a =  \nb"),
            ("a = r'\\\\' + b''\"\"\"x'\"y\"\"\" + c", "a =  +  + c"),
            ("a = r'\\' + b''", "a = "),
            ("f'{a}b{{c}}{d!r}{e:>{f}x}g' + h", "adef + h"),
            ("f'{a[\"x\"]}' f\"{b['y']:%H:%M}\"", "a[] b[]"),
            ("f'''{a +\n 'x'}\n''' + b", "a +\n  + b"),
            ("rf'\\{a}' + f'\\N{BULLET}\\{b}'", "a + b"),
            ("f'{x!=y}{(lambda z: z)}'", "x!=y(lambda z: z)"),
            ("f'{f\"{a}\"}{ {1: b}[1] }'", "a {1: b}[1] "),
            ("'open\na", "\na"),
            ("f'{a", "a"),
            ("fb'x' uu'y' _f'z'", "fb uu _f"),
        ] {
            assert_eq!(only_code(Language::Python, text), expected, "{text:?}");
        }
    }

    #[test]
    fn rust_is_told_from_its_text() {
        for (text, expected) in [
            ("a // b\nc /* d /* e */ f */ g", "a \nc  g"),
            ("a(\"b \\\" c\", 'd', '\\'', '\"', b'e', b\"f\", c\"g\")", "a(, , , , , , )"),
            ("r\"\\\" a r#\"\"b\"\"# c br##\"\"#\"## d r#e", " a  c  d r#e"),
            ("fn f<'a>(x: &'a str, y: 'static) {}", "fn f<>(x: & str, y: ) {}"),
            ("'ü' a 'x", " a "),
        ] {
            assert_eq!(only_code(Language::Rust, text), expected, "{text:?}");
        }
    }

    #[test]
    fn javascript_is_told_from_its_text() {
        for (text, expected) in [
            ("#!/x\na // b\n/* c */ d", "\na \n d"),
            ("a('b\\'c', \"d\")", "a(, )"),
            ("`a ${b + `c${d}`} e \\` f` + g", "b + d + g"),
            ("a = /b\"[/]'\\//gi; c / d / e", "a = ; c / d / e"),
            ("return /a/ + (b) / c", "return  + (b) / c"),
            ("<A x={1} /><B></B>", "<A x={1} /><B></B>"),
            ("<p>don't</p>", "<p>don't</p>"),
            ("`${ {a: {b: 1}} }` c", " {a: {b: 1}}  c"),
        ] {
            assert_eq!(only_code(Language::JavaScript, text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_c_family_is_told_from_its_text() {
        for (language, text, expected) in [
            (Language::C, "#include <a.h>\n# include \"b\"\n#define c \"d\"\n", "\n\n#define c \n"),
            (Language::C, "a // b \\\n c\nd '\\'' \"e\\\"\" 1'000'000", "a \nd   1'000'000"),
            (Language::C, "R\"x(a)\" b)x\" c uR y", " c uR y"),
            (Language::Java, "a \"\"\"b \"c\" \\\"\"\" d\"\"\" e", "a  e"),
            (Language::Go, "a `b\\` c 'd'", "a  c "),
        ] {
            assert_eq!(only_code(language, text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_that_ends_in_a_backslash_ends_there() {
        use Language::*;
        for language in [Python, Rust, JavaScript, C, Java, Go] {
            for quote in ["'", "\"", "`", "\"\"\"", "f'", "r#\"", "/"] {
                let text = format!("a = {quote}b\\");
                assert_eq!(masked(language, text.as_bytes()).len(), text.len(), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in r#"([a-z'"`{}\[\]()/\\#*:!$<> \n\r]|f'|rb"|"""|\\N\{|\$\{|r#"|R"|/\*)*"#, cut in any::<u8>()) {
            use Language::*;
            let bytes = &text.as_bytes()[usize::from(cut).min(text.len())..];
            for language in [Python, Rust, JavaScript, C, Java, Go] {
                let mut end = 0;
                for span in code(language, bytes).unwrap() {
                    prop_assert!(span.start >= end && span.start < span.end && span.end <= bytes.len());
                    end = span.end;
                }
                prop_assert_eq!(masked(language, bytes).len(), bytes.len());
            }
        }
    }
}
