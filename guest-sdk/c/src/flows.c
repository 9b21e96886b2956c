/* Flows that flows call. */

#include "internal.h"

#define SELF(callee) ((FLOWS(borrow_callee_t)){ (callee).handle })
#define CALL(branch) ((FLOWS(borrow_branch_t)){ (branch).handle })

const fh_error *fh_load(const char *reference, fh_callee *callee) {
  FLOWS(result_own_callee_error_t) result;
  fh_await(FLOWS(load)(fh_lower(reference), &result));
  FH_CHECK(result);
  callee->handle = result.val.ok.__handle;
  return NULL;
}

void fh_callee_drop(fh_callee callee) {
  FLOWS(callee_drop_own)((FLOWS(own_callee_t)){ callee.handle });
}

fh_text fh_callee_name(fh_callee callee) {
  flow_string_t name;
  FLOWS(method_callee_name)(SELF(callee), &name);
  return fh_lift(&name);
}

fh_text fh_callee_manifest(fh_callee callee) {
  flow_string_t manifest;
  FLOWS(method_callee_manifest)(SELF(callee), &manifest);
  return fh_lift(&manifest);
}

static FLOWS(handover_t) lower_handover(const fh_handover *given) {
  FLOWS(handover_t) lowered = { .params = fh_lower("{}") };
  if (!given) return lowered;
  size_t count = 0;
  while (given->agents && given->agents[count].role) count++;
  FLOWS(tuple2_string_borrow_agent_t) *agents = fh_alloc(count * sizeof *agents);
  for (size_t nth = 0; nth < count; nth++) {
    agents[nth].f0 = fh_lower(given->agents[nth].role);
    agents[nth].f1.__handle = given->agents[nth].agent.handle;
  }
  lowered.agents.ptr = agents;
  lowered.agents.len = count;
  count = 0;
  while (given->envs && given->envs[count].role) count++;
  FLOWS(tuple2_string_borrow_env_t) *envs = fh_alloc(count * sizeof *envs);
  for (size_t nth = 0; nth < count; nth++) {
    envs[nth].f0 = fh_lower(given->envs[nth].role);
    envs[nth].f1.__handle = given->envs[nth].env.handle;
  }
  lowered.envs.ptr = envs;
  lowered.envs.len = count;
  if (given->params) lowered.params = fh_lower(given->params);
  lowered.budget.is_some = fh_lower_budget(given->budget, &lowered.budget.val);
  return lowered;
}

const fh_error *fh_callee_call(fh_callee callee, const char *task, const fh_handover *given, fh_text *result) {
  FLOWS(method_callee_call_args_t) args = { SELF(callee), fh_lower(task), lower_handover(given) };
  FLOWS(result_json_error_t) answer;
  fh_await(FLOWS(method_callee_call)(&args, &answer));
  FH_CHECK(answer);
  *result = fh_lift(&answer.val.ok);
  return NULL;
}

const fh_error *fh_callee_start(fh_callee callee, const char *task, const fh_handover *given, fh_branch *branch) {
  flow_string_t words = fh_lower(task);
  FLOWS(handover_t) handover = lower_handover(given);
  FLOWS(own_branch_t) started;
  FLOWS(error_t) error;
  if (!FLOWS(method_callee_start)(SELF(callee), &words, &handover, &started, &error)) return fh_lift_error(&error);
  branch->handle = started.__handle;
  return NULL;
}

const fh_error *fh_branch_wait(fh_branch branch, fh_text *result) {
  FLOWS(result_json_error_t) answer;
  fh_await(FLOWS(method_branch_wait)(CALL(branch), &answer));
  FH_CHECK(answer);
  *result = fh_lift(&answer.val.ok);
  return NULL;
}

bool fh_branch_done(fh_branch branch) {
  return FLOWS(method_branch_done)(CALL(branch));
}

void fh_branch_cancel(fh_branch branch) {
  FLOWS(method_branch_cancel)(CALL(branch));
}

void fh_branch_drop(fh_branch branch) {
  FLOWS(branch_drop_own)((FLOWS(own_branch_t)){ branch.handle });
}
