/* Parses the target of a proxied request and picks an endpoint; see http_proxy.h. The rules and
 * most messages are those of Kubernetes, but https is not supported. */
#include "engine/stream/http_proxy.h"

#include "base/str.h"

int http_proxy_name_parse(struct arena *arena, const char *text, const char *kind,
                          struct http_proxy_name *ret, struct err *err)
{
    size_t count;
    char **parts = str_split(arena, text, ':', &count);
    struct http_proxy_name name = {.scheme = "", .name = text, .port = ""};
    if (count == 2)
        name = (struct http_proxy_name){.scheme = "", .name = parts[0], .port = parts[1]};
    else if (count == 3)
        name = (struct http_proxy_name){.scheme = parts[0], .name = parts[1], .port = parts[2]};
    bool known = str_eq(name.scheme, "") || str_eq(name.scheme, "http");
    if (str_eq(name.scheme, "https"))
        return err_set(err, ERR_UNSUPPORTED,
                       "the proxy of this server does not support https: reach %s \"%.253s\" with "
                       "'kubectl port-forward'",
                       kind, name.name);
    if (count > 3 || !known || !name.name[0])
        return err_set(err, ERR_BAD_REQUEST, "invalid %s request \"%.253s\"", kind, text);
    *ret = name;
    return 0;
}

int http_proxy_pod_port(const struct json *pod, const char *text, int *ret, struct err *err)
{
    enum { FALLBACK = 80 };
    int64_t port = FALLBACK;
    if (text[0]) {
        if (str_to_int64(text, 1, 65535, &port, NULL) < 0)
            return err_set(err, ERR_BAD_REQUEST,
                           "invalid port \"%.63s\": the port of a pod is a number from 1 to 65535",
                           text);
        *ret = (int)port;
        return 0;
    }
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        const struct json *first = json_element(json_get(container, "ports"), 0);
        if (!first)
            continue;
        port = json_get_int(first, "containerPort", FALLBACK);
        break;
    }
    *ret = (int)port;
    return 0;
}

int http_proxy_service_port(const struct json *service, const char *text, const char **ret,
                            struct err *err)
{
    int64_t number;
    if (str_to_int64(text, INT64_MIN, INT64_MAX, &number, NULL) < 0) {
        *ret = text;
        return 0;
    }
    JSON_EACH (port, json_at(service, "spec", "ports", NULL)) {
        if (json_get_int(port, "port", 0) != number)
            continue;
        *ret = json_get_string(port, "name", "");
        return 0;
    }
    return err_set(err, ERR_UNAVAILABLE, "no service port %lld found for service \"%.253s\"",
                   (long long)number, json_get_string(json_get(service, "metadata"), "name", ""));
}

static const struct json *http_proxy_find_port(const struct json *subset, const char *name)
{
    JSON_EACH (port, json_get(subset, "ports")) {
        if (str_eq(json_get_string(port, "name", ""), name))
            return port;
    }
    return NULL;
}

int http_proxy_pick_endpoint(const struct json *subsets, const char *service, const char *port,
                             uint64_t seed, const struct json **ret_address, int *ret_port,
                             struct err *err)
{
    size_t count = json_count(subsets);
    for (size_t i = 0; i < count; i++) {
        const struct json *subset = json_element(subsets, (size_t)((seed + i) % count));
        const struct json *addresses = json_get(subset, "addresses");
        const struct json *found = http_proxy_find_port(subset, port);
        size_t address_count = json_count(addresses);
        if (!found || address_count == 0)
            continue;
        *ret_address = json_element(addresses, (size_t)(seed % address_count));
        *ret_port = (int)json_get_int(found, "port", 0);
        return 0;
    }
    return err_set(err, ERR_UNAVAILABLE, "no endpoints available for service \"%.253s\"", service);
}
