/* Many, and large. */
#include <string.h>

#include "cases.h"

enum { LARGE = 5000000 };

/* A session a turn, all at once; how many gave their own answer. */
static const fh_error *turns(fh_json *to) {
  const size_t count = (size_t)param_n();
  fh_session *sessions = fh_alloc(count * sizeof *sessions);
  fh_turn *going = fh_alloc(count * sizeof *going);
  FH_TRY(fh_agent_spawn_many(worker, (uint32_t)count, NULL, sessions));
  for (size_t nth = 0; nth < count; nth++)
    FH_TRY(fh_session_start(sessions[nth], fh_format("say t%zu", nth).data, NULL, &going[nth]));
  size_t own = 0;
  for (size_t nth = 0; nth < count; nth++) {
    fh_answer said;
    FH_TRY(fh_turn_wait(going[nth], &said));
    own += fh_text_is(said.text, fh_format("t%zu", nth).data);
  }
  fh_json_integer(to, (int64_t)own);
  return NULL;
}

static const fh_error *unicode(fh_json *to) {
  fh_answer said;
  FH_TRY(fh_agent_run(worker, "say naïve👍日本", NULL, NULL, &said));
  fh_json_text(to, said.text);
  return NULL;
}

static const fh_error *large(fh_json *to) {
  char *prompt = fh_alloc(LARGE + 5);
  memcpy(prompt, "say ", 4);
  memset(prompt + 4, 'x', LARGE);
  prompt[LARGE + 4] = 0;
  fh_answer said;
  FH_TRY(fh_agent_run(worker, prompt, NULL, NULL, &said));
  if (said.text.length != LARGE) return fh_failed("%zu bytes came", said.text.length);
  fh_json_text(to, said.text);
  return NULL;
}

const case_of scale_cases[] = { { "turns", turns }, { "unicode", unicode }, { "large", large }, { 0 } };
