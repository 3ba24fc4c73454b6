/* Chooses the directories that pods share with the machine; see shares.h. */
#include "cli/trainyard/shares.h"

#include "base/json/json_file.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/node.h"

#include <stdlib.h>
#include <string.h>

enum { SHARES_MAX = 16 };

/* Returns whether the path is the directory or is inside of it. */
static bool share_lies_in(const char *path, const char *directory)
{
    size_t size = strlen(directory);
    return strncmp(path, directory, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

/* Adds a directory to the list, unless it is inside of another directory of the list, and removes
 * the directories of the list that are inside of it. Returns the new length of the list. Pods can
 * access an inner directory through the outer one. If the inner directory were shared too, a pod
 * could replace it by a symbolic link to any directory. */
static size_t add_directory(const char **list, size_t count, const char *path)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (share_lies_in(path, list[i]))
            return count;
    for (size_t i = 0; i < count; i++)
        if (!share_lies_in(list[i], path))
            list[kept++] = list[i];
    list[kept++] = path;
    for (size_t i = kept; i < count; i++)
        list[i] = NULL;
    return kept;
}

/* Resolves the directories to real paths, without those that are inside of another one. */
static int find_directories(struct arena *arena, const struct state_dir *state,
                            const struct option_list *wanted, const char **ret, struct err *err)
{
    size_t count = 0;
    if (wanted->count > SHARES_MAX)
        return err_set(err, ERR_USAGE, "--share: there are %zu directories, but the limit is %d",
                       wanted->count, SHARES_MAX);
    for (size_t i = 0; i < wanted->count; i++) {
        const char *found;
        int result =
            node_share_find(arena, state->path, getenv("HOME"), wanted->items[i], &found, err);
        if (result < 0)
            return err_wrap(err, "--share");
        count = add_directory(ret, count, found);
    }
    return 0;
}

static int save_directories(struct arena *arena, const struct state_dir *state,
                            struct json *settings, const char *const *paths, struct err *err)
{
    struct json *list = json_array(arena);
    for (size_t i = 0; paths[i]; i++)
        json_append(list, json_string(arena, paths[i]));
    json_set(arena, settings, "shares", list);
    return json_file_write(state->settings, settings, err);
}

static int read_settings(struct arena *arena, const struct state_dir *state,
                         struct json **ret_settings, struct option_list *ret_kept, struct err *err)
{
    *ret_settings = json_object(arena);
    *ret_kept = (struct option_list){.items = ARENA_ARRAY(arena, const char *, SHARES_MAX + 1)};
    if (!file_exists(state->settings))
        return 0;
    int result = json_file_read(arena, state->settings, ret_settings, err);
    if (result < 0)
        return result;
    JSON_EACH (path, json_get(*ret_settings, "shares")) {
        if (json_text(path) && ret_kept->count < SHARES_MAX)
            ret_kept->items[ret_kept->count++] = json_text(path);
    }
    return 0;
}

int shares_choose(struct arena *arena, const struct state_dir *state,
                  const struct option_list *wanted, const char *const **ret, struct err *err)
{
    struct json *settings;
    struct option_list list;
    const char **paths = ARENA_ARRAY(arena, const char *, SHARES_MAX + 1);
    int result = read_settings(arena, state, &settings, &list, err);
    if (result < 0)
        return result;
    bool is_none = wanted->count == 1 && str_eq(wanted->items[0], "none");
    if (is_none)
        list.count = 0;
    else if (wanted->count)
        list = *wanted;
    result = find_directories(arena, state, &list, paths, err);
    if (result < 0 && !wanted->count)
        return err_set(err, err->code,
                       "%s; it was shared by the last 'up': create it again, or share none with "
                       "'trainyard up --share none'",
                       arena_strdup(arena, err->message));
    if (result == 0 && wanted->count)
        result = save_directories(arena, state, settings, paths, err);
    if (result == 0)
        *ret = paths;
    return result;
}

int shares_kept(struct arena *arena, const struct state_dir *state, const char *const **ret,
                struct err *err)
{
    struct json *settings;
    struct option_list kept;
    int result = read_settings(arena, state, &settings, &kept, err);
    if (result == 0)
        *ret = kept.items;
    return result;
}
