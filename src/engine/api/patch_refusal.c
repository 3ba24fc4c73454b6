/* Makes the error for a patch whose result is not a valid object of its kind; see write.h. As in
 * Kubernetes, the message shows a strategic patch in Go's notation of a map. For the other patch
 * types, it shows the patched object as JSON. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/write.h"
#include "kube/patch/patch.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 64 * 1024 }; /* bytes of the patch or object in the message */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct json *const *)a)->name, (*(const struct json *const *)b)->name);
}

/* Returns a NULL-terminated array of the members, sorted by name as Go prints maps. */
static const struct json **patch_refusal_sort(struct arena *arena, const struct json *object)
{
    const struct json **members = ARENA_ARRAY(arena, const struct json *, object->count + 1);
    size_t count = 0;
    JSON_EACH (member, object)
        members[count++] = member;
    qsort(members, count, sizeof(members[0]), by_name);
    return members;
}

/* Appends the value in Go's notation. */
static void print_map(struct arena *arena, const struct json *value, struct buf *buf)
{
    bool first = true;
    if (value->type == JSON_OBJECT) {
        buf_append_str(buf, "map[");
        for (const struct json **member = patch_refusal_sort(arena, value); *member; member++) {
            buf_printf(buf, "%s%s:", first ? "" : " ", (*member)->name);
            print_map(arena, *member, buf);
            first = false;
        }
        buf_append_char(buf, ']');
    } else if (value->type == JSON_ARRAY) {
        buf_append_char(buf, '[');
        JSON_EACH (item, value) {
            buf_append_str(buf, first ? "" : " ");
            print_map(arena, item, buf);
            first = false;
        }
        buf_append_char(buf, ']');
    } else if (value->type == JSON_STRING) {
        buf_append_str(buf, value->text);
    } else if (value->type == JSON_NULL) {
        buf_append_str(buf, "<nil>");
    } else {
        json_write(value, buf);
    }
}

/* Returns the object as Go's encoder writes it: members are sorted by name, but the members of
 * metadata are in the order of Go's type ObjectMeta. Leaves managedFields out, because Kubernetes
 * applies a patch to an object without them. */
static struct json *as_go_writes(struct arena *arena, const struct json *object)
{
    static const char *const first_members[] = {
        "name",       "generateName",     "namespace", "uid", "resourceVersion",
        "generation", "creationTimestamp"};
    struct json *whole = json_object(arena), *meta = json_object(arena);
    for (const struct json **member = patch_refusal_sort(arena, object); *member; member++)
        json_set(arena, whole, (*member)->name, json_clone(arena, *member));
    const struct json *given = json_get(whole, "metadata");
    if (!given || given->type != JSON_OBJECT)
        return whole;
    for (size_t i = 0; i < ARRAY_SIZE(first_members); i++)
        if (json_get(given, first_members[i]))
            json_set(arena, meta, first_members[i],
                     json_clone(arena, json_get(given, first_members[i])));
    JSON_EACH (member, given) {
        if (!json_get(meta, member->name) && !str_eq(member->name, "managedFields"))
            json_set(arena, meta, member->name, json_clone(arena, member));
    }
    json_set(arena, whole, "metadata", meta);
    return whole;
}

int api_reject_patch(struct api_call *call, const struct json *object, const char *why,
                     struct err *err)
{
    enum kube_patch_type type = KUBE_PATCH_MERGE;
    const char *media = http_header_get(call->exchange->request->headers, "Content-Type");
    _cleanup_buf_ struct buf shown;
    buf_init(&shown, SHOWN_MAX);
    (void)kube_patch_type_parse(media, &type, NULL);
    if (type == KUBE_PATCH_STRATEGIC)
        print_map(call->arena, call->patched, &shown);
    else
        json_write(as_go_writes(call->arena, object), &shown);
    call->about_nothing = true;
    field_invalid(&call->invalid, "patch", json_string(call->arena, shown.size ? shown.data : ""),
                  "%s", why);
    return err_set(err, ERR_INVALID, "the patch is invalid");
}
