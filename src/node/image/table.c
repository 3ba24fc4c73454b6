/* Loads and stores the image table, and finds images by name; see image/table.h. */
#include "node/image/table.h"

#include "base/cleanup.h"
#include "base/json/json_file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/image/name.h"

#include <string.h>

static const struct {
    const char *name, *program; /* `program` NULL: the container must have a command */
} BUILT_IN[] = {
    {"trainyard/trainer", IMAGE_TRAINER_PATH},
    {"trainyard/step", IMAGE_STEP_PATH},
    {"trainyard/tools", NULL},
};

int image_table_load(struct arena *arena, const char *state_dir, struct json **ret, struct err *err)
{
    const char *path = arena_printf(arena, "%s/images.json", state_dir);
    if (file_exists(path))
        return json_file_read(arena, path, ret, err);
    *ret = json_object(arena);
    return 0;
}

int image_table_store(const char *state_dir, const struct json *table, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/images.json", state_dir);
    return json_file_write(path, table, err);
}

const char *image_directory(struct arena *arena, const char *state_dir, const char *digest)
{
    const char *colon = strchr(digest, ':');
    return arena_printf(arena, "%s/images/%s", state_dir, colon ? colon + 1 : digest);
}

const char *image_root(struct arena *arena, const char *state_dir, const char *digest)
{
    return arena_printf(arena, "%s/rootfs", image_directory(arena, state_dir, digest));
}

static void add_all(struct arena *arena, struct pod_strings *list, const struct json *words)
{
    JSON_EACH (word, words) {
        if (json_text(word))
            pod_strings_add(arena, list, json_text(word));
    }
}

static void table_fill_row(struct arena *arena, const char *state_dir, const struct json *row,
                           struct image *ret)
{
    if (row->type == JSON_ARRAY) { /* the form of earlier versions */
        add_all(arena, &ret->command, row);
        return;
    }
    add_all(arena, &ret->command, json_get(row, "command"));
    add_all(arena, &ret->args, json_get(row, "args"));
    add_all(arena, &ret->environment, json_get(row, "env"));
    ret->directory = json_get_string(row, "workdir", "");
    ret->user = json_get_string(row, "user", "");
    ret->stop_signal = json_get_string(row, "stopSignal", "");
    ret->digest = json_get_string(row, "digest", "");
    ret->root = json_get_string(row, "rootfs", NULL);
    if (!ret->root && ret->digest[0])
        ret->root = image_root(arena, state_dir, ret->digest);
}

/* Returns the row that matches the name best, or NULL. */
static const struct json *best_row(struct arena *arena, const struct json *table,
                                   const struct image_name *wanted)
{
    const struct json *best = NULL;
    int best_match = 0;
    JSON_EACH (row, table) {
        struct image_name have;
        if (image_name_parse(arena, row->name, &have, NULL) < 0)
            continue;
        int match = image_name_match(wanted, &have, json_get_string(row, "manifest", ""));
        if (match > best_match) {
            best = row;
            best_match = match;
        }
    }
    return best;
}

bool image_table_find(struct arena *arena, const char *state_dir, const struct json *table,
                      const char *image, struct image *ret)
{
    struct image_name wanted;
    *ret = (struct image){.directory = "", .user = "", .stop_signal = "", .digest = ""};
    if (image_name_parse(arena, image, &wanted, NULL) < 0)
        return false;
    const struct json *row = best_row(arena, table, &wanted);
    if (row) {
        table_fill_row(arena, state_dir, row, ret);
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(BUILT_IN); i++) {
        if (!str_eq(wanted.name, BUILT_IN[i].name))
            continue;
        if (BUILT_IN[i].program)
            pod_strings_add(arena, &ret->command, BUILT_IN[i].program);
        return true;
    }
    return false;
}

int image_table_advise(struct arena *arena, const char *image, const char *pull_policy,
                       struct err *err)
{
    struct image_name name;
    if (image_name_parse(arena, image, &name, err) < 0)
        return err_set(err, ERR_NOT_FOUND,
                       "'%s' is not a valid image name: give the container a command", image);
    if (str_eq(name.name, "trainyard/tools"))
        return err_set(err, ERR_NOT_FOUND,
                       "image '%s' is a plain shell environment: give the container a command",
                       image);
    const char *pulling =
        str_eq(pull_policy, "Never") || !pull_policy[0]
            ? ""
            : arena_printf(arena, ", and images are never pulled (imagePullPolicy %s)",
                           pull_policy);
    return err_set(err, ERR_NOT_FOUND,
                   "image '%s' is not present on this machine%s: run 'trainyard image add %s -- "
                   "COMMAND' to map it to a program of this machine, 'trainyard image import "
                   "FILE.tar' to import a saved image, or give the container a command",
                   image, pulling, name.name);
}
