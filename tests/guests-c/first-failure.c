/* The task once per Python file, until one fails. */
#include "flowhost.h"

FH_FLOW(first_failure, {
  "name": "first-failure",
  "description": "The task once per Python file that git knows; at the first failure the rest is cancelled.",
  "agents": [{ "name": "agent" }],
  "envs": [{ "name": "workspace", "capabilities": ["shell"] }],
  "params": {
    "type": "object",
    "properties": { "at-once": { "type": "integer", "minimum": 1, "default": 2, "description": "How many turns go at once." } },
    "additionalProperties": false
  }
})

typedef struct work {
  fh_agent agent;
  fh_text task;
  fh_texts paths;
} work;

static const fh_error *annotate(size_t nth, void *with, fh_awaited *started) {
  const work *of = with;
  const fh_text prompt = fh_format("%s\n\nThe file is %s.", of->task.data, of->paths.items[nth].data);
  fh_turn turn;
  FH_TRY(fh_agent_start(of->agent, prompt.data, NULL, NULL, &turn));
  *started = FH_TURN(turn);
  return NULL;
}

static bool cancelled(const fh_error *error) {
  return error->kind == FH_HARNESS && error->fault == FH_HARNESS_INTERRUPTED;
}

static const fh_error *first_failure(fh_text task, fh_json *answer) {
  work all = { .task = task };
  fh_env workspace;
  FH_TRY(fh_get_agent("agent", &all.agent));
  FH_TRY(fh_get_env("workspace", &workspace));
  int64_t at_once = 2;
  fh_text given;
  if (fh_json_member(fh_params(), "at-once", &given)) fh_json_as_integer(given, &at_once);
  fh_output listed;
  const fh_command list = { .argv = FH_ARGV("git", "ls-files", "*.py"), .repeatable = true, .checked = true };
  FH_TRY(fh_env_exec(workspace, &list, &listed));
  all.paths = fh_git_names(listed.stdout_text);

  const size_t count = all.paths.count;
  fh_outcome *said = fh_alloc(count * sizeof *said);
  const fh_error *error = fh_group(count, (size_t)at_once, annotate, &all, said);
  if (error) {
    int failed = 0, answered = 0, stopped = 0;
    for (size_t nth = 0; nth < count; nth++) {
      if (!said[nth].begun) continue;
      if (!said[nth].error) answered++;
      else if (cancelled(said[nth].error)) stopped++;
      else failed++;
    }
    fh_log("%d failed, %d answered, %d cancelled", failed, answered, stopped);
    return error;
  }
  fh_json_object(answer);
  for (size_t nth = 0; nth < count; nth++) {
    fh_json_key(answer, all.paths.items[nth].data);
    fh_json_text(answer, said[nth].answer.text);
  }
  fh_json_end_object(answer);
  return NULL;
}
