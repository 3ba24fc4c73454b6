/* Computes the images in a Node's status; see image/report.h. */
#include "node/image/report.h"

#include "base/str.h"
#include "node/image/name.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    const char *digest, *first; /* the digest of the files, or ""; the name of the first row */
    struct json *names;
    int64_t size;
};

static int report_compare_rows(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return strcmp(x->first, y->first);
}

static struct entry *report_entry_of(struct entry *entries, size_t count, const char *digest)
{
    for (size_t i = 0; digest[0] && i < count; i++)
        if (str_eq(entries[i].digest, digest))
            return &entries[i];
    return NULL;
}

static void add_name(struct entry *entry, struct json *name)
{
    if (json_count(entry->names) < IMAGE_REPORT_NAMES_MAX)
        json_append(entry->names, name);
}

/* Adds "name@digest" if the row has a manifest's digest, and the row's own name, which has the tag.
 */
static void add_names(struct arena *arena, struct entry *entry, const struct json *row)
{
    const char *manifest = json_get_string(row, "manifest", "");
    struct image_name name;
    if (manifest[0] && image_name_parse(arena, row->name, &name, NULL) == 0)
        add_name(entry, json_stringf(arena, "%s@%s", name.name, manifest));
    add_name(entry, json_string(arena, row->name));
}

struct json *image_report(struct arena *arena, const struct json *table)
{
    struct entry *entries = ARENA_ARRAY(arena, struct entry, json_count(table) + 1);
    struct json *images = json_array(arena);
    size_t count = 0;
    JSON_EACH (row, table) {
        const char *digest = json_get_string(row, "digest", "");
        struct entry *entry = report_entry_of(entries, count, digest);
        if (!entry) {
            entry = &entries[count++];
            *entry = (struct entry){.digest = digest,
                                    .first = row->name,
                                    .names = json_array(arena),
                                    .size = json_get_int(row, "size", 0)};
        }
        add_names(arena, entry, row);
    }
    qsort(entries, count, sizeof(*entries), report_compare_rows);
    for (size_t i = 0; i < count && i < IMAGE_REPORT_MAX; i++) {
        struct json *image = json_object(arena);
        json_set(arena, image, "names", entries[i].names);
        if (entries[i].size > 0)
            json_set_int(arena, image, "sizeBytes", entries[i].size);
        json_append(images, image);
    }
    return images;
}
