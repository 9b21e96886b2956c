/* Handles, waiting, and cancelling. */
#include "cases.h"

static const fh_error *turns(fh_json *to) {
  fh_turn turn;
  fh_answer said;
  FH_TRY(fh_agent_start(worker, "later", NULL, NULL, &turn));
  fh_json_object(to);
  put_bool(to, "before", fh_turn_done(turn));
  const fh_error *error = fh_turn_wait(turn, &said);
  put_said(to, "wait", error, &said);
  put_bool(to, "after", fh_turn_done(turn));
  error = fh_turn_wait(turn, &said);
  put_said(to, "again", error, &said);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *cancel(fh_json *to) {
  fh_session session;
  fh_turn turn;
  fh_answer said, next;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_start(session, "slow", NULL, &turn));
  fh_sleep(10);
  fh_turn_cancel(turn);
  fh_turn_cancel(turn);
  const fh_error *after = fh_session_run(session, "next", NULL, &next);
  fh_json_object(to);
  const fh_error *error = fh_turn_wait(turn, &said);
  put_said(to, "turn", error, &said);
  error = fh_turn_wait(turn, &said);
  put_said(to, "again", error, &said);
  put_said(to, "next", after, &next);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *any(fh_json *to) {
  fh_turn later, soon;
  FH_TRY(fh_agent_start(worker, "later", NULL, NULL, &later));
  FH_TRY(fh_agent_start(worker, "soon", NULL, NULL, &soon));
  const fh_awaited on[] = { FH_TURN(later), FH_TURN(soon) };
  uint32_t places[] = { 0, 1 }, ready[2];
  fh_json_array(to);
  for (size_t left = 2; left > 0;) {
    fh_awaited those[2];
    for (size_t nth = 0; nth < left; nth++) those[nth] = on[places[nth]];
    for (size_t nth = fh_wait_any(those, left, FH_FOREVER, ready); nth-- > 0;) {
      fh_json_integer(to, places[ready[nth]]);
      for (size_t from = ready[nth] + 1; from < left; from++) places[from - 1] = places[from];
      left--;
    }
  }
  fh_json_end_array(to);
  return NULL;
}

/* The places of those that are ready, as a member. */
static void put_ready(fh_json *to, const char *key, const fh_awaited *on, size_t count, int64_t timeout_ms) {
  uint32_t ready[4];
  const size_t many = fh_wait_any(on, count, timeout_ms, ready);
  fh_json_key(to, key);
  fh_json_array(to);
  for (size_t nth = 0; nth < many; nth++) fh_json_integer(to, ready[nth]);
  fh_json_end_array(to);
}

static const fh_error *any_timeout(fh_json *to) {
  fh_turn turn;
  fh_json_object(to);
  put_ready(to, "nothing", NULL, 0, FH_FOREVER);
  FH_TRY(fh_agent_start(worker, "slow", NULL, NULL, &turn));
  put_ready(to, "late", &FH_TURN(turn), 1, 20);
  fh_json_end_object(to);
  return NULL;
}

/* A branch that sleeps 10 ms, a turn of 50 ms, a process of a second, and a watch that nothing comes of: by three waits, the first of them
 * for all, each after it without what was ready. */
static const fh_error *any_mixed(fh_json *to) {
  const fh_moment moment = FH_MOMENT_PRE_TOOL_USE;
  fh_watch watch;
  fh_turn turn;
  fh_process process;
  fh_callee itself;
  fh_branch branch;
  FH_TRY(fh_agent_watch(worker, &moment, 1, FH_FOREVER, FH_PASS, &watch));
  FH_TRY(fh_agent_start(worker, "later", NULL, NULL, &turn));
  FH_TRY(fh_env_start(workspace, &(fh_command){ .argv = FH_ARGV("sleep", "1") }, &process));
  FH_TRY(fh_load("itself", &itself));
  const fh_handover given = { .agents = FH_AGENTS({ "worker", worker }) };
  FH_TRY(fh_callee_start(itself, "flows/sleep", &given, &branch));
  fh_json_object(to);
  put_ready(to, "first", (fh_awaited[]){ FH_TURN(turn), FH_PROCESS(process), FH_BRANCH(branch), FH_WATCH(watch) }, 4, FH_FOREVER);
  put_ready(to, "second", (fh_awaited[]){ FH_TURN(turn), FH_PROCESS(process), FH_WATCH(watch) }, 3, FH_FOREVER);
  put_ready(to, "third", (fh_awaited[]){ FH_WATCH(watch), FH_PROCESS(process) }, 2, FH_FOREVER);
  fh_json_end_object(to);
  return NULL;
}

/* A turn that takes longer than the flow waits for it. */
static const fh_error *timeout(fh_json *to) {
  fh_session session;
  fh_turn turn;
  fh_answer said;
  uint32_t ready;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_start(session, "slow", NULL, &turn));
  const bool late = fh_wait_any(&FH_TURN(turn), 1, 10, &ready) == 0;
  fh_turn_cancel(turn);
  fh_json_object(to);
  put_bool(to, "late", late);
  const fh_error *error = fh_session_run(session, "next", NULL, &said);
  put_said(to, "next", error, &said);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *race(fh_json *to) {
  fh_turn turn;
  fh_answer said;
  uint32_t ready;
  FH_TRY(fh_agent_start(worker, "slow", NULL, NULL, &turn));
  if (fh_wait_any(&FH_TURN(turn), 1, 10, &ready) == 0) {
    fh_json_string(to, "clock");
    return NULL;
  }
  const fh_error *error = fh_turn_wait(turn, &said);
  say(to, error, &said);
  return NULL;
}

static const fh_error *start(size_t nth, void *with, fh_awaited *started) {
  const char *const *prompts = with;
  fh_turn turn;
  FH_TRY(fh_agent_start(worker, prompts[nth], NULL, NULL, &turn));
  *started = FH_TURN(turn);
  return NULL;
}

static const fh_error *group(fh_json *to) {
  const char *prompts[] = { "slow", "bad", "slow" };
  fh_outcome said[3];
  const fh_error *error = fh_group(3, 0, start, prompts, said);
  if (!error) return NULL;
  int64_t cancelled = 0;
  for (size_t nth = 0; nth < 3; nth++)
    cancelled += said[nth].begun && said[nth].error && said[nth].error != error && said[nth].error->kind == FH_HARNESS &&
                 said[nth].error->fault == FH_HARNESS_INTERRUPTED;
  fh_json_object(to);
  put_text(to, "error", words(error));
  put_integer(to, "cancelled", cancelled);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *gather(fh_json *to) {
  const char *prompts[] = { "t0", "bad", "t2", "t3" };
  fh_outcome said[4];
  fh_gather(4, 2, start, prompts, said);
  fh_json_array(to);
  for (size_t nth = 0; nth < 4; nth++) say(to, said[nth].error, &said[nth].answer);
  fh_json_end_array(to);
  return NULL;
}

static const fh_error *drop_wait(fh_json *to) {
  fh_turn turn;
  fh_answer said;
  uint32_t ready;
  FH_TRY(fh_agent_start(worker, "later", NULL, NULL, &turn));
  fh_wait_any(&FH_TURN(turn), 1, 1, &ready);
  const fh_error *error = fh_turn_wait(turn, &said);
  say(to, error, &said);
  return NULL;
}

const case_of waiting_cases[] = {
  { "turn", turns },
  { "cancel", cancel },
  { "any", any },
  { "any-timeout", any_timeout },
  { "any-mixed", any_mixed },
  { "timeout", timeout },
  { "race", race },
  { "group", group },
  { "gather", gather },
  { "drop-wait", drop_wait },
  { 0 },
};
