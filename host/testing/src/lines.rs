//! Two texts beside each other, line by line, and two lists beside each other in whatever order.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::pattern::Text;

/// Lines with `-` (expected and not there), `+` (there and not expected) or a space (both).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(pub(crate) Vec<(char, String)>);

impl Lines {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each with its sign.
    pub fn iter(&self) -> impl Iterator<Item = (char, &str)> {
        self.0.iter().map(|(sign, text)| (*sign, text.as_str()))
    }
}

/// Lines that are the same around a difference.
const AROUND: usize = 3;
/// Lines of one difference that are kept, and characters of one line: what a flow says may be without end.
const MOST: usize = 200;
const WIDEST: usize = 2000;
/// How long the shortest difference is looked for; then a longer one does.
const PATIENCE: Duration = Duration::from_millis(500);

/// What tells two texts apart. What is the same is left out but for a few lines around.
pub(crate) fn differences(expected: &str, actual: &str) -> Lines {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(expected, actual);
    let mut lines = Vec::new();
    let mut more = 0;
    for (nth, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if nth > 0 || group.first().is_some_and(|first| first.old_range().start > 0) {
            lines.push((' ', "…".to_owned()));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            if lines.len() < MOST {
                lines.push((sign, cut(change.value())));
            } else {
                more += 1;
            }
        }
    }
    if more > 0 {
        lines.push((' ', format!("… and {more} lines more")));
    }
    Lines(lines)
}

fn cut(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    match line.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The patterns that nothing is left for, and the texts that no pattern is left for, when as many as can be are matched.
pub(crate) fn unmatched<'p, 't>(patterns: &'p [Text], texts: &[&'t str]) -> (Vec<&'p Text>, Vec<&'t str>) {
    /// By text, the pattern that has it.
    type Taken = Vec<Option<usize>>;

    // An augmenting path: the pattern takes a text that is free, or one whose pattern finds another.
    fn place(nth: usize, patterns: &[Text], texts: &[&str], taken: &mut Taken, tried: &mut [bool]) -> bool {
        for at in 0..texts.len() {
            if tried[at] || !patterns[nth].fits(texts[at]) {
                continue;
            }
            tried[at] = true;
            let free = match taken[at] {
                None => true,
                Some(other) => place(other, patterns, texts, taken, tried),
            };
            if free {
                taken[at] = Some(nth);
                return true;
            }
        }
        false
    }

    let mut taken: Taken = vec![None; texts.len()];
    let mut missing = Vec::new();
    for (nth, pattern) in patterns.iter().enumerate() {
        // Most are exact, and find their own.
        let own = texts
            .iter()
            .enumerate()
            .position(|(at, text)| taken[at].is_none() && pattern.is_exact() && pattern.fits(text));
        match own {
            Some(at) => taken[at] = Some(nth),
            None if place(nth, patterns, texts, &mut taken, &mut vec![false; texts.len()]) => {}
            None => missing.push(pattern),
        }
    }
    let more = texts.iter().zip(&taken).filter(|(_, taken)| taken.is_none()).map(|(text, _)| *text).collect();
    (missing, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_left_out() {
        let expected: String = (0..20).map(|nth| format!("{nth}\n")).collect();
        let actual = expected.replace("\n10\n", "\nten\n");
        let lines: Vec<String> =
            differences(&expected, &actual).iter().map(|(sign, text)| format!("{sign}{text}")).collect();
        assert_eq!(lines, [" …", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13"]);
        assert!(differences("a", "a").is_empty());
    }

    #[test]
    fn what_is_without_end_is_cut() {
        let actual: String = (0..300_000).map(|nth| format!("{nth}\n")).collect();
        let lines = differences(&"x".repeat(10_000), &actual);
        assert_eq!(lines.0.len(), MOST + 1);
        assert_eq!(lines.0[0].1.chars().count(), WIDEST + 1);
        assert_eq!(lines.0[MOST].1, "… and 299801 lines more");
    }

    #[test]
    fn a_wide_pattern_does_not_take_what_a_narrow_one_needs() {
        let patterns = [Text::containing("a"), Text::containing("ab"), Text::exactly("abc")];
        let (missing, more) = unmatched(&patterns, &["abc", "ab", "a"]);
        assert!(missing.is_empty() && more.is_empty());
        let (missing, more) = unmatched(&patterns, &["abc", "a", "z"]);
        assert_eq!((missing.len(), more), (1, vec!["z"]));
    }
}
