//! JUnit's XML, as far as what reads it agrees on: suites, cases, failures.

use std::{fmt::Write as _, path::Path};

use super::{Ending, Played, find, report::Sums};

/// The report: a suite a file, a case a scenario.
pub(super) fn report(standing: &Path, played: &mut [Played], sums: &Sums) -> String {
    // Each file's together; they are in order of file already, and stay in order within.
    played.sort_by(|one, other| one.file.cmp(&other.file));
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let (tests, time) = (played.len(), sums.took.as_secs_f64());
    let _ = writeln!(
        xml,
        "<testsuites name=\"flowhost test\" tests=\"{tests}\" failures=\"{}\" errors=\"{}\" time=\"{time:.3}\">",
        sums.failed, sums.refused
    );
    for suite in played.chunk_by(|one, other| one.file == other.file) {
        let file = escaped(&find::shown(standing, &suite[0].file));
        let one = Sums::of(suite, suite.iter().map(|each| each.real).sum());
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{file}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">",
            suite.len(),
            one.failed,
            one.refused,
            one.took.as_secs_f64()
        );
        for each in suite {
            case(&mut xml, &file, each);
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn case(xml: &mut String, file: &str, played: &Played) {
    let (name, time) = (escaped(&played.name), played.real.as_secs_f64());
    let _ = write!(
        xml,
        "    <testcase name=\"{name}\" classname=\"{file}\" file=\"{file}\" line=\"{}\" time=\"{time:.3}\"",
        played.line
    );
    let (tag, message, text) = match &played.ending {
        Ending::Passed(_) | Ending::Updated(_) => {
            xml.push_str("/>\n");
            return;
        }
        Ending::Failed(differences, _) => {
            let of: Vec<&str> = differences.iter().map(|difference| difference.of.as_str()).collect();
            let text: Vec<String> = differences.iter().map(ToString::to_string).collect();
            ("failure", of.join(", "), text.join("\n\n"))
        }
        Ending::Refused(failure) => ("error", failure.message.to_string(), String::new()),
    };
    let _ =
        writeln!(xml, ">\n      <{tag} message=\"{}\">{}</{tag}>\n    </testcase>", escaped(&message), escaped(&text));
}

/// Text for XML. Characters that XML 1.0 cannot carry are shown as what they are.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for each in text.chars() {
        match each {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            each if each.is_control() || matches!(each, '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(each));
            }
            each => out.push(each),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::exit::Failure;

    #[test]
    fn what_names_and_messages_say_stays_text() {
        let took = Duration::from_millis(5);
        let mut played = vec![
            Played {
                file: "/x/b.test.toml".into(),
                name: "a <b> & \"c\"\x1b".into(),
                line: 3,
                ending: Ending::Passed(took),
                real: took,
            },
            Played {
                file: "/x/a.test.toml".into(),
                name: "one".into(),
                line: 1,
                ending: Ending::Refused(Failure::refused("no\n<such>")),
                real: took,
            },
        ];
        let sums = Sums::of(&played, took);
        insta::assert_snapshot!(report(Path::new("/x"), &mut played, &sums), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="flowhost test" tests="2" failures="0" errors="1" time="0.005">
          <testsuite name="a.test.toml" tests="1" failures="0" errors="1" time="0.005">
            <testcase name="one" classname="a.test.toml" file="a.test.toml" line="1" time="0.005">
              <error message="no&#10;&lt;such&gt;"></error>
            </testcase>
          </testsuite>
          <testsuite name="b.test.toml" tests="1" failures="0" errors="0" time="0.005">
            <testcase name="a &lt;b&gt; &amp; &quot;c&quot;\u{1b}" classname="b.test.toml" file="b.test.toml" line="3" time="0.005"/>
          </testsuite>
        </testsuites>
        "#);
    }
}
