/* Implements the registry of the served kinds; see registry.h. */
#include "engine/kinds/registry.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "kube/types/types.h"

#include <stdlib.h>
#include <string.h>

struct registry {
    VEC(const struct kube_kind *) built_in;
    const struct registry_hooks *hooks; /* or NULL */
    VEC(struct registry_definition *) definitions;
};

/* ---- Definitions ----------------------------------------------------------------------------- */

struct registry_definition *registry_definition_new(const char *name, size_t count)
{
    struct registry_definition *definition = mem_zalloc(sizeof(*definition));
    definition->arena = arena_new();
    definition->name = arena_strdup(definition->arena, name);
    definition->rows = ARENA_ARRAY(definition->arena, struct kube_kind, count);
    definition->count = count;
    definition->references = 1;
    for (size_t i = 0; i < count; i++)
        definition->rows[i].definition = definition;
    return definition;
}

void registry_definition_unref(struct registry_definition *definition)
{
    if (!definition || --definition->references > 0)
        return;
    arena_free(definition->arena);
    free(definition);
}

const struct kube_kind *registry_ref(const struct kube_kind *resource)
{
    if (resource->definition)
        resource->definition->references++;
    return resource;
}

void registry_unref(const struct kube_kind *resource)
{
    if (resource)
        registry_definition_unref(resource->definition);
}

static void on_arena_drops_definition(void *definition)
{
    registry_definition_unref(definition);
}

void registry_hold(struct arena *arena, const struct kube_kind *resource)
{
    if (resource->definition)
        arena_defer(arena, on_arena_drops_definition, registry_ref(resource)->definition);
}

/* ---- The registry ---------------------------------------------------------------------------- */

struct registry *registry_new(const struct kube_kind *const *kinds,
                              const struct registry_hooks *hooks)
{
    struct registry *registry = mem_zalloc(sizeof(*registry));
    const struct kube_kind *kind;
    registry->hooks = hooks;
    for (size_t i = 0; (kind = kube_kind_at(i)); i++)
        vec_push(&registry->built_in, kind);
    for (; kinds && *kinds; kinds++)
        registry_add(registry, *kinds);
    return registry;
}

static int compare_kinds(const struct kube_kind *a, const struct kube_kind *b)
{
    int order = strcmp(a->id.group, b->id.group);
    return order ? order : strcmp(a->id.plural, b->id.plural);
}

void registry_add(struct registry *registry, const struct kube_kind *kind)
{
    size_t place = 0;
    while (place < registry->built_in.count &&
           compare_kinds(registry->built_in.items[place], kind) < 0)
        place++;
    vec_push(&registry->built_in, kind);
    for (size_t i = registry->built_in.count - 1; i > place; i--)
        registry->built_in.items[i] = registry->built_in.items[i - 1];
    registry->built_in.items[place] = kind;
}

static const struct registry_hooks NO_HOOKS;

const struct registry_hooks *registry_hooks(const struct registry *registry,
                                            const struct kube_kind *kind)
{
    for (const struct registry_hooks *hooks = registry->hooks; hooks && hooks->kind; hooks++)
        if (hooks->kind == kind)
            return hooks;
    return &NO_HOOKS;
}

const struct registry_hooks *registry_common_hooks(const struct registry *registry)
{
    const struct registry_hooks *hooks = registry->hooks;
    while (hooks && hooks->kind)
        hooks++;
    return hooks ? hooks : &NO_HOOKS;
}

bool registry_is_built_in(const struct registry *registry, const char *storage)
{
    for (size_t i = 0; i < registry->built_in.count; i++)
        if (str_eq(registry->built_in.items[i]->storage, storage))
            return true;
    return false;
}

struct registry *registry_free(struct registry *registry)
{
    if (!registry)
        return NULL;
    for (size_t i = 0; i < registry->definitions.count; i++)
        registry_definition_unref(registry->definitions.items[i]);
    vec_release(&registry->definitions);
    vec_release(&registry->built_in);
    free(registry);
    return NULL;
}

void registry_put(struct registry *registry, struct registry_definition *definition)
{
    for (size_t i = 0; i < registry->definitions.count; i++) {
        struct registry_definition **place = &registry->definitions.items[i];
        if (str_eq((*place)->name, definition->name)) {
            registry_definition_unref(*place);
            *place = definition;
            return;
        }
    }
    vec_push(&registry->definitions, definition);
}

void registry_remove(struct registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->definitions.count; i++) {
        struct registry_definition *definition = registry->definitions.items[i];
        if (!str_eq(definition->name, name))
            continue;
        vec_remove(&registry->definitions, i);
        registry_definition_unref(definition);
        return;
    }
}

/* ---- Lookup ---------------------------------------------------------------------------------- */

/* An iterator over the rows in the order of registry_at(). Each step takes constant time. */
struct walk {
    size_t built_in, definition, row;
};

static const struct kube_kind *walk_next(const struct registry *registry, struct walk *walk)
{
    if (walk->built_in < registry->built_in.count)
        return registry->built_in.items[walk->built_in++];
    for (; walk->definition < registry->definitions.count; walk->definition++, walk->row = 0) {
        const struct registry_definition *definition =
            registry->definitions.items[walk->definition];
        if (walk->row < definition->count)
            return &definition->rows[walk->row++];
    }
    return NULL;
}

const struct kube_kind *registry_at(const struct registry *registry, size_t position)
{
    struct walk walk = {0};
    const struct kube_kind *resource;
    while ((resource = walk_next(registry, &walk)) && position > 0)
        position--;
    return resource;
}

const struct kube_kind *registry_find_version(const struct registry *registry, const char *group,
                                              const char *version, const char *plural,
                                              const struct kube_older_version **ret_older)
{
    struct walk walk = {0};
    const struct kube_kind *resource;
    while ((resource = walk_next(registry, &walk))) {
        if (!str_eq(resource->id.plural, plural) || !str_eq(resource->id.group, group))
            continue;
        *ret_older = NULL;
        if (str_eq(resource->id.version, version))
            return resource;
        for (const struct kube_older_version *older = resource->older; older && older->version;
             older++) {
            if (str_eq(older->version, version)) {
                *ret_older = older;
                return resource;
            }
        }
    }
    return NULL;
}

const struct kube_kind *registry_find(const struct registry *registry, const char *group,
                                      const char *version, const char *plural)
{
    const struct kube_older_version *older;
    const struct kube_kind *found = registry_find_version(registry, group, version, plural, &older);
    return found && !older ? found : NULL;
}

const struct kube_kind *registry_find_kind(const struct registry *registry, const char *api_version,
                                           const char *kind)
{
    struct walk walk = {0};
    const struct kube_kind *resource;
    while ((resource = walk_next(registry, &walk))) {
        if (!str_eq(resource->id.kind, kind))
            continue;
        if (str_eq(resource->api_version, api_version))
            return resource;
        for (const struct kube_older_version *older = resource->older; older && older->version;
             older++)
            if (str_eq(older->api_version, api_version))
                return resource;
    }
    return NULL;
}

const struct schema_object *registry_find_type(const void *registry, const char *api_version,
                                               const char *kind)
{
    const struct registry *self = registry;
    for (size_t i = 0; i < self->built_in.count; i++)
        if (str_eq(self->built_in.items[i]->api_version, api_version) &&
            str_eq(self->built_in.items[i]->id.kind, kind))
            return self->built_in.items[i]->schema;
    return types_find_message(api_version, kind);
}

bool registry_has_group_version(const struct registry *registry, const char *group,
                                const char *version)
{
    struct walk walk = {0};
    const struct kube_kind *resource;
    while ((resource = walk_next(registry, &walk)))
        if (str_eq(resource->id.group, group) && kube_kind_serves_version(resource, version))
            return true;
    return false;
}

/* ---- Groups and versions --------------------------------------------------------------------- */

struct names {
    VEC(const char *) list;
};

static void names_add_once(struct names *names, const char *name)
{
    for (size_t i = names->list.count; i > 0; i--)
        if (str_eq(names->list.items[i - 1], name))
            return;
    vec_push(&names->list, name);
}

static const char **names_take(struct names *names, struct arena *arena)
{
    const char **copy = ARENA_ARRAY(arena, const char *, names->list.count + 1);
    if (names->list.count > 0)
        memcpy(copy, names->list.items, names->list.count * sizeof(*copy));
    vec_release(&names->list);
    return copy;
}

const char **registry_groups(const struct registry *registry, struct arena *arena)
{
    struct names names = {0};
    struct walk walk = {0};
    const struct kube_kind *resource;
    while ((resource = walk_next(registry, &walk)))
        if (resource->id.group[0])
            names_add_once(&names, resource->id.group);
    return names_take(&names, arena);
}

/* A parsed version: "v1beta2" has stage 1, major 1 and minor 2. A name that is not a Kubernetes
 * version has stage -1. */
struct version_rank {
    int stage; /* 2: stable, 1: beta, 0: alpha */
    int64_t major, minor;
};

/* Parses the number at *at and moves *at behind the number. Returns false if there is no number,
 * or if it has a leading zero or more than 18 digits. */
static bool version_take_number(const char **at, int64_t *ret)
{
    size_t size = strspn(*at, "0123456789");
    char digits[19];
    if (size == 0 || size >= sizeof(digits) || **at == '0')
        return false;
    memcpy(digits, *at, size);
    digits[size] = '\0';
    *at += size;
    return str_to_int64(digits, 0, INT64_MAX, ret, NULL) == 0;
}

static struct version_rank version_rank(const char *version)
{
    static const char *const stages[] = {"alpha", "beta"};
    const struct version_rank other = {.stage = -1};
    struct version_rank rank = {.stage = 2};
    if (*version++ != 'v' || !version_take_number(&version, &rank.major))
        return other;
    for (int i = 0; i < 2 && *version; i++) {
        if (!str_has_prefix(version, stages[i]))
            continue;
        version += strlen(stages[i]);
        rank.stage = i;
        if (!version_take_number(&version, &rank.minor))
            return other;
        break;
    }
    return *version ? other : rank;
}

int registry_version_compare(const char *a, const char *b)
{
    const struct version_rank left = version_rank(a), right = version_rank(b);
    if (left.stage != right.stage)
        return left.stage > right.stage ? -1 : 1;
    if (left.major != right.major)
        return left.major > right.major ? -1 : 1;
    if (left.minor != right.minor)
        return left.minor > right.minor ? -1 : 1;
    return strcmp(a, b);
}

static int compare_versions(const void *a, const void *b)
{
    return registry_version_compare(*(const char *const *)a, *(const char *const *)b);
}

const char **registry_versions(const struct registry *registry, struct arena *arena,
                               const char *group)
{
    struct names names = {0};
    struct walk walk = {0};
    const struct kube_kind *resource;
    while ((resource = walk_next(registry, &walk))) {
        if (!str_eq(resource->id.group, group))
            continue;
        names_add_once(&names, resource->id.version);
        for (const struct kube_older_version *older = resource->older; older && older->version;
             older++)
            names_add_once(&names, older->version);
    }
    if (names.list.count > 1)
        qsort(names.list.items, names.list.count, sizeof(*names.list.items), compare_versions);
    return names_take(&names, arena);
}
