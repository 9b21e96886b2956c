/* One agent on each line of the task. */
#include "flowhost.h"

FH_FLOW(run, {
  "name": "{{name}}",
  "description": "Asks one agent about each line of the task, two lines at a time.",
  "agents": [{ "name": "agent" }],
  "envs": [{ "name": "workspace" }]
})

typedef struct questions {
  fh_agent agent;
  fh_texts lines;
} questions;

static const fh_error *ask(size_t nth, void *with, fh_awaited *started) {
  const questions *of = with;
  fh_turn turn;
  FH_TRY(fh_agent_start(of->agent, of->lines.items[nth].data, NULL, NULL, &turn));
  *started = FH_TURN(turn);
  return NULL;
}

static const fh_error *run(fh_text task, fh_json *answer) {
  questions all = { .lines = fh_lines(task) };
  FH_TRY(fh_get_agent("agent", &all.agent));
  const size_t count = all.lines.count;
  fh_outcome *said = fh_alloc(count * sizeof *said);
  fh_gather(count, 2, ask, &all, said);
  fh_json_array(answer);
  for (size_t nth = 0; nth < count; nth++) {
    const fh_error *error = said[nth].error;
    if (!error) {
      fh_json_text(answer, said[nth].answer.text);
    } else if (error->kind == FH_HARNESS) {
      /* One that failed does not take the others with it. */
      fh_log("%s: failed, %s", all.lines.items[nth].data, error->message.data);
      fh_json_null(answer);
    } else {
      return error;
    }
  }
  fh_json_end_array(answer);
  return NULL;
}
