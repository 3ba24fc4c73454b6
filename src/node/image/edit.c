/* Implements node_image_add(), node_image_remove() and node_image_list() for `trainyard image`. */
#include "node/node.h"

#include "base/cleanup.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/image/name.h"
#include "node/image/store.h"
#include "node/image/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct json *edit_word_list(struct arena *arena, const char *const *list, size_t count)
{
    struct json *array = json_array(arena);
    for (size_t i = 0; i < count; i++)
        json_append(array, json_string(arena, list[i]));
    return array;
}

static bool lies_below(const char *path, const char *directory)
{
    size_t size = strlen(directory);
    while (size && directory[size - 1] == '/')
        size--;
    return strncmp(path, directory, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

/* Refuses a root that contains the state directory, because a pod could read the cluster's token
 * there. */
static int check_root(struct arena *arena, const struct node_image *image, const char **ret,
                      struct err *err)
{
    _cleanup_free_ char *real = realpath(image->rootfs, NULL);
    _cleanup_free_ char *state = realpath(image->state_dir, NULL);
    if (!real)
        return err_set_errno(err, errno, "cannot use '%s' as the root directory", image->rootfs);
    if (!file_exists(arena_printf(arena, "%s/.", real)))
        return err_set(err, ERR_INVALID, "'%s' is not a directory", image->rootfs);
    if (state && lies_below(state, real))
        return err_set(err, ERR_INVALID,
                       "'%s' holds this cluster's state, which pods must not see: take a "
                       "directory that holds the image's files only",
                       real);
    *ret = arena_strdup(arena, real);
    return 0;
}

static int make_row(struct arena *arena, const struct node_image *image, struct json **ret,
                    struct err *err)
{
    struct json *row = json_object(arena);
    char now[MOMENT_TEXT_MAX];
    if (image->command_count)
        json_set(arena, row, "command",
                 edit_word_list(arena, image->command, image->command_count));
    for (size_t i = 0; i < image->env_count; i++)
        if (!strchr(image->env[i], '=') || image->env[i][0] == '=')
            return err_set(err, ERR_INVALID, "variable '%s' is not of the form NAME=VALUE",
                           image->env[i]);
    if (image->env_count)
        json_set(arena, row, "env", edit_word_list(arena, image->env, image->env_count));
    if (image->workdir && image->workdir[0] != '/')
        return err_set(err, ERR_INVALID, "working directory '%s' does not begin with '/'",
                       image->workdir);
    if (image->workdir)
        json_set_string(arena, row, "workdir", image->workdir);
    if (image->rootfs) {
        const char *root = NULL;
        int result = check_root(arena, image, &root, err);
        if (result < 0)
            return result;
        json_set_string(arena, row, "rootfs", root);
    }
    moment_format(moment_wall_ms(), now);
    json_set_string(arena, row, "created", now);
    *ret = row;
    return 0;
}

/* Returns the key in images.json that is the same image name, perhaps in another spelling, such as
 * "docker.io/library/x" for "x". Returns NULL if there is none. */
static const char *edit_find_member(struct arena *arena, const struct json *table,
                                    const struct image_name *wanted)
{
    JSON_EACH (row, table) {
        struct image_name have;
        if (image_name_parse(arena, row->name, &have, NULL) == 0 &&
            str_eq(have.name, wanted->name) && str_eq(have.tag, wanted->tag))
            return row->name;
    }
    return NULL;
}

int node_image_add(const struct node_image *image, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_fd_ int lock = -1;
    struct json *table, *row;
    struct image_name name;
    int result;
    if ((result = image_name_parse(arena, image->name, &name, err)) < 0)
        return result;
    if (!image->command_count && !image->rootfs)
        return err_set(err, ERR_INVALID, "image '%s' needs a command", image->name);
    if ((result = make_row(arena, image, &row, err)) < 0 ||
        (result = image_store_lock(image->state_dir, &lock, err)) < 0 ||
        (result = image_table_load(arena, image->state_dir, &table, err)) < 0)
        return result;
    const char *earlier = edit_find_member(arena, table, &name);
    json_set(arena, table, earlier ? earlier : image_name_text(arena, &name), row);
    if ((result = image_table_store(image->state_dir, table, err)) < 0)
        return result;
    return image_store_collect(image->state_dir, table, err);
}

/* Returns true if the row of another name has the same digest, and so the same files. */
static bool is_shared(const struct json *table, const struct json *row)
{
    JSON_EACH (other, table) {
        if (other != row &&
            str_eq(json_get_string(other, "digest", ""), json_get_string(row, "digest", "-")))
            return true;
    }
    return false;
}

int node_image_remove(const char *state_dir, const char *name, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_fd_ int lock = -1;
    struct json *table;
    struct image_name wanted;
    int result;
    if ((result = image_name_parse(arena, name, &wanted, err)) < 0 ||
        (result = image_store_lock(state_dir, &lock, err)) < 0 ||
        (result = image_table_load(arena, state_dir, &table, err)) < 0)
        return result;
    const char *member = edit_find_member(arena, table, &wanted);
    if (!member && !wanted.tag[0]) {
        wanted.tag = "latest"; /* the meaning of a name without a tag */
        member = edit_find_member(arena, table, &wanted);
    }
    if (!member)
        return err_set(err, ERR_NOT_FOUND, "image '%s' does not exist", name);
    const struct json *row = json_get(table, member);
    const char *digest = json_get_string(row, "digest", "");
    const char *user =
        digest[0] && !is_shared(table, row)
            ? image_store_find_pod(arena, state_dir, image_root(arena, state_dir, digest))
            : NULL;
    if (user)
        return err_set(err, ERR_CONFLICT, "image '%s' is in use by pod '%s': delete the pod first",
                       name, user);
    json_remove(table, member);
    if ((result = image_table_store(state_dir, table, err)) < 0)
        return result;
    return image_store_collect(state_dir, table, err);
}

int node_image_list(struct arena *arena, const char *state_dir, struct json **ret, struct err *err)
{
    struct json *table, *list = json_array(arena);
    int result = image_table_load(arena, state_dir, &table, err);
    if (result < 0)
        return result;
    JSON_EACH (row, table) {
        struct json *item = json_object(arena);
        json_set_string(arena, item, "name", row->name);
        if (row->type == JSON_ARRAY)
            json_set(arena, item, "command", json_clone(arena, row));
        JSON_EACH (member, row->type == JSON_OBJECT ? row : NULL)
            json_set(arena, item, member->name, json_clone(arena, member));
        json_append(list, item);
    }
    *ret = list;
    return 0;
}
