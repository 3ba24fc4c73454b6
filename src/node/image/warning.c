/* Implements node_image_warning() for `trainyard image add`: finds the files in an image's command
 * that pods will not see. Each warn_ function returns a sentence, or NULL if there is nothing to
 * say. */
#include "node/node.h"

#include "base/str.h"
#include "base/system/file.h"
#include "node/image/table.h"
#include "node/image/tmp_program.h"
#include "node/plan/masks.h"

#include <string.h>

static bool warning_lies_in(const char *path, const char *directory)
{
    size_t size = strlen(directory);
    return strncmp(path, directory, size) == 0 && path[size] == '/';
}

/* Warns of a program without a path that is not in the PATH of pods. */
static const char *warn_of_name(struct arena *arena, const char *program)
{
    size_t count;
    char **directories = str_split(arena, IMAGE_PATH ":" IMAGE_TOOLS_DIRECTORY, ':', &count);
    for (size_t i = 0; i < count; i++)
        if (file_exists(arena_printf(arena, "%s/%s", directories[i], program)) ||
            str_eq(arena_printf(arena, "%s/%s", directories[i], program), IMAGE_TRAINER_PATH))
            return NULL;
    return strchr(program, ' ')
               ? arena_printf(
                     arena, "the whole command '%s' is one word: write it without quotation marks",
                     program)
               : arena_printf(arena,
                              "there is no program '%s' in the PATH of pods (" IMAGE_PATH
                              "): give its full path",
                              program);
}

static const char *warn_of_program(struct arena *arena, const struct node_image *image)
{
    const char *program = image->command[0];
    if (!strchr(program, '/'))
        return image->rootfs ? NULL : warn_of_name(arena, program);
    if (program[0] != '/')
        return "the path of a program is relative to the working directory unless it begins with "
               "'/'";
    const char *path = arena_printf(arena, "%s%s", image->rootfs ? image->rootfs : "", program);
    if (file_exists(path))
        return NULL;
    return image->rootfs ? arena_printf(arena, "there is no '%s' in '%s'", program, image->rootfs)
                         : arena_printf(arena, "'%s' does not exist", program);
}

static bool is_shared(const struct node_image *image, const char *path)
{
    for (size_t i = 0; image->shares && image->shares[i]; i++)
        if (warning_lies_in(path, image->shares[i]))
            return true;
    return false;
}

/* Warns of a word of the command that names a file which pods do not see. */
static const char *warn_of_hidden(struct arena *arena, const struct node_image *image, size_t index,
                                  const char *home)
{
    const char *word = image->command[index], *hidden = image_hidden_in(word);
    struct pod_strings masks = {0};
    plan_masks_add(arena, image->state_dir, home, &masks);
    for (size_t i = 0; i < masks.count; i++)
        if (warning_lies_in(word, masks.items[i]))
            return arena_printf(arena, "pods do not see '%s': keep '%s' elsewhere", masks.items[i],
                                word);
    if (hidden && file_exists(word) && !image_tmp_program_entry(arena, word, index) &&
        !is_shared(image, word))
        return arena_printf(arena,
                            "pods have a '%s' of their own and will not find '%s': keep it in your "
                            "home or in /opt, or share its directory with 'trainyard up --share "
                            "DIR'",
                            hidden, word);
    return NULL;
}

/* Warns of a word of the command that has the name of a script, but names no file. */
static const char *warn_of_script(struct arena *arena, const char *word)
{
    return word[0] == '/' && image_is_script_name(word) && !file_exists(word)
               ? arena_printf(arena, "'%s' does not exist", word)
               : NULL;
}

const char *node_image_warning(struct arena *arena, const struct node_image *image,
                               const char *home)
{
    const char *warning = NULL;
    for (size_t i = 0; !image->rootfs && !warning && i < image->command_count; i++)
        warning = warn_of_hidden(arena, image, i, home);
    for (size_t i = 1; !image->rootfs && !warning && i < image->command_count; i++)
        warning = warn_of_script(arena, image->command[i]);
    return warning || !image->command_count ? warning : warn_of_program(arena, image);
}
