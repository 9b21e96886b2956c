//! What stands at the bottom of a terminal while a run goes: the branches with their turns, and the status line.

use std::time::Duration;

use flowhost_core::usage::{CostSource, Usd};

use super::{
    figures,
    view::{Branch, Turn, View},
};
use crate::{
    escape,
    terminal::{BAD, BOLD, DIM, NOTE, styled},
};

/// Turns of one branch that are shown by what they do; the others are counted.
const TURNS: usize = 4;

/// The rows, at most `most` of them, each of at most `columns` columns.
pub fn rows(view: &View, at: Duration, columns: usize, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut rows = Vec::new();
    let mut more = 0;
    for (place, branch) in &view.branches {
        let indent = "  ".repeat(place.len().saturating_sub(1).min(8));
        // The last row is the status line, the one before it says how many there are besides.
        if rows.len() + 2 >= most {
            more += 1;
            continue;
        }
        // Looked for only where it is shown: a run may have ten thousand of each.
        let own: Vec<&Turn> = view.turns.values().filter(|turn| turn.branch == branch.id).collect();
        rows.push(branch_row(branch, &own, &indent, at, columns));
        for turn in own.iter().take(TURNS) {
            if rows.len() + 2 >= most {
                break;
            }
            rows.extend(turn_row(view, turn, &indent, at, columns));
        }
    }
    if more > 0 && rows.len() + 1 < most {
        let more = format!("… and {} more", counted(more, "branch", "branches"));
        rows.push(styled(DIM, &escape::line(&more, columns)));
    }
    rows.push(status(view, at, columns));
    rows
}

fn branch_row(branch: &Branch, own: &[&Turn], indent: &str, at: Duration, columns: usize) -> String {
    let name =
        if branch.id.0.contains('.') { format!("{} {}", branch.id, branch.flow) } else { branch.flow.to_string() };
    let mut parts = Vec::new();
    for (number, what) in [(own.len() as u64, "going"), (branch.done, "done"), (branch.failed, "failed")] {
        if number > 0 {
            parts.push(format!("{} {what}", figures::count(number)));
        }
    }
    parts.push(figures::time(at.saturating_sub(branch.began)));
    let text = escape::line(&format!("{name} · {}", parts.join(" · ")), columns.saturating_sub(indent.len() + 2));
    match text.split_once(" · ") {
        Some((name, rest)) => {
            format!("{indent}{} {} {}", styled(DIM, "▸"), styled(BOLD, name), styled(DIM, &format!("· {rest}")))
        }
        None => format!("{indent}{} {text}", styled(DIM, "▸")),
    }
}

fn turn_row(view: &View, turn: &Turn, indent: &str, at: Duration, columns: usize) -> Option<String> {
    let session = view.sessions.get(&turn.session)?;
    let total = view.total(session);
    let which = if total > 1 { format!(" · conversation {} of {total}", session.nth) } else { String::new() };
    let doing = turn.tools.last().map_or("thinking", |(_, label)| label.as_str());
    let time = figures::time(at.saturating_sub(turn.began));
    let text = format!("{}{which} · {time} · {doing}", session.role);
    let text = escape::line(&text, columns.saturating_sub(indent.len() + 4));
    Some(format!("{indent}  {}", styled(DIM, &format!("· {text}"))))
}

/// `2 turns going · 1 waiting · 5 done · 1 failed · $0.04 of $1.00 · 6s`.
fn status(view: &View, at: Duration, columns: usize) -> String {
    let spent = view.spent();
    let limits = &view.limits;
    let mut parts = vec![(None, counted(view.turns.len() as u64, "turn going", "turns going"))];
    let counts = [
        (view.waiting.len() as u64, "waiting", Some(NOTE)),
        (view.done, "done", None),
        (view.failed, "failed", Some(BAD)),
        (view.interrupted, "interrupted", Some(NOTE)),
    ];
    for (number, what, style) in counts {
        // Done and failed are always there, so that nobody wonders.
        if number > 0 || matches!(what, "done" | "failed") {
            parts.push((style.filter(|_| number > 0), format!("{} {what}", figures::count(number))));
        }
    }
    let known = spent.cost_source != CostSource::Unknown || spent.cost > Usd::ZERO;
    match limits.cost {
        Some(limit) => parts.push((None, format!("{} of {}", figures::usd(spent.cost), figures::usd(limit)))),
        None if known => parts.push((None, figures::usd(spent.cost))),
        None => {}
    }
    if let Some(limit) = limits.output_tokens {
        parts.push((None, format!("output {} of {}", figures::count(spent.output_tokens), figures::count(limit))));
    }
    if let Some(limit) = limits.turns {
        let taken = view.done + view.failed + view.interrupted + view.turns.len() as u64;
        parts.push((None, format!("{} of {}", figures::count(taken), figures::counted(limit.into(), "turn"))));
    }
    let time = figures::time(at);
    parts.push((None, limits.duration.map_or(time.clone(), |limit| format!("{time} of {}", figures::time(limit)))));

    let mut room = columns;
    let mut shown = Vec::new();
    for (style, part) in parts {
        let part = escape::line(&part, room);
        if part.is_empty() {
            break;
        }
        room = room.saturating_sub(escape::columns(&part) + 3);
        shown.push(style.map_or(part.clone(), |style| styled(style, &part)));
    }
    shown.join(&styled(DIM, " · "))
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", figures::count(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::render::sample::{Sample, died, plain};

    fn going() -> View {
        let mut sample = Sample::of("parts");
        sample.branch("1.1", "fanout", None).branch("1.2", "fanout", None).branch("1.10", "pair", None);
        for turn in 1..=7 {
            sample.session("1.2", turn, turn, "demo").turn("1.2", turn, turn);
        }
        sample.session("1.1", 8, 1, "demo").turn("1.1", 8, 8).after(1_500).tool(8, "a", "Edit(a\u{1b}[2Jb.py)");
        sample.answered(1).failed(2, died()).waiting(9, Some("2 turns at once at most"));
        let mut view = View::default();
        sample.records.iter().for_each(|(at, record)| view.take(*at, record));
        view
    }

    #[test]
    fn the_branches_stand_with_their_turns_and_the_status_below() {
        assert_snapshot!(plain(&rows(&going(), Duration::from_secs(6), 80, 14)), @"
        ▸ parts · 6s
          ▸ 1.1 fanout · 1 going · 6s
            · agent · 6s · Edit(a␛[2Jb.py)
          ▸ 1.2 fanout · 5 going · 1 done · 1 failed · 6s
            · agent · conversation 3 of 7 · 6s · thinking
            · agent · conversation 4 of 7 · 6s · thinking
            · agent · conversation 5 of 7 · 6s · thinking
            · agent · conversation 6 of 7 · 6s · thinking
          ▸ 1.10 pair · 6s
        6 turns going · 1 waiting · 1 done · 1 failed · $0.02 of $1.00 · 6s
        ");
    }

    #[test]
    fn rows_stay_within_the_terminal() {
        for columns in [10, 30, 60] {
            for most in 1..9 {
                let rows = rows(&going(), Duration::from_secs(6), columns, most);
                assert!(rows.len() <= most.max(2), "{most}: {}", plain(&rows));
                assert!(plain(&rows).lines().all(|row| escape::columns(row) <= columns), "{}", plain(&rows));
            }
        }
        assert_snapshot!(plain(&rows(&going(), Duration::from_secs(6), 40, 4)), @"
        ▸ parts · 6s
          ▸ 1.1 fanout · 1 going · 6s
        … and 2 branches more
        6 turns going · 1 waiting · 1 done · 1 …
        ");
    }
}
