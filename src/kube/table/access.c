/* The cells of service accounts, roles and bindings; see cells.h. */
#include "kube/table/cells.h"

#include "base/buf.h"
#include "base/str.h"

enum { CELL_MAX = 64 * 1024 };

struct json *table_created_at(struct arena *arena, const struct json *object, int64_t now_ms)
{
    return json_string(arena,
                       json_get_string(json_get(object, "metadata"), "creationTimestamp", ""));
}

struct json *table_account_secrets(struct arena *arena, const struct json *account, int64_t now_ms)
{
    return json_stringf(arena, "%zu", json_count(json_get(account, "secrets")));
}

struct json *table_binding_role(struct arena *arena, const struct json *binding, int64_t now_ms)
{
    const struct json *ref = json_get(binding, "roleRef");
    return json_stringf(arena, "%s/%s", json_get_string(ref, "kind", ""),
                        json_get_string(ref, "name", ""));
}

/* Returns the names of the binding's subjects of this kind as a cell: "a, b". A subject with a
 * namespace, such as a service account, is shown as "namespace/name". */
static struct json *subjects_cell(struct arena *arena, const struct json *binding, const char *kind)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, CELL_MAX);
    JSON_EACH (subject, json_get(binding, "subjects")) {
        const char *namespace_ = json_get_string(subject, "namespace", "");
        if (str_eq(json_get_string(subject, "kind", ""), kind))
            buf_printf(&text, "%s%s%s%s", text.size ? ", " : "", namespace_,
                       namespace_[0] ? "/" : "", json_get_string(subject, "name", ""));
    }
    return json_string(arena, text.data);
}

struct json *table_binding_users(struct arena *arena, const struct json *binding, int64_t now_ms)
{
    return subjects_cell(arena, binding, "User");
}

struct json *table_binding_groups(struct arena *arena, const struct json *binding, int64_t now_ms)
{
    return subjects_cell(arena, binding, "Group");
}

struct json *table_binding_accounts(struct arena *arena, const struct json *binding, int64_t now_ms)
{
    return subjects_cell(arena, binding, "ServiceAccount");
}
