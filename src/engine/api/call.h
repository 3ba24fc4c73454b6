/* struct api_call, one request to the API, and the functions that its handlers share: they read
 * stored objects, versions and selectors, and send responses. engine/dispatch.c makes the call and
 * passes it to a handler. Handlers run on the loop thread and must not block. If a handler reads an
 * object with its pending writes and writes it in the same turn of the loop, no other request can
 * change the object in between. */
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

/* A request. It is allocated in the exchange's arena and freed with it. */
struct api_call {
    struct engine *engine;
    struct http_exchange *exchange;
    struct arena *arena;             /* the exchange's arena */
    const struct identity *identity; /* the user of the request, after impersonation */
    struct route route;
    bool dry_run; /* dryRun=All: the handler does everything except the write */
    bool table;   /* the response shows objects as rows of a Table */
    /* The apiVersion of a response that shows only metadata: "meta.k8s.io/v1" or
     * "meta.k8s.io/v1beta1". NULL: other responses. */
    const char *partial;
    /* The errors of single fields or options; if there is one, the request fails with
     * ERR_INVALID. */
    struct field_errors invalid;
    /* The report with the unknown fields, if they are the reason of an ERR_BAD_REQUEST; or NULL. */
    const struct schema_report *unknown;
    /* The name and the resource in an error, if they are not those of the route: for example, if
     * the namespace is missing, or in a create request, whose route has no name. NULL: those of the
     * route. */
    const char *about_name;
    const struct kube_kind *about_resource;
    bool about_nothing;                /* an error of this request is not about an object */
    const struct json *patched;        /* the body of a PATCH request, once it is parsed; or NULL */
    struct schema_messages duplicates; /* messages about fields that the body has more than once */
    bool yaml;                         /* the body was read as YAML */
    struct http_header *warnings;      /* more headers of the response: Warning and Retry-After */
    /* The number of stored objects that api_read_stored() could not read for this request. */
    size_t unreadable;
    /* A pool thread prepares the object (large.c). The thread must not use the store or the engine,
     * except the engine's registry and the time of the loop. */
    bool is_off_loop;
    bool is_measured; /* stored_check() has passed for the object that is written */
    /* The result of a server-side apply, whose managedFields are those to store; or NULL. */
    const struct json *applied;
};

/* Makes the call in the exchange's arena. Copies `route` and takes a reference to its resource,
 * which is dropped with the arena. */
struct api_call *api_call_new(struct engine *engine, struct http_exchange *exchange,
                              const struct identity *identity, const struct route *route);

/* Returns the engine's hooks for the kind of the route. May run on any thread. */
static inline const struct registry_hooks *api_hooks(const struct api_call *call)
{
    return registry_hooks(engine_registry(call->engine), call->route.resource);
}

/* ---- call.c */

/* Reads the newest version of the object, pending writes included. Sets *ret_revision to its
 * revision, which a later write must pass as the expected one. A custom resource gets the client's
 * apiVersion. Returns -ERR_NOT_FOUND with Kubernetes' message if no such object exists, or
 * -ERR_INTERNAL if the object cannot be read; in the second case *ret_revision is set, too. */
int api_load(struct api_call *call, const char *name, struct json **ret, int64_t *ret_revision,
             struct err *err);
/* Like stored_read(), for a request that reads many objects. If the object cannot be read, returns
 * false, and the caller leaves the object out. A warning in the response names each of the first
 * five such objects. */
bool api_read_stored(struct api_call *call, struct arena *arena, struct store_object *stored,
                     struct json **ret);
/* Like api_read_stored(), but returns no tree. */
bool api_is_readable(struct api_call *call, struct store_object *stored);

/* Returns the apiVersion in which the client of this request reads and writes the resource. */
const char *api_call_version(const struct api_call *call);
/* Converts an object from the client's version into the version of the resource's row. */
void api_convert_in(struct api_call *call, struct arena *arena, struct json *object);
/* Sets the apiVersion of an object to the client's version. Changes no other field. Does nothing if
 * the object is not of the route's kind, such as a Status. */
void api_convert_out(const struct api_call *call, struct arena *arena, struct json *object);
/* Returns false only if api_convert_out() would not change these stored bytes. May return true
 * without need. */
bool api_needs_conversion(const struct api_call *call, const char *data, size_t size);
/* Appends the JSON of a stored object, in the client's version, to `buf`. `scratch` gets temporary
 * data. */
void api_append_stored(const struct api_call *call, struct arena *scratch,
                       const struct store_object *stored, struct buf *buf);

/* Sets the total number of bytes of memory that the request uses or is about to use; see
 * http_reserve(). Returns -ERR_TOO_MANY if the server has not enough memory left; the response then
 * has a Retry-After header. */
int api_reserve(struct api_call *call, size_t bytes, struct err *err);
/* Returns -ERR_NOT_FOUND, and sets `err` to Kubernetes' message that the route's resource has no
 * object of this name. */
int api_not_found(struct api_call *call, const char *name, struct err *err);
/* Returns -ERR_CONFLICT, and sets `err` to Kubernetes' message that the named object of the route's
 * resource has been modified. */
int api_conflict(struct api_call *call, const char *name, struct err *err);
/* Returns a parameter of the request's query, or NULL if it is missing. */
const char *api_query(const struct api_call *call, const char *name);

/* ---- version.c: the resourceVersion of a read */

/* Returns -ERR_UNKNOWN with Kubernetes' message if the text is not a resourceVersion. */
int api_parse_version(const char *text, int64_t *ret, struct err *err);
/* Sets *ret to the resourceVersion of the request, or to 0 if it has none. Returns -ERR_UNKNOWN if
 * the text is not a resourceVersion, or -ERR_TIMEOUT if the store has not reached that version. */
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
/* Responds with an object, a list or a Status. Converts an object of the route's kind into the
 * version and the form that the client requested. */
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
/* Returns the columns of a Table: those of a Scale for the subresource scale, otherwise those of
 * the route's resource. */
const struct kube_columns *api_columns(const struct api_call *call);
/* Returns a PartialObjectMetadata with a copy of the object's metadata. */
struct json *api_as_partial(const struct api_call *call, struct arena *arena,
                            const struct json *object);
/* A response that is a Table or a PartialObjectMetadataList. */
struct api_formed_list {
    struct api_call *call;
    struct json *list;         /* the response */
    enum kube_include include; /* the part of the object that each row of a Table contains */
    int64_t now_ms;            /* wall time, for columns that show an age */
};
/* Makes a list without items. Returns -ERR_BAD_REQUEST if the query parameter includeObject is
 * invalid. */
int api_formed_list_begin(struct api_call *call, const struct json *list_meta,
                          struct api_formed_list *ret, struct err *err);
/* Adds a row or an item for the object. Copies what it needs. */
void api_formed_list_add(struct api_formed_list *formed, const struct json *object);

/* ---- filter.c: labelSelector and fieldSelector */

/* The condition that an object must meet to be part of a list, a watch or a deletion. */
struct api_filter {
    struct kube_selector labels;
    struct kube_field_selector fields;
    const char *name; /* the only name that the field selector allows, or NULL */
    bool all;         /* every object matches */
};
/* Parses the selectors; NULL or "" matches every object. Returns -ERR_BAD_REQUEST if a selector is
 * not valid or names a field that clients cannot select. */
int api_filter_parse(struct arena *arena, const struct kube_kind *resource,
                     const char *label_selector, const char *field_selector, struct api_filter *ret,
                     struct err *err);
/* Like api_filter_parse(), for the selectors of the request's query. */
int api_filter_of(struct api_call *call, struct api_filter *ret, struct err *err);
bool api_filter_matches(const struct api_filter *filter, const struct json *object);

#endif
