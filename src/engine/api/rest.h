/* The verbs of the API on the store, one file a verb. engine.c calls rest_handle() with a routed,
 * authenticated request; everything here runs on the loop's thread, so what one handler reads from
 * the store's pending state and writes back is one step no other request can come between. No
 * answer to a write leaves before the store has it on disk. */
#ifndef TRAINYARD_ENGINE_REST_H
#define TRAINYARD_ENGINE_REST_H

#include "base/json/json.h"
#include "engine/access/access.h"
#include "engine/api/route.h"
#include "engine/bootstrap.h"
#include "engine/engine.h"
#include "engine/kinds/registry.h"
#include "engine/kinds/stored.h"
#include "kube/patch/managed_fields.h"
#include "kube/schema/decode.h"
#include "kube/schema/field_error.h"
#include "kube/selector.h"
#include "kube/table/table.h"

/* One request as the handlers see it; lives in the exchange's arena. */
struct rest {
    struct engine *engine;
    struct http_exchange *exchange;
    struct arena *arena;             /* the exchange's */
    const struct identity *identity; /* who asks */
    struct route route;
    bool dry_run;                        /* dryRun=All: everything but the write */
    bool table;                          /* objects are answered as rows of a Table */
    const char *partial;                 /* … or with their metadata alone: "meta.k8s.io/v1" */
    struct field_errors invalid;         /* why the object was refused; with ERR_INVALID */
    const struct schema_report *unknown; /* fields it was refused for; with ERR_BAD_REQUEST */
    /* What errors are about where it is not what the route names: a generated name, a namespace. */
    const char *about_name;
    const struct kube_kind *about_resource;
    bool about_nothing;               /* … and where it is the request as a whole */
    const struct json *patched;       /* the patch that the object is made with, if it is */
    struct schema_complaints repeats; /* names that stood twice in the body */
    bool yaml;                        /* … which was read as YAML, and says so in other words */
    struct http_header *warnings;     /* sent with the answer, whatever it is */
    size_t unreadable;                /* objects that the answer leaves out */
    bool is_off_loop; /* a pool thread prepares it: neither store nor engine may be used */
    bool is_measured; /* the limits of the object that is to be stored were checked */
    const struct json *applied; /* what an apply made, its managedFields right; NULL: none was */
};

/* ---- engine.c */
struct store *engine_store(struct engine *engine);
struct loop *engine_loop(struct engine *engine);
const struct engine_pod_backend *engine_backend(struct engine *engine);
struct bootstrap engine_bootstrap(struct engine *engine);
const struct engine_seal *engine_seal(struct engine *engine);
const struct access_policy *engine_policy(struct engine *engine); /* until the loop turns */
struct service_addresses *engine_service_addresses(struct engine *engine);
struct registry *engine_registry(struct engine *engine);
struct version_trees *engine_version_trees(struct engine *engine);
struct watch_events *engine_watch_events(struct engine *engine);

/* ---- rest.c: what the verbs share */
/* What the engine adds to the writes of the route's kind; may be called on any thread. */
static inline const struct registry_hooks *rest_hooks(const struct rest *rest)
{
    return registry_hooks(engine_registry(rest->engine), rest->route.resource);
}

/* Before the body is there: answers the exchange if the roles do not allow the request. */
void rest_admit(struct engine *engine, struct http_exchange *exchange,
                const struct identity *identity, const struct route *route);
void rest_handle(struct engine *engine, struct http_exchange *exchange,
                 const struct identity *identity, const struct route *route);

/* The newest version (pending writes included), parsed; ERR_NOT_FOUND in Kubernetes' words. The
 * revision is what the next write must expect. */
int rest_load(struct rest *rest, const char *name, struct json **ret, int64_t *ret_revision,
              struct err *err);
/* One object of many: false, with a Warning to the client, if it cannot be read. The request goes
 * on without it. */
bool rest_read_one(struct rest *rest, struct arena *arena, struct store_object *stored,
                   struct json **ret);
bool rest_is_readable(struct rest *rest, struct store_object *stored); /* the same, no tree */

/* The version in which this client sees and writes the resource. */
const char *rest_api_version(const struct rest *rest);
/* Into and out of that version: `object` as the store has it, or as the client is to see it. */
void rest_convert_in(struct rest *rest, struct arena *arena, struct json *object);
void rest_convert_out(const struct rest *rest, struct arena *arena, struct json *object);
/* Whether these stored bytes are in another version than the client's. */
bool rest_converts(const struct rest *rest, const char *data, size_t size);
/* A stored object as the client is to see it; `scratch` is used where that takes work. */
void rest_append_stored(const struct rest *rest, struct arena *scratch,
                        const struct store_object *stored, struct buf *buf);

/* Read `object` as what its kind says (kube/schema/decode.h). Fields its kind does not know are
 * dropped and told as warnings, or with fieldValidation=Strict an error, or with Ignore not at all.
 * `old` (NULL: none) is what it replaces. */
int rest_decode(struct rest *rest, struct json *object, const struct json *old, struct err *err);

/* Counts the bytes that the request holds, or is about to hold, in all (http_reserve()). Returns
 * -ERR_TOO_MANY if there is no room for them; the answer then says when to try again. */
int rest_reserve(struct rest *rest, size_t bytes, struct err *err);
int rest_not_found(struct rest *rest, const char *name, struct err *err);
int rest_conflict(struct rest *rest, const char *name, struct err *err);
const char *rest_query(const struct rest *rest, const char *name); /* NULL when absent */

/* ---- rest_version.c: the state a read asks for */

/* What a client wrote as resourceVersion; ERR_UNKNOWN in Kubernetes' words if it is no number. */
int rest_read_version(const char *text, int64_t *ret, struct err *err);
/* That of the request, 0 where there is none; ERR_TIMEOUT for one that is not there yet. */
int rest_check_version(struct rest *rest, int64_t *ret, struct err *err);
/* The Status of that ERR_TIMEOUT. */
struct json *rest_too_new_status(struct arena *arena, const struct err *err);

/* ---- rest_body.c */

/* Reserves memory for the tree that the body becomes: a value of one byte takes 56 bytes in it. */
int rest_reserve_body(struct rest *rest, struct err *err);
/* The request's body as an object of the route's kind in the stored version, apiVersion and kind
 * filled in. */
int rest_read_body(struct rest *rest, struct json **ret, struct err *err);
/* Any body that is an object, of that kind as far as errors go; NULL when there is none. */
int rest_read_any(struct rest *rest, const char *kind, struct json **ret, struct err *err);
/* The body as YAML or JSON, whatever its type says: one object. Repeated names are put into
 * rest->repeats. */
int rest_parse_yaml(struct rest *rest, struct json **ret, struct err *err);
/* The body as JSON of any form; ERR_BAD_REQUEST in the words of Go's decoder. Repeated names are
 * put into rest->repeats. */
int rest_read_json(struct rest *rest, struct json **ret, struct err *err);
/* "converting (v1.Secret) to (core.ConfigMap): unknown conversion" */
char *rest_no_conversion(struct rest *rest, const char *kind, const char *api_version);

/* ---- respond.c */
void rest_respond_error(struct rest *rest, const struct err *err);
/* One object, whole, as the client wants it (JSON, or a Table of one row). */
void rest_respond_bytes(struct rest *rest, int status, const char *data, size_t size);
/* The same of an object in the store, a large one in pieces as the client reads them. Must be the
 * answer to a write, of which a client that has gone is told by on_cancel already. */
void rest_respond_stored(struct rest *rest, int status, const struct store_object *object);
void rest_respond_json(struct rest *rest, int status, const struct json *json);
void rest_warn(struct rest *rest, const char *text); /* a Warning, sent with the answer */
const char *rest_repeats_text(struct rest *rest);    /* of rest->repeats: all in one */
const char *rest_unknown_text(struct rest *rest);    /* of rest->unknown: the refusal, in full */
struct json *rest_unknown_causes(struct rest *rest); /* and what may have been meant */

/* ---- rest_form.c: whole objects, rows of a Table, or metadata alone */

/* The form that the client wants most, of those there are, into rest->table and rest->partial. */
int rest_choose_form(struct rest *rest, struct err *err);
const struct kube_columns *rest_columns(const struct rest *rest);
/* The object as a PartialObjectMetadata. */
struct json *rest_as_partial(const struct rest *rest, struct arena *arena,
                             const struct json *object);
/* A list in a form that is not the whole objects': begun with its metadata, then each is added and
 * may be forgotten. ERR_BAD_REQUEST for wrong options of a Table. */
struct rest_formed {
    struct rest *rest;
    struct json *list; /* the answer */
    enum kube_include include;
    int64_t now_ms;
};
int rest_formed_begin(struct rest *rest, const struct json *list_meta, struct rest_formed *ret,
                      struct err *err);
void rest_formed_add(struct rest_formed *formed, const struct json *object);

/* ---- rest_filter.c: labelSelector and fieldSelector */
struct rest_filter {
    struct kube_selector labels;
    struct kube_field_selector fields;
    const char *name; /* the one name a field selector leaves, else NULL */
    bool all;         /* nothing to check */
};
int rest_filter_parse(struct arena *arena, const struct kube_kind *resource,
                      const char *label_selector, const char *field_selector,
                      struct rest_filter *ret, struct err *err);
int rest_filter_of(struct rest *rest, struct rest_filter *ret, struct err *err);
bool rest_filter_matches(const struct rest_filter *filter, const struct json *object);

/* ---- rest_write.c: the one way an object gets into the store */

/* Give the object its next revision, put it in place of version `expected` (0: a new one) and
 * answer with it once it is on disk; answers errors too. An object that is marked as deleted and
 * has nothing left to wait for is removed instead. */
void rest_commit(struct rest *rest, struct json *object, const struct json *old, int64_t expected,
                 int success_status);
/* The same with an answer of its own. */
void rest_commit_answer(struct rest *rest, struct json *object, int64_t expected,
                        int success_status, const struct json *answer);
/* Remove it and answer with a Status of success about it. */
void rest_commit_removal(struct rest *rest, struct json *object, int64_t expected);

/* The steps under both, for who answers himself: encode with the next revision and queue. The
 * object must be one of the route's resource. `done` is not called on failure. */
int rest_queue_put(struct rest *rest, struct json *object, int64_t expected, store_done *done,
                   void *context, struct err *err);
int rest_queue_removal(struct rest *rest, struct json *object, int64_t expected, store_done *done,
                       void *context, struct err *err);

/* The bytes of an object with a gap in place of its revision, which is known when it is written. */
struct rest_encoded {
    struct buf data;
    size_t gap_at, gap_size; /* longer than any revision */
};
int rest_encode(struct rest *rest, struct json *object, struct rest_encoded *ret, struct err *err);
/* As rest_commit_answer() of an object of which `encoded` are the bytes; they are used up. */
void rest_commit_encoded(struct rest *rest, const struct json *object, struct rest_encoded *encoded,
                         int64_t expected, int success_status);

/* Make `object`, what a client wants to be there, into what is stored. */
int rest_prepare_create(struct rest *rest, struct json *object, struct err *err);
/* Its two halves. The first looks at the object and the request alone; it may run on a thread of
 * the pool for a resource without an `assign` hook. The second asks the store and the engine. */
int rest_shape_create(struct rest *rest, struct json *object, struct err *err);
int rest_admit_create(struct rest *rest, struct json *object, struct err *err);

/* Make `object`, what a client wants `old` to become, into what is stored: metadata only the server
 * may set is kept, defaults applied, the whole validated. */
int rest_prepare_update(struct rest *rest, struct json *object, const struct json *old,
                        struct err *err);
/* Its two halves, as those of rest_prepare_create(). */
int rest_shape_update(struct rest *rest, struct json *object, const struct json *old,
                      struct err *err);
int rest_admit_update(struct rest *rest, struct json *object, const struct json *old,
                      struct err *err);

/* The name, namespace, uid and version a client says are those of `old`; what it leaves out is
 * filled in. ERR_CONFLICT for another uid or version. */
int rest_check_identity(struct rest *rest, struct json *object, const struct json *old,
                        struct err *err);

/* ---- rest_large.c: bodies that take long to read */

/* Create or update on a thread of the pool as far as possible; false if the body is small, the
 * resource cannot be shaped there, or nothing is there to update: the caller does it then. */
bool rest_create_large(struct rest *rest);
bool rest_update_large(struct rest *rest);

/* ---- rest_metrics.c: what is measured when it is asked for */
void rest_metrics(struct rest *rest);

/* ---- rest_patch.c */

/* `present` with the request's patch; `type` as kube_patch_apply() wants it. Sets rest->patched. */
int rest_read_patched(struct rest *rest, const struct json *present,
                      const struct schema_object *type, struct json **ret, struct err *err);

/* ---- rest_patch_refusal.c: what the patch would have made is no object of its kind; ERR_INVALID
 */
int rest_refuse_patch(struct rest *rest, const struct json *object, const char *why,
                      struct err *err);

/* ---- rest_options.c: what is asked for besides */

/* What holds for all of a verb's requests; sets rest->dry_run. ERR_INVALID. */
int rest_read_options(struct rest *rest, struct err *err);
/* The options of a request are refused as if they were an object: by rest->invalid. */
int rest_refuse_options(struct rest *rest, struct err *err);

/* ---- rest_managed.c: who writes */

/* The options of the request about it; ERR_INVALID. Who applies must say who he is. */
int rest_check_manager(struct rest *rest, bool applies, struct err *err);
struct managed_write rest_managed_write(struct rest *rest);
/* Set managedFields of `object`, which a client sent and which has its defaults; `old` NULL: new.
 * Called once in every write. */
int rest_track_fields(struct rest *rest, struct json *object, const struct json *old,
                      struct err *err);

/* ---- rest_apply.c */
bool rest_is_apply(const struct rest *rest);
void rest_apply(struct rest *rest);
/* Answer with an apply's ERR_CONFLICT. */
struct apply_conflicts;
void rest_respond_conflicts(struct rest *rest, const struct err *err,
                            const struct apply_conflicts *conflicts);

/* ---- rest_access.c: what who asks may do */

/* Answers with the refusal and returns false if not. */
bool rest_is_allowed(struct rest *rest);
/* The same of a path that is no resource; ERR_FORBIDDEN. */
int rest_check_path(struct engine *engine, struct arena *arena, const struct identity *identity,
                    const struct http_request *request, struct err *err);
/* Nobody gives what he has not; hooks of the registry. */
int rest_admit_role(struct rest *rest, struct json *role, const struct json *old, struct err *err);
int rest_admit_binding(struct rest *rest, struct json *binding, const struct json *old,
                       struct err *err);

/* ---- rest_delete.c: whether the object is the one that is meant; ERR_CONFLICT */
struct deletion_options;
int rest_check_preconditions(struct rest *rest, const struct json *object,
                             const struct deletion_options *options, struct err *err);

/* ---- rest_admit.c, rest_admit_class.c: what else the store must have or hold; hooks of the
 * registry */
int rest_admit_pod(struct rest *rest, struct json *pod, const struct json *old, struct err *err);
int rest_admit_claim(struct rest *rest, struct json *claim, const struct json *old,
                     struct err *err);
int rest_admit_priority_class(struct rest *rest, struct json *class_, const struct json *old,
                              struct err *err);
/* … of a pod, to its priority; part of rest_admit_pod(). */
int rest_admit_priority(struct rest *rest, struct json *pod, struct err *err);
int rest_admit_namespace(struct rest *rest, struct json *namespace_, const struct json *old,
                         struct err *err);

/* ---- rest_admit_limits.c: what the namespace allows; the first two are parts of the hooks above
 */
int rest_admit_pod_limits(struct rest *rest, struct json *pod, struct err *err);
int rest_admit_claim_limits(struct rest *rest, const struct json *claim, struct err *err);

/* ---- rest_quota.c: what the quotas of the namespace allow. The first is a hook of the registry;
 * the second answers a write of the status of a quota, with what is true; the third is asked by
 * every create and update, last of all. */
int rest_admit_quota(struct rest *rest, struct json *quota, const struct json *old,
                     struct err *err);
int rest_recount_quota(struct rest *rest, struct json *quota, struct err *err);
int rest_charge_quotas(struct rest *rest, const struct json *object, const struct json *old,
                       struct err *err);

/* ---- rest_definition.c: names, conditions and warnings; a hook of the registry */
int rest_admit_definition(struct rest *rest, struct json *definition, const struct json *old,
                          struct err *err);

/* ---- the verbs */
void rest_get(struct rest *rest);
void rest_list(struct rest *rest);
void rest_watch(struct rest *rest);
void rest_create(struct rest *rest);
void rest_update(struct rest *rest);
void rest_patch(struct rest *rest);
void rest_delete(struct rest *rest);
void rest_delete_collection(struct rest *rest);
void rest_review(struct rest *rest);
void rest_bind(struct rest *rest);
void rest_evict(struct rest *rest);
void rest_log(struct rest *rest);
/* Answered now, by whoever runs the pod, and as soon as its container runs. */
void rest_log_tell(struct rest *rest, const struct json *pod,
                   const struct engine_pod_logs *options);
void rest_log_follow(struct rest *rest, const struct json *pod,
                     const struct engine_pod_logs *options);
void rest_scale(struct rest *rest);
void rest_token(struct rest *rest);
void rest_port_forward(struct rest *rest);
void rest_proxy(struct rest *rest);
void rest_exec(struct rest *rest); /* and attach */

#endif
