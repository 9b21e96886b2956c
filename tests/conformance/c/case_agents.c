/* Agents by role, and the turns that need no session. */
#include "cases.h"

static const char *const some[] = { "t0", "this is bad", "t2" };

static const fh_error *facts(fh_json *to) {
  fh_json_object(to);
  put_text(to, "role", fh_agent_role(worker));
  put_text(to, "harness", fh_agent_harness(worker));
  put_text(to, "model", fh_agent_model(worker));
  put_text(to, "effort", fh_agent_effort(worker));
  put_bool(to, "steer", fh_agent_can(worker, "steer"));
  fh_json_end_object(to);
  return NULL;
}

static void put_role(fh_json *to, const char *key, const char *role) {
  fh_agent agent;
  const fh_error *error = fh_get_agent(role, &agent);
  put_text(to, key, error ? words(error) : fh_agent_role(agent));
}

static const fh_error *roles(fh_json *to) {
  fh_agent judge;
  FH_TRY(fh_get_agent_opt("judge", &judge));
  fh_json_object(to);
  put_role(to, "given", "worker");
  put_text(to, "optional", judge.handle ? fh_agent_role(judge) : fh_format("none"));
  put_role(to, "empty", "judge");
  put_role(to, "unknown", "stranger");
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *spawn_many(fh_json *to) {
  const size_t count = (size_t)param_n();
  fh_session *sessions = fh_alloc(count * sizeof *sessions);
  FH_TRY(fh_agent_spawn_many(worker, (uint32_t)count, NULL, sessions));
  size_t distinct = 0;
  fh_text before = { "", 0 };
  for (size_t nth = 0; nth < count; nth++) {
    const fh_text id = fh_session_id(sessions[nth]);
    distinct += !fh_text_is(id, before.data);
    before = id;
  }
  fh_json_integer(to, (int64_t)distinct);
  return NULL;
}

static const fh_error *run(fh_json *to) {
  fh_answer said;
  const fh_error *error = fh_agent_run(worker, "the word", NULL, NULL, &said);
  say(to, error, &said);
  return NULL;
}

static const fh_error *batch(fh_json *to) {
  const size_t count = (size_t)param_n();
  const char **prompts = fh_alloc(count * sizeof *prompts);
  fh_outcome *said = fh_alloc(count * sizeof *said);
  for (size_t nth = 0; nth < count; nth++) prompts[nth] = fh_format("t%zu", nth).data;
  FH_TRY(fh_agent_batch(worker, prompts, count, &(fh_batch_options){ .at_once = FH_SOME(2) }, said));
  fh_json_array(to);
  for (size_t nth = 0; nth < count; nth++) say(to, said[nth].error, &said[nth].answer);
  fh_json_end_array(to);
  return NULL;
}

static const fh_error *batch_suppress(fh_json *to) {
  fh_outcome said[3];
  FH_TRY(fh_agent_batch(worker, some, 3, &(fh_batch_options){ .suppress = true }, said));
  fh_json_array(to);
  for (size_t nth = 0; nth < 3; nth++) say(to, said[nth].error, &said[nth].answer);
  fh_json_end_array(to);
  return NULL;
}

static const fh_error *batch_fails(fh_json *to) {
  fh_outcome said[3];
  say_ok(to, fh_agent_batch(worker, some, 3, NULL, said));
  return NULL;
}

static const fh_error *pursue(fh_json *to) {
  fh_turn turn;
  fh_answer said;
  FH_TRY(fh_agent_pursue(worker, "make it good", 5, (fh_env){ 0 }, NULL, &turn));
  FH_TRY(fh_turn_wait(turn, &said));
  fh_json_object(to);
  put_integer(to, "turns", said.usage.turns);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *derive(fh_json *to) {
  fh_agent narrower, dearer;
  FH_TRY(fh_agent_derive(worker, &(fh_permission){ .workdir = FH_ACCESS_READ }, NULL, NULL, &narrower));
  fh_json_object(to);
  put_text(to, "narrower", fh_agent_role(narrower));
  put_ok(to, "dearer", fh_agent_derive(worker, NULL, "dearest", NULL, &dearer));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *watch_undeclared(fh_json *to) {
  fh_watch watch;
  const fh_moment moment = FH_MOMENT_SESSION_END;
  say_ok(to, fh_agent_watch(worker, &moment, 1, FH_FOREVER, FH_PASS, &watch));
  return NULL;
}

const case_of agents_cases[] = {
  { "facts", facts },
  { "roles", roles },
  { "spawn-many", spawn_many },
  { "run", run },
  { "batch", batch },
  { "batch-suppress", batch_suppress },
  { "batch-fails", batch_fails },
  { "pursue", pursue },
  { "derive", derive },
  { "watch-undeclared", watch_undeclared },
  { 0 },
};
