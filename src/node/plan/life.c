/* Plans probes, hooks, restart rules and deadlines for a pod's supervisor; see plan/internal.h.
 * Names of ports become numbers here. */
#include "node/plan/internal.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

enum { SECONDS_MAX = 1 << 30 };

/* Returns a number of seconds in the manifest as milliseconds. `seconds` is the default. Values out
 * of range are clamped. */
static int64_t life_milliseconds(const struct json *object, const char *name, int64_t seconds)
{
    int64_t value = json_get_int(object, name, seconds);
    return (value < 0 ? 0 : value > SECONDS_MAX ? SECONDS_MAX : value) * 1000;
}

void plan_pod_life(struct planner *p)
{
    const struct json *pod = p->input->pod, *spec = json_get(pod, "spec");
    int64_t deadline_s = json_get_int(spec, "activeDeadlineSeconds", 0);
    p->spec->identity = arena_printf(p->arena, "%s_%s(%s)", kube_meta_name(pod),
                                     kube_meta_namespace(pod), kube_meta_uid(pod));
    p->spec->grace_ms =
        life_milliseconds(spec, "terminationGracePeriodSeconds", POD_GRACE_DEFAULT_MS / 1000);
    if (deadline_s > 0)
        p->spec->deadline_ms = moment_after(p->input->started_ms, deadline_s);
    p->spec->prober = p->input->prober;
}

/* Finds the port of a probe or hook, given as a number, as digits, or as the name of one of the
 * container's ports. */
static int life_find_port(struct planner *p, const struct json *container,
                          const struct json *action, int64_t *ret)
{
    const char *name = json_get_string(action, "port", NULL);
    int64_t number = json_get_int(action, "port", 0);
    JSON_EACH (row, json_get(container, "ports")) {
        if (name && str_eq(json_get_string(row, "name", ""), name))
            number = json_get_int(row, "containerPort", 0);
    }
    if (name && number == 0)
        (void)str_to_int64(name, 1, 65535, &number, NULL);
    if (!name && (number < 1 || number > 65535))
        return err_set(p->err, ERR_INVALID, "port %lld is not between 1 and 65535",
                       (long long)number);
    if (number < 1 || number > 65535)
        return err_set(p->err, ERR_INVALID, "no port of container '%s' is called '%s'",
                       json_get_string(container, "name", ""), name);
    *ret = number;
    return 0;
}

static void add_headers(struct planner *p, const struct json *list, struct pod_strings *ret)
{
    JSON_EACH (row, list) {
        const char *name = json_get_string(row, "name", "");
        const char *value = json_get_string(row, "value", "");
        /* A line end in a value would begin another header, so such a header is skipped. */
        if (name[0] && !strpbrk(name, "\r\n:") && !strpbrk(value, "\r\n"))
            pod_strings_add(p->arena, ret, arena_printf(p->arena, "%s: %s", name, value));
    }
}

static const char *life_host(const struct planner *p, const struct json *action)
{
    const char *host = json_get_string(action, "host", "");
    return host[0] ? host : p->input->address;
}

static int plan_handler(struct planner *p, const struct json *container, const struct json *object,
                        struct pod_handler *ret)
{
    const struct json *exec = json_get(object, "exec"), *http = json_get(object, "httpGet");
    const struct json *tcp = json_get(object, "tcpSocket"), *grpc = json_get(object, "grpc");
    const struct json *sleep = json_get(object, "sleep");
    if (exec) {
        ret->kind = HANDLER_EXEC;
        JSON_EACH (word, json_get(exec, "command")) {
            if (json_text(word))
                pod_strings_add(p->arena, &ret->words, json_text(word));
        }
        return ret->words.count ? 0
                                : err_set(p->err, ERR_INVALID, "the exec handler has no command");
    }
    if (sleep) {
        ret->kind = HANDLER_SLEEP;
        ret->sleep_ms = life_milliseconds(sleep, "seconds", 0);
        return 0;
    }
    if (http) {
        ret->kind = HANDLER_HTTP;
        ret->path = json_get_string(http, "path", "/");
        ret->tls = str_eq(json_get_string(http, "scheme", ""), "HTTPS");
        add_headers(p, json_get(http, "httpHeaders"), &ret->headers);
    } else if (tcp) {
        ret->kind = HANDLER_TCP;
    } else if (grpc) {
        ret->kind = HANDLER_GRPC;
        ret->service = json_get_string(grpc, "service", "");
    } else {
        return err_set(p->err, ERR_INVALID,
                       "the handler has no action such as exec, httpGet or tcpSocket");
    }
    const struct json *action = http ? http : tcp ? tcp : grpc;
    ret->host = life_host(p, action);
    return life_find_port(p, container, action, &ret->port);
}

static int64_t at_least_one(const struct json *probe, const char *name, int64_t fallback)
{
    int64_t value = json_get_int(probe, name, fallback);
    return value < 1 ? fallback : value;
}

static int plan_probes(struct planner *p, const struct json *container, struct pod_life *life)
{
    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        const char *name = arena_printf(p->arena, "%sProbe", probe_kind_name(kind));
        const struct json *probe = json_get(container, name);
        if (!probe || probe->type != JSON_OBJECT)
            continue;
        life->settings[kind] = (struct probe_settings){
            .given = true,
            .initial_delay_ms = life_milliseconds(probe, "initialDelaySeconds", 0),
            .period_ms = at_least_one(probe, "periodSeconds", 10) * 1000,
            .timeout_ms = at_least_one(probe, "timeoutSeconds", 1) * 1000,
            .success_threshold = at_least_one(probe, "successThreshold", 1),
            .failure_threshold = at_least_one(probe, "failureThreshold", 3),
            .grace_ms = json_get(probe, "terminationGracePeriodSeconds")
                            ? life_milliseconds(probe, "terminationGracePeriodSeconds", 0)
                            : -1,
        };
        if (plan_handler(p, container, probe, &life->probes[kind]) < 0)
            return err_wrap(p->err, "%s", name);
    }
    return 0;
}

static int plan_hook(struct planner *p, const struct json *container, const char *name,
                     struct pod_handler *ret)
{
    const struct json *hook = json_at(container, "lifecycle", name, NULL);
    if (!hook || hook->type != JSON_OBJECT)
        return 0;
    return plan_handler(p, container, hook, ret) < 0 ? err_wrap(p->err, "lifecycle.%s", name) : 0;
}

/* Converts each rule to its text form, such as "In 3 42", and parses it (pod/restart.h). */
static int plan_rules(struct planner *p, const struct json *container, struct pod_container *ret)
{
    JSON_EACH (rule, json_get(container, "restartPolicyRules")) {
        const struct json *exits = json_get(rule, "exitCodes");
        const char *text = json_get_string(exits, "operator", "");
        JSON_EACH (code, json_get(exits, "values")) {
            if (code->type == JSON_INT)
                text = arena_printf(p->arena, "%s %lld", text, (long long)code->integer);
        }
        struct restart_rule parsed;
        int result = restart_rule_parse(p->arena, text, &parsed, p->err);
        if (result < 0)
            return err_wrap(p->err, "restartPolicyRules");
        *pod_container_add_rule(p->arena, ret) = parsed;
    }
    return 0;
}

int plan_life(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const char *policy = json_get_string(container, "restartPolicy", "");
    int result;
    ret->image = json_get_string(container, "image", NULL);
    ret->message_from_log =
        str_eq(json_get_string(container, "terminationMessagePolicy", ""), "FallbackToLogsOnError");
    enum restart_policy parsed;
    if (policy[0]) {
        if ((result = restart_policy_parse(policy, &parsed, p->err)) < 0)
            return result;
        ret->restart = (int)parsed;
        if ((result = plan_rules(p, container, ret)) < 0)
            return result;
    }
    const char *stop = json_get_string(json_get(container, "lifecycle"), "stopSignal", "");
    if (stop[0]) /* it takes precedence over the image's stop signal */
        ret->stop_signal = plan_signal_named(stop);
    ret->sidecar = ret->init && str_eq(policy, "Always");
    if ((result = plan_probes(p, container, &ret->life)) < 0 ||
        (result = plan_hook(p, container, "postStart", &ret->life.post_start)) < 0)
        return result;
    return plan_hook(p, container, "preStop", &ret->life.pre_stop);
}
