//! `budget` and `limits` of a scenario file.

use flowhost_core::usage::{Grace, Limits};
use flowhost_engine::{Limits as EngineLimits, Unit};

use crate::fields::{Field, Problem, Read, did_you_mean};

/// What a run may spend.
pub(crate) fn budget(field: &Field<'_>) -> Read<Limits> {
    let fields = field.fields()?;
    let limits = Limits {
        cost: fields.maybe("cost", Field::usd)?,
        output_tokens: fields.maybe("output-tokens", Field::count)?,
        turns: fields.maybe("turns", Field::small)?,
        duration: fields.maybe("duration", Field::time)?,
        grace: fields
            .maybe("grace", |grace| match grace.text()? {
                "finish" => Ok(Grace::Finish),
                "cut" => Ok(Grace::Cut),
                other => Err(grace.wrong(format!("{other:?} is neither finish nor cut"))),
            })?
            .unwrap_or_default(),
    };
    fields.end()?;
    Ok(limits)
}

/// Sets what keeps a flow from taking the machine (X2), by the names of `flowhost exec --limit`.
pub(crate) fn limits(field: &Field<'_>, limits: &mut EngineLimits) -> Read<()> {
    for (name, value) in field.named()? {
        let Some((_, unit, _)) = EngineLimits::TABLE.into_iter().find(|(known, ..)| *known == name) else {
            let names = EngineLimits::TABLE.map(|(name, ..)| name);
            return Err(Problem::new(value.node.line, format!("{}: there is no such limit", value.path))
                .hint(did_you_mean("limits", name, &names)));
        };
        let number = match unit {
            Unit::Bytes => value.bytes()?,
            Unit::Count => value.count()?,
            Unit::Time => u64::try_from(value.time()?.as_millis()).unwrap_or(u64::MAX),
        };
        limits.set(name, number).map_err(|error| value.wrong(error))?;
    }
    Ok(())
}
