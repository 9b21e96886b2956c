/* Agents: who they are, conversations of theirs, many turns by one call. */

#include <string.h>

#include "internal.h"

#define SELF(agent) ((AGENTS(borrow_agent_t)){ (agent).handle })

const fh_error *fh_get_agent_opt(const char *role, fh_agent *agent) {
  flow_string_t name = fh_lower(role);
  AGENTS(option_own_agent_t) found;
  AGENTS(error_t) error;
  if (!AGENTS(get_agent)(&name, &found, &error)) return fh_lift_error(&error);
  agent->handle = found.is_some ? found.val.__handle : 0;
  return NULL;
}

const fh_error *fh_get_agent(const char *role, fh_agent *agent) {
  fh_agent found;
  FH_TRY(fh_get_agent_opt(role, &found));
  if (!found.handle) return fh_make_error(FH_REQUIREMENT, fh_format("no agent fills the role %s", role));
  *agent = found;
  return NULL;
}

void fh_agent_drop(fh_agent agent) {
  AGENTS(agent_drop_own)((AGENTS(own_agent_t)){ agent.handle });
}

#define FACT(what)                           \
  fh_text fh_agent_##what(fh_agent agent) {  \
    flow_string_t text;                      \
    AGENTS(method_agent_##what)(SELF(agent), &text); \
    return fh_lift(&text);                   \
  }
FACT(role)
FACT(harness)
FACT(model)
FACT(effort)

fh_texts fh_agent_capabilities(fh_agent agent) {
  flow_list_string_t capabilities;
  AGENTS(method_agent_capabilities)(SELF(agent), &capabilities);
  return fh_lift_texts(&capabilities);
}

bool fh_agent_can(fh_agent agent, const char *capability) {
  const fh_texts all = fh_agent_capabilities(agent);
  for (size_t nth = 0; nth < all.count; nth++)
    if (fh_text_is(all.items[nth], capability)) return true;
  return false;
}

/* A place as the contract takes it: what is not said is NULL. */
typedef struct rooted {
  AGENTS(borrow_env_t) env, *at;
  flow_string_t path, *directory;
  AGENTS(when_busy_t) when_busy;
} rooted;

static void root(const fh_place *place, rooted *to) {
  static const fh_place workspace;
  if (!place) place = &workspace;
  to->env.__handle = place->at.handle;
  to->at = place->at.handle ? &to->env : NULL;
  to->path = fh_lower(place->directory);
  to->directory = place->directory ? &to->path : NULL;
  to->when_busy = place->when_busy == FH_QUEUE;
}

const fh_error *fh_agent_spawn(fh_agent agent, const fh_place *place, fh_session *session) {
  rooted at;
  root(place, &at);
  AGENTS(own_session_t) opened;
  AGENTS(error_t) error;
  if (!AGENTS(method_agent_spawn)(SELF(agent), at.at, at.directory, at.when_busy, &opened, &error)) return fh_lift_error(&error);
  session->handle = opened.__handle;
  return NULL;
}

const fh_error *fh_agent_spawn_many(fh_agent agent, uint32_t count, const fh_place *place, fh_session *sessions) {
  rooted at;
  root(place, &at);
  AGENTS(list_own_session_t) opened;
  AGENTS(error_t) error;
  if (!AGENTS(method_agent_spawn_many)(SELF(agent), count, at.at, at.directory, at.when_busy, &opened, &error))
    return fh_lift_error(&error);
  for (size_t nth = 0; nth < opened.len && nth < count; nth++) sessions[nth].handle = opened.ptr[nth].__handle;
  AGENTS(list_own_session_free)(&opened);
  return NULL;
}

const fh_error *fh_agent_start(fh_agent agent, const char *prompt, const fh_place *place, const fh_turn_options *options,
                               fh_turn *turn) {
  fh_session session;
  FH_TRY(fh_agent_spawn(agent, place, &session));
  const fh_error *error = fh_session_start(session, prompt, options, turn);
  /* The turn goes on while its own handle is held, and the conversation is closed after it. */
  fh_session_drop(session);
  return error;
}

const fh_error *fh_agent_run(fh_agent agent, const char *prompt, const fh_place *place, const fh_turn_options *options,
                             fh_answer *answer) {
  fh_turn turn;
  FH_TRY(fh_agent_start(agent, prompt, place, options, &turn));
  const fh_error *error = fh_turn_wait(turn, answer);
  fh_turn_drop(turn);
  return error;
}

const fh_error *fh_agent_batch(fh_agent agent, const char *const *prompts, size_t count, const fh_batch_options *options,
                               fh_outcome *outcomes) {
  static const fh_batch_options as_it_comes;
  if (!options) options = &as_it_comes;
  flow_string_t *words = fh_alloc(count * sizeof *words);
  for (size_t nth = 0; nth < count; nth++) words[nth] = fh_lower(prompts[nth]);
  AGENTS(method_agent_batch_args_t) args = {
    .self = SELF(agent),
    .prompts = { words, count },
    .at = { options->at.handle != 0, { options->at.handle } },
    .options = {
      .at_once = { options->at_once.there, options->at_once.value },
      .suppress = options->suppress,
      .turn = fh_lower_turn_options(&options->turn),
    },
  };
  AGENTS(result_list_result_answer_error_error_t) result;
  fh_await(AGENTS(method_agent_batch)(&args, &result));
  FH_CHECK(result);
  memset(outcomes, 0, count * sizeof *outcomes);
  for (size_t nth = 0; nth < result.val.ok.len && nth < count; nth++) {
    AGENTS(result_answer_error_t) *one = &result.val.ok.ptr[nth];
    outcomes[nth].begun = true;
    if (one->is_err) {
      outcomes[nth].error = fh_lift_error(&one->val.err);
    } else {
      outcomes[nth].answer = fh_lift_answer(&one->val.ok);
    }
    /* What was in it is lifted: only the list is left to be freed. */
    memset(one, 0, sizeof *one);
  }
  AGENTS(list_result_answer_error_free)(&result.val.ok);
  return NULL;
}

const fh_error *fh_agent_pursue(fh_agent agent, const char *objective, uint32_t rounds, fh_env at, const fh_turn_options *options,
                                fh_turn *turn) {
  flow_string_t words = fh_lower(objective);
  AGENTS(borrow_env_t) env = { at.handle };
  AGENTS(turn_options_t) lowered = fh_lower_turn_options(options);
  AGENTS(own_turn_t) started;
  AGENTS(error_t) error;
  if (!AGENTS(method_agent_pursue)(SELF(agent), &words, at.handle ? &env : NULL, rounds, &lowered, &started, &error))
    return fh_lift_error(&error);
  turn->handle = started.__handle;
  return NULL;
}

const fh_error *fh_agent_derive(fh_agent agent, const fh_permission *permission, const char *model, const char *effort,
                                fh_agent *derived) {
  AGENTS(permission_t) narrowed = { 0 };
  if (permission) {
    narrowed = (AGENTS(permission_t)){
      .workdir = (uint8_t)permission->workdir,
      .home = (uint8_t)permission->home,
      .system = (uint8_t)permission->system,
      .network = permission->network,
    };
  }
  flow_string_t other_model = fh_lower(model), other_effort = fh_lower(effort);
  AGENTS(own_agent_t) made;
  AGENTS(error_t) error;
  if (!AGENTS(method_agent_derive)(SELF(agent), permission ? &narrowed : NULL, model ? &other_model : NULL,
                                   effort ? &other_effort : NULL, &made, &error))
    return fh_lift_error(&error);
  derived->handle = made.__handle;
  return NULL;
}

const fh_error *fh_agent_watch(fh_agent agent, const fh_moment *moments, size_t count, int64_t patience_ms,
                               fh_unanswered unanswered, fh_watch *watch) {
  AGENTS(moment_t) *lowered = fh_alloc(count * sizeof *lowered);
  for (size_t nth = 0; nth < count; nth++) lowered[nth] = (uint8_t)moments[nth];
  AGENTS(list_moment_t) list = { lowered, count };
  uint64_t patience = patience_ms >= 0 ? (uint64_t)patience_ms : 0;
  AGENTS(own_watch_t) opened;
  AGENTS(error_t) error;
  if (!AGENTS(method_agent_watch)(SELF(agent), &list, patience_ms >= 0 ? &patience : NULL, unanswered == FH_BLOCK, &opened, &error))
    return fh_lift_error(&error);
  watch->handle = opened.__handle;
  return NULL;
}
