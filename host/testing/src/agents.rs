//! `agents.ROLE` of a scenario file: a fake and what it does.

use std::{sync::Arc, time::Duration};

use flowhost_agents::fake::{Fake, Said, Then, capabilities};
use flowhost_core::{
    error::{Error, HarnessFailure, HarnessFault, Kind},
    harness::{Capabilities, Moment, Reply},
    usage::{CostSource, Usage},
};
use serde_json::Value;

use crate::{
    fields::{Field, Fields, Problem, Read, did_you_mean},
    pattern,
    scenario::Cast,
};

/// Why a turn fails, as it is written.
const FAULTS: [&str; 14] = [
    "not-installed",
    "not-logged-in",
    "model-unavailable",
    "throttled",
    "overloaded",
    "contended",
    "context-full",
    "killed",
    "dropped",
    "hung",
    "interrupted",
    "bad-output",
    "unsupported",
    "other",
];

/// The fake that fills a role.
pub(crate) fn read(field: &Field<'_>) -> Read<Cast> {
    let fields = field.fields()?;
    let usage = Usage { cost_source: CostSource::MadeUp, ..Usage::default() };
    let usage = spending(&fields, usage)?.unwrap_or(usage);
    let mut script = Script {
        name: fields.maybe("name", |name| name.text().map(str::to_owned))?,
        delay: fields.maybe("delay", Field::time)?.unwrap_or_default(),
        steps: fields.maybe("steps", Field::small)?.unwrap_or(1),
        capabilities: fields.maybe("capabilities", able)?,
        occasions: fields.maybe("occasions", occasions)?.unwrap_or_default(),
        stubborn: fields.maybe("stubborn", Field::flag)?.unwrap_or_default(),
        refuses: fields.maybe("refuses", refusal)?,
        whens: Vec::new(),
        replies: fields
            .maybe("reply", |reply| replies(reply, usage))?
            .unwrap_or(Replies::Always(Box::new("done".into()))),
        usage,
    };
    for entry in fields.maybe("when", Field::list)?.unwrap_or_default() {
        let fields = entry.fields()?;
        let pattern = pattern::among(&fields)?;
        let times = fields.maybe("times", Field::small)?;
        let said = fields.maybe("reply", |reply| said(reply, usage))?;
        fields.end()?;
        let said = said.ok_or_else(|| entry.wrong("it says no reply").hint("reply = \"…\", for instance"))?;
        script.whens.push((pattern, said, times));
    }
    fields.end()?;
    let exact = script.capabilities.is_some();
    let script = Arc::new(script);
    Ok(Cast { make: Arc::new(move |clock| script.fake(clock)), exact })
}

struct Script {
    name: Option<String>,
    delay: Duration,
    steps: u32,
    capabilities: Option<Capabilities>,
    occasions: Vec<(Moment, Value)>,
    stubborn: bool,
    refuses: Option<Error>,
    whens: Vec<(flowhost_agents::fake::Pattern, Said, Option<u32>)>,
    replies: Replies,
    usage: Usage,
}

enum Replies {
    Always(Box<Said>),
    LastWord,
    Listed(Vec<Said>, Then),
}

impl Script {
    fn fake(&self, clock: &flowhost_core::clock::Clock) -> Fake {
        let mut fake = Fake::new().delay(clock, self.delay).steps(self.steps).spends(self.usage);
        fake = match &self.replies {
            Replies::Always(said) => fake.reply((**said).clone()),
            Replies::LastWord => fake.last_word(),
            Replies::Listed(all, then) => fake.replies(all.clone(), *then),
        };
        for (pattern, said, times) in &self.whens {
            fake = match times {
                Some(times) => fake.when_times(*times, pattern.clone(), said.clone()),
                None => fake.when(pattern.clone(), said.clone()),
            };
        }
        for (moment, details) in &self.occasions {
            fake = fake.asks(*moment, details.clone());
        }
        if let Some(capabilities) = self.capabilities {
            fake = fake.can(capabilities);
        }
        if let Some(name) = &self.name {
            fake = fake.named(name);
        }
        if let Some(error) = &self.refuses {
            fake = fake.refuses_to_open(error.clone());
        }
        if self.stubborn { fake.stubborn() } else { fake }
    }
}

fn replies(field: &Field<'_>, usage: Usage) -> Read<Replies> {
    if !field.is_table() {
        return Ok(Replies::Always(Box::new(said(field, usage)?)));
    }
    let fields = field.fields()?;
    if let Some(echo) = fields.get("echo") {
        fields.end()?;
        return match echo.text()? {
            "last-word" => Ok(Replies::LastWord),
            other => Err(echo.wrong(format!("{other:?} is no echo")).hint("echo = \"last-word\"")),
        };
    }
    let Some(list) = fields.get("list") else { return Ok(Replies::Always(Box::new(said(field, usage)?))) };
    let then = fields.maybe("then", |then| match then.text()? {
        "repeat" => Ok(Then::Repeat),
        "fail" => Ok(Then::Fail),
        other => Err(then.wrong(format!("{other:?} is neither repeat nor fail"))),
    })?;
    fields.end()?;
    let all = list.list()?.iter().map(|each| said(each, usage)).collect::<Read<Vec<_>>>()?;
    if all.is_empty() {
        return Err(list.wrong("it is empty"));
    }
    Ok(Replies::Listed(all, then.unwrap_or_default()))
}

/// One reply: a string, or a table that says what, when, and for how much.
fn said(field: &Field<'_>, usage: Usage) -> Read<Said> {
    if !field.is_table() {
        return Ok(field.text()?.into());
    }
    let fields = field.fields()?;
    let text = fields.maybe("text", |text| text.text().map(str::to_owned))?;
    let value = match fields.one_of(&["value", "json"])? {
        Some(("value", value)) => Some(value.json()?),
        Some((_, json)) => Some(json.json_text()?),
        None => None,
    };
    let failure = failure(&fields)?;
    let never = fields.maybe("never", Field::flag)?.unwrap_or_default();
    let delay = fields.maybe("delay", Field::time)?;
    let usage = spending(&fields, usage)?;
    let writes = fields.maybe("writes", Field::named)?.unwrap_or_default();
    let occasions = fields.maybe("occasions", occasions)?.unwrap_or_default();
    fields.end()?;
    let mut said = match (text, value, failure, never) {
        (None, None, None, true) => Said::never(),
        (None, None, Some(error), false) => error.into(),
        (None, Some(value), None, false) => value.into(),
        (Some(text), value, None, false) => Reply { text, value, usage: None }.into(),
        _ => {
            return Err(field
                .wrong("not one reply")
                .hint("A reply is a string, or a table with text, value, json, fail or never = true"));
        }
    };
    if let Some(delay) = delay {
        said = said.after(delay);
    }
    if let Some(usage) = usage {
        said = said.spending(usage);
    }
    for (path, text) in writes {
        said = said.writing(path, text.text()?);
    }
    Ok(occasions.into_iter().fold(said, |said, (moment, details)| said.asking(moment, details)))
}

/// `fail`, `fault` and `retry-after`.
fn failure(fields: &Fields<'_>) -> Read<Option<Error>> {
    let message = fields.maybe("fail", Field::text)?;
    let fault = fields.get("fault");
    let retry_after = fields.get("retry-after");
    let Some(message) = message else {
        return match fault.or(retry_after) {
            Some(alone) => Err(alone.wrong("it says how a turn fails, and none fails here").hint("fail = \"MESSAGE\"")),
            None => Ok(None),
        };
    };
    let fault = fault.map(|fault| harness_fault(&fault)).transpose()?.unwrap_or(HarnessFault::Other);
    let retry_after = retry_after.map(|time| time.time()).transpose()?;
    let retry_after_ms = retry_after.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    Ok(Some(Error::new(Kind::Harness(HarnessFailure { fault, retry_after_ms }), message)))
}

fn harness_fault(field: &Field<'_>) -> Read<HarnessFault> {
    let name = field.text()?;
    serde_json::from_value(name.into())
        .map_err(|_| field.wrong(format!("{name:?} is no fault")).hint(did_you_mean("faults", name, &FAULTS)))
}

/// Why no conversation opens: a message, or `fail` and `fault`.
fn refusal(field: &Field<'_>) -> Read<Error> {
    if !field.is_table() {
        return Ok(Error::harness(HarnessFault::Other, field.text()?));
    }
    let fields = field.fields()?;
    let failure = failure(&fields)?;
    fields.end()?;
    failure.ok_or_else(|| field.wrong("it says no message").hint("fail = \"MESSAGE\""))
}

/// What a turn spends, where something is said of it.
fn spending(fields: &Fields<'_>, usage: Usage) -> Read<Option<Usage>> {
    let cost = fields.maybe("cost", Field::usd)?;
    let input = fields.maybe("input-tokens", Field::count)?;
    let output = fields.maybe("output-tokens", Field::count)?;
    if cost.is_none() && input.is_none() && output.is_none() {
        return Ok(None);
    }
    Ok(Some(Usage {
        cost: cost.unwrap_or(usage.cost),
        input_tokens: input.unwrap_or(usage.input_tokens),
        output_tokens: output.unwrap_or(usage.output_tokens),
        cost_source: CostSource::MadeUp,
        ..usage
    }))
}

fn able(field: &Field<'_>) -> Read<Capabilities> {
    let names = field.texts()?;
    capabilities(&names, true).map_err(|why| {
        let own = ["steer", "fork", "goal", "tools", "skills", "schema", "resume", "spends"];
        let all: Vec<&str> = own.into_iter().chain(Moment::ALL.map(Moment::name)).collect();
        let wrong = names.iter().find(|name| !all.contains(name)).copied().unwrap_or_default();
        field.wrong(why).hint(did_you_mean("capabilities", wrong, &all))
    })
}

/// `[{ moment = "question", details = {…} }]`.
fn occasions(field: &Field<'_>) -> Read<Vec<(Moment, Value)>> {
    let each = |entry: &Field<'_>| {
        let fields = entry.fields()?;
        let moment = fields.get("moment");
        let details = fields.maybe("details", Field::json)?;
        fields.end()?;
        let moment =
            moment.ok_or_else(|| Problem::new(entry.node.line, format!("{}: it says no moment", entry.path)))?;
        let name = moment.text()?;
        let names = Moment::ALL.map(Moment::name);
        let known = Moment::ALL.into_iter().find(|each| each.name() == name);
        let unknown = || moment.wrong(format!("{name:?} is no moment")).hint(did_you_mean("moments", name, &names));
        Ok((known.ok_or_else(unknown)?, details.unwrap_or_default()))
    };
    field.list()?.iter().map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_the_list_is_one() {
        for name in FAULTS {
            assert!(serde_json::from_value::<HarnessFault>(name.into()).is_ok(), "{name}");
        }
    }
}
