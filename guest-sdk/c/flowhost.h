/* Flows in C.
 *
 * Texts, lists and errors that a call gives belong to the flow and stay until it returns: nothing is freed. A loop that goes
 * through much takes `fh_mark()` before a round and gives it to `fh_release()` after it.
 *
 * A call that can fail gives its error, or NULL where all is well; `FH_TRY` hands an error on. What it gives beside comes through
 * its last argument, which is untouched where it fails.
 *
 * Every call waits until it is done, and nothing else of the flow goes on meanwhile. What is to go on together is started
 * (`fh_session_start`, `fh_env_start`, `fh_callee_start`) and waited for together (`fh_gather`, `fh_wait_any`).
 *
 * Handles (agents, sessions, turns …) are small values. What is not dropped ends with the flow. To use one that was dropped breaks
 * the flow down. A handle that is all zero is none.
 *
 * There is no stdio: `fh_log` says a line, `fh_format` makes a text. Texts that are given must be UTF-8; what of one is not is
 * replaced. */
#ifndef FLOWHOST_H
#define FLOWHOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- Texts ------------------------------------------------------------------------------------------------------------- */

/* A text, or bytes. A zero stands behind it which does not count, so `data` is a string of C where none is inside. */
typedef struct fh_text {
  const char *data;
  size_t length;
} fh_text;

/* Several. */
typedef struct fh_texts {
  const fh_text *items;
  size_t count;
} fh_texts;

/* A number that may not be there: `FH_SOME(3)`, or left out. */
typedef struct fh_optional_u64 {
  bool there;
  uint64_t value;
} fh_optional_u64;
typedef struct fh_optional_u32 {
  bool there;
  uint32_t value;
} fh_optional_u32;
typedef struct fh_optional_double {
  bool there;
  double value;
} fh_optional_double;
#define FH_SOME(number) { true, (number) }
/* Milliseconds as an argument: no limit on them. */
#define FH_FOREVER (-1)

/* A text made as `printf` would print it. */
fh_text fh_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A copy that ends in a zero. */
fh_text fh_copy(const void *data, size_t length);
bool fh_text_is(fh_text text, const char *other);
/* The lines of a text, without those that are empty. */
fh_texts fh_lines(fh_text text);
/* File names as git lists them, one a line: of one that git puts in quotes the name itself. */
fh_texts fh_git_names(fh_text listed);

/* Memory from what the flow's texts are in; never NULL. */
void *fh_alloc(size_t size);
/* Where that memory is now. */
typedef struct fh_memory {
  void *block;
  size_t used;
} fh_memory;
fh_memory fh_mark(void);
/* Frees all that was given since the mark. Nothing of it may be used any more. */
void fh_release(fh_memory mark);

/* -- Errors ------------------------------------------------------------------------------------------------------------ */

/* What a flow acts on. The words are those of the contract's `error-kind`. */
typedef enum fh_error_kind {
  FH_SESSION,     /* the flow's own mistake with a session: `fault` is a fh_session_fault */
  FH_HARNESS,     /* the harness could not take the turn: `fault` is a fh_harness_fault, `retry_after_ms` may be there */
  FH_ENV,         /* the environment could not do it: `fault` is a fh_env_fault */
  FH_BUDGET,      /* a limit is spent, here or above: `fault` is a fh_limit, `whose` the branch whose limit it is */
  FH_REQUIREMENT, /* what was given does not meet what was declared; nothing has run */
  FH_NOT_GRANTED, /* the flow used what it did not declare or was not granted */
  FH_FLOW,        /* a called flow could not be run: `fault` is a fh_flow_fault */
  FH_FAILED,      /* a flow says that it failed: the one to raise, by `fh_failed` */
  FH_STOPPED,     /* the run was stopped from outside */
  FH_OTHER
} fh_error_kind;

typedef enum fh_session_fault {
  FH_SESSION_BUSY, FH_SESSION_CLOSED, FH_SESSION_NOT_YOURS, FH_SESSION_NEVER_RAN, FH_SESSION_REFUSED_DIR, FH_SESSION_IDLE,
  FH_SESSION_OTHER
} fh_session_fault;

typedef enum fh_harness_fault {
  FH_HARNESS_NOT_INSTALLED, FH_HARNESS_NOT_LOGGED_IN, FH_HARNESS_MODEL_UNAVAILABLE, FH_HARNESS_THROTTLED, FH_HARNESS_OVERLOADED,
  FH_HARNESS_CONTENDED, FH_HARNESS_CONTEXT_FULL, FH_HARNESS_KILLED, FH_HARNESS_DROPPED, FH_HARNESS_HUNG, FH_HARNESS_INTERRUPTED,
  FH_HARNESS_BAD_OUTPUT, FH_HARNESS_UNSUPPORTED, FH_HARNESS_OTHER
} fh_harness_fault;

typedef enum fh_env_fault {
  FH_ENV_NOT_FOUND, FH_ENV_DENIED, FH_ENV_OUTSIDE, FH_ENV_TIMED_OUT, FH_ENV_NOT_STARTED, FH_ENV_CONFLICT, FH_ENV_TOO_LARGE,
  FH_ENV_UNAVAILABLE, FH_ENV_INTERRUPTED, FH_ENV_OTHER
} fh_env_fault;

typedef enum fh_limit { FH_LIMIT_COST, FH_LIMIT_OUTPUT_TOKENS, FH_LIMIT_TURNS, FH_LIMIT_DURATION } fh_limit;

typedef enum fh_flow_fault {
  FH_FLOW_NOT_FOUND, FH_FLOW_BAD_REF, FH_FLOW_TOO_DEEP, FH_FLOW_TRAPPED, FH_FLOW_EXCEEDED, FH_FLOW_INTERRUPTED, FH_FLOW_OTHER
} fh_flow_fault;

/* Why a call failed. */
typedef struct fh_error {
  fh_error_kind kind;
  int fault;                      /* by the kind; 0 where the kind has none */
  fh_text message;                /* what happened, where, and what to do next */
  fh_optional_u64 retry_after_ms; /* FH_HARNESS: when to try again, where it is known */
  fh_text whose;                  /* FH_BUDGET: the branch whose limit it is, as its path */
} fh_error;

/* Hands an error on to the caller of the function that it stands in. */
#define FH_TRY(call)                          \
  do {                                        \
    const fh_error *fh_error_of_it = (call);  \
    if (fh_error_of_it) return fh_error_of_it; \
  } while (0)

/* The error of a flow that fails, with a message as `printf` would print it. */
const fh_error *fh_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* -- JSON -------------------------------------------------------------------------------------------------------------- */

/* A JSON document that is being written. Commas come by themselves: a value, or a key and its value, one after the other. */
typedef struct fh_json {
  char *data;
  size_t length, room;
  bool comma;
} fh_json;

void fh_json_object(fh_json *to);
void fh_json_end_object(fh_json *to);
void fh_json_array(fh_json *to);
void fh_json_end_array(fh_json *to);
void fh_json_key(fh_json *to, const char *key);
void fh_json_text(fh_json *to, fh_text text);
void fh_json_string(fh_json *to, const char *text);
void fh_json_integer(fh_json *to, int64_t number);
/* One that JSON does not have, an infinity for instance, is null. */
void fh_json_double(fh_json *to, double number);
void fh_json_bool(fh_json *to, bool value);
void fh_json_null(fh_json *to);
/* A value that is JSON already. */
void fh_json_raw(fh_json *to, fh_text json);
/* What has been written. */
fh_text fh_json_done(const fh_json *from);

/* Reading, for the params, a structured answer and the like. The text must be valid JSON, as all is that the host gives.
 * Each says whether there was such a value. */
bool fh_json_member(fh_text object, const char *key, fh_text *value);
bool fh_json_element(fh_text array, size_t nth, fh_text *value);
bool fh_json_as_text(fh_text value, fh_text *text);
bool fh_json_as_integer(fh_text value, int64_t *number);
bool fh_json_as_double(fh_text value, double *number);
bool fh_json_as_bool(fh_text value, bool *truth);

/* -- A flow ------------------------------------------------------------------------------------------------------------ */

/* A flow: what it is to do, and where its answer goes. One that writes no answer answers null. */
typedef const fh_error *fh_flow(fh_text task, fh_json *answer);

/* Declares the flow of a program, once, at the top level of a file: its function, and its manifest as JSON without quotes around
 * it. `contract` is filled in. What a macro is called is not replaced inside.
 *
 *   FH_FLOW(survey, {
 *     "name": "survey",
 *     "description": "Asks one agent about each line of the task.",
 *     "agents": [{ "name": "agent" }],
 *     "envs": [{ "name": "workspace", "capabilities": ["shell"] }]
 *   }) */
#define FH_FLOW(function, ...)                  \
  static fh_flow function;                      \
  const char *const fh_manifest = #__VA_ARGS__; \
  fh_flow *const fh_main = function;
extern const char *const fh_manifest;
extern fh_flow *const fh_main;

/* -- What a flow knows of its call --------------------------------------------------------------------------------------- */

typedef enum fh_cost_source {
  FH_COST_REPORTED, FH_COST_PRICED, FH_COST_MIXED, FH_COST_MADE_UP, FH_COST_UNKNOWN
} fh_cost_source;

/* What something has spent. */
typedef struct fh_usage {
  uint32_t turns;
  uint64_t input_tokens, output_tokens, cache_read_tokens, cache_write_tokens;
  double cost; /* US dollars */
  fh_cost_source cost_source;
  uint64_t duration_ms;
} fh_usage;

typedef enum fh_grace { FH_GRACE_FINISH, FH_GRACE_CUT } fh_grace;

/* Limits to set; one that is not there limits nothing. */
typedef struct fh_budget {
  fh_optional_double cost; /* US dollars */
  fh_optional_u64 output_tokens;
  fh_optional_u32 turns;
  fh_optional_u64 duration_ms;
  fh_grace grace; /* what becomes of the turn under way when a limit is reached */
} fh_budget;

/* What is left to spend; what is not there is not limited. */
typedef struct fh_allowance {
  fh_optional_double cost;
  fh_optional_u64 output_tokens;
  fh_optional_u32 turns;
  fh_optional_u64 duration_ms;
} fh_allowance;

fh_text fh_run_id(void);
/* This branch's place in the run, such as `1.3.2`. */
fh_text fh_branch_id(void);
/* Names of the flows from the root of the run to this one. */
fh_texts fh_path(void);
/* What the flow was called with, as JSON that meets its schema. Defaults of the schema are not filled in. */
fh_text fh_params(void);
fh_allowance fh_remaining(void);
fh_usage fh_spent(void);
/* Whether this branch was cut off before and is being taken up again. */
bool fh_resumed(void);
/* Says a line in the run's log, as `printf` would print it. */
void fh_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Milliseconds since the epoch; the same again when the run is resumed. */
uint64_t fh_now_ms(void);
/* Lets time pass. */
void fh_sleep(uint64_t ms);

/* -- Environments ---------------------------------------------------------------------------------------------------------- */

/* A working directory on a machine. Paths are relative to it. */
typedef struct fh_env { int32_t handle; } fh_env;
/* A command that was started. */
typedef struct fh_process { int32_t handle; } fh_process;

/* The environment that fills a role; FH_REQUIREMENT where the role is optional and nobody filled it. */
const fh_error *fh_get_env(const char *role, fh_env *env);
/* The same; none where nobody filled it. */
const fh_error *fh_get_env_opt(const char *role, fh_env *env);
void fh_env_drop(fh_env env);
fh_text fh_env_role(fh_env env);
fh_text fh_env_directory(fh_env env);
/* `workspace`, `worktree`, `copy`, `scratch`, `subdir`, `container`, `ssh`. */
fh_text fh_env_kind(fh_env env);
/* The git branch it has checked out; false where there is none. */
bool fh_env_branch_name(fh_env env, fh_text *name);

/* A command to run. All but `argv` may be left out:
 *   FH_TRY(fh_env_exec(env, &(fh_command){ .argv = FH_ARGV("git", "status"), .checked = true }, &output)); */
typedef struct fh_command {
  const char *const *argv; /* program and arguments, NULL at the end */
  const char *const *vars; /* `NAME=VALUE` each, NULL at the end: added to a clean environment */
  fh_text stdin_text;
  fh_optional_u64 timeout_ms;
  fh_optional_u64 keep; /* bytes kept of each of stdout and stderr */
  bool repeatable;      /* it may be run again where a run that was cut off in its middle is taken up */
  bool checked;         /* a status that is not 0, and output that was cut, is FH_FAILED; `fh_env_start` does not look at it */
} fh_command;
#define FH_ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What a command left. */
typedef struct fh_output {
  int32_t status; /* 128 and the signal's number where one killed it */
  fh_text stdout_text, stderr_text;
  bool truncated;
} fh_output;

/* Runs a command to its end, for a role that declared `shell`. */
const fh_error *fh_env_exec(fh_env env, const fh_command *command, fh_output *output);
/* Runs a bash script to its end, for a role that declared `bash`. */
const fh_error *fh_env_bash(fh_env env, const char *script, int64_t timeout_ms, fh_output *output);
/* Starts a command and returns at once. */
const fh_error *fh_env_start(fh_env env, const fh_command *command, fh_process *process);
const fh_error *fh_process_wait(fh_process process, fh_output *output);
bool fh_process_done(fh_process process);
/* Interrupts it; `wait` then says FH_ENV_INTERRUPTED. */
void fh_process_cancel(fh_process process);
/* Lets go of it: it is interrupted. */
void fh_process_drop(fh_process process);

typedef enum fh_entry_kind { FH_ENTRY_FILE, FH_ENTRY_DIRECTORY, FH_ENTRY_LINK, FH_ENTRY_OTHER } fh_entry_kind;
typedef struct fh_entry {
  fh_text path;
  fh_entry_kind kind;
  uint64_t size; /* bytes */
} fh_entry;
typedef struct fh_entries {
  const fh_entry *items;
  size_t count;
} fh_entries;

const fh_error *fh_env_read(fh_env env, const char *path, fh_text *data);
/* At most `length` bytes from `offset`. */
const fh_error *fh_env_read_range(fh_env env, const char *path, uint64_t offset, uint32_t length, fh_text *data);
/* Makes or replaces a file, whole or not at all, and the directories above it. */
const fh_error *fh_env_write(fh_env env, const char *path, fh_text data);
const fh_error *fh_env_append(fh_env env, const char *path, fh_text data);
const fh_error *fh_env_make_dir(fh_env env, const char *path);
const fh_error *fh_env_stat(fh_env env, const char *path, fh_entry *entry);
/* Removes a file, or a directory with all in it. */
const fh_error *fh_env_remove(fh_env env, const char *path);
/* Entries below `path` that match a glob. */
const fh_error *fh_env_find(fh_env env, const char *path, const char *glob, fh_entries *entries);

const fh_error *fh_env_subdir(fh_env env, const char *path, fh_env *made);
typedef enum fh_worktree_head { FH_HEAD_BY_HOST, FH_HEAD_BRANCH, FH_HEAD_DETACHED } fh_worktree_head;
/* A git worktree at a commit, or where this environment is where `at` is NULL. `branch` is for FH_HEAD_BRANCH. */
const fh_error *fh_env_worktree(fh_env env, const char *label, const char *at, fh_worktree_head head, const char *branch,
                                fh_env *made);
const fh_error *fh_env_copy(fh_env env, const char *label, fh_env *made);
const fh_error *fh_env_scratch(fh_env env, const char *label, fh_env *made);
/* Keeps its files as they are now. `name` may be NULL; `snapshot` is what it is called. */
const fh_error *fh_env_snapshot(fh_env env, const char *name, fh_text *snapshot);
const fh_error *fh_env_rewind(fh_env env, const char *snapshot);
const fh_error *fh_env_snapshots(fh_env env, fh_texts *snapshots);
/* What it has changed since it was made, as a patch. */
const fh_error *fh_env_diff(fh_env env, fh_text *patch);
typedef struct fh_merge_outcome {
  bool merged;
  fh_texts conflicts; /* paths that both changed; nothing is changed where there is one */
} fh_merge_outcome;
/* Brings the changes of an environment that was made from this one into it. */
const fh_error *fh_env_merge(fh_env env, fh_env other, fh_merge_outcome *outcome);

/* -- Agents -------------------------------------------------------------------------------------------------------------- */

/* A harness, a model and an effort under a role. */
typedef struct fh_agent { int32_t handle; } fh_agent;
/* One conversation. */
typedef struct fh_session { int32_t handle; } fh_session;
/* A turn that was started. It goes on while it or its session is held. */
typedef struct fh_turn { int32_t handle; } fh_turn;
/* A queue of what an agent's sessions come upon. */
typedef struct fh_watch { int32_t handle; } fh_watch;
/* Something that waits for the flow's answer. */
typedef struct fh_occasion { int32_t handle; } fh_occasion;

/* What a turn came to. */
typedef struct fh_answer {
  fh_text text;   /* what the agent said last */
  bool has_value; /* whether a structured answer was asked for */
  fh_text value;  /* it, as JSON */
  fh_usage usage;
} fh_answer;

/* How to take a turn; NULL, or all left out, for as it comes. */
typedef struct fh_turn_options {
  const char *schema;       /* JSON Schema that the answer must meet */
  const fh_budget *budget;  /* limits this turn alone, on top of the branch's */
  fh_optional_double expected_cost;
} fh_turn_options;

typedef enum fh_when_busy { FH_REFUSE, FH_QUEUE } fh_when_busy;
/* Where a conversation is rooted, and what it does with a turn while another is going; NULL for the workspace, refusing. */
typedef struct fh_place {
  fh_env at;
  const char *directory; /* relative to the environment, or absolute inside it */
  fh_when_busy when_busy;
} fh_place;

/* The agent that fills a role; FH_REQUIREMENT where the role is optional and nobody filled it. */
const fh_error *fh_get_agent(const char *role, fh_agent *agent);
/* The same; none where nobody filled it. */
const fh_error *fh_get_agent_opt(const char *role, fh_agent *agent);
void fh_agent_drop(fh_agent agent);
fh_text fh_agent_role(fh_agent agent);
fh_text fh_agent_harness(fh_agent agent);
fh_text fh_agent_model(fh_agent agent);
fh_text fh_agent_effort(fh_agent agent);
fh_texts fh_agent_capabilities(fh_agent agent);
bool fh_agent_can(fh_agent agent, const char *capability);

/* Opens a conversation; it costs nothing until a turn lands in it. */
const fh_error *fh_agent_spawn(fh_agent agent, const fh_place *place, fh_session *session);
/* Opens many, all alike, into `sessions`, which has room for them. */
const fh_error *fh_agent_spawn_many(fh_agent agent, uint32_t count, const fh_place *place, fh_session *sessions);
/* Takes one turn in a conversation of its own. */
const fh_error *fh_agent_run(fh_agent agent, const char *prompt, const fh_place *place, const fh_turn_options *options,
                             fh_answer *answer);
/* Starts one and returns at once. */
const fh_error *fh_agent_start(fh_agent agent, const char *prompt, const fh_place *place, const fh_turn_options *options,
                               fh_turn *turn);

/* What one of many came to. Where `error` is NULL, the one of the others that it stands for is there. */
typedef struct fh_outcome {
  bool begun; /* whether it was started at all */
  const fh_error *error;
  fh_answer answer; /* of a turn */
  fh_output output; /* of a command */
  fh_text result;   /* of a called flow, as JSON */
} fh_outcome;

typedef struct fh_batch_options {
  fh_optional_u32 at_once; /* how many go at once */
  bool suppress;           /* failures stay in their places; a stop and a spent budget are errors of the whole either way */
  fh_env at;
  fh_turn_options turn;
} fh_batch_options;
/* Takes `count` turns by one call, a conversation apiece; `outcomes` has room for them and keeps the order asked. Without `suppress`
 * the first failure by position is the error of the whole, once every turn has landed. */
const fh_error *fh_agent_batch(fh_agent agent, const char *const *prompts, size_t count, const fh_batch_options *options,
                               fh_outcome *outcomes);
/* Starts turns in a conversation of its own until the objective is met or so many rounds are over. The handle is that of all. */
const fh_error *fh_agent_pursue(fh_agent agent, const char *objective, uint32_t rounds, fh_env at, const fh_turn_options *options,
                                fh_turn *turn);

typedef enum fh_access { FH_ACCESS_NONE, FH_ACCESS_READ, FH_ACCESS_ALL } fh_access;
typedef struct fh_permission {
  fh_access workdir, home, system;
  bool network;
} fh_permission;
/* The same harness under other settings; what is NULL stays. What the person did not give is FH_NOT_GRANTED. */
const fh_error *fh_agent_derive(fh_agent agent, const fh_permission *permission, const char *model, const char *effort,
                                fh_agent *derived);

fh_text fh_session_id(fh_session session);
fh_text fh_session_directory(fh_session session);
fh_usage fh_session_usage(fh_session session);
/* Takes a turn to its end. */
const fh_error *fh_session_run(fh_session session, const char *prompt, const fh_turn_options *options, fh_answer *answer);
/* Starts a turn and returns at once. */
const fh_error *fh_session_start(fh_session session, const char *prompt, const fh_turn_options *options, fh_turn *turn);
typedef enum fh_steer_mode { FH_QUEUED, FH_INTERRUPTING } fh_steer_mode;
/* Puts words into the turn that is going, for a role that declared `steer`. */
const fh_error *fh_session_steer(fh_session session, const char *words, fh_steer_mode mode);
/* Branches the conversation, for a role that declared `fork`; the fork works in `at`, or where this one does where that is none. */
const fh_error *fh_session_fork(fh_session session, fh_env at, fh_session *fork);
/* Closes it now, a turn that is going is interrupted, and drops it. */
void fh_session_close(fh_session session);
/* Lets go of it: it is closed when no turn of it is held. */
void fh_session_drop(fh_session session);

/* Waits for its end, when its session can take the next. May be asked again. */
const fh_error *fh_turn_wait(fh_turn turn, fh_answer *answer);
bool fh_turn_done(fh_turn turn);
/* Interrupts it and returns at once; `wait` then says FH_HARNESS_INTERRUPTED. */
void fh_turn_cancel(fh_turn turn);
void fh_turn_drop(fh_turn turn);

typedef enum fh_moment {
  FH_MOMENT_SESSION_START, FH_MOMENT_PROMPT_SUBMIT, FH_MOMENT_PRE_TOOL_USE, FH_MOMENT_PERMISSION_REQUEST, FH_MOMENT_QUESTION,
  FH_MOMENT_NOTIFICATION, FH_MOMENT_OFFERED_TOOL, FH_MOMENT_STOP, FH_MOMENT_SESSION_END, FH_MOMENT_SUBAGENT_START,
  FH_MOMENT_SUBAGENT_STOP, FH_MOMENT_OTHER
} fh_moment;
typedef enum fh_unanswered { FH_PASS, FH_BLOCK } fh_unanswered;
/* Watches for what the agent's sessions come upon, for a role that declared these moments. A turn waits so long for an answer,
 * and with FH_FOREVER as long as the host lets it. */
const fh_error *fh_agent_watch(fh_agent agent, const fh_moment *moments, size_t count, int64_t patience_ms,
                               fh_unanswered unanswered, fh_watch *watch);
/* Waits for the next occasion; false once the watch is closed. */
bool fh_watch_next(fh_watch watch, fh_occasion *occasion);
/* The next one, without waiting; false where there is none. */
bool fh_watch_take(fh_watch watch, fh_occasion *occasion);
/* Takes it down and drops it. */
void fh_watch_close(fh_watch watch);

fh_moment fh_occasion_moment(fh_occasion occasion);
/* In which session, by its id. */
fh_text fh_occasion_session(fh_occasion occasion);
/* What the moment carries, as JSON: tool, input, prompt, question, options, said. */
fh_text fh_occasion_details(fh_occasion occasion);
/* Each answers it, and drops it. An answer that comes when the turn no longer waits is FH_SESSION_IDLE. */
const fh_error *fh_occasion_allow(fh_occasion occasion);
const fh_error *fh_occasion_block(fh_occasion occasion, const char *reason);
const fh_error *fh_occasion_reply(fh_occasion occasion, const char *text);
/* Lets it go on as if nobody watched. */
const fh_error *fh_occasion_skip(fh_occasion occasion);

/* -- Other flows --------------------------------------------------------------------------------------------------------- */

/* A flow that can be called, any number of times and many at once. */
typedef struct fh_callee { int32_t handle; } fh_callee;
/* A call of a flow that was started. */
typedef struct fh_branch { int32_t handle; } fh_branch;

typedef struct fh_given_agent {
  const char *role;
  fh_agent agent;
} fh_given_agent;
typedef struct fh_given_env {
  const char *role;
  fh_env env;
} fh_given_env;
/* What is handed to a called flow: exactly what it declared. NULL for nothing.
 *   &(fh_handover){ .agents = FH_AGENTS({ "agent", agent }), .params = "{}" } */
typedef struct fh_handover {
  const fh_given_agent *agents; /* a role that is NULL at the end */
  const fh_given_env *envs;     /* a role that is NULL at the end */
  const char *params;          /* JSON; NULL for an empty object */
  const fh_budget *budget;     /* on top of what is left of the caller's */
} fh_handover;
#define FH_AGENTS(...) ((const fh_given_agent[]){ __VA_ARGS__, { NULL, { 0 } } })
#define FH_ENVS(...) ((const fh_given_env[]){ __VA_ARGS__, { NULL, { 0 } } })

/* Finds a flow, one that the manifest names in `loads`. */
const fh_error *fh_load(const char *reference, fh_callee *callee);
void fh_callee_drop(fh_callee callee);
fh_text fh_callee_name(fh_callee callee);
fh_text fh_callee_manifest(fh_callee callee);
/* Runs it as a branch of this run; `result` is JSON. */
const fh_error *fh_callee_call(fh_callee callee, const char *task, const fh_handover *given, fh_text *result);
/* Starts it and returns at once. */
const fh_error *fh_callee_start(fh_callee callee, const char *task, const fh_handover *given, fh_branch *branch);
/* Waits for its end and that of all that it left. */
const fh_error *fh_branch_wait(fh_branch branch, fh_text *result);
bool fh_branch_done(fh_branch branch);
/* Interrupts it and returns at once; `wait` then says FH_FLOW_INTERRUPTED. */
void fh_branch_cancel(fh_branch branch);
/* Lets go of it: it is cancelled. */
void fh_branch_drop(fh_branch branch);

/* -- Waiting for several --------------------------------------------------------------------------------------------------- */

typedef enum fh_awaited_kind { FH_AWAIT_TURN, FH_AWAIT_PROCESS, FH_AWAIT_BRANCH, FH_AWAIT_WATCH } fh_awaited_kind;
/* Something to wait for: `FH_TURN(turn)` and the like. */
typedef struct fh_awaited {
  fh_awaited_kind kind;
  int32_t handle;
} fh_awaited;
#define FH_TURN(turn) ((fh_awaited){ FH_AWAIT_TURN, (turn).handle })
#define FH_PROCESS(process) ((fh_awaited){ FH_AWAIT_PROCESS, (process).handle })
#define FH_BRANCH(branch) ((fh_awaited){ FH_AWAIT_BRANCH, (branch).handle })
#define FH_WATCH(watch) ((fh_awaited){ FH_AWAIT_WATCH, (watch).handle })

/* Waits until at least one is ready, or for so many milliseconds. Gives how many are, and their places, in order, in `ready`, which
 * has room for `count`; none when the time is over, or where nothing was asked for. */
size_t fh_wait_any(const fh_awaited *on, size_t count, int64_t timeout_ms, uint32_t *ready);

/* Starts the one of this number. `with` is what `fh_gather` was given. */
typedef const fh_error *fh_starter(size_t nth, void *with, fh_awaited *started);
/* Starts `count` turns, commands or called flows, at most `width` of them at once (0 for all), waits for each and drops it.
 * `outcomes` has room for them and keeps the order asked; one that fails, or cannot be started, stays in its place. */
void fh_gather(size_t count, size_t width, fh_starter *start, void *with, fh_outcome *outcomes);
/* The same, but at the first failure nothing more is started, what is going is cancelled, and that failure is given once all have
 * ended. */
const fh_error *fh_group(size_t count, size_t width, fh_starter *start, void *with, fh_outcome *outcomes);

#ifdef __cplusplus
}
#endif

#endif
