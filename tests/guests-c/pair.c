/* Two agents at the same time on one task: an actor and a reviewer. */
#include "flowhost.h"

FH_FLOW(pair, {
  "name": "pair",
  "description": "An actor works on the task while a reviewer says what to look at in its work.",
  "agents": [{ "name": "actor" }, { "name": "reviewer" }],
  "envs": [{ "name": "workspace" }]
})

static const char *const review =
    "Another agent is working on the following task at this moment. Change nothing yourself. Say what a reviewer of its work should "
    "look at, and what could go wrong.\n\n%s";

static const fh_error *pair(fh_text task, fh_json *answer) {
  fh_agent actor, reviewer;
  FH_TRY(fh_get_agent("actor", &actor));
  FH_TRY(fh_get_agent("reviewer", &reviewer));
  fh_turn acting, reviewing;
  FH_TRY(fh_agent_start(actor, task.data, NULL, NULL, &acting));
  FH_TRY(fh_agent_start(reviewer, fh_format(review, task.data).data, NULL, NULL, &reviewing));
  fh_answer acted, reviewed;
  FH_TRY(fh_turn_wait(acting, &acted));
  FH_TRY(fh_turn_wait(reviewing, &reviewed));
  fh_json_object(answer);
  fh_json_key(answer, "actor");
  fh_json_text(answer, acted.text);
  fh_json_key(answer, "reviewer");
  fh_json_text(answer, reviewed.text);
  fh_json_end_object(answer);
  return NULL;
}
