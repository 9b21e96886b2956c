/* What the files of this flow share. */
#ifndef CASES_H
#define CASES_H

#include <flowhost.h>

/* A case: it writes its answer. */
typedef const fh_error *case_run(fh_json *to);
typedef struct case_of {
  const char *name;
  case_run *run;
} case_of;
/* Each ends with one without a name. */
extern const case_of agents_cases[], context_cases[], envs_cases[], errors_cases[], flows_cases[], scale_cases[],
    sessions_cases[], waiting_cases[], watches_cases[];

/* The agent that fills the role `worker`, and the environment `workspace`. */
extern fh_agent worker;
extern fh_env workspace;

/* Params, with what the manifest says they are where they are not given. */
int64_t param_n(void);
const char *param_way(void);

/* An error in the contract's words: its kind, its fault where it has one, and when to try again where it is known. */
fh_text words(const fh_error *error);
const char *kind_word(const fh_error *error);
const char *fault_word(const fh_error *error);

/* Members of the object that is being written: what a turn came to (what was said, or the words of its error), `ok` or the words of an error. */
void put_said(fh_json *to, const char *key, const fh_error *error, const fh_answer *answer);
void put_ok(fh_json *to, const char *key, const fh_error *error);
void put_text(fh_json *to, const char *key, fh_text text);
void put_string(fh_json *to, const char *key, const char *text);
void put_bool(fh_json *to, const char *key, bool value);
void put_integer(fh_json *to, const char *key, int64_t number);
/* The same, with no key, as an element or as all there is. */
void say(fh_json *to, const fh_error *error, const fh_answer *answer);
void say_ok(fh_json *to, const fh_error *error);

#endif
