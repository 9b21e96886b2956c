/* The contract in C: the task is `FAMILY/CASE`, and what it answers is what the scenarios of the folder above expect of every language. */
#include <string.h>

#include "cases.h"

FH_FLOW(conformance, {
  "name": "conformance",
  "description": "Does what the task says, a case of the contract each.",
  "hidden": true,
  "agents": [
    { "name": "worker", "capabilities": ["steer", "fork", "goal", "pre-tool-use"] },
    { "name": "judge", "optional": true }
  ],
  "envs": [{
    "name": "workspace",
    "optional": true,
    "capabilities": ["shell", "bash", "files", "worktree", "copy", "scratch", "snapshot"]
  }],
  "params": {
    "type": "object",
    "properties": { "n": { "type": "integer", "default": 4 }, "way": { "type": "string", "default": "" } }
  },
  "loads": ["itself", "other", "nowhere"]
})

fh_agent worker;
fh_env workspace;

static const struct {
  const char *name;
  const case_of *cases;
} families[] = {
  { "agents", agents_cases },     { "context", context_cases }, { "envs", envs_cases },
  { "errors", errors_cases },     { "flows", flows_cases },     { "scale", scale_cases },
  { "sessions", sessions_cases }, { "waiting", waiting_cases }, { "watches", watches_cases },
};

static const fh_error *conformance(fh_text task, fh_json *answer) {
  FH_TRY(fh_get_agent("worker", &worker));
  FH_TRY(fh_get_env_opt("workspace", &workspace));
  for (size_t family = 0; family < sizeof families / sizeof *families; family++) {
    const size_t length = strlen(families[family].name);
    if (strncmp(task.data, families[family].name, length) != 0 || task.data[length] != '/') continue;
    for (const case_of *each = families[family].cases; each->name; each++)
      if (strcmp(task.data + length + 1, each->name) == 0) return each->run(answer);
  }
  return fh_failed("there is no case \"%s\"", task.data);
}

int64_t param_n(void) {
  fh_text value;
  int64_t n = 4;
  if (fh_json_member(fh_params(), "n", &value)) fh_json_as_integer(value, &n);
  return n;
}

const char *param_way(void) {
  fh_text value, way = { "", 0 };
  if (fh_json_member(fh_params(), "way", &value)) fh_json_as_text(value, &way);
  return way.data;
}
