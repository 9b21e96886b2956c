/* Does what its task says, a behaviour of the SDK each. */
#include "flowhost.h"

#include <string.h>

FH_FLOW(lab, {
  "name": "lab",
  "description": "Does what its task says: \"quotes\", a\nline, and true, null.",
  "agents": [
    { "name": "worker", "capabilities": ["steer", "fork", "goal", "question"] },
    { "name": "judge", "optional": true }
  ],
  "envs": [{ "name": "workspace", "capabilities": ["shell", "bash", "files"] }],
  "params": { "type": "object" }
})

static fh_agent worker;
static fh_env workspace;

/* What a call came to, as a value. */
static void outcome(fh_json *to, const fh_error *error) {
  if (!error) {
    fh_json_null(to);
    return;
  }
  fh_json_array(to);
  fh_json_integer(to, error->kind);
  fh_json_integer(to, error->fault);
  fh_json_end_array(to);
}

static const fh_error *busy(fh_json *answer) {
  fh_session session;
  fh_turn turn, second;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  FH_TRY(fh_session_start(session, "t0", NULL, &turn));
  fh_json_array(answer);
  outcome(answer, fh_session_start(session, "t1", NULL, &second));
  FH_TRY(fh_turn_wait(turn, &said));
  fh_json_text(answer, said.text);
  fh_turn_drop(turn);
  fh_session_close(session);
  fh_json_end_array(answer);
  return NULL;
}

static const fh_error *queue(fh_json *answer) {
  fh_session session;
  fh_turn turns[3];
  static const char *const prompts[] = { "t0", "t1", "t2" };
  FH_TRY(fh_agent_spawn(worker, &(fh_place){ .when_busy = FH_QUEUE }, &session));
  for (size_t nth = 0; nth < 3; nth++) FH_TRY(fh_session_start(session, prompts[nth], NULL, &turns[nth]));
  fh_json_array(answer);
  for (size_t nth = 0; nth < 3; nth++) {
    fh_answer said;
    FH_TRY(fh_turn_wait(turns[nth], &said));
    fh_json_text(answer, said.text);
  }
  fh_json_integer(answer, fh_session_usage(session).turns);
  fh_json_end_array(answer);
  return NULL;
}

static const fh_error *waiting(fh_json *answer) {
  fh_turn slow, quick;
  uint32_t ready[2];
  FH_TRY(fh_agent_start(worker, "slow", NULL, NULL, &slow));
  FH_TRY(fh_agent_start(worker, "t0", NULL, NULL, &quick));
  const fh_awaited both[] = { FH_TURN(slow), FH_TURN(quick) };
  fh_json_array(answer);
  fh_json_integer(answer, (int64_t)fh_wait_any(both, 2, 1, ready));
  fh_json_integer(answer, (int64_t)fh_wait_any(both, 2, FH_FOREVER, ready));
  fh_json_integer(answer, ready[0]);
  fh_json_bool(answer, fh_turn_done(quick));
  fh_json_integer(answer, (int64_t)fh_wait_any(NULL, 0, FH_FOREVER, ready));
  fh_turn_cancel(slow);
  fh_turn_cancel(slow);
  fh_answer said;
  outcome(answer, fh_turn_wait(slow, &said));
  fh_json_end_array(answer);
  return NULL;
}

static const fh_error *many(fh_json *answer) {
  enum { count = 1000 };
  fh_session *sessions = fh_alloc(count * sizeof *sessions);
  FH_TRY(fh_agent_spawn_many(worker, count, NULL, sessions));
  fh_awaited *turns = fh_alloc(count * sizeof *turns);
  for (size_t nth = 0; nth < count; nth++) {
    fh_turn turn;
    FH_TRY(fh_session_start(sessions[nth], "t0", NULL, &turn));
    turns[nth] = FH_TURN(turn);
  }
  size_t answered = 0;
  for (size_t nth = 0; nth < count; nth++) {
    const fh_memory mark = fh_mark();
    fh_answer said;
    FH_TRY(fh_turn_wait((fh_turn){ turns[nth].handle }, &said));
    answered += fh_text_is(said.text, "t0");
    fh_release(mark);
  }
  fh_json_integer(answer, (int64_t)answered);
  return NULL;
}

static const fh_error *batch(fh_json *answer) {
  static const char *const prompts[] = { "t0", "bad", "t2" };
  fh_outcome said[3];
  const fh_batch_options kept = { .at_once = FH_SOME(2), .suppress = true };
  FH_TRY(fh_agent_batch(worker, prompts, 3, &kept, said));
  fh_json_array(answer);
  for (size_t nth = 0; nth < 3; nth++) {
    if (said[nth].error) outcome(answer, said[nth].error);
    else fh_json_text(answer, said[nth].answer.text);
  }
  outcome(answer, fh_agent_batch(worker, prompts, 3, NULL, said));
  fh_json_end_array(answer);
  return NULL;
}

static const fh_error *structured(fh_json *answer) {
  const fh_budget budget = { .turns = FH_SOME(3) };
  const fh_turn_options options = {
    .schema = "{\"type\":\"object\",\"required\":[\"good\"]}",
    .budget = &budget,
    .expected_cost = FH_SOME(0.1),
  };
  fh_answer said;
  fh_text why, first, far;
  bool good = false;
  double size = 0;
  FH_TRY(fh_agent_run(worker, "structured", NULL, &options, &said));
  if (!said.has_value || !fh_json_member(said.value, "good", &far) || !fh_json_as_bool(far, &good)) return fh_failed("no good");
  if (!fh_json_member(said.value, "why", &far) || !fh_json_as_text(far, &why)) return fh_failed("no why");
  if (!fh_json_member(said.value, "list", &far) || !fh_json_element(far, 2, &first)) return fh_failed("no list");
  if (!fh_json_member(first, "size", &far) || !fh_json_as_double(far, &size)) return fh_failed("no size");
  fh_json_object(answer);
  fh_json_key(answer, "good");
  fh_json_bool(answer, good);
  fh_json_key(answer, "why");
  fh_json_text(answer, why);
  fh_json_key(answer, "size");
  fh_json_double(answer, size);
  fh_json_key(answer, "none");
  fh_json_bool(answer, fh_json_element(said.value, 0, &far) || fh_json_member(said.value, "lis", &far));
  fh_json_end_object(answer);
  return NULL;
}

static const fh_error *json(fh_json *answer) {
  fh_json_array(answer);
  fh_json_string(answer, "\"\\/\b\n\t\x01\x7f \xc3\xa9 \xf0\x9f\x98\x80");
  fh_json_text(answer, (fh_text){ "bro\xffken \xed\xa0\x80 \xc3", 13 });
  fh_json_integer(answer, INT64_MIN);
  fh_json_double(answer, 0.1);
  fh_json_double(answer, 1.0 / 3.0);
  fh_json_double(answer, 1e300 * 1e300);
  fh_json_object(answer);
  fh_json_end_object(answer);
  fh_json_array(answer);
  fh_json_end_array(answer);
  fh_text text;
  if (fh_json_as_text((fh_text){ "\"\\u00e9\\ud83d\\ude00\\n\\/\"", 24 }, &text)) fh_json_text(answer, text);
  int64_t number;
  fh_json_bool(answer, fh_json_as_integer((fh_text){ "1e3", 3 }, &number) && number == 1000);
  fh_json_bool(answer, fh_json_as_integer((fh_text){ "1.5", 3 }, &number));
  fh_json_end_array(answer);
  return NULL;
}

static const fh_error *steer(fh_json *answer) {
  fh_session session, fork;
  fh_turn turn;
  fh_answer said;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  fh_json_array(answer);
  outcome(answer, fh_session_steer(session, "left", FH_QUEUED));
  outcome(answer, fh_session_fork(session, (fh_env){ 0 }, &fork));
  FH_TRY(fh_session_start(session, "t0", NULL, &turn));
  FH_TRY(fh_session_steer(session, "left", FH_INTERRUPTING));
  FH_TRY(fh_turn_wait(turn, &said));
  FH_TRY(fh_session_fork(session, (fh_env){ 0 }, &fork));
  FH_TRY(fh_session_run(fork, "t1", NULL, &said));
  fh_json_text(answer, said.text);
  fh_json_end_array(answer);
  return NULL;
}

static const fh_error *pursue(fh_json *answer) {
  fh_turn turn;
  fh_answer said;
  FH_TRY(fh_agent_pursue(worker, "t0", 2, (fh_env){ 0 }, NULL, &turn));
  FH_TRY(fh_turn_wait(turn, &said));
  fh_json_text(answer, said.text);
  return NULL;
}

static const fh_error *question(fh_json *answer) {
  static const fh_moment moments[] = { FH_MOMENT_QUESTION };
  fh_watch watch;
  fh_turn turn;
  fh_answer said;
  fh_occasion occasion;
  FH_TRY(fh_agent_watch(worker, moments, 1, FH_FOREVER, FH_BLOCK, &watch));
  FH_TRY(fh_agent_start(worker, "ask", NULL, NULL, &turn));
  fh_json_array(answer);
  for (bool ended = false; !ended;) {
    const fh_awaited both[] = { FH_WATCH(watch), FH_TURN(turn) };
    uint32_t ready[2];
    const size_t count = fh_wait_any(both, 2, FH_FOREVER, ready);
    for (size_t nth = 0; nth < count; nth++) {
      if (ready[nth] == 1) {
        FH_TRY(fh_turn_wait(turn, &said));
        ended = true;
      } else if (fh_watch_take(watch, &occasion)) {
        fh_json_integer(answer, fh_occasion_moment(occasion));
        fh_json_raw(answer, fh_occasion_details(occasion));
        FH_TRY(fh_occasion_reply(occasion, "yes"));
      }
    }
  }
  fh_json_text(answer, said.text);
  fh_watch_close(watch);
  fh_json_end_array(answer);
  return NULL;
}

static const fh_error *files(fh_json *answer) {
  fh_text data;
  fh_entry entry;
  fh_entries found;
  fh_env docs;
  FH_TRY(fh_env_write(workspace, "docs/a.txt", (fh_text){ "one\n\0two", 8 }));
  FH_TRY(fh_env_append(workspace, "docs/a.txt", (fh_text){ "!", 1 }));
  FH_TRY(fh_env_make_dir(workspace, "empty"));
  FH_TRY(fh_env_read(workspace, "docs/a.txt", &data));
  fh_json_array(answer);
  fh_json_bool(answer, data.length == 9 && !memcmp(data.data, "one\n\0two!", 10));
  FH_TRY(fh_env_read_range(workspace, "docs/a.txt", 5, 3, &data));
  fh_json_text(answer, data);
  FH_TRY(fh_env_stat(workspace, "docs/a.txt", &entry));
  fh_json_integer(answer, (int64_t)entry.size);
  FH_TRY(fh_env_find(workspace, "", "**/*.txt", &found));
  for (size_t nth = 0; nth < found.count; nth++) fh_json_text(answer, found.items[nth].path);
  FH_TRY(fh_env_subdir(workspace, "docs", &docs));
  FH_TRY(fh_env_read(docs, "a.txt", &data));
  fh_json_integer(answer, (int64_t)data.length);
  fh_json_text(answer, fh_env_kind(docs));
  fh_env_drop(docs);
  FH_TRY(fh_env_remove(workspace, "docs"));
  outcome(answer, fh_env_read(workspace, "docs/a.txt", &data));
  outcome(answer, fh_env_read(workspace, "../secret", &data));
  fh_json_end_array(answer);
  return NULL;
}

static const fh_error *commands(fh_json *answer) {
  fh_output output;
  fh_process process;
  fh_json_array(answer);
  FH_TRY(fh_env_exec(workspace, &(fh_command){ .argv = FH_ARGV("say", "hello") }, &output));
  fh_json_text(answer, output.stdout_text);
  FH_TRY(fh_env_bash(workspace, "exit 3", FH_FOREVER, &output));
  fh_json_integer(answer, output.status);
  FH_TRY(fh_env_start(workspace, &(fh_command){ .argv = FH_ARGV("hang") }, &process));
  fh_process_cancel(process);
  outcome(answer, fh_process_wait(process, &output));
  fh_process_drop(process);
  const fh_error *error = fh_env_exec(workspace, &(fh_command){ .argv = FH_ARGV("complain", "much"), .checked = true }, &output);
  fh_json_text(answer, error->message);
  fh_texts names = fh_git_names((fh_text){ "a.py\n\"\\303\\274b\\\"er\\t.py\"\nwith space.py\n", 40 });
  for (size_t nth = 0; nth < names.count; nth++) fh_json_text(answer, names.items[nth]);
  fh_json_end_array(answer);
  return NULL;
}

static const fh_error *context(fh_json *answer) {
  fh_agent judge;
  fh_text given;
  FH_TRY(fh_get_agent_opt("judge", &judge));
  fh_json_array(answer);
  fh_json_bool(answer, judge.handle != 0);
  outcome(answer, fh_get_agent("judge", &judge));
  outcome(answer, fh_get_agent("stranger", &judge));
  fh_json_text(answer, fh_agent_role(worker));
  fh_json_bool(answer, fh_agent_can(worker, "steer"));
  fh_json_bool(answer, fh_agent_can(worker, "fly"));
  fh_json_integer(answer, (int64_t)fh_path().count);
  fh_json_text(answer, fh_path().items[0]);
  fh_json_bool(answer, fh_remaining().turns.there);
  fh_json_integer(answer, fh_remaining().turns.value);
  fh_json_bool(answer, fh_json_member(fh_params(), "width", &given));
  const uint64_t before = fh_now_ms();
  fh_sleep(3600000);
  fh_json_integer(answer, (int64_t)(fh_now_ms() - before));
  fh_json_bool(answer, fh_resumed());
  fh_json_end_array(answer);
  fh_log("%s said \xff", "broken");
  return NULL;
}

static const fh_error *nothing(fh_json *answer) {
  (void)answer;
  return NULL;
}

static const fh_error *failed(fh_json *answer) {
  (void)answer;
  return fh_failed("no %s after %d", "luck", 3);
}

static const fh_error *bad(fh_json *answer) {
  fh_answer said;
  FH_TRY(fh_agent_run(worker, "bad", NULL, NULL, &said));
  fh_json_text(answer, said.text);
  return NULL;
}

static const fh_error *spent(fh_json *answer) {
  fh_answer said;
  for (int round = 0; round < 100; round++) FH_TRY(fh_agent_run(worker, "t0", NULL, NULL, &said));
  return nothing(answer);
}

static const fh_error *lab(fh_text task, fh_json *answer) {
  static const struct {
    const char *name;
    const fh_error *(*does)(fh_json *answer);
  } tasks[] = {
    { "busy", busy },         { "queue", queue },       { "waiting", waiting }, { "many", many },   { "batch", batch },
    { "structured", structured }, { "json", json },     { "steer", steer },     { "pursue", pursue }, { "question", question },
    { "files", files },       { "commands", commands }, { "context", context }, { "nothing", nothing }, { "failed", failed },
    { "bad", bad },           { "spent", spent },
  };
  FH_TRY(fh_get_agent("worker", &worker));
  FH_TRY(fh_get_env("workspace", &workspace));
  for (size_t nth = 0; nth < sizeof tasks / sizeof *tasks; nth++)
    if (fh_text_is(task, tasks[nth].name)) return tasks[nth].does(answer);
  return fh_failed("%s: no such task", task.data);
}
