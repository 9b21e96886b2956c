/* Flows that call flows. */
#include <string.h>

#include "cases.h"

static const fh_handover *given(const char *params, const fh_budget *budget) {
  static fh_given_agent agents[2];
  static fh_handover handover;
  agents[0] = (fh_given_agent){ "worker", worker };
  handover = (fh_handover){ .agents = agents, .params = params, .budget = budget };
  return &handover;
}

static const fh_error *facts(fh_json *to) {
  fh_callee itself;
  fh_text agents, agent, name;
  FH_TRY(fh_load("itself", &itself));
  fh_json_object(to);
  put_text(to, "name", fh_callee_name(itself));
  fh_json_key(to, "roles");
  fh_json_array(to);
  if (fh_json_member(fh_callee_manifest(itself), "agents", &agents))
    for (size_t nth = 0; fh_json_element(agents, nth, &agent); nth++)
      if (fh_json_member(agent, "name", &name)) fh_json_raw(to, name);
  fh_json_end_array(to);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *call(fh_json *to) {
  fh_callee callee;
  fh_text result;
  FH_TRY(fh_load(param_way(), &callee));
  const fh_handover handover = {
    .agents = FH_AGENTS({ "worker", worker }), .envs = FH_ENVS({ "workspace", workspace }), .params = "{\"n\":9}",
  };
  FH_TRY(fh_callee_call(callee, "flows/called", &handover, &result));
  fh_json_raw(to, result);
  return NULL;
}

/* What `call` calls. */
static const fh_error *called(fh_json *to) {
  fh_answer said;
  fh_text text;
  FH_TRY(fh_agent_run(worker, "the word", NULL, NULL, &said));
  FH_TRY(fh_env_read(workspace, "a.txt", &text));
  fh_json_object(to);
  fh_json_key(to, "path");
  fh_json_array(to);
  const fh_texts path = fh_path();
  for (size_t nth = 0; nth < path.count; nth++) fh_json_text(to, path.items[nth]);
  fh_json_end_array(to);
  put_integer(to, "n", param_n());
  put_text(to, "turn", said.text);
  put_text(to, "read", text);
  fh_json_end_object(to);
  return NULL;
}

#define MESSAGE { "made here", 9 }

/* Errors of the flow's own making, in the order of the contract's kinds; then faults that nothing else comes to. */
static const struct {
  const char *way;
  fh_error error;
} made[] = {
  { "session", { .kind = FH_SESSION, .fault = FH_SESSION_BUSY, .message = MESSAGE } },
  { "harness", { .kind = FH_HARNESS, .fault = FH_HARNESS_THROTTLED, .message = MESSAGE, .retry_after_ms = FH_SOME(1500) } },
  { "env", { .kind = FH_ENV, .fault = FH_ENV_DENIED, .message = MESSAGE } },
  { "requirement", { .kind = FH_REQUIREMENT, .message = MESSAGE } },
  { "not-granted", { .kind = FH_NOT_GRANTED, .message = MESSAGE } },
  { "flow", { .kind = FH_FLOW, .fault = FH_FLOW_BAD_REF, .message = MESSAGE } },
  { "failed", { .kind = FH_FAILED, .message = MESSAGE } },
  { "other", { .kind = FH_OTHER, .message = MESSAGE } },
  { "session-other", { .kind = FH_SESSION, .fault = FH_SESSION_OTHER, .message = MESSAGE } },
  { "flow-other", { .kind = FH_FLOW, .fault = FH_FLOW_OTHER, .message = MESSAGE } },
};
enum { MADE = sizeof made / sizeof *made };

static const fh_error *raised(fh_json *to) {
  fh_callee itself;
  FH_TRY(fh_load("itself", &itself));
  fh_json_array(to);
  for (size_t nth = 0; nth < MADE; nth++) {
    fh_text result;
    const char *params = fh_format("{\"way\":\"%s\"}", made[nth].way).data;
    say_ok(to, fh_callee_call(itself, "flows/raise", given(params, NULL), &result));
  }
  fh_json_end_array(to);
  return NULL;
}

static const fh_error *raise(fh_json *to) {
  (void)to;
  const char *way = param_way();
  for (size_t nth = 0; nth < MADE; nth++)
    if (strcmp(way, made[nth].way) == 0) return &made[nth].error;
  return fh_failed("there is no kind %s", way);
}

static const fh_error *branches(fh_json *to) {
  fh_callee itself;
  fh_branch slept, cancelled;
  fh_text answer, none;
  FH_TRY(fh_load("itself", &itself));
  FH_TRY(fh_callee_start(itself, "flows/sleep", given("{\"n\":10}", NULL), &slept));
  FH_TRY(fh_callee_start(itself, "flows/sleep", given("{\"n\":60000}", NULL), &cancelled));
  fh_json_object(to);
  put_bool(to, "before", fh_branch_done(slept));
  FH_TRY(fh_branch_wait(slept, &answer));
  fh_json_key(to, "slept");
  fh_json_raw(to, answer);
  fh_branch_cancel(cancelled);
  put_ok(to, "cancelled", fh_branch_wait(cancelled, &none));
  put_bool(to, "after", fh_branch_done(cancelled));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *sleeps(fh_json *to) {
  fh_sleep((uint64_t)param_n());
  fh_json_string(to, "slept");
  return NULL;
}

static const fh_error *budget(fh_json *to) {
  const fh_budget budget = { .turns = FH_SOME(1) };
  fh_callee itself;
  fh_text result;
  FH_TRY(fh_load("itself", &itself));
  const fh_error *error = fh_callee_call(itself, "flows/spend", given(NULL, &budget), &result);
  fh_json_object(to);
  put_ok(to, "called", error);
  put_bool(to, "whose", error && fh_text_is(error->whose, fh_format("%s.1", fh_branch_id().data).data));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *spend(fh_json *to) {
  (void)to;
  for (int turn = 0; turn < 2; turn++) {
    fh_answer said;
    FH_TRY(fh_agent_run(worker, "t", NULL, NULL, &said));
  }
  return NULL;
}

static const fh_error *missing(fh_json *to) {
  fh_callee callee;
  fh_json_object(to);
  put_ok(to, "nowhere", fh_load("nowhere", &callee));
  put_ok(to, "undeclared", fh_load("undeclared", &callee));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *unmet(fh_json *to) {
  fh_callee itself;
  fh_text result;
  FH_TRY(fh_load("itself", &itself));
  say_ok(to, fh_callee_call(itself, "flows/sleep", NULL, &result));
  return NULL;
}

static const fh_error *trapped(fh_json *to) {
  fh_callee other;
  fh_text result;
  FH_TRY(fh_load("other", &other));
  say_ok(to, fh_callee_call(other, "errors/trap", given(NULL, NULL), &result));
  return NULL;
}

/* Calls itself until it cannot, and gives how deep that was. */
static const fh_error *deep(fh_json *to) {
  fh_callee itself;
  fh_text result;
  FH_TRY(fh_load("itself", &itself));
  const fh_error *error = fh_callee_call(itself, "flows/deep", given(NULL, NULL), &result);
  if (!error) fh_json_raw(to, result);
  else if (error->kind == FH_FLOW && error->fault == FH_FLOW_TOO_DEEP)
    fh_json_text(to, fh_format("%zu flow too-deep", fh_path().count));
  else return error;
  return NULL;
}

static const fh_error *exceeded(fh_json *to) {
  fh_session *sessions = fh_alloc(1000 * sizeof *sessions);
  say_ok(to, fh_agent_spawn_many(worker, 1000, NULL, sessions));
  return NULL;
}

const case_of flows_cases[] = {
  { "facts", facts },     { "call", call },       { "called", called }, { "raised", raised },   { "raise", raise },
  { "branch", branches }, { "sleep", sleeps },    { "budget", budget }, { "spend", spend },     { "missing", missing },
  { "unmet", unmet },     { "trapped", trapped }, { "deep", deep },     { "exceeded", exceeded }, { 0 },
};
