/* What a flow knows of its call, and time. */

#include "internal.h"

fh_text fh_run_id(void) {
  flow_string_t id;
  CONTEXT(run_id)(&id);
  return fh_lift(&id);
}

fh_text fh_branch_id(void) {
  flow_string_t id;
  CONTEXT(branch_id)(&id);
  return fh_lift(&id);
}

fh_texts fh_path(void) {
  flow_list_string_t path;
  CONTEXT(path)(&path);
  return fh_lift_texts(&path);
}

fh_text fh_params(void) {
  flow_string_t params;
  CONTEXT(params)(&params);
  return fh_lift(&params);
}

fh_allowance fh_remaining(void) {
  CONTEXT(allowance_t) left;
  CONTEXT(remaining)(&left);
  return (fh_allowance){
    .cost = { left.cost.is_some, left.cost.val },
    .output_tokens = { left.output_tokens.is_some, left.output_tokens.val },
    .turns = { left.turns.is_some, left.turns.val },
    .duration_ms = { left.duration_ms.is_some, left.duration_ms.val },
  };
}

fh_usage fh_lift_usage(const TYPES(usage_t) *usage) {
  return (fh_usage){
    .turns = usage->turns,
    .input_tokens = usage->input_tokens,
    .output_tokens = usage->output_tokens,
    .cache_read_tokens = usage->cache_read_tokens,
    .cache_write_tokens = usage->cache_write_tokens,
    .cost = usage->cost,
    .cost_source = (fh_cost_source)usage->cost_source,
    .duration_ms = usage->duration_ms,
  };
}

fh_usage fh_spent(void) {
  CONTEXT(usage_t) usage;
  CONTEXT(spent)(&usage);
  return fh_lift_usage(&usage);
}

bool fh_resumed(void) {
  return CONTEXT(resumed)();
}

uint64_t fh_now_ms(void) {
  return CONTEXT(now_ms)();
}

void fh_sleep(uint64_t ms) {
  fh_await(CONTEXT(sleep)(ms));
}

flow_option_u64_t fh_lower_u64(fh_optional_u64 number) {
  return (flow_option_u64_t){ number.there, number.value };
}

flow_option_u64_t fh_lower_ms(int64_t ms) {
  return (flow_option_u64_t){ ms >= 0, ms >= 0 ? (uint64_t)ms : 0 };
}

bool fh_lower_budget(const fh_budget *budget, TYPES(budget_t) *lowered) {
  if (!budget) return false;
  *lowered = (TYPES(budget_t)){
    .cost = { budget->cost.there, budget->cost.value },
    .output_tokens = fh_lower_u64(budget->output_tokens),
    .turns = { budget->turns.there, budget->turns.value },
    .duration_ms = fh_lower_u64(budget->duration_ms),
    .grace = budget->grace == FH_GRACE_CUT,
  };
  return true;
}
