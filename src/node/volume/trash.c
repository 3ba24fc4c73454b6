/* Moves directories to the trash and removes them; see volume/trash.h. */
#include "node/volume/trash.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct trash {
    struct loop *loop;
    char *directory;
    struct emptying *emptying; /* the removal in progress, or NULL */
    bool has_new; /* directories were added after the removal had begun; it is then repeated */
};

struct emptying {
    struct loop_work work;
    struct trash *trash; /* NULL if the trash was freed meanwhile */
    char *directory;
    struct err err;
};

static void empty_now(struct loop_work *work)
{
    struct emptying *emptying = CONTAINER_OF(work, struct emptying, work);
    DIR *entries = opendir(emptying->directory);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        _cleanup_free_ char *path = mem_printf("%s/%s", emptying->directory, entry->d_name);
        if (entry->d_name[0] != '.')
            (void)file_remove_tree(path, &emptying->err);
    }
    if (entries)
        closedir(entries);
}

static void on_trash_emptied(struct loop_work *work);

static void trash_start_emptying(struct trash *trash)
{
    struct emptying *emptying = mem_zalloc(sizeof(*emptying));
    emptying->work = (struct loop_work){.work = empty_now, .done = on_trash_emptied};
    emptying->trash = trash;
    emptying->directory = mem_strdup(trash->directory);
    trash->emptying = emptying;
    trash->has_new = false;
    loop_work_start(trash->loop, &emptying->work);
}

static void on_trash_emptied(struct loop_work *work)
{
    struct emptying *emptying = CONTAINER_OF(work, struct emptying, work);
    struct trash *trash = emptying->trash;
    if (emptying->err.code)
        log_warning("volume", "%s", emptying->err.message);
    free(emptying->directory);
    free(emptying);
    if (!trash)
        return;
    trash->emptying = NULL;
    if (trash->has_new)
        trash_start_emptying(trash);
}

struct trash *trash_new(struct loop *loop, const char *state_dir)
{
    struct trash *trash = mem_zalloc(sizeof(*trash));
    trash->loop = loop;
    /* No namespace has such a name. */
    trash->directory = mem_printf("%s/volumes/.deleted", state_dir);
    if (file_exists(trash->directory))
        trash_start_emptying(trash);
    return trash;
}

struct trash *trash_free(struct trash *trash)
{
    if (!trash)
        return NULL;
    if (trash->emptying)
        trash->emptying->trash = NULL;
    free(trash->directory);
    free(trash);
    return NULL;
}

bool trash_throw(struct trash *trash, const char *path, const char *name)
{
    _cleanup_free_ char *aside = mem_printf("%s/%s", trash->directory, name);
    if (!file_exists(path))
        return false;
    struct err err = ERR_INIT;
    if (file_make_dirs(trash->directory, 0700, &err) == 0 && rename(path, aside) < 0)
        err_set_errno(&err, errno, "cannot remove '%s'", path);
    if (err.code) {
        log_warning("volume", "%s", err.message);
        return false;
    }
    if (trash->emptying)
        trash->has_new = true;
    else
        trash_start_emptying(trash);
    return true;
}
