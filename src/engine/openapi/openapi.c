/* Serves OpenAPI documents over HTTP; see openapi.h. Documents are not cached: making one takes a
 * few milliseconds, and the served kinds may change between two requests. */
#include "engine/openapi/openapi.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/kinds/registry.h"
#include "engine/openapi/cached_document.h"
#include "engine/openapi/document.h"
#include "engine/openapi/gnostic.h"
#include "net/accept.h"

#include <string.h>

enum { DOCUMENT_MAX = 64 * 1024 * 1024 };

#define JSON_TYPE "application/json"
/* The media type of the response. kubectl requests a name with an '@', which a media type must not
 * contain. */
#define GNOSTIC_TYPE(version_)                                                                     \
    "application/com.github.proto-openapi.spec." version_ ".v1.0+protobuf"
#define GNOSTIC_TYPE_REQUESTED(version_)                                                           \
    "application/com.github.proto-openapi.spec." version_ "@v1.0+protobuf"

/* The inputs from which a document is made. */
struct openapi_source {
    const struct registry *registry;
    const char *program_version;
};

/* A form of a document other than JSON: its media type, and the name that kubectl sends in
 * Accept. */
struct form {
    const char *type, *requested;
};
static const struct form GNOSTIC_V2 = {GNOSTIC_TYPE("v2"), GNOSTIC_TYPE_REQUESTED("v2")};
static const struct form GNOSTIC_V3 = {GNOSTIC_TYPE("v3"), GNOSTIC_TYPE_REQUESTED("v3")};

/* Returns the media type that the client prefers: JSON or the type of `form`. If the client accepts
 * neither, responds with an error and returns NULL. */
static const char *choose_openapi_form(struct http_exchange *exchange, const struct form *form)
{
    struct accept accept;
    accept_parse(exchange->arena, http_header_get(exchange->request->headers, "Accept"), &accept);
    for (size_t i = 0; i < accept.count; i++) {
        const struct accept_clause *clause = &accept.clauses[i];
        if (str_eq(clause->type, form->requested) || str_eq(clause->type, form->type))
            return form->type;
        if (accept_clause_matches(clause, JSON_TYPE))
            return JSON_TYPE;
    }
    cached_document_refuse(exchange,
                           arena_printf(exchange->arena, "%s, %s", JSON_TYPE, form->type));
    return NULL;
}

/* ---- Version 2 ------------------------------------------------------------------------------- */

static void respond_v2(struct http_exchange *exchange, const struct openapi_source *source)
{
    const char *type = choose_openapi_form(exchange, &GNOSTIC_V2);
    if (!type)
        return;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf body;
    buf_init(&body, DOCUMENT_MAX);
    const struct json *document =
        openapi_document_v2(arena, source->registry, source->program_version);
    if (str_eq(type, JSON_TYPE))
        json_write(document, &body);
    else
        openapi_gnostic_write_v2(document, &body);
    cached_document_respond(exchange, type, NULL, body.data, body.size);
}

/* ---- Version 3 ------------------------------------------------------------------------------- */

/* Writes a document into `body`, in the form `type`. Sets ret_hash to the hash, which identifies a
 * state of the document and is therefore always computed from the JSON. */
static void write_v3(const struct openapi_source *source, const char *group, const char *version,
                     const char *type, struct buf *body, char ret_hash[CACHED_DOCUMENT_HASH_SIZE])
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *document =
        openapi_document_v3(arena, source->registry, source->program_version, group, version);
    json_write(document, body);
    cached_document_hash(body->data, body->size, ret_hash);
    if (str_eq(type, JSON_TYPE))
        return;
    buf_clear(body);
    openapi_gnostic_write_v3(document, body);
}

static const char *v3_name(struct arena *arena, const char *group, const char *version)
{
    return group[0] ? arena_printf(arena, "apis/%s/%s", group, version)
                    : arena_printf(arena, "api/%s", version);
}

static const char *v3_address(struct arena *arena, const char *name, const char *hash)
{
    return arena_printf(arena, "/openapi/v3/%s?hash=%s", name, hash);
}

static void add_to_index(struct arena *arena, struct json *paths,
                         const struct openapi_source *source, const char *group,
                         const char *version)
{
    const char *name = v3_name(arena, group, version);
    char hash[CACHED_DOCUMENT_HASH_SIZE];
    _cleanup_buf_ struct buf body;
    buf_init(&body, DOCUMENT_MAX);
    write_v3(source, group, version, JSON_TYPE, &body, hash);
    json_set_string(arena, json_ensure_object(arena, paths, name), "serverRelativeURL",
                    v3_address(arena, name, hash));
}

static void add_group_to_index(struct arena *arena, struct json *paths,
                               const struct openapi_source *source, const char *group)
{
    const char **versions = registry_versions(source->registry, arena, group);
    for (size_t i = 0; versions[i]; i++)
        add_to_index(arena, paths, source, group, versions[i]);
}

static void respond_index(struct http_exchange *exchange, const struct openapi_source *source)
{
    struct arena *arena = exchange->arena;
    struct json *index = json_object(arena), *paths = json_ensure_object(arena, index, "paths");
    const char **groups = registry_groups(source->registry, arena);
    add_group_to_index(arena, paths, source, "");
    for (size_t i = 0; groups[i]; i++)
        add_group_to_index(arena, paths, source, groups[i]);
    const char *text = json_to_string(arena, index);
    cached_document_respond(exchange, JSON_TYPE, NULL, text, strlen(text));
}

/* A URL with a hash identifies one state of the document, so clients may cache the response
 * forever. If the hash is not the current one, the client is redirected to the URL with the current
 * hash. */
static void respond_v3(struct http_exchange *exchange, const struct openapi_source *source,
                       const char *group, const char *version)
{
    struct arena *arena = exchange->arena;
    struct http_header *headers = NULL;
    const char *type = choose_openapi_form(exchange, &GNOSTIC_V3);
    if (!type)
        return;
    const char *requested_hash = http_query_get(arena, exchange->request->query, "hash");
    char hash[CACHED_DOCUMENT_HASH_SIZE];
    _cleanup_buf_ struct buf body;
    buf_init(&body, DOCUMENT_MAX);
    write_v3(source, group, version, type, &body, hash);
    if (!str_is_empty(requested_hash) && !str_eq(requested_hash, hash)) {
        http_header_add(arena, &headers, "Location",
                        v3_address(arena, v3_name(arena, group, version), hash));
        http_begin(exchange, 301, NULL, headers, 0);
        http_end(exchange);
        return;
    }
    if (!str_is_empty(requested_hash))
        http_header_add(arena, &headers, "Cache-Control", "public, immutable, max-age=31536000");
    cached_document_respond(exchange, type, headers, body.data, body.size);
}

/* Parses "api/v1" or "apis/GROUP/VERSION". Returns false if the name has another form, or if the
 * version is not served. */
static bool parse_name(struct arena *arena, const struct registry *registry, const char *name,
                       const char **ret_group, const char **ret_version)
{
    size_t count;
    char **pieces = str_split(arena, name, '/', &count);
    if (count == 2 && str_eq(pieces[0], "api")) {
        *ret_group = "";
        *ret_version = pieces[1];
    } else if (count == 3 && str_eq(pieces[0], "apis") && pieces[1][0]) {
        *ret_group = pieces[1];
        *ret_version = pieces[2];
    } else {
        return false;
    }
    return registry_has_group_version(registry, *ret_group, *ret_version);
}

bool openapi_handle(struct http_exchange *exchange, const struct registry *registry,
                    const char *program_version)
{
    const struct openapi_source source = {registry, program_version};
    static const char v3[] = "/openapi/v3";
    const char *path = exchange->request->path, *group, *version;
    if (str_eq(path, "/openapi/v2")) {
        respond_v2(exchange, &source);
        return true;
    }
    if (!str_has_prefix(path, v3))
        return false;
    const char *name = path + strlen(v3);
    bool is_index = name[0] == '\0';
    if (!is_index &&
        (name[0] != '/' || !parse_name(exchange->arena, registry, name + 1, &group, &version)))
        return false;
    if (is_index) /* the index is always JSON; the Accept header is ignored */
        respond_index(exchange, &source);
    else
        respond_v3(exchange, &source, group, version);
    return true;
}
