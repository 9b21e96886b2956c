/* Waiting: for a call, for several things, for many that are started in turn. */

#include <string.h>

#include "internal.h"

void fh_await(flow_subtask_status_t status) {
  if (FLOW_SUBTASK_STATE(status) == FLOW_SUBTASK_RETURNED) return;
  /* One set serves all calls: the flow waits for one at a time. */
  static flow_waitable_set_t set;
  if (!set) set = flow_waitable_set_new();
  const flow_subtask_t task = FLOW_SUBTASK_HANDLE(status);
  flow_waitable_join(task, set);
  flow_event_t event;
  do {
    flow_waitable_set_wait(set, &event);
  } while (event.event != FLOW_EVENT_SUBTASK || event.waitable != task || event.code != FLOW_SUBTASK_RETURNED);
  flow_waitable_join(task, 0);
  flow_subtask_drop(task);
}

size_t fh_wait_any(const fh_awaited *on, size_t count, int64_t timeout_ms, uint32_t *ready) {
  const fh_memory mark = fh_mark();
  WAITING(awaited_t) *lowered = fh_alloc(count * sizeof *lowered);
  for (size_t nth = 0; nth < count; nth++) {
    /* The contract's cases are in the order of ours, and each is a handle. */
    lowered[nth].tag = (uint8_t)on[nth].kind;
    lowered[nth].val.turn.__handle = on[nth].handle;
  }
  flow_list_u32_t found = { NULL, 0 };
  fh_await(WAITING(wait_any)((WAITING(list_awaited_t)){ lowered, count }, fh_lower_ms(timeout_ms), &found));
  const size_t length = found.len;
  if (length) memcpy(ready, found.ptr, length * sizeof *ready);
  flow_list_u32_free(&found);
  fh_release(mark);
  return length;
}

static void cancel(fh_awaited one) {
  switch (one.kind) {
    case FH_AWAIT_TURN: fh_turn_cancel((fh_turn){ one.handle }); break;
    case FH_AWAIT_PROCESS: fh_process_cancel((fh_process){ one.handle }); break;
    case FH_AWAIT_BRANCH: fh_branch_cancel((fh_branch){ one.handle }); break;
    case FH_AWAIT_WATCH: break;
  }
}

/* What it came to; it is dropped. */
static const fh_error *land(fh_awaited one, fh_outcome *outcome) {
  const fh_error *error = NULL;
  switch (one.kind) {
    case FH_AWAIT_TURN:
      error = fh_turn_wait((fh_turn){ one.handle }, &outcome->answer);
      fh_turn_drop((fh_turn){ one.handle });
      break;
    case FH_AWAIT_PROCESS:
      error = fh_process_wait((fh_process){ one.handle }, &outcome->output);
      fh_process_drop((fh_process){ one.handle });
      break;
    case FH_AWAIT_BRANCH:
      error = fh_branch_wait((fh_branch){ one.handle }, &outcome->result);
      fh_branch_drop((fh_branch){ one.handle });
      break;
    case FH_AWAIT_WATCH: error = fh_failed("a watch is waited for by fh_watch_next, not gathered"); break;
  }
  return outcome->error = error;
}

static const fh_error *gather(size_t count, size_t width, fh_starter *start, void *with, fh_outcome *outcomes, bool together) {
  if (width == 0 || width > count) width = count;
  memset(outcomes, 0, count * sizeof *outcomes);
  fh_awaited *going = fh_alloc(width * sizeof *going);
  size_t *places = fh_alloc(width * sizeof *places);
  uint32_t *ready = fh_alloc(width * sizeof *ready);
  const fh_error *first = NULL;
  for (size_t next = 0, under_way = 0; under_way || (next < count && !(together && first));) {
    const fh_error *before = first;
    while (under_way < width && next < count && !(together && first)) {
      fh_outcome *outcome = &outcomes[next];
      outcome->error = start(next, with, &going[under_way]);
      if (!outcome->error) {
        outcome->begun = true;
        places[under_way++] = next;
      } else if (!first) {
        first = outcome->error;
      }
      next++;
    }
    const size_t landed = fh_wait_any(going, under_way, FH_FOREVER, ready);
    for (size_t nth = 0; nth < landed; nth++) {
      const fh_error *error = land(going[ready[nth]], &outcomes[places[ready[nth]]]);
      if (error && !first) first = error;
    }
    /* From behind, so that what is moved forward is no other that has landed. */
    for (size_t nth = landed; nth-- > 0;) {
      const uint32_t gone = ready[nth];
      under_way--;
      memmove(going + gone, going + gone + 1, (under_way - gone) * sizeof *going);
      memmove(places + gone, places + gone + 1, (under_way - gone) * sizeof *places);
    }
    if (together && first && first != before)
      for (size_t nth = 0; nth < under_way; nth++) cancel(going[nth]);
  }
  return first;
}

void fh_gather(size_t count, size_t width, fh_starter *start, void *with, fh_outcome *outcomes) {
  gather(count, width, start, with, outcomes, false);
}

const fh_error *fh_group(size_t count, size_t width, fh_starter *start, void *with, fh_outcome *outcomes) {
  return gather(count, width, start, with, outcomes, true);
}
