/* One request to the API as its handlers see it, and what all handlers need: reading objects,
 * versions, selectors, responses. Handlers run on the loop thread, so no other request can come
 * between what a handler reads from the store's pending state and what it writes back. */
#ifndef TRAINYARD_ENGINE_API_CALL_H
#define TRAINYARD_ENGINE_API_CALL_H

#include "base/json/json.h"
#include "engine/access/access.h"
#include "engine/api/route.h"
#include "engine/internal.h"
#include "engine/kinds/registry.h"
#include "engine/stored/stored.h"
#include "kube/schema/decode.h"
#include "kube/schema/field_error.h"
#include "kube/selector.h"
#include "kube/table/table.h"

/* Lives in the exchange's arena. */
struct api_call {
    struct engine *engine;
    struct http_exchange *exchange;
    struct arena *arena;             /* the exchange's arena */
    const struct identity *identity; /* the user that sent the request */
    struct route route;
    bool dry_run;                        /* dryRun=All: everything but the write */
    bool table;                          /* the response shows objects as rows of a Table */
    const char *partial;                 /* "meta.k8s.io/v1": it shows only metadata; or NULL */
    struct field_errors invalid;         /* why the object is rejected with ERR_INVALID */
    const struct schema_report *unknown; /* the unknown fields, with ERR_BAD_REQUEST; or NULL */
    /* The object and the resource that an error is about, where the route does not name them: an
     * object with a generated name, a missing namespace. NULL: those of the route. */
    const char *about_name;
    const struct kube_kind *about_resource;
    bool about_nothing;                /* an error is about the request, not about an object */
    const struct json *patched;        /* the patch of a PATCH request; or NULL */
    struct schema_messages duplicates; /* fields that stand twice in the body */
    bool yaml;                         /* the body was read as YAML */
    struct http_header *warnings;      /* headers that are sent with every response */
    size_t unreadable;                 /* stored objects that the response leaves out */
    bool is_off_loop; /* a pool thread prepares the object and must not use store or engine */
    bool is_measured; /* stored_check() has passed for the object that is written */
    const struct json *applied; /* the result of an apply, with its managedFields; or NULL */
};

struct api_call *api_call_new(struct engine *engine, struct http_exchange *exchange,
                              const struct identity *identity, const struct route *route);

/* What the engine adds to the writes of the route's kind; may be called on any thread. */
static inline const struct registry_hooks *api_hooks(const struct api_call *call)
{
    return registry_hooks(engine_registry(call->engine), call->route.resource);
}

/* ---- call.c */

/* Reads the newest version of the object, pending writes included. Returns -ERR_NOT_FOUND with
 * Kubernetes' message if there is none. The next write must expect the returned revision. */
int api_load(struct api_call *call, const char *name, struct json **ret, int64_t *ret_revision,
             struct err *err);
/* Reads one of many objects. If it cannot be read, returns false and adds a warning to the
 * response, which leaves the object out. */
bool api_read_stored(struct api_call *call, struct arena *arena, struct store_object *stored,
                     struct json **ret);
/* Like api_read_stored(), but returns no tree. */
bool api_is_readable(struct api_call *call, struct store_object *stored);

/* The apiVersion in which this client sees and writes the resource. */
const char *api_call_version(const struct api_call *call);
/* Converts an object of the client's version into the stored one. */
void api_convert_in(struct api_call *call, struct arena *arena, struct json *object);
/* Converts a stored object into the client's version. */
void api_convert_out(const struct api_call *call, struct arena *arena, struct json *object);
/* Whether these stored bytes are in another version than the client's. */
bool api_needs_conversion(const struct api_call *call, const char *data, size_t size);
/* Appends a stored object in the client's version. */
void api_append_stored(const struct api_call *call, struct arena *scratch,
                       const struct store_object *stored, struct buf *buf);

/* Counts the bytes that the request holds, or is about to hold, in all (http_reserve()). Returns
 * -ERR_TOO_MANY if they do not fit; the response then says when to try again. */
int api_reserve(struct api_call *call, size_t bytes, struct err *err);
/* Sets Kubernetes' message about an object of the route's resource. */
int api_not_found(struct api_call *call, const char *name, struct err *err);
int api_conflict(struct api_call *call, const char *name, struct err *err);
/* A parameter of the request's query; NULL: it is missing. */
const char *api_query(const struct api_call *call, const char *name);

/* ---- version.c: the resourceVersion of a read */

/* Returns -ERR_UNKNOWN with Kubernetes' message if the text is no version. */
int api_parse_version(const char *text, int64_t *ret, struct err *err);
/* The version of the request, or 0 if it has none. Returns -ERR_TIMEOUT if the store has not
 * reached that version. */
int api_check_version(struct api_call *call, int64_t *ret, struct err *err);
/* The Status for the ERR_TIMEOUT of api_check_version(). */
struct json *api_too_new_status(struct arena *arena, const struct err *err);

/* ---- respond.c */

/* Responds with a Status. */
void api_respond_error(struct api_call *call, const struct err *err);
/* Responds with one object, given as its stored bytes, in the form that the client asked for. */
void api_respond_bytes(struct api_call *call, int status, const char *data, size_t size);
/* Like api_respond_bytes(), but sends a large object piece by piece as the client reads it. Only
 * for the response to a write: it takes over the exchange's callbacks. */
void api_respond_stored(struct api_call *call, int status, const struct store_object *object);
void api_respond_json(struct api_call *call, int status, const struct json *json);

/* ---- fields.c */

/* Decodes `object` by the schema of its kind (kube/schema/decode.h). Unknown fields are dropped.
 * They become warnings, or with fieldValidation=Strict an error, or with Ignore nothing. A warning
 * about a field without effect is left out if `old`, the object that is replaced, has the field;
 * `old` may be NULL. */
int api_decode(struct api_call *call, struct json *object, const struct json *old, struct err *err);
/* Adds a Warning header to the response. */
void api_warn(struct api_call *call, const char *text);
/* call->duplicates as one text. */
const char *api_duplicates_text(struct api_call *call);
/* The whole message about call->unknown, which may be too long for a struct err. */
const char *api_unknown_fields_text(struct api_call *call);
/* For each field of call->unknown that resembles a known field, a cause that names it. */
struct json *api_unknown_fields_causes(struct api_call *call);

/* ---- form.c: whole objects, rows of a Table, or metadata alone */

/* Sets call->table and call->partial to the form that the Accept header prefers. Returns
 * -ERR_NOT_ACCEPTABLE if the server has none of its forms. */
int api_choose_form(struct api_call *call, struct err *err);
const struct kube_columns *api_columns(const struct api_call *call);
/* The object as a PartialObjectMetadata. */
struct json *api_as_partial(const struct api_call *call, struct arena *arena,
                            const struct json *object);
/* A Table or a PartialObjectMetadataList. */
struct api_formed_list {
    struct api_call *call;
    struct json *list; /* the response */
    enum kube_include include;
    int64_t now_ms;
};
/* Returns -ERR_BAD_REQUEST if the query's options of a Table are wrong. */
int api_formed_list_begin(struct api_call *call, const struct json *list_meta,
                          struct api_formed_list *ret, struct err *err);
/* The object may be freed afterwards. */
void api_formed_list_add(struct api_formed_list *formed, const struct json *object);

/* ---- filter.c: labelSelector and fieldSelector */
struct api_filter {
    struct kube_selector labels;
    struct kube_field_selector fields;
    const char *name; /* the one name that a field selector allows, else NULL */
    bool all;         /* every object matches */
};
/* Returns -ERR_BAD_REQUEST if a selector is wrong or the resource has no such field. */
int api_filter_parse(struct arena *arena, const struct kube_kind *resource,
                     const char *label_selector, const char *field_selector, struct api_filter *ret,
                     struct err *err);
/* The filter of the request's query. */
int api_filter_of(struct api_call *call, struct api_filter *ret, struct err *err);
bool api_filter_matches(const struct api_filter *filter, const struct json *object);

#endif
