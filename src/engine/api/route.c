/* Parses the paths of requests; see route.h. */
#include "engine/api/route.h"

#include "base/mem.h"
#include "base/str.h"
#include "net/http/http.h"

#include <string.h>

enum { SEGMENTS_MAX = 8 }; /* /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE */

static int not_found(struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "the server could not find the requested resource");
}

/* Returns whether the segments after the version have the form namespaces/NAMESPACE/…. */
static bool inside_namespace(const char *const *rest, size_t count)
{
    return count >= 3 && str_eq(rest[0], "namespaces");
}

/* Returns -ERR_NOT_FOUND for an unknown subresource. For a subresource of Kubernetes in the table
 * `known`, returns -ERR_UNSUPPORTED with a message that says what to do instead. */
static int no_subresource(const struct kube_kind *resource, const char *sub, struct err *err)
{
    static const struct {
        const char *sub, *instead;
    } known[] = {
        {"ephemeralcontainers", "run what you need with 'kubectl exec'"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (str_eq(sub, known[i].sub))
            return err_set(err, ERR_UNSUPPORTED, "%s/%s is not supported by this server yet: %s",
                           resource->id.plural, sub, known[i].instead);
    return not_found(err);
}
#define no_subresource(...) ERR_IS_NEGATIVE(no_subresource(__VA_ARGS__))

/* Splits the path into segments. Returns their number, or 0 if the path cannot name a resource. */
static size_t route_split(struct arena *arena, const char *path, const char *segments[SEGMENTS_MAX])
{
    size_t count = 0;
    if (*path++ != '/')
        return 0;
    for (;;) {
        size_t size = strcspn(path, "/");
        if (count == SEGMENTS_MAX || size == 0 || size > ROUTE_SEGMENT_MAX)
            return 0;
        segments[count++] = arena_strndup(arena, path, size);
        path += size;
        if (*path == '\0')
            return count;
        path++;
    }
}

/* Sets *ret to the verb of the method. Returns -ERR_METHOD if the route does not allow the method.
 */
static int verb_of(struct arena *arena, const char *method, const char *query,
                   const struct route *route, enum kube_verb *ret, struct err *err)
{
    bool collection = route->name == NULL;
    /* HEAD is supported only for proxies, because no client uses it elsewhere. */
    if (str_eq(method, "GET") || (str_eq(method, "HEAD") && route->sub == SUB_PROXY)) {
        if (!collection)
            *ret = VERB_GET;
        else
            *ret = http_query_flag(query, "watch") ? VERB_WATCH : VERB_LIST;
        return 0;
    }
    if (str_eq(method, "POST") && (collection || route->sub != SUB_NONE)) {
        *ret = VERB_CREATE;
        return 0;
    }
    if (str_eq(method, "PUT") && !collection) {
        *ret = VERB_UPDATE;
        return 0;
    }
    if (str_eq(method, "PATCH") && !collection) {
        *ret = VERB_PATCH;
        return 0;
    }
    if (str_eq(method, "DELETE")) {
        *ret = collection ? VERB_DELETE_COLLECTION : VERB_DELETE;
        return 0;
    }
    return err_set(err, ERR_METHOD,
                   "the server does not allow this method on the requested resource");
}

/* Returns the text after the first segment of `path` and its slash. Returns NULL if the segment is
 * empty or is the last segment. */
static const char *skip_segment(const char *path)
{
    size_t size = strcspn(path, "/");
    return size && path[size] ? path + size + 1 : NULL;
}

const char *route_proxy_rest(const char *path)
{
    static const char base[] = "/api/v1/", namespaces[] = "namespaces/";
    if (!str_has_prefix(path, base))
        return NULL;
    const char *at = path + strlen(base);
    bool inside = str_has_prefix(at, namespaces);
    if (inside && !(at = skip_segment(at + strlen(namespaces))))
        return NULL;
    if (inside ? !str_has_prefix(at, "pods/") && !str_has_prefix(at, "services/")
               : !str_has_prefix(at, "nodes/"))
        return NULL;
    at = skip_segment(skip_segment(at));
    if (!at || !str_has_prefix(at, "proxy"))
        return NULL;
    at += strlen("proxy");
    return *at == '\0' || *at == '/' ? at : NULL;
}

bool route_is_resource(const char *path)
{
    size_t pieces = 0;
    for (const char *c = path; *c; c++)
        pieces += c[0] == '/' && c[1] != '\0' && c[1] != '/';
    return (str_has_prefix(path, "/api/") && pieces >= 3) ||
           (str_has_prefix(path, "/apis/") && pieces >= 4);
}

/* Reads "/api/VERSION/…" or "/apis/GROUP/VERSION/…". Returns the number of segments up to the
 * version, or 0 if the path has neither form. */
static size_t read_version(const char *const *segments, size_t count, const char **ret_group,
                           const char **ret_version)
{
    if (count >= 3 && str_eq(segments[0], "api")) {
        *ret_group = "";
        *ret_version = segments[1];
        return 2;
    }
    if (count >= 4 && str_eq(segments[0], "apis")) {
        *ret_group = segments[1];
        *ret_version = segments[2];
        return 3;
    }
    return 0;
}

/* Reads the segments after the version: resource, namespace, name and subresource. Does not set the
 * verb. */
static int read_target(const struct registry *registry, const char *group, const char *version,
                       const char *const *rest, size_t count, struct route *ret,
                       const struct kube_subresource **ret_sub, struct err *err)
{
    struct route route = {.namespace_ = ""};
    /* namespaces/NS/pods is a resource in a namespace, but namespaces/NS/status is a subresource of
     * the namespace. */
    if (inside_namespace(rest, count) &&
        registry_find_version(registry, group, version, rest[2], &route.older) != NULL) {
        route.namespace_ = rest[1];
        rest += 2;
        count -= 2;
    }
    route.resource = registry_find_version(registry, group, version, rest[0], &route.older);
    if (!route.resource || count > 3)
        return not_found(err);
    bool inside = route.namespace_[0] != '\0', namespaced = route.resource->id.namespaced;
    if ((inside && !namespaced) || (!inside && namespaced && count > 1))
        return not_found(err);
    *ret_sub = count == 3 ? kube_subresource(route.resource, rest[2]) : NULL;
    if (count == 3 && !*ret_sub)
        return no_subresource(route.resource, rest[2], err);
    route.name = count >= 2 ? rest[1] : NULL;
    route.sub = *ret_sub ? (*ret_sub)->id : SUB_NONE;
    *ret = route;
    return 0;
}

int route_parse(struct arena *arena, const struct registry *registry, const char *method,
                const char *path, const char *query, struct route *ret, struct err *err)
{
    const char *segments[SEGMENTS_MAX], *group, *version, *rest = route_proxy_rest(path);
    size_t count = route_split(
        arena, rest ? arena_strndup(arena, path, (size_t)(rest - path)) : path, segments);
    size_t head = read_version(segments, count, &group, &version);
    struct route route;
    const struct kube_subresource *sub;
    if (head == 0)
        return not_found(err);
    int result =
        read_target(registry, group, version, segments + head, count - head, &route, &sub, err);
    if (result == 0)
        result = verb_of(arena, method, query, &route, &route.verb, err);
    if (result < 0)
        return result;
    unsigned allowed = sub ? sub->verbs : route.resource->verbs;
    /* A request for all namespaces can only list and watch. */
    if (route.resource->id.namespaced && !route.namespace_[0])
        allowed &= VERB_LIST | VERB_WATCH;
    if (!(allowed & route.verb))
        return err_set(err, ERR_METHOD,
                       "the server does not allow this method on the requested resource");
    route.rest = rest ? arena_strdup(arena, rest) : "";
    *ret = route;
    return 0;
}
