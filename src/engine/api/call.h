/* One request to the API, and the functions that all handlers share: reading objects, versions,
 * selectors, responses. Handlers run on the loop thread, so no other request can change the
 * store between a handler's read of the store's pending state and its write in the same turn of
 * the loop. */
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
    const struct identity *identity; /* the user of the request, after impersonation */
    struct route route;
    bool dry_run; /* dryRun=All: the handler does everything except the write */
    bool table;   /* the response shows objects as rows of a Table */
    /* The apiVersion of a response that shows only metadata: "meta.k8s.io/v1". NULL: other
     * responses. */
    const char *partial;
    struct field_errors invalid; /* why the object is rejected with ERR_INVALID */
    /* The unknown fields, if they are the reason of an ERR_BAD_REQUEST; or NULL. */
    const struct schema_report *unknown;
    /* The name and the resource in an error, if the error is not about the object of the route, for
     * example if the namespace is missing. NULL: the name and the resource of the route. */
    const char *about_name;
    const struct kube_kind *about_resource;
    bool about_nothing;                /* an error is about the request, not about an object */
    const struct json *patched;        /* the patch of a PATCH request; or NULL */
    struct schema_messages duplicates; /* messages about fields that the body has more than once */
    bool yaml;                         /* the body was read as YAML */
    struct http_header *warnings;      /* more headers of the response: Warning and Retry-After */
    /* The number of objects that could not be read from the store. */
    size_t unreadable;
    bool is_off_loop; /* a pool thread prepares the object and must not use store or engine */
    bool is_measured; /* stored_check() has passed for the object that is written */
    /* The result of a server-side apply, with its managedFields; or NULL. */
    const struct json *applied;
};

struct api_call *api_call_new(struct engine *engine, struct http_exchange *exchange,
                              const struct identity *identity, const struct route *route);

/* Returns the engine's hooks for the kind of the route. May run on any thread. */
static inline const struct registry_hooks *api_hooks(const struct api_call *call)
{
    return registry_hooks(engine_registry(call->engine), call->route.resource);
}

/* ---- call.c */

/* Reads the newest version of the object, pending writes included. Returns -ERR_NOT_FOUND with
 * Kubernetes' message if no such object exists, or -ERR_INTERNAL if the object cannot be read;
 * in the second case *ret_revision is set. A later write must pass the returned revision as the
 * expected one. */
int api_load(struct api_call *call, const char *name, struct json **ret, int64_t *ret_revision,
             struct err *err);
/* Reads one of many objects. If the object cannot be read, returns false and adds a warning to the
 * response; the caller leaves the object out. */
bool api_read_stored(struct api_call *call, struct arena *arena, struct store_object *stored,
                     struct json **ret);
/* Like api_read_stored(), but returns no tree. */
bool api_is_readable(struct api_call *call, struct store_object *stored);

/* Returns the apiVersion in which the client of this request reads and writes the resource. */
const char *api_call_version(const struct api_call *call);
/* Converts an object from the client's version into the stored version. */
void api_convert_in(struct api_call *call, struct arena *arena, struct json *object);
/* Converts a stored object into the client's version. */
void api_convert_out(const struct api_call *call, struct arena *arena, struct json *object);
/* Whether these stored bytes are in another version than the client's. */
bool api_needs_conversion(const struct api_call *call, const char *data, size_t size);
/* Appends the JSON of a stored object, in the client's version, to `buf`. */
void api_append_stored(const struct api_call *call, struct arena *scratch,
                       const struct store_object *stored, struct buf *buf);

/* Sets the total number of bytes of memory that the request uses or is about to use; see
 * http_reserve(). Returns -ERR_TOO_MANY if the server has not enough memory left; the response then
 * has a Retry-After header. */
int api_reserve(struct api_call *call, size_t bytes, struct err *err);
/* Return -ERR_NOT_FOUND or -ERR_CONFLICT, with Kubernetes' message about the named object of the
 * route's resource in `err`. */
int api_not_found(struct api_call *call, const char *name, struct err *err);
int api_conflict(struct api_call *call, const char *name, struct err *err);
/* Returns a parameter of the request's query, or NULL if it is missing. */
const char *api_query(const struct api_call *call, const char *name);

/* ---- version.c: the resourceVersion of a read */

/* Returns -ERR_UNKNOWN with Kubernetes' message if the text is not a resourceVersion. */
int api_parse_version(const char *text, int64_t *ret, struct err *err);
/* Sets *ret to the resourceVersion of the request, or to 0 if it has none. Returns -ERR_TIMEOUT if
 * the store has not reached that version. */
int api_check_version(struct api_call *call, int64_t *ret, struct err *err);
/* Returns the Status for an ERR_TIMEOUT from api_check_version(). */
struct json *api_too_new_status(struct arena *arena, const struct err *err);

/* ---- respond.c */

/* Responds with a Status. */
void api_respond_error(struct api_call *call, const struct err *err);
/* Responds with one object, given as its stored bytes, in the form that the client requested. */
void api_respond_bytes(struct api_call *call, int status, const char *data, size_t size);
/* Like api_respond_bytes(), but sends a large object piece by piece as the client reads it. Only
 * for the response to a write, because it replaces the callbacks of the exchange. */
void api_respond_stored(struct api_call *call, int status, const struct store_object *object);
void api_respond_json(struct api_call *call, int status, const struct json *json);

/* ---- fields.c */

/* Decodes `object` by the schema of its kind (kube/schema/decode.h). Drops unknown fields. With
 * fieldValidation=Strict, unknown and duplicate fields are an error; with Ignore, they are not
 * reported; otherwise, they become warnings. A field without effect also becomes a warning,
 * unless `old` has the field. `old` is the object that is replaced, or NULL. */
int api_decode(struct api_call *call, struct json *object, const struct json *old, struct err *err);
/* Adds a Warning header to the response. */
void api_warn(struct api_call *call, const char *text);
/* Returns call->duplicates as one text. */
const char *api_duplicates_text(struct api_call *call);
/* Returns the whole message about call->unknown. It may be too long for a struct err. */
const char *api_unknown_fields_text(struct api_call *call);
/* Returns a list of causes for a Status. For each field of call->unknown that resembles a known
 * field, a cause names the known field. */
struct json *api_unknown_fields_causes(struct api_call *call);

/* ---- form.c: whole objects, rows of a Table, or metadata alone */

/* Sets call->table and call->partial to the form that the Accept header prefers. Returns
 * -ERR_NOT_ACCEPTABLE if the server supports none of the forms in the header. */
int api_choose_form(struct api_call *call, struct err *err);
const struct kube_columns *api_columns(const struct api_call *call);
/* Returns the object as a PartialObjectMetadata. */
struct json *api_as_partial(const struct api_call *call, struct arena *arena,
                            const struct json *object);
/* A response that is a Table or a PartialObjectMetadataList. */
struct api_formed_list {
    struct api_call *call;
    struct json *list; /* the response */
    enum kube_include include;
    int64_t now_ms;
};
/* Returns -ERR_BAD_REQUEST if the query parameter includeObject is invalid. */
int api_formed_list_begin(struct api_call *call, const struct json *list_meta,
                          struct api_formed_list *ret, struct err *err);
/* Copies the object. */
void api_formed_list_add(struct api_formed_list *formed, const struct json *object);

/* ---- filter.c: labelSelector and fieldSelector */
struct api_filter {
    struct kube_selector labels;
    struct kube_field_selector fields;
    const char *name; /* the only name that the field selector allows, or NULL */
    bool all;         /* every object matches */
};
/* Returns -ERR_BAD_REQUEST if a selector is wrong or the resource has no such field. */
int api_filter_parse(struct arena *arena, const struct kube_kind *resource,
                     const char *label_selector, const char *field_selector, struct api_filter *ret,
                     struct err *err);
/* Parses the selectors of the request's query. */
int api_filter_of(struct api_call *call, struct api_filter *ret, struct err *err);
bool api_filter_matches(const struct api_filter *filter, const struct json *object);

#endif
