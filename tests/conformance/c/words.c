/* Outcomes in the contract's words. */
#include "cases.h"

static const char *const kinds[] = {
  "session", "harness", "env", "budget", "requirement", "not-granted", "flow", "failed", "stopped", "other",
};
static const char *const sessions[] = { "busy", "closed", "not-yours", "never-ran", "refused-dir", "idle", "other" };
static const char *const harnesses[] = {
  "not-installed", "not-logged-in", "model-unavailable", "throttled", "overloaded",  "contended",   "context-full",
  "killed",        "dropped",       "hung",              "interrupted", "bad-output", "unsupported", "other",
};
static const char *const envs[] = {
  "not-found", "denied",    "outside",     "timed-out",   "not-started",
  "conflict",  "too-large", "unavailable", "interrupted", "other",
};
static const char *const limits[] = { "cost", "output-tokens", "turns", "duration" };
static const char *const flows[] = { "not-found", "bad-ref", "too-deep", "trapped", "exceeded", "interrupted", "other" };

const char *kind_word(const fh_error *error) { return kinds[error->kind]; }

const char *fault_word(const fh_error *error) {
  switch (error->kind) {
    case FH_SESSION: return sessions[error->fault];
    case FH_HARNESS: return harnesses[error->fault];
    case FH_ENV: return envs[error->fault];
    case FH_BUDGET: return limits[error->fault];
    case FH_FLOW: return flows[error->fault];
    default: return NULL;
  }
}

fh_text words(const fh_error *error) {
  const char *fault = fault_word(error);
  if (!fault) return fh_format("%s", kind_word(error));
  if (error->retry_after_ms.there)
    return fh_format("%s %s %llu", kind_word(error), fault, (unsigned long long)error->retry_after_ms.value);
  return fh_format("%s %s", kind_word(error), fault);
}

void say(fh_json *to, const fh_error *error, const fh_answer *answer) { fh_json_text(to, error ? words(error) : answer->text); }

void say_ok(fh_json *to, const fh_error *error) {
  if (error) fh_json_text(to, words(error));
  else fh_json_string(to, "ok");
}

void put_said(fh_json *to, const char *key, const fh_error *error, const fh_answer *answer) {
  fh_json_key(to, key);
  say(to, error, answer);
}

void put_ok(fh_json *to, const char *key, const fh_error *error) {
  fh_json_key(to, key);
  say_ok(to, error);
}

void put_text(fh_json *to, const char *key, fh_text text) {
  fh_json_key(to, key);
  fh_json_text(to, text);
}

void put_string(fh_json *to, const char *key, const char *text) {
  fh_json_key(to, key);
  fh_json_string(to, text);
}

void put_bool(fh_json *to, const char *key, bool value) {
  fh_json_key(to, key);
  fh_json_bool(to, value);
}

void put_integer(fh_json *to, const char *key, int64_t number) {
  fh_json_key(to, key);
  fh_json_integer(to, number);
}
