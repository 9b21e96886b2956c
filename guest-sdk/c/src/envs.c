/* Working directories, their commands and files. */

#include <string.h>

#include "internal.h"

#define SELF(env) ((ENVS(borrow_env_t)){ (env).handle })
#define COMMAND(process) ((ENVS(borrow_process_t)){ (process).handle })

const fh_error *fh_get_env_opt(const char *role, fh_env *env) {
  flow_string_t name = fh_lower(role);
  ENVS(option_own_env_t) found;
  ENVS(error_t) error;
  if (!ENVS(get_env)(&name, &found, &error)) return fh_lift_error(&error);
  env->handle = found.is_some ? found.val.__handle : 0;
  return NULL;
}

const fh_error *fh_get_env(const char *role, fh_env *env) {
  fh_env found;
  FH_TRY(fh_get_env_opt(role, &found));
  if (!found.handle) return fh_make_error(FH_REQUIREMENT, fh_format("no environment fills the role %s", role));
  *env = found;
  return NULL;
}

void fh_env_drop(fh_env env) {
  ENVS(env_drop_own)((ENVS(own_env_t)){ env.handle });
}

#define FACT(what)                         \
  fh_text fh_env_##what(fh_env env) {      \
    flow_string_t text;                    \
    ENVS(method_env_##what)(SELF(env), &text); \
    return fh_lift(&text);                 \
  }
FACT(role)
FACT(directory)
FACT(kind)

bool fh_env_branch_name(fh_env env, fh_text *name) {
  flow_string_t text;
  if (!ENVS(method_env_branch_name)(SELF(env), &text)) return false;
  *name = fh_lift(&text);
  return true;
}

/* -- Commands -- */

static ENVS(command_t) lower_command(const fh_command *command) {
  size_t count = 0;
  while (command->argv && command->argv[count]) count++;
  flow_string_t *argv = fh_alloc(count * sizeof *argv);
  for (size_t nth = 0; nth < count; nth++) argv[nth] = fh_lower(command->argv[nth]);
  size_t set = 0;
  while (command->vars && command->vars[set]) set++;
  flow_tuple2_string_string_t *vars = fh_alloc(set * sizeof *vars);
  for (size_t nth = 0; nth < set; nth++) {
    const char *var = command->vars[nth], *sign = strchr(var, '=');
    vars[nth].f0 = fh_lower_text((fh_text){ var, sign ? (size_t)(sign - var) : strlen(var) });
    vars[nth].f1 = fh_lower(sign ? sign + 1 : "");
  }
  return (ENVS(command_t)){
    .argv = { argv, count },
    .vars = { vars, set },
    .stdin_ = { command->stdin_text.data != NULL, { (uint8_t *)command->stdin_text.data, command->stdin_text.length } },
    .timeout_ms = fh_lower_u64(command->timeout_ms),
    .keep = fh_lower_u64(command->keep),
    .repeatable = command->repeatable,
  };
}

fh_output fh_lift_output(ENVS(output_t) *output) {
  return (fh_output){
    .status = output->status,
    .stdout_text = fh_lift_bytes(&output->stdout_),
    .stderr_text = fh_lift_bytes(&output->stderr_),
    .truncated = output->truncated,
  };
}

/* The first line that says something, without the space around it. */
static bool complaint(fh_text said, fh_text *line) {
  const fh_texts lines = fh_lines(said);
  for (size_t nth = 0; nth < lines.count; nth++) {
    const char *from = lines.items[nth].data + strspn(lines.items[nth].data, " \t");
    size_t length = strlen(from);
    while (length && strchr(" \t", from[length - 1])) length--;
    if (!length) continue;
    *line = fh_copy(from, length);
    return true;
  }
  return false;
}

static const fh_error *check(const fh_command *command, const fh_output *output) {
  if (output->status == 0 && !output->truncated) return NULL;
  fh_text words = fh_copy("", 0);
  for (size_t nth = 0; command->argv && command->argv[nth]; nth++)
    words = fh_format("%s%s%s", words.data, nth ? " " : "", command->argv[nth]);
  if (output->status == 0) return fh_failed("`%s` wrote more than is kept", words.data);
  fh_text line;
  if (complaint(output->stderr_text, &line) || complaint(output->stdout_text, &line))
    return fh_failed("`%s` ended with status %d: %s", words.data, (int)output->status, line.data);
  return fh_failed("`%s` ended with status %d", words.data, (int)output->status);
}

const fh_error *fh_env_exec(fh_env env, const fh_command *command, fh_output *output) {
  ENVS(method_env_exec_args_t) args = { SELF(env), lower_command(command) };
  ENVS(result_output_error_t) result;
  fh_await(ENVS(method_env_exec)(&args, &result));
  FH_CHECK(result);
  const fh_output left = fh_lift_output(&result.val.ok);
  if (command->checked) FH_TRY(check(command, &left));
  *output = left;
  return NULL;
}

const fh_error *fh_env_bash(fh_env env, const char *script, int64_t timeout_ms, fh_output *output) {
  ENVS(method_env_bash_args_t) args = { SELF(env), fh_lower(script), fh_lower_ms(timeout_ms) };
  ENVS(result_output_error_t) result;
  fh_await(ENVS(method_env_bash)(&args, &result));
  FH_CHECK(result);
  *output = fh_lift_output(&result.val.ok);
  return NULL;
}

const fh_error *fh_env_start(fh_env env, const fh_command *command, fh_process *process) {
  ENVS(command_t) lowered = lower_command(command);
  ENVS(own_process_t) started;
  ENVS(error_t) error;
  if (!ENVS(method_env_start)(SELF(env), &lowered, &started, &error)) return fh_lift_error(&error);
  process->handle = started.__handle;
  return NULL;
}

const fh_error *fh_process_wait(fh_process process, fh_output *output) {
  ENVS(result_output_error_t) result;
  fh_await(ENVS(method_process_wait)(COMMAND(process), &result));
  FH_CHECK(result);
  *output = fh_lift_output(&result.val.ok);
  return NULL;
}

bool fh_process_done(fh_process process) {
  return ENVS(method_process_done)(COMMAND(process));
}

void fh_process_cancel(fh_process process) {
  ENVS(method_process_cancel)(COMMAND(process));
}

void fh_process_drop(fh_process process) {
  ENVS(process_drop_own)((ENVS(own_process_t)){ process.handle });
}

/* -- Files -- */

static flow_list_u8_t bytes(fh_text data) {
  return (flow_list_u8_t){ (uint8_t *)data.data, data.length };
}

static fh_entry lift_entry(ENVS(entry_t) *entry) {
  return (fh_entry){ fh_lift(&entry->path), (fh_entry_kind)entry->kind, entry->size };
}

const fh_error *fh_env_read(fh_env env, const char *path, fh_text *data) {
  ENVS(result_list_u8_error_t) result;
  fh_await(ENVS(method_env_read)(SELF(env), fh_lower(path), &result));
  FH_CHECK(result);
  *data = fh_lift_bytes(&result.val.ok);
  return NULL;
}

const fh_error *fh_env_read_range(fh_env env, const char *path, uint64_t offset, uint32_t length, fh_text *data) {
  ENVS(method_env_read_range_args_t) args = { SELF(env), fh_lower(path), offset, length };
  ENVS(result_list_u8_error_t) result;
  fh_await(ENVS(method_env_read_range)(&args, &result));
  FH_CHECK(result);
  *data = fh_lift_bytes(&result.val.ok);
  return NULL;
}

const fh_error *fh_env_write(fh_env env, const char *path, fh_text data) {
  ENVS(method_env_write_args_t) args = { SELF(env), fh_lower(path), bytes(data) };
  ENVS(result_void_error_t) result;
  fh_await(ENVS(method_env_write)(&args, &result));
  FH_CHECK(result);
  return NULL;
}

const fh_error *fh_env_append(fh_env env, const char *path, fh_text data) {
  ENVS(method_env_append_args_t) args = { SELF(env), fh_lower(path), bytes(data) };
  ENVS(result_void_error_t) result;
  fh_await(ENVS(method_env_append)(&args, &result));
  FH_CHECK(result);
  return NULL;
}

/* Calls that take a text and give nothing. */
#define DONE(what)                                                   \
  const fh_error *fh_env_##what(fh_env env, const char *text) {      \
    ENVS(result_void_error_t) result;                                \
    fh_await(ENVS(method_env_##what)(SELF(env), fh_lower(text), &result)); \
    FH_CHECK(result);                                                \
    return NULL;                                                     \
  }
DONE(make_dir)
DONE(remove)
DONE(rewind)

const fh_error *fh_env_stat(fh_env env, const char *path, fh_entry *entry) {
  ENVS(result_entry_error_t) result;
  fh_await(ENVS(method_env_stat)(SELF(env), fh_lower(path), &result));
  FH_CHECK(result);
  *entry = lift_entry(&result.val.ok);
  return NULL;
}

const fh_error *fh_env_find(fh_env env, const char *path, const char *glob, fh_entries *entries) {
  ENVS(method_env_find_args_t) args = { SELF(env), fh_lower(path), fh_lower(glob) };
  ENVS(result_list_entry_error_t) result;
  fh_await(ENVS(method_env_find)(&args, &result));
  FH_CHECK(result);
  const size_t count = result.val.ok.len;
  fh_entry *items = fh_alloc(count * sizeof *items);
  for (size_t nth = 0; nth < count; nth++) items[nth] = lift_entry(&result.val.ok.ptr[nth]);
  ENVS(list_entry_free)(&result.val.ok);
  *entries = (fh_entries){ items, count };
  return NULL;
}

/* -- What is made from one -- */

/* Calls that take a text and give another environment. */
#define MADE(what)                                                           \
  const fh_error *fh_env_##what(fh_env env, const char *text, fh_env *made) { \
    ENVS(result_own_env_error_t) result;                                     \
    fh_await(ENVS(method_env_##what)(SELF(env), fh_lower(text), &result));   \
    FH_CHECK(result);                                                        \
    made->handle = result.val.ok.__handle;                                   \
    return NULL;                                                             \
  }
MADE(subdir)
MADE(copy)
MADE(scratch)

const fh_error *fh_env_worktree(fh_env env, const char *label, const char *at, fh_worktree_head head, const char *branch,
                                fh_env *made) {
  ENVS(method_env_worktree_args_t) args = { SELF(env), fh_lower(label), { at != NULL, fh_lower(at) }, { .tag = (uint8_t)head } };
  args.head.val.branch = fh_lower(branch);
  ENVS(result_own_env_error_t) result;
  fh_await(ENVS(method_env_worktree)(&args, &result));
  FH_CHECK(result);
  made->handle = result.val.ok.__handle;
  return NULL;
}

const fh_error *fh_env_snapshot(fh_env env, const char *name, fh_text *snapshot) {
  ENVS(result_string_error_t) result;
  fh_await(ENVS(method_env_snapshot)(SELF(env), (flow_option_string_t){ name != NULL, fh_lower(name) }, &result));
  FH_CHECK(result);
  *snapshot = fh_lift(&result.val.ok);
  return NULL;
}

const fh_error *fh_env_snapshots(fh_env env, fh_texts *snapshots) {
  ENVS(result_list_string_error_t) result;
  fh_await(ENVS(method_env_snapshots)(SELF(env), &result));
  FH_CHECK(result);
  *snapshots = fh_lift_texts(&result.val.ok);
  return NULL;
}

const fh_error *fh_env_diff(fh_env env, fh_text *patch) {
  ENVS(result_list_u8_error_t) result;
  fh_await(ENVS(method_env_diff)(SELF(env), &result));
  FH_CHECK(result);
  *patch = fh_lift_bytes(&result.val.ok);
  return NULL;
}

const fh_error *fh_env_merge(fh_env env, fh_env other, fh_merge_outcome *outcome) {
  ENVS(result_merge_outcome_error_t) result;
  fh_await(ENVS(method_env_merge)(SELF(env), SELF(other), &result));
  FH_CHECK(result);
  *outcome = (fh_merge_outcome){ result.val.ok.merged, fh_lift_texts(&result.val.ok.conflicts) };
  return NULL;
}
