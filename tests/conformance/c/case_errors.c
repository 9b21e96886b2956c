/* Errors as a flow sees them, and those that it causes. */
#include "cases.h"

static void facts(fh_json *to, const fh_error *error) {
  fh_json_object(to);
  put_string(to, "kind", kind_word(error));
  put_string(to, "fault", fault_word(error));
  put_text(to, "message", error->message);
  fh_json_end_object(to);
}

static const fh_error *turn(fh_json *to) {
  fh_answer said;
  const fh_error *error = fh_agent_run(worker, "t0", NULL, NULL, &said);
  if (error) facts(to, error);
  return NULL;
}

static const fh_error *exec(fh_json *to) {
  fh_output output;
  const fh_error *error = fh_env_exec(workspace, &(fh_command){ .argv = FH_ARGV("run") }, &output);
  if (error) facts(to, error);
  return NULL;
}

static const fh_error *retry_after(fh_json *to) {
  fh_answer said;
  const fh_error *error = fh_agent_run(worker, "t0", NULL, NULL, &said);
  if (error && error->retry_after_ms.there) fh_json_integer(to, (int64_t)error->retry_after_ms.value);
  return NULL;
}

/* Turn after turn, until one is not taken. */
static const fh_error *spend(fh_json *to) {
  fh_session session;
  fh_answer said;
  const fh_error *error;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  do error = fh_session_run(session, "t", NULL, &said);
  while (!error);
  fh_json_object(to);
  put_text(to, "error", words(error));
  put_bool(to, "whose", fh_text_is(error->whose, fh_branch_id().data));
  fh_json_end_object(to);
  return NULL;
}

/* Asks on after a stop. */
static const fh_error *go_on(fh_json *to) {
  fh_session session;
  FH_TRY(fh_agent_spawn(worker, NULL, &session));
  for (;;) {
    const fh_memory mark = fh_mark();
    fh_answer said;
    if (!fh_session_run(session, "t", NULL, &said)) break;
    fh_release(mark);
  }
  fh_json_string(to, "went on");
  return NULL;
}

static const fh_error *claims_stopped(fh_json *to) {
  static const fh_error stopped = { .kind = FH_STOPPED, .message = { "it was stopped", 14 } };
  (void)to;
  return &stopped;
}

static const fh_error *uncaught_turn(fh_json *to) {
  fh_answer said;
  FH_TRY(fh_agent_run(worker, "t0", NULL, NULL, &said));
  fh_json_text(to, said.text);
  return NULL;
}

static const fh_error *trap(fh_json *to) {
  (void)to;
  __builtin_trap();
}

static int64_t down(int64_t depth);
static int64_t (*volatile deeper)(int64_t) = down;
static int64_t down(int64_t depth) { return deeper(depth + 1) + 1; }

static const fh_error *recursion(fh_json *to) {
  fh_json_integer(to, down(0));
  return NULL;
}

static const fh_error *spin(fh_json *to) {
  for (volatile int turns = 0;; turns++) (void)to;
}

static const fh_error *hoard(fh_json *to) {
  (void)to;
  for (;;) {
    char *block = fh_alloc(16 << 20);
    for (size_t nth = 0; nth < 16 << 20; nth += 4096) block[nth] = 1;
  }
}

const case_of errors_cases[] = {
  { "turn", turn },
  { "exec", exec },
  { "retry-after", retry_after },
  { "spend", spend },
  { "go-on", go_on },
  { "claims-stopped", claims_stopped },
  { "uncaught-turn", uncaught_turn },
  { "trap", trap },
  { "recursion", recursion },
  { "spin", spin },
  { "hoard", hoard },
  { 0 },
};
