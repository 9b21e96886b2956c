/* Conversations, their turns, and what they come upon. */

#include "internal.h"

#define SELF(session) ((AGENTS(borrow_session_t)){ (session).handle })
#define TURN(turn) ((AGENTS(borrow_turn_t)){ (turn).handle })
#define WATCH(watch) ((AGENTS(borrow_watch_t)){ (watch).handle })
#define OCCASION(occasion) ((AGENTS(borrow_occasion_t)){ (occasion).handle })

AGENTS(turn_options_t) fh_lower_turn_options(const fh_turn_options *options) {
  AGENTS(turn_options_t) lowered = { 0 };
  if (!options) return lowered;
  lowered.schema.is_some = options->schema != NULL;
  lowered.schema.val = fh_lower(options->schema);
  lowered.budget.is_some = fh_lower_budget(options->budget, &lowered.budget.val);
  lowered.expected_cost = (flow_option_f64_t){ options->expected_cost.there, options->expected_cost.value };
  return lowered;
}

fh_answer fh_lift_answer(AGENTS(answer_t) *answer) {
  fh_answer lifted = {
    .text = fh_lift(&answer->text),
    .has_value = answer->value.is_some,
    .value = fh_copy("", 0),
    .usage = fh_lift_usage(&answer->usage),
  };
  if (lifted.has_value) lifted.value = fh_lift(&answer->value.val);
  return lifted;
}

/* -- Sessions -- */

fh_text fh_session_id(fh_session session) {
  flow_string_t id;
  AGENTS(method_session_id)(SELF(session), &id);
  return fh_lift(&id);
}

fh_text fh_session_directory(fh_session session) {
  flow_string_t directory;
  AGENTS(method_session_directory)(SELF(session), &directory);
  return fh_lift(&directory);
}

fh_usage fh_session_usage(fh_session session) {
  AGENTS(usage_t) usage;
  AGENTS(method_session_usage)(SELF(session), &usage);
  return fh_lift_usage(&usage);
}

const fh_error *fh_session_run(fh_session session, const char *prompt, const fh_turn_options *options, fh_answer *answer) {
  AGENTS(method_session_run_args_t) args = { SELF(session), fh_lower(prompt), fh_lower_turn_options(options) };
  AGENTS(result_answer_error_t) result;
  fh_await(AGENTS(method_session_run)(&args, &result));
  FH_CHECK(result);
  *answer = fh_lift_answer(&result.val.ok);
  return NULL;
}

const fh_error *fh_session_start(fh_session session, const char *prompt, const fh_turn_options *options, fh_turn *turn) {
  flow_string_t words = fh_lower(prompt);
  AGENTS(turn_options_t) lowered = fh_lower_turn_options(options);
  AGENTS(own_turn_t) started;
  AGENTS(error_t) error;
  if (!AGENTS(method_session_start)(SELF(session), &words, &lowered, &started, &error)) return fh_lift_error(&error);
  turn->handle = started.__handle;
  return NULL;
}

const fh_error *fh_session_steer(fh_session session, const char *words, fh_steer_mode mode) {
  AGENTS(result_void_error_t) result;
  fh_await(AGENTS(method_session_steer)(SELF(session), fh_lower(words), mode == FH_INTERRUPTING, &result));
  FH_CHECK(result);
  return NULL;
}

const fh_error *fh_session_fork(fh_session session, fh_env at, fh_session *fork) {
  AGENTS(result_own_session_error_t) result;
  fh_await(AGENTS(method_session_fork)(SELF(session), (AGENTS(option_borrow_env_t)){ at.handle != 0, { at.handle } }, &result));
  FH_CHECK(result);
  fork->handle = result.val.ok.__handle;
  return NULL;
}

void fh_session_close(fh_session session) {
  AGENTS(method_session_close)(SELF(session));
  fh_session_drop(session);
}

void fh_session_drop(fh_session session) {
  AGENTS(session_drop_own)((AGENTS(own_session_t)){ session.handle });
}

/* -- Turns -- */

const fh_error *fh_turn_wait(fh_turn turn, fh_answer *answer) {
  AGENTS(result_answer_error_t) result;
  fh_await(AGENTS(method_turn_wait)(TURN(turn), &result));
  FH_CHECK(result);
  *answer = fh_lift_answer(&result.val.ok);
  return NULL;
}

bool fh_turn_done(fh_turn turn) {
  return AGENTS(method_turn_done)(TURN(turn));
}

void fh_turn_cancel(fh_turn turn) {
  AGENTS(method_turn_cancel)(TURN(turn));
}

void fh_turn_drop(fh_turn turn) {
  AGENTS(turn_drop_own)((AGENTS(own_turn_t)){ turn.handle });
}

/* -- Watches and occasions -- */

bool fh_watch_take(fh_watch watch, fh_occasion *occasion) {
  AGENTS(own_occasion_t) taken;
  if (!AGENTS(method_watch_take)(WATCH(watch), &taken)) return false;
  occasion->handle = taken.__handle;
  return true;
}

bool fh_watch_next(fh_watch watch, fh_occasion *occasion) {
  /* One that is ready may be gone when it is taken: its turn was interrupted. */
  for (;;) {
    bool ready = false;
    fh_await(AGENTS(method_watch_ready)(WATCH(watch), &ready));
    if (!ready) return false;
    if (fh_watch_take(watch, occasion)) return true;
  }
}

void fh_watch_close(fh_watch watch) {
  AGENTS(method_watch_close)(WATCH(watch));
  AGENTS(watch_drop_own)((AGENTS(own_watch_t)){ watch.handle });
}

fh_moment fh_occasion_moment(fh_occasion occasion) {
  return (fh_moment)AGENTS(method_occasion_moment)(OCCASION(occasion));
}

fh_text fh_occasion_session(fh_occasion occasion) {
  flow_string_t id;
  AGENTS(method_occasion_session)(OCCASION(occasion), &id);
  return fh_lift(&id);
}

fh_text fh_occasion_details(fh_occasion occasion) {
  flow_string_t details;
  AGENTS(method_occasion_details)(OCCASION(occasion), &details);
  return fh_lift(&details);
}

static const fh_error *answered(fh_occasion occasion, bool well, AGENTS(error_t) *error) {
  AGENTS(occasion_drop_own)((AGENTS(own_occasion_t)){ occasion.handle });
  return well ? NULL : fh_lift_error(error);
}

const fh_error *fh_occasion_allow(fh_occasion occasion) {
  AGENTS(error_t) error;
  const bool well = AGENTS(method_occasion_allow)(OCCASION(occasion), &error);
  return answered(occasion, well, &error);
}

const fh_error *fh_occasion_block(fh_occasion occasion, const char *reason) {
  flow_string_t words = fh_lower(reason);
  AGENTS(error_t) error;
  const bool well = AGENTS(method_occasion_block)(OCCASION(occasion), &words, &error);
  return answered(occasion, well, &error);
}

const fh_error *fh_occasion_reply(fh_occasion occasion, const char *text) {
  flow_string_t words = fh_lower(text);
  AGENTS(error_t) error;
  const bool well = AGENTS(method_occasion_reply)(OCCASION(occasion), &words, &error);
  return answered(occasion, well, &error);
}

const fh_error *fh_occasion_skip(fh_occasion occasion) {
  AGENTS(error_t) error;
  const bool well = AGENTS(method_occasion_skip)(OCCASION(occasion), &error);
  return answered(occasion, well, &error);
}
