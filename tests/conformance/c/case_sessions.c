/* Conversations, and turns in them. */
#include "cases.h"

static const fh_error *facts(fh_json *to) {
  fh_session session;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_run(session, "one", NULL, &said));
  fh_json_object(to);
  put_text(to, "id", fh_session_id(session));
  put_text(to, "directory", fh_session_directory(session));
  put_integer(to, "turns", fh_session_usage(session).turns);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *run(fh_json *to) {
  fh_session session;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  fh_json_array(to);
  for (size_t nth = 0; nth < 2; nth++) {
    fh_answer said;
    const fh_error *error = fh_session_run(session, nth ? "two" : "one", NULL, &said);
    say(to, error, &said);
  }
  fh_json_end_array(to);
  return NULL;
}

static const fh_error *schema(fh_json *to) {
  const fh_turn_options options = {
    .schema = "{\"type\":\"object\",\"properties\":{\"good\":{\"type\":\"boolean\"}},\"required\":[\"good\"]}",
  };
  fh_session session;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_run(session, "is it?", &options, &said));
  fh_json_raw(to, said.value);
  return NULL;
}

static const fh_error *turn_budget(fh_json *to) {
  const fh_budget budget = { .duration_ms = FH_SOME(1), .grace = FH_GRACE_CUT };
  fh_session session;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  const fh_error *error = fh_session_run(session, "one", &(fh_turn_options){ .budget = &budget }, &said);
  say(to, error, &said);
  return NULL;
}

static const fh_error *busy(fh_json *to) {
  fh_session session;
  fh_turn first;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_start(session, "later", NULL, &first));
  fh_json_object(to);
  const fh_error *error = fh_session_run(session, "second", NULL, &said);
  put_said(to, "second", error, &said);
  error = fh_turn_wait(first, &said);
  put_said(to, "first", error, &said);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *queue(fh_json *to) {
  fh_session session;
  fh_turn turns[4];
  FH_TRY(fh_agent_spawn(worker, &(fh_place){ .when_busy = FH_QUEUE }, &session));
  for (size_t nth = 0; nth < 4; nth++) FH_TRY(fh_session_start(session, fh_format("t%zu", nth).data, NULL, &turns[nth]));
  fh_json_array(to);
  for (size_t nth = 0; nth < 4; nth++) {
    fh_answer said;
    const fh_error *error = fh_turn_wait(turns[nth], &said);
    say(to, error, &said);
  }
  fh_json_end_array(to);
  return NULL;
}

static const fh_error *closes(fh_json *to) {
  fh_session session;
  fh_turn turn;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_start(session, "slow", NULL, &turn));
  fh_sleep(5);
  fh_session_close(session);
  const fh_error *error = fh_turn_wait(turn, &said);
  say(to, error, &said);
  return NULL;
}

static const fh_error *steer(fh_json *to) {
  fh_session session;
  fh_turn turn;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_start(session, "later", NULL, &turn));
  fh_sleep(5);
  FH_TRY(fh_session_steer(session, "left", FH_QUEUED));
  FH_TRY(fh_session_steer(session, "right", FH_INTERRUPTING));
  const fh_error *error = fh_turn_wait(turn, &said);
  say(to, error, &said);
  return NULL;
}

static const fh_error *idle(fh_json *to) {
  fh_session session;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  say_ok(to, fh_session_steer(session, "left", FH_QUEUED));
  return NULL;
}

static const fh_error *forks(fh_json *to) {
  fh_session session, fork;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_run(session, "one", NULL, &said));
  FH_TRY(fh_session_fork(session, (fh_env){ 0 }, &fork));
  fh_json_object(to);
  const fh_error *error = fh_session_run(fork, "two", NULL, &said);
  put_said(to, "fork", error, &said);
  put_bool(to, "apart", !fh_text_is(fh_session_id(fork), fh_session_id(session).data));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *never_ran(fh_json *to) {
  fh_session session, fork;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  say_ok(to, fh_session_fork(session, (fh_env){ 0 }, &fork));
  return NULL;
}

static const fh_error *refused_dir(fh_json *to) {
  fh_session session;
  fh_json_object(to);
  put_ok(to, "nowhere", fh_agent_spawn(worker, &(fh_place){ .directory = "nowhere" }, &session));
  put_ok(to, "above", fh_agent_spawn(worker, &(fh_place){ .directory = "../elsewhere" }, &session));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *place(fh_json *to) {
  fh_session whole, part;
  FH_TRY(fh_agent_spawn(worker, &(fh_place){ .at = workspace }, &whole));
  FH_TRY(fh_agent_spawn(worker, &(fh_place){ .at = workspace, .directory = "src" }, &part));
  fh_json_object(to);
  put_text(to, "env", fh_session_directory(whole));
  put_text(to, "directory", fh_session_directory(part));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *let_go(fh_json *to) {
  fh_session session;
  fh_turn turn;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_start(session, "later", NULL, &turn));
  fh_session_drop(session);
  const fh_error *error = fh_turn_wait(turn, &said);
  say(to, error, &said);
  return NULL;
}

static const fh_error *keep(fh_json *to) {
  fh_session session;
  fh_turn turn;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_start(session, "later", NULL, &turn));
  fh_turn_drop(turn);
  fh_sleep(100);
  fh_json_integer(to, fh_session_usage(session).turns);
  return NULL;
}

static const fh_error *leave(fh_json *to) {
  fh_session sessions[2];
  FH_TRY(fh_agent_spawn_many(worker, 2, NULL, sessions));
  for (size_t nth = 0; nth < 2; nth++) {
    fh_turn turn;
    FH_TRY(fh_session_start(sessions[nth], "slow", NULL, &turn));
  }
  fh_sleep(5);
  fh_json_string(to, "left");
  return NULL;
}

const case_of sessions_cases[] = {
  { "facts", facts },
  { "run", run },
  { "schema", schema },
  { "turn-budget", turn_budget },
  { "busy", busy },
  { "queue", queue },
  { "close", closes },
  { "steer", steer },
  { "idle", idle },
  { "fork", forks },
  { "never-ran", never_ran },
  { "refused-dir", refused_dir },
  { "place", place },
  { "let-go", let_go },
  { "keep", keep },
  { "leave", leave },
  { 0 },
};
