/* Updates the registry when definitions in the store change; see definitions.h. */
#include "engine/crd/definitions.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/crd/definition.h"
#include "engine/stored/stored.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

static const char PREFIX[] = "/" DEFINITION_STORAGE "/";

struct definitions {
    struct registry *registry;
    definitions_retired *on_retired;
    void *context;
    struct store_watch *watch;
};

/* Stops serving the resource. */
static void definitions_retire(struct definitions *definitions, const char *name)
{
    registry_remove(definitions->registry, name);
    definitions->on_retired(definitions->context, name);
}

/* Serves the resource of the stored definition, or stops serving the resource if the definition
 * cannot be read or has no rows (definition_rows()). The definition needs no validation, because it
 * was validated when it was written. */
static void definitions_update(struct definitions *definitions, struct store_object *stored)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *name = stored->key + strlen(PREFIX);
    struct json *object;
    struct registry_definition *rows = NULL;
    if (registry_is_built_in(definitions->registry, name))
        return; /* for example Kubeflow's definition of TFJob: the built-in kind is served */
    if (stored_read(arena, stored, &object, NULL) == 0)
        rows = definition_rows(object);
    if (rows)
        registry_put(definitions->registry, rows);
    else
        definitions_retire(definitions, name);
}

static void on_definition_event(void *context, const struct store_event *event)
{
    struct definitions *definitions = context;
    const char *name = event->object->key + strlen(PREFIX);
    if (event->type != STORE_DELETED)
        definitions_update(definitions, event->object);
    else if (!registry_is_built_in(definitions->registry, name))
        definitions_retire(definitions, name);
}

int definitions_new(struct store *store, struct registry *registry, definitions_retired *on_retired,
                    void *context, struct definitions **ret, struct err *err)
{
    struct definitions *definitions = mem_zalloc(sizeof(*definitions));
    struct store_object **objects;
    definitions->registry = registry;
    definitions->on_retired = on_retired;
    definitions->context = context;
    size_t count = store_list(store, PREFIX, &objects);
    for (size_t i = 0; i < count; i++) {
        definitions_update(definitions, objects[i]);
        store_object_unref(objects[i]);
    }
    free(objects);
    int result = store_watch(store, PREFIX, store_revision(store), on_definition_event, definitions,
                             &definitions->watch, err);
    if (result < 0) {
        definitions_free(definitions);
        return err_wrap(err, "cannot watch the definitions of custom resources");
    }
    *ret = definitions;
    return 0;
}

struct definitions *definitions_free(struct definitions *definitions)
{
    if (!definitions)
        return NULL;
    if (definitions->watch)
        store_watch_stop(definitions->watch);
    free(definitions);
    return NULL;
}
