/* Images as names for commands; see image_table.h. */
#include "node/image_table.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/node.h"

#include <string.h>

enum { NAME_MAX_SIZE = 512 };

int image_table_load(struct arena *arena, const char *state_dir, struct json **ret, struct err *err)
{
    const char *path = arena_printf(arena, "%s/images.json", state_dir);
    if (file_exists(path))
        return json_file_read(arena, path, ret, err);
    *ret = json_object(arena);
    return 0;
}

/* The name without registry default, tag and digest. */
static const char *bare_name(struct arena *arena, const char *image)
{
    if (str_has_prefix(image, "docker.io/"))
        image += strlen("docker.io/");
    size_t size = strcspn(image, "@");
    const char *slash = memrchr(image, '/', size);
    const char *colon =
        memchr(slash ? slash : image, ':', size - (size_t)(slash ? slash - image : 0));
    if (colon) /* one before the last slash is a registry's port */
        size = (size_t)(colon - image);
    return arena_strndup(arena, image, size);
}

int image_table_lookup(struct arena *arena, const struct json *table, const char *image,
                       struct pod_strings *ret, struct err *err)
{
    const char *name = bare_name(arena, image);
    struct pod_strings command = {0};
    const struct json *row = json_get(table, image);
    if (!row)
        row = json_get(table, name);
    JSON_EACH (argument, row) {
        if (json_text(argument))
            pod_strings_add(arena, &command, json_text(argument));
    }
    if (!command.count && str_eq(name, "trainyard/trainer"))
        pod_strings_add(arena, &command, IMAGE_TRAINER_PATH);
    if (!command.count && str_eq(name, "trainyard/step"))
        pod_strings_add(arena, &command, IMAGE_STEP_PATH);
    if (!command.count && str_eq(name, "trainyard/tools"))
        return err_set(err, ERR_NOT_FOUND,
                       "image '%s' is a plain shell environment: give the container a command",
                       image);
    if (!command.count)
        return err_set(err, ERR_NOT_FOUND,
                       "image '%s' is not known here: run 'trainyard image add %s -- COMMAND' or "
                       "give the container a command",
                       image, name);
    *ret = command;
    return 0;
}

static int store(const char *state_dir, const struct json *table, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/images.json", state_dir);
    return json_file_write(path, table, err);
}

int node_image_add(const char *state_dir, const char *name, const char *const *command,
                   struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *table = NULL;
    if (str_is_empty(name) || strlen(name) > NAME_MAX_SIZE || strpbrk(name, " \t\n"))
        return err_set(err, ERR_INVALID, "'%s' is no name of an image", name ? name : "");
    if (!command[0])
        return err_set(err, ERR_INVALID, "image '%s' needs a command", name);
    int result = image_table_load(arena, state_dir, &table, err);
    if (result < 0)
        return result;
    struct json *row = json_array(arena);
    for (; *command; command++)
        json_append(row, json_string(arena, *command));
    json_set(arena, table, name, row);
    return store(state_dir, table, err);
}

int node_image_remove(const char *state_dir, const char *name, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *table = NULL;
    int result = image_table_load(arena, state_dir, &table, err);
    if (result < 0)
        return result;
    if (!json_remove(table, name))
        return err_set(err, ERR_NOT_FOUND, "image '%s' is not known here", name);
    return store(state_dir, table, err);
}
