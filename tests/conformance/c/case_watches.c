/* Hooks: what a session comes upon waits for the flow's answer. */
#include "cases.h"

static const fh_moment moment = FH_MOMENT_PRE_TOOL_USE;

static const fh_error *next(fh_watch watch, fh_occasion *occasion) {
  return fh_watch_next(watch, occasion) ? NULL : fh_failed("the watch was closed");
}

static const fh_error *facts(fh_json *to) {
  fh_watch watch;
  fh_session session;
  fh_turn turn;
  fh_occasion occasion;
  fh_answer said;
  FH_TRY(fh_agent_watch(worker, &moment, 1, FH_FOREVER, FH_PASS, &watch));
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_start(session, "t0", NULL, &turn));
  FH_TRY(next(watch, &occasion));
  fh_json_object(to);
  put_string(to, "moment", fh_occasion_moment(occasion) == moment ? "pre-tool-use" : "another");
  put_bool(to, "session", fh_text_is(fh_occasion_session(occasion), fh_session_id(session).data));
  fh_json_key(to, "details");
  fh_json_raw(to, fh_occasion_details(occasion));
  FH_TRY(fh_occasion_allow(occasion));
  const fh_error *error = fh_turn_wait(turn, &said);
  put_said(to, "text", error, &said);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *answer(fh_json *to) {
  const fh_text way = fh_format("%s", param_way());
  fh_watch watch;
  fh_turn turn;
  fh_occasion occasion;
  fh_answer said;
  FH_TRY(fh_agent_watch(worker, &moment, 1, FH_FOREVER, FH_PASS, &watch));
  FH_TRY(fh_agent_start(worker, "t0", NULL, NULL, &turn));
  FH_TRY(next(watch, &occasion));
  if (fh_text_is(way, "allow")) FH_TRY(fh_occasion_allow(occasion));
  else if (fh_text_is(way, "block")) FH_TRY(fh_occasion_block(occasion, "not here"));
  else if (fh_text_is(way, "reply")) FH_TRY(fh_occasion_reply(occasion, "yes"));
  else FH_TRY(fh_occasion_skip(occasion));
  const fh_error *error = fh_turn_wait(turn, &said);
  say(to, error, &said);
  return NULL;
}

static const fh_error *unanswered(fh_json *to) {
  const fh_unanswered then = fh_text_is(fh_format("%s", param_way()), "block") ? FH_BLOCK : FH_PASS;
  fh_watch watch;
  fh_answer said;
  FH_TRY(fh_agent_watch(worker, &moment, 1, 20, then, &watch));
  const fh_error *error = fh_agent_run(worker, "t0", NULL, NULL, &said);
  say(to, error, &said);
  fh_watch_close(watch);
  return NULL;
}

static const fh_error *late(fh_json *to) {
  fh_watch watch;
  fh_turn turn;
  fh_occasion occasion;
  fh_answer said;
  FH_TRY(fh_agent_watch(worker, &moment, 1, 20, FH_PASS, &watch));
  FH_TRY(fh_agent_start(worker, "t0", NULL, NULL, &turn));
  FH_TRY(next(watch, &occasion));
  fh_sleep(50);
  fh_json_object(to);
  put_ok(to, "late", fh_occasion_reply(occasion, "yes"));
  const fh_error *error = fh_turn_wait(turn, &said);
  put_said(to, "turn", error, &said);
  fh_json_end_object(to);
  return NULL;
}

const case_of watches_cases[] = {
  { "facts", facts }, { "answer", answer }, { "unanswered", unanswered }, { "late", late }, { 0 },
};
