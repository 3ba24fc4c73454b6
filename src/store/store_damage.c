/* Lists and classifies the damaged rows that are found when a store is opened; see store.h. */
#include "store/store_internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "store/store_checksum.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_SHOWN_MAX = 1024,
    /* The store searches the object of a damaged row only while it has found fewer damaged rows
     * than this, because each search tries every key. */
    PROOFS_MAX = 100,
};

const struct store_damage *store_damage(const struct store *store)
{
    return &store->damage;
}

bool store_is_damaged(const struct store *store)
{
    const struct store_damage *damage = &store->damage;
    return damage->count > 0 || damage->lost_last > 0 || damage->log_copy;
}

/* ---- the owner of a row ---------------------------------------------------------------------- */

/* Returns whether the stored head checksum of the row is valid for this key and for one of the
 * likely values of the columns created and deleted. Then the row belongs to this key. Sets
 * *ret_deleted to the value of deleted for which the checksum is valid. `version` is the committed
 * version of the object, or NULL. */
static bool proves_key(const struct store_row *row, const char *key,
                       const struct store_object *version, bool *ret_deleted)
{
    const int64_t created[] = {row->created, row->revision,
                               version ? version->create_revision : row->revision};
    for (size_t i = 0; i < 2 * ARRAY_SIZE(created); i++) {
        bool deleted = i % 2 != row->deleted;
        if (store_checksum_head(row->revision, key, strlen(key), created[i / 2], deleted) !=
            row->head_sum)
            continue;
        *ret_deleted = deleted;
        return true;
    }
    return false;
}

struct store_owner store_damage_find_owner(const struct store *store, const struct store_row *row)
{
    struct store_owner owner = {.key = row->key, .deleted = row->deleted};
    owner.is_proven = row->damage == STORE_ROW_DATA;
    if (owner.is_proven || store->damage.count >= PROOFS_MAX)
        return owner;
    struct key_node *node = key_index_find(&store->index, row->key);
    struct store_entry *entry = node ? node->value : NULL;
    owner.is_proven = proves_key(row, row->key, entry ? entry->committed : NULL, &owner.deleted);
    for (node = key_index_from(&store->index, ""); node && !owner.is_proven; node = node->next[0]) {
        entry = node->value;
        owner.is_proven = proves_key(row, node->key, entry->committed, &owner.deleted);
        if (owner.is_proven)
            owner.key = node->key;
    }
    return owner;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Returns a copy of a damaged key. Bytes other than printable ASCII become '?', and a long key is
 * truncated. The caller frees the copy. */
static char *key_printable(const char *key)
{
    char *text = mem_strndup(key, strnlen(key, KEY_SHOWN_MAX));
    for (char *at = text; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return text;
}

void store_damage_add(struct store *store, const struct store_row *row,
                      const struct store_owner *owner)
{
    struct store_damage *damage = &store->damage;
    if (damage->count++ >= store->damage_max)
        return;
    damage->rows = mem_realloc(damage->rows, (damage->rows_count + 1) * sizeof(damage->rows[0]));
    damage->rows[damage->rows_count++] = (struct store_damaged_row){
        .revision = row->revision,
        .key = owner->is_proven ? mem_strdup(owner->key) : key_printable(owner->key),
        .deleted = owner->deleted,
        .effect = owner->is_proven ? STORE_DAMAGE_MISSING : STORE_DAMAGE_UNKNOWN,
    };
}

void store_damage_supersede(struct store *store, const char *key, int64_t revision)
{
    for (size_t i = 0; i < store->damage.rows_count; i++) {
        struct store_damaged_row *row = &store->damage.rows[i];
        if (row->effect == STORE_DAMAGE_UNKNOWN || !str_eq(row->key, key))
            continue;
        row->effect = STORE_DAMAGE_SUPERSEDED;
        row->valid_revision = revision;
    }
}

bool store_damage_concerns(const struct store *store, const char *key)
{
    const struct store_damage *damage = &store->damage;
    if (damage->count > damage->rows_count)
        return true; /* not all damaged rows are listed, and any of them may have this key */
    for (size_t i = 0; i < damage->rows_count; i++)
        if (str_eq(damage->rows[i].key, key))
            return true;
    return false;
}

/* Determines the effect of a damaged row that no later change supersedes. */
static void damage_classify(struct store *store, struct store_damaged_row *row)
{
    struct store_object *served = store_get(store, row->key);
    row->valid_revision = served ? served->revision : 0;
    store_object_unref(served);
    if (row->deleted)
        row->effect = STORE_DAMAGE_DELETED;
    else if (row->valid_revision)
        row->effect = STORE_DAMAGE_OLDER;
}

void store_damage_finish(struct store *store, int64_t last)
{
    struct store_damage *damage = &store->damage;
    for (size_t i = 0; i < damage->rows_count; i++)
        if (damage->rows[i].effect == STORE_DAMAGE_MISSING)
            damage_classify(store, &damage->rows[i]);
    damage->lost_first = store->disk->lost ? last - store->disk->lost + 1 : 0;
    damage->lost_last = store->disk->lost ? last : 0;
    damage->log_copy = store->disk->wal_copy;
    damage->log_frame = store->disk->wal.bad_frame;
}

void store_damage_release(struct store_damage *damage)
{
    for (size_t i = 0; i < damage->rows_count; i++)
        free(damage->rows[i].key);
    free(damage->rows);
    *damage = (struct store_damage){0};
}

static char *describe_row(const struct store_damaged_row *row)
{
    long long revision = row->revision, valid = row->valid_revision;
    switch (row->effect) {
    case STORE_DAMAGE_SUPERSEDED:
        return mem_printf(
            "revision %lld of '%s' is damaged: nothing is missing, because revision %lld is newer",
            revision, row->key, valid);
    case STORE_DAMAGE_DELETED:
        return mem_printf("revision %lld of '%s' is damaged: the object stays deleted", revision,
                          row->key);
    case STORE_DAMAGE_OLDER:
        return mem_printf("revision %lld of '%s' is damaged: the older revision %lld is served "
                          "instead",
                          revision, row->key, valid);
    case STORE_DAMAGE_MISSING:
        return mem_printf("revision %lld of '%s' is damaged: the object is missing", revision,
                          row->key);
    case STORE_DAMAGE_UNKNOWN:
        break;
    }
    return mem_printf("revision %lld and its key, which reads '%s', are damaged: one object may be "
                      "missing, outdated, or present although it was deleted",
                      revision, row->key);
}

void store_damage_describe(const struct store_damage *damage,
                           void (*line)(void *context, const char *text), void *context)
{
    for (size_t i = 0; i < damage->rows_count; i++) {
        _cleanup_free_ char *text = describe_row(&damage->rows[i]);
        line(context, text);
    }
    if (damage->count > damage->rows_count) {
        _cleanup_free_ char *text =
            mem_printf("%zu more rows are damaged", damage->count - damage->rows_count);
        line(context, text);
    }
    if (damage->lost_last) {
        _cleanup_free_ char *text =
            mem_printf("changes %lld to %lld were acknowledged and are lost",
                       (long long)damage->lost_first, (long long)damage->lost_last);
        line(context, text);
    }
    if (damage->log_copy) {
        _cleanup_free_ char *text =
            mem_printf("the write-ahead log was damaged from frame %zu on; it is kept as '%s'",
                       damage->log_frame, damage->log_copy);
        line(context, text);
    }
}
