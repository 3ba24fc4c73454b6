/* OpenAPI v2; see openapi.h. The document says only what kubectl decides on: which kinds take a
 * PATCH with dryRun (`kubectl diff`, --dry-run=server). It has no definitions, so kubectl validates
 * nothing itself and leaves it to the server. Field numbers are those of the OpenAPIv2.proto that
 * kubectl is built with. */
#include "engine/openapi.h"

#include "base/buf.h"
#include "engine/registry.h"
#include "kube/resource.h"

#include <string.h>

enum { DOCUMENT_MAX = 1024 * 1024 };

/* ---- The wire -------------------------------------------------------------------------------- */

static void put_varint(struct buf *buf, size_t value)
{
    for (; value >= 0x80; value >>= 7)
        buf_append_char(buf, (char)(value | 0x80));
    buf_append_char(buf, (char)value);
}

static void put_bytes(struct buf *buf, unsigned number, const void *data, size_t size)
{
    enum { LENGTH_DELIMITED = 2 };
    put_varint(buf, number << 3 | LENGTH_DELIMITED);
    put_varint(buf, size);
    buf_append(buf, data, size);
}

static void put_string(struct buf *buf, unsigned number, const char *text)
{
    put_bytes(buf, number, text, strlen(text));
}

/* A message made before it is known how long it gets; goes into its parent and is gone. */
static void put_message(struct buf *parent, unsigned number, struct buf *message)
{
    put_bytes(parent, number, message->data, message->size);
    buf_release(message);
}

static struct buf message(void)
{
    struct buf buf;
    buf_init(&buf, DOCUMENT_MAX);
    return buf;
}

/* ---- The document ---------------------------------------------------------------------------- */

static void put_query_parameter(struct buf *operation, const char *name)
{
    struct buf schema = message(), non_body = message(), parameter = message(), item = message();
    put_string(&schema, 2, "query");
    put_string(&schema, 4, name);
    put_string(&schema, 6, "string");
    put_message(&non_body, 3, &schema);
    put_message(&parameter, 2, &non_body);
    put_message(&item, 1, &parameter);
    put_message(operation, 8, &item);
}

static void put_kind(struct buf *operation, const struct kube_resource *id)
{
    struct buf yaml = message(), any = message(), named = message();
    buf_printf(&yaml, "group: \"%s\"\nkind: %s\nversion: %s\n", id->group, id->kind, id->version);
    put_string(&any, 2, yaml.data);
    put_string(&named, 1, "x-kubernetes-group-version-kind");
    put_message(&named, 2, &any);
    put_message(operation, 13, &named);
    buf_release(&yaml);
}

static void put_path(struct arena *arena, struct buf *paths,
                     const struct registry_resource *resource)
{
    struct buf patch = message(), item = message(), named = message();
    put_query_parameter(&patch, "dryRun");
    put_query_parameter(&patch, "fieldManager");
    put_kind(&patch, &resource->id);
    put_message(&item, 8, &patch);
    put_string(&named, 1,
               kube_resource_path(arena, &resource->id,
                                  resource->id.namespaced ? "{namespace}" : NULL, "{name}", NULL));
    put_message(&named, 2, &item);
    put_message(paths, 2, &named);
}

void openapi_respond(struct http_exchange *exchange, const struct registry *registry)
{
    struct buf document = message(), info = message(), paths = message();
    put_string(&info, 1, "Trainyard");
    put_string(&info, 2, "v1");
    const struct registry_resource *resource;
    for (size_t i = 0; (resource = registry_at(registry, i)); i++)
        if (resource->verbs & VERB_PATCH)
            put_path(exchange->arena, &paths, resource);
    put_string(&document, 1, "2.0");
    put_message(&document, 2, &info);
    put_message(&document, 8, &paths);
    /* Not the name that was asked for: that one has an '@' no media type may contain. */
    http_respond(exchange, 200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                 document.data, document.size);
    buf_release(&document);
}
