//! A fake from text, for the command line and tests of the whole program.

use std::{sync::Arc, time::Duration};

use flowhost_core::{
    clock::Clock,
    error::{Error, HarnessFailure, HarnessFault, Kind},
    harness::{Capabilities, Moment},
    usage::Usd,
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Fake, Pattern, Said, Then,
    reply::{Replies, When},
};
use crate::registry::Refusal;

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Words {
    name: Option<String>,
    reply: Option<Value>,
    fail: Vec<Rule>,
    when: Vec<Rule>,
    delay_ms: f64,
    cost: f64,
    input_tokens: u64,
    output_tokens: u64,
    steps: Option<u32>,
    occasions: Vec<Occasion>,
    capabilities: Vec<String>,
    pure: Option<bool>,
    stubborn: bool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Rule {
    contains: Option<String>,
    starts_with: Option<String>,
    ends_with: Option<String>,
    matches: Option<String>,
    reply: Option<Value>,
    never: bool,
    message: Option<String>,
    fault: Option<HarnessFault>,
    retry_after_ms: Option<u64>,
    error: Option<Error>,
    delay_ms: Option<f64>,
    cost: Option<f64>,
    times: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Occasion {
    moment: Moment,
    #[serde(default)]
    details: Value,
}

pub(super) fn read(text: &str, clock: &Clock) -> Result<Fake, Refusal> {
    let refuse = |why: String| Refusal::new(format!("fake:{text}: {why}"));
    if !text.trim_start().starts_with('{') {
        return Ok(Fake::new().reply(text));
    }
    let words: Words = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
    words.fake(clock).map_err(refuse)
}

impl Words {
    fn fake(self, clock: &Clock) -> Result<Fake, String> {
        let mut whens = Vec::new();
        for (rules, fails) in [(self.fail, true), (self.when, false)] {
            for rule in rules {
                let (pattern, times) = (rule.pattern()?, rule.times);
                let said = if fails { rule.failure()? } else { rule.answer()? };
                whens.push(When::new(pattern, said, times));
            }
        }
        let replies = self.reply.as_ref().map(replies).transpose()?;
        let capabilities = capabilities(&self.capabilities, self.pure.unwrap_or(true))?;
        let delay = milliseconds(self.delay_ms)?;
        let fake = Fake::new().delay(clock, delay).steps(self.steps.unwrap_or(1)).can(capabilities);
        Ok(fake.told(|script| {
            script.whens = whens;
            script.replies = replies.unwrap_or_else(|| script.replies.clone());
            script.name = self.name.map_or_else(|| script.name.clone(), Into::into);
            script.usage.cost = Usd::from_dollars(self.cost);
            script.usage.input_tokens = self.input_tokens;
            script.usage.output_tokens = self.output_tokens;
            script.occasions = self.occasions.into_iter().map(|asked| (asked.moment, asked.details)).collect();
            script.stubborn = self.stubborn;
        }))
    }
}

impl Rule {
    fn pattern(&self) -> Result<Pattern, String> {
        let given = [&self.contains, &self.starts_with, &self.ends_with, &self.matches];
        match given {
            [None, None, None, None] => Ok(Pattern::any()),
            [Some(part), None, None, None] => Ok(Pattern::contains(part)),
            [None, Some(start), None, None] => Ok(Pattern::starts_with(start)),
            [None, None, Some(end), None] => Ok(Pattern::ends_with(end)),
            [None, None, None, Some(expression)] => Pattern::matches(expression).map_err(|error| error.to_string()),
            _ => Err("an entry has one of contains, starts-with, ends-with and matches".to_owned()),
        }
    }

    fn failure(self) -> Result<Said, String> {
        let error = match (&self.error, &self.message) {
            (Some(error), None) if self.fault.is_none() => error.clone(),
            (None, Some(message)) => {
                let fault = self.fault.unwrap_or(HarnessFault::Other);
                let failure = HarnessFailure { fault, retry_after_ms: self.retry_after_ms };
                Error::new(Kind::Harness(failure), message)
            }
            _ => return Err("an entry of fail has a message, or an error".to_owned()),
        };
        if self.reply.is_some() || self.never {
            return Err("an entry of fail has no reply".to_owned());
        }
        self.spending(error.into())
    }

    fn answer(self) -> Result<Said, String> {
        let said = match (&self.reply, self.never) {
            (None, true) => Said::never(),
            (Some(reply), false) => said(reply)?,
            _ => return Err("an entry of when has a reply, or is never answered".to_owned()),
        };
        if self.message.is_some() || self.error.is_some() || self.fault.is_some() {
            return Err("an entry of when does not fail; fail is for that".to_owned());
        }
        self.spending(said)
    }

    fn spending(&self, mut said: Said) -> Result<Said, String> {
        if let Some(delay) = self.delay_ms {
            said = said.after(milliseconds(delay)?);
        }
        Ok(match self.cost {
            Some(cost) => said.costing(cost),
            None => said,
        })
    }
}

fn milliseconds(delay: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(delay / 1e3).map_err(|_| format!("{delay}: not a number of milliseconds"))
}

fn replies(reply: &Value) -> Result<Replies, String> {
    let Some(object) = reply.as_object() else { return Ok(Replies::Always(Box::new(said(reply)?))) };
    if object.get("echo").and_then(Value::as_str) == Some("last-word") && object.len() == 1 {
        return Ok(Replies::LastWord);
    }
    let Some(list) = object.get("list") else { return Ok(Replies::Always(Box::new(said(reply)?))) };
    let then = match object.get("then").map(Value::as_str) {
        None | Some(Some("repeat")) => Then::Repeat,
        Some(Some("fail")) => Then::Fail,
        Some(_) => return Err("then is repeat or fail".to_owned()),
    };
    let all = list.as_array().ok_or("list is a list of replies")?.iter().map(said).collect::<Result<Arc<[_]>, _>>()?;
    Ok(Replies::Listed { all, next: Arc::default(), then })
}

fn said(reply: &Value) -> Result<Said, String> {
    match reply {
        Value::String(text) => Ok(text.as_str().into()),
        Value::Object(object) if object.len() == 1 && object.contains_key("value") => {
            Ok(object["value"].clone().into())
        }
        other => Err(format!("{other}: a reply is a string or {{\"value\": JSON}}")),
    }
}

/// Capabilities by their names: `steer fork goal tools skills schema resume spends` and each moment. The error names what is none.
pub fn capabilities<S: AsRef<str>>(names: &[S], pure: bool) -> Result<Capabilities, String> {
    let mut can = Capabilities { pure, ..Capabilities::default() };
    let mut moments = Vec::new();
    for name in names {
        match name.as_ref() {
            "steer" => can.steer = true,
            "fork" => can.fork = true,
            "goal" => can.goal = true,
            "tools" => can.tools = true,
            "skills" => can.skills = true,
            "schema" => can.schema = true,
            "resume" => can.resume = true,
            "spends" => can.spends = true,
            name => match Moment::ALL.into_iter().find(|moment| moment.name() == name) {
                Some(moment) => moments.push(moment),
                None => return Err(format!("no capability is called {name}")),
            },
        }
    }
    // A harness's moments are written into programs; these few live as long as the program too.
    can.moments = Vec::leak(moments);
    Ok(can)
}
