/* What the parts of the SDK share: the names of the bindings, and both ways across the border. */
#ifndef FLOWHOST_INTERNAL_H
#define FLOWHOST_INTERNAL_H

#include "flow.h"
#include "flowhost.h"

#define TYPES(name) flowhost_flow_types_##name
#define ENVS(name) flowhost_flow_envs_##name
#define AGENTS(name) flowhost_flow_agents_##name
#define FLOWS(name) flowhost_flow_flows_##name
#define WAITING(name) flowhost_flow_waiting_##name
#define CONTEXT(name) flowhost_flow_context_##name

/* Waits for a call that was made. */
void fh_await(flow_subtask_status_t status);

/* A text for the host, which traps on what is not UTF-8: that is replaced. NULL is the empty text. */
flow_string_t fh_lower(const char *text);
/* The same of a text with its length. */
flow_string_t fh_lower_text(fh_text text);
/* A text or bytes of the host's, which are freed. */
fh_text fh_lift(flow_string_t *text);
fh_text fh_lift_bytes(flow_list_u8_t *bytes);
fh_texts fh_lift_texts(flow_list_string_t *texts);

/* An error of the host's, which is freed. */
const fh_error *fh_lift_error(TYPES(error_t) *error);
/* An error of the SDK's own. */
const fh_error *fh_make_error(fh_error_kind kind, fh_text message);

flow_option_u64_t fh_lower_u64(fh_optional_u64 number);
flow_option_u64_t fh_lower_ms(int64_t ms);
bool fh_lower_budget(const fh_budget *budget, TYPES(budget_t) *lowered);
fh_usage fh_lift_usage(const TYPES(usage_t) *usage);

/* Hands on the error of a result that has one. */
#define FH_CHECK(result)                                                    \
  do {                                                                      \
    if ((result).is_err) return fh_lift_error((TYPES(error_t) *)&(result).val.err); \
  } while (0)

/* How a turn is taken; NULL is as it comes. */
AGENTS(turn_options_t) fh_lower_turn_options(const fh_turn_options *options);
fh_answer fh_lift_answer(AGENTS(answer_t) *answer);
fh_output fh_lift_output(ENVS(output_t) *output);

#endif
