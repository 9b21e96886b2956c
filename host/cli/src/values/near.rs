//! The name that was probably meant.

/// The nearest of `names`, where one is near enough to be a slip of the hand.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase().replace('_', "-");
    // No name is this long, and measuring is quadratic.
    if written.len() > 128 {
        return None;
    }
    let allowed = (written.chars().count() / 3).clamp(1, 3);
    names
        .into_iter()
        .map(|name| (strsim::osa_distance(&written, &name.to_lowercase().replace('_', "-")), name))
        .filter(|(distance, name)| {
            *distance <= allowed || (written.len() >= 3 && name.len() > written.len() && name.starts_with(&*written))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `did you mean NAME?`, or what there is to choose from.
pub fn hint(what: &str, written: &str, names: &[&str]) -> String {
    match nearest(written, names.iter().copied()) {
        Some(name) => format!("Did you mean {name}?"),
        None if names.is_empty() => format!("There are no {what}"),
        None => format!("The {what} are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["fanout", "pair", "first-failure", "parts", "lines"];
        assert_eq!(nearest("fnaout", names), Some("fanout"));
        assert_eq!(nearest("first_failure", names), Some("first-failure"));
        assert_eq!(nearest("first", names), Some("first-failure"));
        assert_eq!(nearest("line", names), Some("lines"));
        assert_eq!(nearest("deploy", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"x".repeat(100_000), names), None);
    }

    #[test]
    fn the_hint_says_what_there_is() {
        assert_eq!(hint("flows", "fanuot", &["fanout", "pair"]), "Did you mean fanout?");
        assert_eq!(hint("flows", "zzz", &["fanout", "pair"]), "The flows are fanout, pair");
        assert_eq!(hint("flows", "zzz", &[]), "There are no flows");
    }
}
