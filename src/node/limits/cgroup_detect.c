/* Finds the control groups of this machine; see limits/cgroup_detect.h. */
#include "node/limits/cgroup_detect.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/process/mount_info.h"

#include <string.h>

enum { FIELDS_MAX = 64 };

/* Returns the next line of a text, in the arena; NULL at its end. */
static char *next_line(struct arena *arena, const char **text)
{
    if (!**text)
        return NULL;
    size_t size = strcspn(*text, "\n");
    char *line = arena_strndup(arena, *text, size);
    *text += size + ((*text)[size] == '\n');
    return line;
}

static bool has_word(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strncmp(at, word, size) == 0 && (at[size] == ',' || at[size] == '\0'))
            return true;
    }
    return false;
}

static unsigned controllers_in(const char *list)
{
    unsigned found = 0;
    for (unsigned bit = 1; bit <= CGROUP_LAST; bit <<= 1)
        if (has_word(list, cgroup_controller_name(bit)))
            found |= bit;
    return found;
}

/* Returns this process's group in a hierarchy, "/user.slice/…", or NULL if it is not listed. Lines
 * are NUMBER:CONTROLLERS:PATH, for version 2 "0::PATH". */
static const char *find_own_group(struct arena *arena, const char *own_groups, bool unified,
                                  unsigned controllers)
{
    for (char *line; (line = next_line(arena, &own_groups));) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *list++ = '\0';
        *path++ = '\0';
        bool matches = unified ? str_eq(line, "0") && !*list : (controllers_in(list) & controllers);
        if (matches && path[0] == '/')
            return path;
    }
    return NULL;
}

static bool is_of_systemd(const char *path)
{
    static const char *const SUFFIXES[] = {".slice", ".scope", ".service"};
    for (const char *at = path; *at;) {
        at += *at == '/';
        size_t size = strcspn(at, "/");
        for (size_t i = 0; i < ARRAY_SIZE(SUFFIXES); i++) {
            size_t length = strlen(SUFFIXES[i]);
            if (size > length && strncmp(at + size - length, SUFFIXES[i], length) == 0)
                return true;
        }
        at += size;
    }
    return false;
}

/* Returns the rest of `path` below `root`, the directory of the hierarchy that is mounted. In a
 * container, `path` may be outside of `root`. Then the function returns "", because only the top of
 * the mount is usable. */
static const char *below_root(const char *root, const char *path)
{
    size_t size = str_eq(root, "/") ? 0 : strlen(root);
    if (strstr(path, "/..") || strncmp(path, root, size) != 0 ||
        (path[size] != '/' && path[size] != '\0') || str_eq(path + size, "/"))
        return "";
    return path + size;
}

/* Returns the path without a final CGROUP_SELF. */
static const char *without_self(struct arena *arena, const char *path)
{
    static const char suffix[] = "/" CGROUP_SELF;
    size_t size = strlen(path), length = sizeof(suffix) - 1;
    return str_has_suffix(path, suffix) ? arena_strndup(arena, path, size - length) : path;
}

/* Parses a line of mountinfo: ID PARENT DEVICE ROOT MOUNT-POINT OPTIONS TAG… - TYPE SOURCE
 * SUPER-OPTIONS. Returns false if it is no hierarchy that this process belongs to. */
static bool read_mount(char *line, const char *own_groups, struct arena *arena,
                       struct cgroup_place *ret)
{
    char *fields[FIELDS_MAX];
    size_t count = 0, dash = 0;
    for (char *rest = line, *word; count < FIELDS_MAX && (word = strsep(&rest, " "));) {
        if (!dash && count >= 6 && str_eq(word, "-"))
            dash = count;
        fields[count++] = word;
    }
    if (!dash || count < dash + 4)
        return false;
    const char *type = fields[dash + 1], *options = fields[dash + 3];
    bool unified = str_eq(type, "cgroup2");
    if (!unified && !str_eq(type, "cgroup"))
        return false;
    unsigned controllers = unified ? 0 : controllers_in(options);
    const char *path = find_own_group(arena, own_groups, unified, controllers);
    if (!path || (!unified && !controllers))
        return false;
    const char *mount = mount_info_unescape(fields[4]);
    *ret = (struct cgroup_place){
        .mount = mount,
        .group =
            arena_printf(arena, "%s%s", mount,
                         without_self(arena, below_root(mount_info_unescape(fields[3]), path))),
        .controllers = controllers,
        .unified = unified,
        .of_systemd = is_of_systemd(path),
        .read_only = has_word(fields[5], "ro") || has_word(options, "ro"),
    };
    return true;
}

/* Returns true if the hierarchy was found before. A hierarchy may be mounted in several places; the
 * first one is used. */
static bool is_known(const struct cgroup_places *places, const struct cgroup_place *place)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].unified == place->unified &&
            (place->unified || places->items[i].controllers & place->controllers))
            return true;
    return false;
}

void cgroup_detect(struct arena *arena, const char *own_groups, const char *mounts,
                   struct cgroup_places *ret)
{
    *ret = (struct cgroup_places){0};
    struct cgroup_place place;
    for (char *line; ret->count < CGROUP_TREES_MAX && (line = next_line(arena, &mounts));)
        if (read_mount(line, own_groups, arena, &place) && !is_known(ret, &place))
            ret->items[ret->count++] = place;
}

const char *cgroup_place_parent(const struct cgroup_place *place, bool privileged)
{
    return place->of_systemd && privileged ? place->mount : place->group;
}
