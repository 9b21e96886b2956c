/* What a flow learns of its call, and what it says. */
#include "cases.h"

static const char *const sources[] = { "reported", "priced", "mixed", "made-up", "unknown" };

static void put_left(fh_json *to) {
  const fh_allowance left = fh_remaining();
  fh_json_object(to);
  fh_json_key(to, "turns");
  if (left.turns.there) fh_json_integer(to, left.turns.value);
  else fh_json_null(to);
  fh_json_key(to, "cost");
  if (left.cost.there) fh_json_double(to, left.cost.value);
  else fh_json_null(to);
  fh_json_key(to, "output-tokens");
  if (left.output_tokens.there) fh_json_integer(to, (int64_t)left.output_tokens.value);
  else fh_json_null(to);
  fh_json_key(to, "duration-ms");
  if (left.duration_ms.there) fh_json_integer(to, (int64_t)left.duration_ms.value);
  else fh_json_null(to);
  fh_json_end_object(to);
}

static const fh_error *facts(fh_json *to) {
  fh_json_object(to);
  put_text(to, "run", fh_run_id());
  put_text(to, "branch", fh_branch_id());
  fh_json_key(to, "path");
  fh_json_array(to);
  const fh_texts path = fh_path();
  for (size_t nth = 0; nth < path.count; nth++) fh_json_text(to, path.items[nth]);
  fh_json_end_array(to);
  fh_json_key(to, "params");
  fh_json_object(to);
  put_integer(to, "n", param_n());
  put_string(to, "way", param_way());
  fh_json_end_object(to);
  put_bool(to, "resumed", fh_resumed());
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *budget(fh_json *to) {
  fh_answer said;
  FH_TRY(fh_agent_run(worker, "t0", NULL, NULL, &said));
  const fh_usage spent = fh_spent();
  fh_json_object(to);
  fh_json_key(to, "spent");
  fh_json_object(to);
  put_integer(to, "turns", spent.turns);
  fh_json_key(to, "cost");
  fh_json_double(to, spent.cost);
  put_integer(to, "input-tokens", (int64_t)spent.input_tokens);
  put_integer(to, "output-tokens", (int64_t)spent.output_tokens);
  put_string(to, "cost-source", sources[spent.cost_source]);
  fh_json_end_object(to);
  fh_json_key(to, "left");
  put_left(to);
  fh_json_end_object(to);
  return NULL;
}

static const fh_error *unlimited(fh_json *to) {
  put_left(to);
  return NULL;
}

static const fh_error *time_passes(fh_json *to) {
  const uint64_t begin = fh_now_ms();
  fh_sleep(3600000);
  fh_json_integer(to, (int64_t)(fh_now_ms() - begin));
  return NULL;
}

static const fh_error *logs(fh_json *to) {
  (void)to;
  fh_log("naïve 👍 %s", "日本");
  fh_log("two\nlines");
  return NULL;
}

const case_of context_cases[] = {
  { "facts", facts }, { "budget", budget }, { "unlimited", unlimited }, { "time", time_passes }, { "log", logs }, { 0 },
};
