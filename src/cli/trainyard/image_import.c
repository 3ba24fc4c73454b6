/* trainyard image import: imports an image that was saved by another tool. */
#include "cli/trainyard/image.h"

#include "cli/trainyard/commands.h"

#include "node/node.h"

#include <stdio.h>

struct image_import_values {
    const char *state;
    int64_t size_max; /* limit of the image in GiB */
    int64_t files_max;
};

static int image_import_run(const void *values, size_t count, const char *const *arguments,
                            struct err *err)
{
    const struct image_import_values *wanted = values;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    struct json *rows;
    int result = image_command_state(arena, wanted->state, &state, err);
    if (result < 0)
        return result;
    const struct node_image_import import = {
        .state_dir = state.path,
        .file = arguments[0],
        .name = count > 1 ? arguments[1] : NULL,
        .bytes_max = (uint64_t)wanted->size_max << 30,
        .files_max = (uint64_t)wanted->files_max,
    };
    if ((result = node_image_import(arena, &import, &rows, err)) < 0)
        return result;
    JSON_EACH (row, rows) {
        char size[IMAGE_SIZE_TEXT];
        image_command_size(json_get_int(row, "size", 0), size);
        printf("image %s imported: %s, %.19s\n", json_get_string(row, "name", ""), size,
               json_get_string(row, "digest", ""));
    }
    return 0;
}

static const struct option OPTIONS[] = {
    OPTION_STATE(struct image_import_values),
    {.name = "max-size",
     .type = OPTION_INT,
     .offset = offsetof(struct image_import_values, size_max),
     .fallback = "64",
     .value = "GIB",
     .min = 1,
     .max = 64 * 1024,
     .help = "refuse an image that unpacks to more than this, in GiB"},
    {.name = "max-files",
     .type = OPTION_INT,
     .offset = offsetof(struct image_import_values, files_max),
     .fallback = "2000000",
     .value = "N",
     .min = 1,
     .max = INT32_MAX,
     .help = "refuse an image that has more files than this"},
    {0},
};

const struct command COMMAND_IMAGE_IMPORT = {
    .name = "import",
    .arguments = "FILE [NAME]",
    .summary = "import an image that another tool saved",
    .description =
        "Unpacks an archive of 'docker save', 'podman save' or 'skopeo copy' (docker-archive or "
        "oci-archive), whose pods then have that root file system, entrypoint, environment, user "
        "and working directory. '-' reads standard input. Importing an image that already exists "
        "only adds the name.\n\n"
        "If an ordinary user imports an image, all its files belong to that user, whatever owner "
        "the archive gives them. Devices are left out, and set-id bits have no effect.",
    .examples = "docker save example/app:1.0 | trainyard image import -\n"
                "skopeo copy docker://docker.io/library/debian:12 oci-archive:debian.tar\n"
                "trainyard image import debian.tar debian:12",
    .options = OPTIONS,
    .values_size = sizeof(struct image_import_values),
    .arguments_min = 1,
    .arguments_max = 2,
    .run = image_import_run,
};
