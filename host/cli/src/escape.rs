//! Foreign text on its way to a person: the one place that makes it harmless.
//!
//! Whatever an agent, a tool, a flow, a repository or a file's name says may carry control characters that move the cursor or
//! set the title, marks that reverse the order of reading, and characters that nobody sees. They are shown as what they are
//! instead of done. Nothing is dropped in silence.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many marks may sit on one character; more would climb over the lines around it.
const MARKS: usize = 6;

/// One line of at most `columns` columns. Line ends become spaces; what does not fit ends in `…`.
pub fn line(text: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    // Where the text would be cut to leave room for `…`.
    let mut cut = 0;
    let mut pieces = Pieces::of(text.trim_matches(is_space), true);
    let mut piece = String::new();
    while pieces.next_into(&mut piece) {
        let width = piece.width();
        if used + width > columns {
            out.truncate(cut);
            if columns > 0 {
                out.push('…');
            }
            return out;
        }
        used += width;
        out.push_str(&piece);
        if used < columns {
            cut = out.len();
        }
    }
    out
}

/// As many lines as it has, for a place where nothing else stands: an answer, a diff. Tabs stay.
pub fn block(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = Pieces::of(text, false);
    let mut piece = String::new();
    while pieces.next_into(&mut piece) {
        out.push_str(&piece);
    }
    out
}

/// A JSON document that says the same and shows nothing that [`block`] would not: every such character becomes `\u….`.
pub fn json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for each in document.chars() {
        // Outside of a string JSON knows no such character but the line end and the tab; inside, serializers write those as escapes.
        if matches!(each, '\n' | '\t') || !(each.is_control() || is_unseen(each) || is_joiner(each)) {
            out.push(each);
        } else {
            let mut units = [0; 2];
            for unit in each.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// Columns that harmless text takes.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Harmless pieces of a text, each of which may stand alone.
struct Pieces<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    before: Option<char>,
    marks: usize,
    one_line: bool,
}

impl<'a> Pieces<'a> {
    fn of(text: &'a str, one_line: bool) -> Self {
        Self { rest: text.chars().peekable(), before: None, marks: 0, one_line }
    }

    /// Puts the next piece into `piece`; false at the end.
    fn next_into(&mut self, piece: &mut String) -> bool {
        piece.clear();
        let Some(each) = self.rest.next() else { return false };
        if each == '\r' && self.rest.peek() == Some(&'\n') {
            return self.next_into(piece);
        }
        if self.one_line && is_space(each) {
            while self.rest.peek().copied().is_some_and(is_space) {
                self.rest.next();
            }
            piece.push(' ');
        } else if self.is_plain(each) {
            piece.push(each);
        } else {
            show(each, piece);
        }
        self.before = Some(each);
        true
    }

    fn is_plain(&mut self, each: char) -> bool {
        if matches!(each, '\n' | '\t') {
            self.marks = 0;
            return true;
        }
        if each.is_control() || is_unseen(each) {
            return false;
        }
        if is_joiner(each) {
            // What joins pictures stays; what would make one word look like another does not.
            let picture = |near: Option<char>| near.is_some_and(|near| !near.is_ascii() && !near.is_alphanumeric());
            let after = self.rest.peek().copied();
            return picture(self.before) && (each != '\u{200d}' || picture(after));
        }
        if each.width() == Some(0) {
            self.marks += 1;
            return self.before.is_some() && self.marks <= MARKS;
        }
        self.marks = 0;
        true
    }
}

fn is_space(each: char) -> bool {
    matches!(each, ' ' | '\n' | '\t')
}

/// Shows a character that must not be done: a picture where there is one, else its number.
fn show(each: char, to: &mut String) {
    match each {
        '\0'..='\x1f' => to.extend(char::from_u32(0x2400 + each as u32)),
        '\x7f' => to.push('␡'),
        _ => {
            let _ = write!(to, "\\u{{{:x}}}", each as u32);
        }
    }
}

/// Joins two pictures into one, or chooses between two looks of one.
fn is_joiner(each: char) -> bool {
    matches!(each, '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Characters that change how others read, or that nobody sees.
fn is_unseen(each: char) -> bool {
    matches!(each,
        '\u{ad}'                    // soft hyphen
        | '\u{34f}'                 // grapheme joiner
        | '\u{61c}'                 // Arabic letter mark
        | '\u{115f}' | '\u{1160}'   // Hangul fillers
        | '\u{17b4}' | '\u{17b5}'   // Khmer inherent vowels
        | '\u{180b}'..='\u{180f}'   // Mongolian selectors and separator
        | '\u{200b}' | '\u{200c}'   // zero-width space and non-joiner
        | '\u{200e}' | '\u{200f}'   // direction marks
        | '\u{2028}'..='\u{202e}'   // line and paragraph separator, direction embeddings and overrides
        | '\u{2060}'..='\u{206f}'   // word joiner, invisible operators, direction isolates
        | '\u{3164}' | '\u{ffa0}'   // Hangul fillers
        | '\u{feff}'                // byte order mark
        | '\u{fff0}'..='\u{fffb}'   // annotations
        | '\u{1bca0}'..='\u{1bca3}' // shorthand format controls
        | '\u{1d173}'..='\u{1d17a}' // musical format controls
        | '\u{e0000}'..='\u{e0fff}' // tags and further selectors
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_for_the_terminal_are_shown_and_not_done() {
        assert_eq!(line("\x1b[2J\x1b[31mred", 80), "␛[2J␛[31mred");
        assert_eq!(line("\x1b]0;title\x07", 80), "␛]0;title␇");
        assert_eq!(line("\u{9b}31m", 80), "\\u{9b}31m");
        assert_eq!(line("del\x7f", 80), "del␡");
    }

    #[test]
    fn a_carriage_return_does_not_overwrite_what_stands_before_it() {
        assert_eq!(line("rm -rf /\recho hi", 80), "rm -rf /␍echo hi");
        assert_eq!(line("one\r\ntwo", 80), "one two");
        assert_eq!(block("one\r\ntwo\rthree\n"), "one\ntwo␍three\n");
    }

    #[test]
    fn the_order_of_reading_cannot_be_reversed() {
        assert_eq!(line("user\u{202e}cod.exe", 80), "user\\u{202e}cod.exe");
        assert_eq!(line("\u{2066}a\u{2069}", 80), "\\u{2066}a\\u{2069}");
    }

    #[test]
    fn what_nobody_sees_is_shown_but_pictures_stay_whole() {
        assert_eq!(line("a\u{200b}.py", 80), "a\\u{200b}.py");
        assert_eq!(line("a\u{200d}.py", 80), "a\\u{200d}.py");
        assert_eq!(line("👩‍💻 ✔️ done", 80), "👩‍💻 ✔️ done");
        assert_eq!(line("é ü 日本", 80), "é ü 日本");
    }

    #[test]
    fn marks_do_not_pile_up() {
        let pile = format!("a{}b", "\u{301}".repeat(9));
        assert_eq!(line(&pile, 80), format!("a{}{}b", "\u{301}".repeat(6), "\\u{301}".repeat(3)));
    }

    #[test]
    fn a_long_line_is_cut_at_the_column_and_says_so() {
        assert_eq!(line("abcdef", 6), "abcdef");
        assert_eq!(line("abcdefg", 6), "abcde…");
        assert_eq!(line("日本語日本語", 6), "日本…");
        assert_eq!(line("a\n\n  b", 80), "a b");
        assert_eq!(line("abc", 0), "");
    }

    #[test]
    fn json_stays_the_same_document() {
        let value = serde_json::json!({ "text": "a\u{202e}b\u{9b}c\u{7f}\u{e0041}", "n": [1, "é👩‍💻"] });
        let shown = json(&value.to_string());
        assert!(!shown.chars().any(|each| each.is_control() || is_unseen(each)));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    proptest! {
        #[test]
        fn nothing_harmful_passes_and_no_line_is_too_wide(text in any::<String>(), columns in 0usize..60) {
            let shown = line(&text, columns);
            prop_assert!(!shown.chars().any(|each| each.is_control() || is_unseen(each)));
            prop_assert!(super::columns(&shown) <= columns);
            let shown = block(&text);
            prop_assert!(!shown.chars().any(|each| each != '\n' && each != '\t' && (each.is_control() || is_unseen(each))));
        }
    }
}
