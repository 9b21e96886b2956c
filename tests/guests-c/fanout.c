/* The task once per Python file, a session apiece, two at a time. */
#include "flowhost.h"

FH_FLOW(fanout, {
  "name": "fanout",
  "description": "The task once per Python file that git knows, a session apiece, two at a time.",
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

static const fh_error *fanout(fh_text task, fh_json *answer) {
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
  if (!count) fh_log("git knows no Python files here");

  fh_outcome *said = fh_alloc(count * sizeof *said);
  fh_gather(count, (size_t)at_once, annotate, &all, said);
  fh_json_object(answer);
  for (size_t nth = 0; nth < count; nth++) {
    const char *path = all.paths.items[nth].data;
    const fh_error *error = said[nth].error;
    if (!error) {
      fh_json_key(answer, path);
      fh_json_text(answer, said[nth].answer.text);
    } else if (error->kind == FH_HARNESS) {
      fh_log("%s: failed, %s", path, error->message.data);
    } else {
      return error;
    }
  }
  fh_json_end_object(answer);
  return NULL;
}
