/* Runs a template with retries: one node of type Retry, and below it one node per attempt. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"

enum { ATTEMPTS_MAX = 1000, FACTOR_DEFAULT = 1 };

/* The template's retryStrategy. */
struct strategy {
    int64_t limit; /* maximum number of attempts after the first attempt; -1: not set */
    bool on_failed, on_error;
    int64_t wait_ms;       /* the delay before the first retry */
    int64_t factor;        /* each further delay is the previous delay times this */
    int64_t wait_total_ms; /* no attempt starts later than this after the first; 0: no limit */
};

static int64_t read_int(const struct json *value, int64_t fallback)
{
    int64_t number = fallback;

    if (value && value->type == JSON_INT)
        return value->integer;
    if (json_text(value) && str_to_int64(json_text(value), 0, INT32_MAX, &number, NULL) < 0)
        return fallback;
    return number;
}

static struct strategy read_strategy(const struct json *template_)
{
    const struct json *json = json_get(template_, "retryStrategy");
    const struct json *backoff = json_get(json, "backoff");
    const char *policy = json_get_string(json, "retryPolicy", "OnFailure");
    struct strategy strategy = {
        .limit = read_int(json_get(json, "limit"), -1),
        .on_failed = str_eq(policy, "Always") || str_eq(policy, "OnFailure"),
        .on_error = !str_eq(policy, "OnFailure"),
        .factor = read_int(json_get(backoff, "factor"), FACTOR_DEFAULT),
    };

    if (json_get(backoff, "duration"))
        (void)workflow_parse_duration(json_get(backoff, "duration"), &strategy.wait_ms, NULL);
    if (json_get(backoff, "maxDuration"))
        (void)workflow_parse_duration(json_get(backoff, "maxDuration"), &strategy.wait_total_ms,
                                      NULL);
    return strategy;
}

static struct json *find_attempt(struct workflow_pass *pass, const struct workflow_call *call,
                                 int attempt)
{
    return workflow_node_find(&pass->nodes,
                              arena_printf(pass->arena, "%s(%d)", call->name, attempt));
}

static struct json *run_attempt(struct workflow_pass *pass, const struct workflow_call *call,
                                const struct json *inputs, struct json *retry, int attempt)
{
    struct workflow_call attempt_call = *call;

    attempt_call.name = arena_printf(pass->arena, "%s(%d)", call->name, attempt);
    attempt_call.display = arena_printf(pass->arena, "%s(%d)", call->display, attempt);
    attempt_call.inputs = inputs ? inputs : json_array(pass->arena);
    attempt_call.attempt = attempt;
    struct json *node = workflow_call_run(pass, &attempt_call);
    if (node)
        workflow_node_add_child(&pass->nodes, retry, node);
    return node;
}

/* Returns the delay in ms between the end of an attempt (the first is 0) and the next attempt. */
static int64_t wait_after(const struct strategy *strategy, int attempt)
{
    int64_t wait = strategy->wait_ms;

    for (int i = 0; i < attempt && wait < INT32_MAX; i++)
        wait *= strategy->factor > 0 ? strategy->factor : 1;
    return wait;
}

/* Ends the retry node with the phase and outputs of the latest attempt. `why` may be NULL. */
static void end_retry(struct workflow_pass *pass, struct json *retry, const struct json *last,
                      const char *why)
{
    const char *message = json_get_string(last, "message", NULL);

    if (why)
        message = message ? arena_printf(pass->arena, "%s: %s", why, message) : why;
    if (json_get(last, "outputs"))
        json_set(pass->arena, retry, "outputs", json_clone(pass->arena, json_get(last, "outputs")));
    workflow_pass_set(pass, retry, workflow_node_phase(last), message);
}

/* Decides what follows after the latest attempt has failed: ends the retry node, plans a pass after
 * the delay, or returns true if another attempt is due now. */
static bool decide_again(struct workflow_pass *pass, const struct strategy *strategy,
                         struct json *retry, const struct json *last, int attempt)
{
    enum workflow_phase phase = workflow_node_phase(last);
    int64_t begun = workflow_node_time(retry, "startedAt");
    int64_t due = workflow_node_time(last, "finishedAt") + wait_after(strategy, attempt);

    if ((phase == WORKFLOW_FAILED && !strategy->on_failed) ||
        (phase == WORKFLOW_ERROR && !strategy->on_error)) {
        end_retry(pass, retry, last, NULL);
    } else if ((strategy->limit >= 0 && attempt >= strategy->limit) ||
               attempt + 1 >= ATTEMPTS_MAX) {
        end_retry(pass, retry, last, "No more retries left");
    } else if (strategy->wait_total_ms > 0 && due > begun + strategy->wait_total_ms) {
        end_retry(pass, retry, last, "Backoff would exceed max duration limit");
    } else if (pass->held) {
        return false;
    } else if (due > pass->now_ms) {
        workflow_node_set(&pass->nodes, retry, WORKFLOW_RUNNING,
                          arena_printf(pass->arena, "Backoff for %lld seconds",
                                       (long long)wait_after(strategy, attempt) / 1000));
        workflow_plan_requeue(pass->plan, due - pass->now_ms);
    } else {
        return true;
    }
    return false;
}

struct json *workflow_run_retry(struct workflow_pass *pass, struct workflow_call *call,
                                const struct json *inputs)
{
    struct strategy strategy = read_strategy(call->template_);
    struct json *retry = workflow_node_find(&pass->nodes, call->name), *last;
    int attempt = 0;

    if (!retry && pass->held)
        return NULL;
    retry = workflow_call_begin(pass, call, "Retry", WORKFLOW_RUNNING, inputs);
    while (find_attempt(pass, call, attempt + 1))
        attempt++;
    for (;; attempt++) {
        last = run_attempt(pass, call, inputs, retry, attempt);
        if (!workflow_node_is_final(last)) {
            workflow_node_set(&pass->nodes, retry, WORKFLOW_RUNNING, NULL);
            return retry;
        }
        enum workflow_phase phase = workflow_node_phase(last);

        if (phase != WORKFLOW_FAILED && phase != WORKFLOW_ERROR) {
            end_retry(pass, retry, last, NULL);
            return retry;
        }
        if (!decide_again(pass, &strategy, retry, last, attempt))
            return retry;
    }
}
