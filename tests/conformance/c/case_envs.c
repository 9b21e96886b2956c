/* Commands and files of an environment. */
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static const char *const kinds[] = { "file", "directory", "link", "other" };

static const fh_error *facts(fh_json *to) {
  fh_text branch;
  fh_json_object(to);
  put_text(to, "role", fh_env_role(workspace));
  put_text(to, "directory", fh_env_directory(workspace));
  put_text(to, "kind", fh_env_kind(workspace));
  put_text(to, "branch", fh_env_branch_name(workspace, &branch) ? branch : fh_format("none"));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *roles(fh_json *to) {
  fh_env given, unknown;
  FH_TRY(fh_get_env_opt("workspace", &given));
  fh_json_object(to);
  put_text(to, "given", fh_env_role(given));
  put_ok(to, "unknown", fh_get_env("stranger", &unknown));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *exec(fh_json *to) {
  fh_output output;
  const fh_command command = {
    .argv = FH_ARGV("printf", "hi"), .vars = FH_ARGV("A=b"), .stdin_text = { "in", 2 }, .keep = FH_SOME(100),
  };
  FH_TRY(fh_env_exec(workspace, &command, &output));
  fh_json_object(to);
  put_integer(to, "status", output.status);
  put_text(to, "stdout", output.stdout_text);
  put_text(to, "stderr", output.stderr_text);
  put_bool(to, "truncated", output.truncated);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *unknown(fh_json *to) {
  fh_output output;
  FH_TRY(fh_env_exec(workspace, &(fh_command){ .argv = FH_ARGV("nonsense") }, &output));
  fh_json_integer(to, output.status);
  return NULL;
}

static const fh_error *timeout(fh_json *to) {
  fh_output output;
  const fh_command command = { .argv = FH_ARGV("sleep", "60"), .timeout_ms = FH_SOME(20) };
  say_ok(to, fh_env_exec(workspace, &command, &output));
  return NULL;
}

static const fh_error *bash(fh_json *to) {
  fh_output output;
  FH_TRY(fh_env_bash(workspace, "echo hi", FH_FOREVER, &output));
  fh_json_text(to, output.stdout_text);
  return NULL;
}

static const fh_error *processes(fh_json *to) {
  fh_process process, other;
  fh_output output;
  FH_TRY(fh_env_start(workspace, &(fh_command){ .argv = FH_ARGV("sleep", "60") }, &process));
  fh_json_object(to);
  put_bool(to, "before", fh_process_done(process));
  fh_sleep(5);
  fh_process_cancel(process);
  put_ok(to, "wait", fh_process_wait(process, &output));
  put_bool(to, "after", fh_process_done(process));
  FH_TRY(fh_env_start(workspace, &(fh_command){ .argv = FH_ARGV("printf", "hi") }, &other));
  FH_TRY(fh_process_wait(other, &output));
  put_integer(to, "short", output.status);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *reads(fh_json *to) {
  fh_text whole, range;
  FH_TRY(fh_env_read(workspace, "a.txt", &whole));
  FH_TRY(fh_env_read_range(workspace, "a.txt", 2, 4, &range));
  fh_json_object(to);
  put_text(to, "text", whole);
  put_text(to, "range", range);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *writes(fh_json *to) {
  static const char raw[] = { 99, (char)233, 0 };
  fh_text back;
  FH_TRY(fh_env_write(workspace, "new/c.txt", (fh_text){ "one", 3 }));
  FH_TRY(fh_env_append(workspace, "new/c.txt", (fh_text){ " two", 4 }));
  FH_TRY(fh_env_write(workspace, "raw", (fh_text){ raw, sizeof raw }));
  FH_TRY(fh_env_read(workspace, "raw", &back));
  fh_json_array(to);
  for (size_t nth = 0; nth < back.length; nth++) fh_json_integer(to, (unsigned char)back.data[nth]);
  fh_json_end_array(to);
  return NULL;
}

static int by_path(const void *one, const void *other) {
  return strcmp(((const fh_entry *)one)->path.data, ((const fh_entry *)other)->path.data);
}

static const fh_error *finds(fh_json *to) {
  fh_entry stat;
  fh_entries found;
  FH_TRY(fh_env_stat(workspace, "a.txt", &stat));
  FH_TRY(fh_env_find(workspace, ".", "**/*.txt", &found));
  qsort((fh_entry *)found.items, found.count, sizeof *found.items, by_path);
  fh_json_object(to);
  put_text(to, "stat", fh_format("%s %d", kinds[stat.kind], (int)stat.size));
  fh_json_key(to, "found");
  fh_json_array(to);
  for (size_t nth = 0; nth < found.count; nth++) fh_json_text(to, found.items[nth].path);
  fh_json_end_array(to);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *removes(fh_json *to) {
  fh_entry made, gone;
  FH_TRY(fh_env_make_dir(workspace, "made"));
  FH_TRY(fh_env_stat(workspace, "made", &made));
  FH_TRY(fh_env_remove(workspace, "a.txt"));
  fh_json_object(to);
  put_string(to, "made", kinds[made.kind]);
  put_ok(to, "gone", fh_env_stat(workspace, "a.txt", &gone));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *subdir(fh_json *to) {
  fh_env below;
  fh_text text;
  FH_TRY(fh_env_subdir(workspace, "src", &below));
  FH_TRY(fh_env_read(below, "b.txt", &text));
  fh_json_object(to);
  put_text(to, "kind", fh_env_kind(below));
  put_text(to, "directory", fh_env_directory(below));
  put_text(to, "read", text);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *faults(fh_json *to) {
  fh_text text;
  fh_json_object(to);
  put_ok(to, "missing", fh_env_read(workspace, "nowhere.txt", &text));
  put_ok(to, "above", fh_env_read(workspace, "../a.txt", &text));
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *derived(fh_json *to) {
  fh_env made;
  fh_text text;
  fh_texts texts;
  fh_merge_outcome merged;
  fh_json_object(to);
  put_ok(to, "worktree", fh_env_worktree(workspace, "w", NULL, FH_HEAD_BY_HOST, NULL, &made));
  put_ok(to, "copy", fh_env_copy(workspace, "c", &made));
  put_ok(to, "scratch", fh_env_scratch(workspace, "s", &made));
  put_ok(to, "snapshot", fh_env_snapshot(workspace, NULL, &text));
  put_ok(to, "rewind", fh_env_rewind(workspace, "nothing"));
  put_ok(to, "snapshots", fh_env_snapshots(workspace, &texts));
  put_ok(to, "diff", fh_env_diff(workspace, &text));
  put_ok(to, "merge", fh_env_merge(workspace, workspace, &merged));
  fh_json_end_object(to);
  return NULL;
}

const case_of envs_cases[] = {
  { "facts", facts },     { "roles", roles },   { "exec", exec },     { "unknown", unknown }, { "timeout", timeout },
  { "bash", bash },       { "process", processes }, { "read", reads }, { "write", writes },    { "find", finds },
  { "remove", removes },  { "subdir", subdir }, { "faults", faults }, { "derived", derived }, { 0 },
};
