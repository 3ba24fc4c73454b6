/* trainyard image list: prints the table of images. */
#include "cli/trainyard/image.h"

#include "cli/trainyard/commands.h"

#include "base/moment.h"
#include "base/str.h"
#include "node/node.h"

#include <stdio.h>
#include <string.h>

/* Limits the length of a command in the table. */
enum { COMMAND_SHOWN = 40 };

struct image_list_values {
    const char *state;
    const char *output;
};

void image_command_size(int64_t bytes, char ret[IMAGE_SIZE_TEXT])
{
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1000 && unit + 1 < sizeof(UNITS) / sizeof(*UNITS); unit++)
        value /= 1000;
    snprintf(ret, IMAGE_SIZE_TEXT, unit && value < 100 ? "%.1f%s" : "%.0f%s", value, UNITS[unit]);
}

static const char *age_of(struct arena *arena, const struct json *row)
{
    int64_t then;
    char text[MOMENT_TEXT_MAX];
    if (moment_parse(json_get_string(row, "created", ""), &then, NULL) < 0)
        return "<unknown>";
    moment_format_age(moment_wall_ms() - then, text);
    return arena_strdup(arena, text);
}

static const char *command_of(struct arena *arena, const struct json *row)
{
    const char *lists[] = {"command", "args"};
    char *text = arena_strdup(arena, "");
    for (size_t i = 0; i < 2; i++) {
        JSON_EACH (word, json_get(row, lists[i]))
            text = arena_printf(arena, "%s%s%s", text, text[0] ? " " : "",
                                json_text(word) ? json_text(word) : "");
    }
    if (strlen(text) > COMMAND_SHOWN)
        text = arena_printf(arena, "%.*s…", COMMAND_SHOWN - 1, text);
    return text[0] ? text : "<none>";
}

static const char *root_of(const struct json *row)
{
    if (json_get(row, "digest"))
        return "imported";
    return json_get_string(row, "rootfs", "machine");
}

static void print_row(const char *name, const char *command, const char *root, const char *size,
                      const char *age)
{
    printf("%-40s %-42s %-24s %-8s %s\n", name, command, root, size, age);
}

static void image_print_table(struct arena *arena, const struct json *rows)
{
    if (json_count(rows) == 0) {
        puts("no images except the built-in ones: add more with 'trainyard image add' or "
             "'trainyard image import'");
        return;
    }
    print_row("NAME", "COMMAND", "ROOT", "SIZE", "AGE");
    JSON_EACH (row, rows) {
        char size[IMAGE_SIZE_TEXT] = "-";
        if (json_get(row, "size"))
            image_command_size(json_get_int(row, "size", 0), size);
        print_row(json_get_string(row, "name", ""), command_of(arena, row), root_of(row), size,
                  age_of(arena, row));
    }
}

static int image_list_run(const void *values, size_t count, const char *const *arguments,
                          struct err *err)
{
    (void)count, (void)arguments;
    const struct image_list_values *wanted = values;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    struct json *rows = NULL;
    int result = state_dir_resolve(arena, wanted->state, &state, err);
    if (result == 0)
        result = node_image_list(arena, state.path, &rows, err);
    if (result < 0)
        return result;
    if (str_eq(wanted->output, "json"))
        puts(json_to_string(arena, rows));
    else
        image_print_table(arena, rows);
    return 0;
}

static const struct option OPTIONS[] = {
    OPTION_STATE(struct image_list_values),
    {.name = "output",
     .letter = 'o',
     .type = OPTION_CHOICE,
     .offset = offsetof(struct image_list_values, output),
     .fallback = "text",
     .choices = "text|json",
     .value = "FORMAT",
     .help = "output format: text or json"},
    {0},
};

const struct command COMMAND_IMAGE_LIST = {
    .name = "list",
    .summary = "show the images that were added and imported",
    .options = OPTIONS,
    .values_size = sizeof(struct image_list_values),
    .run = image_list_run,
};
