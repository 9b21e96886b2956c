/* A whole flow on several parts of the work at once. */
#include "flowhost.h"

FH_FLOW(parts, {
  "name": "parts",
  "description": "Runs fanout on each line of the task, all of them at once.",
  "agents": [{ "name": "agent" }],
  "envs": [{ "name": "workspace", "capabilities": ["shell"] }],
  "loads": ["fanout"],
  "params": {
    "type": "object",
    "properties": { "at-once": { "type": "integer", "minimum": 1, "default": 2, "description": "How many turns of each part go at once." } },
    "additionalProperties": false
  }
})

typedef struct work {
  fh_callee fanout;
  fh_agent agent;
  fh_env workspace;
  fh_texts parts;
  fh_text params;
} work;

static const fh_error *call(size_t nth, void *with, fh_awaited *started) {
  const work *of = with;
  const fh_handover given = {
    .agents = FH_AGENTS({ "agent", of->agent }),
    .envs = FH_ENVS({ "workspace", of->workspace }),
    .params = of->params.data,
  };
  fh_branch branch;
  FH_TRY(fh_callee_start(of->fanout, of->parts.items[nth].data, &given, &branch));
  *started = FH_BRANCH(branch);
  return NULL;
}

static const fh_error *parts(fh_text task, fh_json *answer) {
  work all = { .parts = fh_lines(task) };
  FH_TRY(fh_get_agent("agent", &all.agent));
  FH_TRY(fh_get_env("workspace", &all.workspace));
  FH_TRY(fh_load("fanout", &all.fanout));
  int64_t at_once = 2;
  fh_text given;
  if (fh_json_member(fh_params(), "at-once", &given)) fh_json_as_integer(given, &at_once);
  all.params = fh_format("{\"at-once\":%d}", (int)at_once);

  const size_t count = all.parts.count;
  fh_outcome *ended = fh_alloc(count * sizeof *ended);
  fh_gather(count, 0, call, &all, ended);
  fh_json_array(answer);
  for (size_t nth = 0; nth < count; nth++) {
    FH_TRY(ended[nth].error);
    fh_json_raw(answer, ended[nth].result);
  }
  fh_json_end_array(answer);
  return NULL;
}
