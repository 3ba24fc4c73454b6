/* Validates the probes and lifecycle hooks of a container; see validate.h. */
#include "kube/kinds/pod/validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/rule.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static void validate_http(struct field_errors *errors, const struct json *http, const char *field)
{
    static const char *const schemes[] = {"HTTP", "HTTPS", NULL};
    if (json_get_string(http, "path", "/")[0] == '\0')
        field_required(errors, field_path(errors, "%s.path", field), NULL);
    rule_port_or_name(errors, json_get(http, "port"), field_path(errors, "%s.port", field));
    rule_word(errors, http, "scheme", schemes, field);
    JSON_EACH (header, json_get(http, "httpHeaders")) {
        const char *name = json_get_string(header, "name", "");
        if (name[0] == '\0' || name[strspn(name, LETTERS "0123456789-")] != '\0')
            field_invalid(errors, field_path(errors, "%s.httpHeaders", field),
                          json_string(errors->arena, name),
                          "a valid HTTP header must consist of alphanumeric characters or '-' "
                          "(e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')");
    }
}

/* Validates the handler of a probe or hook, which must have exactly one action. */
static void validate_handler(struct field_errors *errors, const struct json *handler,
                             const char *field)
{
    static const char *const types[] = {"exec", "httpGet", "tcpSocket", "grpc", "sleep"};
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        const struct json *action = json_get(handler, types[i]);
        const char *path = field_path(errors, "%s.%s", field, types[i]);
        if (!rule_has(handler, types[i]))
            continue;
        if (count++ > 0) {
            field_forbidden(errors, path, "may not specify more than 1 handler type");
            continue;
        }
        if (str_eq(types[i], "exec") && json_count(json_get(action, "command")) == 0)
            field_required(errors, field_path(errors, "%s.command", path), NULL);
        else if (str_eq(types[i], "httpGet"))
            validate_http(errors, action, path);
        else if (str_eq(types[i], "tcpSocket"))
            rule_port_or_name(errors, json_get(action, "port"),
                              field_path(errors, "%s.port", path));
        else if (str_eq(types[i], "grpc"))
            rule_port(errors, json_get(action, "port"), field_path(errors, "%s.port", path));
    }
    if (count == 0)
        field_required(errors, field, "must specify a handler type");
}

/* Validates the grace period after a failed probe. A readiness probe must not have one, because its
 * failure does not end the container. */
static void validate_probe_grace(struct field_errors *errors, const struct json *probe,
                                 bool readiness, const char *probe_field)
{
    const struct json *grace = json_get(probe, "terminationGracePeriodSeconds");
    const char *field = field_path(errors, "%s.terminationGracePeriodSeconds", probe_field);
    if (!grace || grace->type != JSON_INT)
        return;
    if (grace->integer <= 0)
        field_invalid(errors, field, grace, "must be greater than 0");
    if (readiness)
        field_invalid(errors, field, grace, "must not be set for readinessProbes");
}

static void validate_probe(struct field_errors *errors, const struct json *container,
                           const char *name, const char *container_field)
{
    static const char *const numbers[] = {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                          "successThreshold", "failureThreshold"};
    const struct json *probe = json_get(container, name);
    const char *field = field_path(errors, "%s.%s", container_field, name);
    if (!rule_has(container, name))
        return;
    validate_handler(errors, probe, field);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        rule_nonnegative(errors, probe, numbers[i], field);
    if (!str_eq(name, "readinessProbe") && json_get_int(probe, "successThreshold", 1) != 1)
        field_invalid(errors, field_path(errors, "%s.successThreshold", field),
                      json_get(probe, "successThreshold"), "must be 1");
    validate_probe_grace(errors, probe, str_eq(name, "readinessProbe"), field);
}

void kube_pod_validate_probes(struct pod_scope *scope, const struct json *container, bool init,
                              const char *field)
{
    static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};
    static const char *const hooks[] = {"postStart", "preStop"};
    struct field_errors *errors = scope->errors;
    bool sidecar = init && str_eq(json_get_string(container, "restartPolicy", ""), "Always");
    const struct json *lifecycle = json_get(container, "lifecycle");
    for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
        if (init && !sidecar && rule_has(container, probes[i]))
            field_invalid(errors, field_path(errors, "%s.%s", field, probes[i]),
                          json_get(container, probes[i]), "must not be set for init containers");
        else
            validate_probe(errors, container, probes[i], field);
    }
    if (init && !sidecar && rule_has(container, "lifecycle")) {
        field_invalid(errors, field_path(errors, "%s.lifecycle", field), lifecycle,
                      "must not be set for init containers");
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
        if (rule_has(lifecycle, hooks[i]))
            validate_handler(errors, json_get(lifecycle, hooks[i]),
                             field_path(errors, "%s.lifecycle.%s", field, hooks[i]));
}
