/* Errors: from the host's to the SDK's, and the way back for what a flow returns. */

#include <stdlib.h>
#include <string.h>

#include "internal.h"

const fh_error *fh_make_error(fh_error_kind kind, fh_text message) {
  fh_error *error = fh_alloc(sizeof *error);
  *error = (fh_error){ .kind = kind, .message = message };
  return error;
}

const fh_error *fh_lift_error(TYPES(error_t) *raised) {
  fh_error *error = fh_alloc(sizeof *error);
  /* The contract's kinds and faults are in the order of ours. */
  *error = (fh_error){ .kind = (fh_error_kind)raised->kind.tag };
  switch (error->kind) {
    case FH_SESSION: error->fault = raised->kind.val.session; break;
    case FH_HARNESS:
      error->fault = raised->kind.val.harness.fault;
      error->retry_after_ms =
          (fh_optional_u64){ raised->kind.val.harness.retry_after_ms.is_some, raised->kind.val.harness.retry_after_ms.val };
      break;
    case FH_ENV: error->fault = raised->kind.val.env; break;
    case FH_BUDGET:
      error->fault = raised->kind.val.budget.limit;
      error->whose = fh_copy(raised->kind.val.budget.whose.ptr, raised->kind.val.budget.whose.len);
      break;
    case FH_FLOW: error->fault = raised->kind.val.flow; break;
    default: break;
  }
  error->message = fh_copy(raised->message.ptr, raised->message.len);
  TYPES(error_free)(raised);
  return error;
}

/* A copy that the host frees when it has taken it. */
static void given(fh_text text, flow_string_t *to) {
  const flow_string_t lowered = fh_lower_text(text);
  flow_string_dup_n(to, (const char *)lowered.ptr, lowered.len);
}

/* A fault of the flow's own making that the contract does not have is its last: `other`. */
static uint8_t fault(const fh_error *error, int last) {
  return (uint8_t)(error->fault >= 0 && error->fault <= last ? error->fault : last);
}

static void lower_error(const fh_error *error, TYPES(error_t) *to) {
  memset(to, 0, sizeof *to);
  to->kind.tag = (uint8_t)((unsigned)error->kind <= FH_OTHER ? error->kind : FH_OTHER);
  switch (error->kind) {
    case FH_SESSION: to->kind.val.session = fault(error, FH_SESSION_OTHER); break;
    case FH_HARNESS:
      to->kind.val.harness.fault = fault(error, FH_HARNESS_OTHER);
      to->kind.val.harness.retry_after_ms = fh_lower_u64(error->retry_after_ms);
      break;
    case FH_ENV: to->kind.val.env = fault(error, FH_ENV_OTHER); break;
    case FH_BUDGET:
      to->kind.val.budget.limit = fault(error, FH_LIMIT_DURATION);
      given(error->whose, &to->kind.val.budget.whose);
      break;
    case FH_FLOW: to->kind.val.flow = fault(error, FH_FLOW_OTHER); break;
    default: break;
  }
  given(error->message, &to->message);
}

void exports_flow_describe(flow_json_t *ret) {
  static const char contract[] = "{\"contract\":\"0.1.0\"";
  const char *rest = fh_manifest;
  while (*rest == ' ') rest++;
  if (*rest == '{') rest++;
  while (*rest == ' ') rest++;
  const size_t length = strlen(rest), before = sizeof contract - 1;
  char *manifest = fh_alloc(before + 1 + length);
  memcpy(manifest, contract, before);
  manifest[before] = ',';
  memcpy(manifest + before + 1, rest, length);
  given((fh_text){ manifest, before + 1 + length }, ret);
}

bool exports_flow_run(flow_string_t *task, flow_json_t *ret, flow_error_t *err) {
  fh_json answer = { 0 };
  const fh_error *error = fh_main(fh_lift(task), &answer);
  if (error) {
    lower_error(error, err);
    return false;
  }
  given(answer.length ? fh_json_done(&answer) : (fh_text){ "null", 4 }, ret);
  return true;
}

/* The bindings pull in an object with the component's type by this name. The program that builds flows adds the type by itself. */
void __component_type_object_force_link_flow(void);
void __component_type_object_force_link_flow(void) {}
