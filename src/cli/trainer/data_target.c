/* Implements the checks of a target folder; see data_target.h. */
#include "cli/trainer/data_target.h"

#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <stdio.h>

/* Returns whether the target may contain an entry of this name. */
typedef bool allowed(const void *context, const char *name);

/* Checks the entries of the folder. If `allow` is NULL, no entry is allowed. Returns 0 if
 * `directory` does not exist or is not a folder: the code that creates it reports errors. */
static int check_target(const char *directory, allowed *allow, const void *context, struct err *err)
{
    DIR *entries = opendir(directory);
    int result = 0;
    for (struct dirent *entry; result == 0 && entries && (entry = readdir(entries));)
        if (entry->d_name[0] != '.' && !str_eq(entry->d_name, "lost+found") &&
            !(allow && allow(context, entry->d_name)))
            result = err_set(err, ERR_USAGE,
                             "'%s' is not empty: it contains '%s'; name a "
                             "new folder, or empty this one",
                             directory, entry->d_name);
    if (entries)
        closedir(entries);
    return result;
}

int data_target_check_empty(const char *directory, struct err *err)
{
    return check_target(directory, NULL, NULL, err);
}

/* The people and the picture numbers that a folder may contain. */
struct faces {
    const struct dataset *dataset;
    size_t first, end;
};

static bool is_person(const void *context, const char *name)
{
    const struct faces *faces = context;
    for (size_t i = 0; i < dataset_persons(faces->dataset); i++)
        if (str_eq(dataset_person_name(faces->dataset, i), name))
            return true;
    return false;
}

static bool is_picture(const void *context, const char *name)
{
    const struct faces *faces = context;
    for (size_t i = faces->first; i < faces->end; i++) {
        char written[32];
        snprintf(written, sizeof(written), "%03zu.png", i);
        if (str_eq(written, name))
            return true;
    }
    return false;
}

int data_target_check_faces(const char *directory, const struct dataset *dataset, size_t first,
                            size_t end, struct err *err)
{
    const struct faces faces = {dataset, first, end};
    int result = check_target(directory, is_person, &faces, err);
    for (size_t i = 0; result == 0 && i < dataset_persons(dataset); i++) {
        _cleanup_free_ char *folder =
            mem_printf("%s/%s", directory, dataset_person_name(dataset, i));
        result = check_target(folder, is_picture, &faces, err);
    }
    return result;
}
