/* trainyard process: fills in an OpenShift Template and prints its objects, like `oc process`.
 * Needs no cluster. */
#include "cli/trainyard/commands.h"

#include "base/json/yaml.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/template.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEMPLATE_MAX = 8 << 20, OUTPUT_MAX = 64 << 20 };

struct process_values {
    const char *file, *output;
    struct option_list parameters, parameter_files;
    bool list;
};

static int read_standard_input(struct buf *buf, struct err *err)
{
    char piece[65536];
    for (ssize_t got; (got = read(STDIN_FILENO, piece, sizeof(piece))) != 0;) {
        if (got < 0)
            return err_set_errno(err, errno, "cannot read standard input");
        buf_append(buf, piece, (size_t)got);
    }
    if (buf->overflowed)
        return err_set(err, ERR_TOO_LARGE, "standard input has more than %d bytes", TEMPLATE_MAX);
    return 0;
}

static int read_template(struct arena *arena, const char *path, struct source *ret_source,
                         struct json **ret, struct err *err)
{
    bool standard = str_eq(path, "-");
    struct json *documents = NULL;
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEMPLATE_MAX);
    int result = standard ? read_standard_input(&text, err) : file_read(path, &text, err);
    if (result < 0)
        return result;
    *ret_source = (struct source){
        .name = standard ? "standard input" : path,
        .text = arena_strndup(arena, text.data, text.size),
        .size = text.size,
    };
    result = yaml_parse(arena, ret_source, NULL, &documents, err);
    if (result < 0)
        return result;
    if (json_count(documents) != 1)
        return err_set(err, ERR_INVALID,
                       "'%s' has %zu YAML documents, but a template must be exactly one", path,
                       json_count(documents));
    *ret = json_first(documents);
    return 0;
}

static int add_value(struct arena *arena, struct json *values, const char *pair, struct err *err)
{
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair)
        return err_set(err, ERR_USAGE, "'%s' is not NAME=VALUE", pair);
    json_set_string(arena, values, arena_strndup(arena, pair, (size_t)(equals - pair)), equals + 1);
    return 0;
}

/* Reads a file with lines NAME=VALUE. Empty lines and lines that start with '#' are skipped. */
static int add_file(struct arena *arena, struct json *values, const char *path, struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEMPLATE_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    size_t count;
    char **lines = str_split(arena, arena_strndup(arena, text.data, text.size), '\n', &count);
    for (size_t i = 0; i < count && result == 0; i++)
        if (lines[i][0] != '\0' && lines[i][0] != '#')
            result = add_value(arena, values, lines[i], err);
    return result < 0 ? err_wrap(err, "'%s'", path) : 0;
}

/* Reads the values of --param-file and --param into `values`. Those of --param take precedence. */
static int read_values(struct arena *arena, const struct process_values *wanted,
                       struct json *values, struct err *err)
{
    int result = 0;
    for (size_t i = 0; i < wanted->parameter_files.count && result == 0; i++)
        result = add_file(arena, values, wanted->parameter_files.items[i], err);
    for (size_t i = 0; i < wanted->parameters.count && result == 0; i++)
        result = add_value(arena, values, wanted->parameters.items[i], err);
    return result;
}

static void print_parameters(const struct json *template_)
{
    printf("%-20s %-50s %s\n", "NAME", "DESCRIPTION", "VALUE");
    JSON_EACH (parameter, json_get(template_, "parameters"))
        printf("%-20s %-50s %s\n", json_get_string(parameter, "name", ""),
               json_get_string(parameter, "description", ""),
               json_get_string(parameter, "value", ""));
}

static int fill_in(struct arena *arena, const struct source *source, const struct json *template_,
                   const struct json *values, struct json **ret_list, struct err *err)
{
    const struct json *wrong = NULL;
    int result = kube_template_process(arena, template_, values, ret_list, &wrong, err);
    if (result < 0 && wrong)
        return source_err_wrap(err, source, source_value_place(wrong));
    return result < 0 ? err_wrap(err, "'%s'", source->name) : 0;
}

static int process_run(const void *values, size_t count, const char *const *arguments,
                       struct err *err)
{
    const struct process_values *wanted = values;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *template_ = NULL, *list = NULL, *given = json_object(arena);
    struct source source = {0};
    (void)count, (void)arguments;
    if (str_is_empty(wanted->file))
        return err_set(err, ERR_USAGE, "no template: give one with -f FILE ('-': standard input)");
    int result = read_template(arena, wanted->file, &source, &template_, err);
    if (result == 0 && wanted->list) {
        print_parameters(template_);
        return 0;
    }
    if (result == 0)
        result = read_values(arena, wanted, given, err);
    if (result == 0)
        result = fill_in(arena, &source, template_, given, &list, err);
    if (result < 0)
        return result;
    _cleanup_buf_ struct buf text;
    buf_init(&text, OUTPUT_MAX);
    if (str_eq(wanted->output, "yaml"))
        yaml_write(list, &text);
    else
        json_write_pretty(list, &text);
    if (text.size == 0 || text.data[text.size - 1] != '\n')
        buf_append_char(&text, '\n');
    return file_write_all(STDOUT_FILENO, text.data, text.size, err);
}

#define FIELD(name) .offset = offsetof(struct process_values, name)

static const struct option OPTIONS[] = {
    {.name = "filename",
     .letter = 'f',
     .type = OPTION_STRING,
     FIELD(file),
     .value = "FILE",
     .help = "the template file, YAML or JSON; '-' is standard input"},
    {.name = "param",
     .letter = 'p',
     .type = OPTION_LIST,
     FIELD(parameters),
     .value = "NAME=VALUE",
     .help = "value of a parameter"},
    {.name = "param-file",
     .type = OPTION_LIST,
     FIELD(parameter_files),
     .value = "FILE",
     .help = "file with lines NAME=VALUE; --param takes precedence"},
    {.name = "parameters",
     .type = OPTION_FLAG,
     FIELD(list),
     .help = "print the template's parameters instead"},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_CHOICE,
     FIELD(output),
     .fallback = "json",
     .choices = "json|yaml",
     .value = "FORM",
     .help = "output format of the objects"},
    {0},
};

const struct command COMMAND_PROCESS = {
    .name = "process",
    .summary = "fill in an OpenShift Template and print its objects",
    .description = "Does what 'oc process --local' does: ${NAME} in the template's objects becomes "
                   "the parameter's value. A string that is exactly ${{NAME}} becomes the value as "
                   "JSON, for example a number. Pipe the result to 'kubectl apply -f -'.",
    .examples = "trainyard process -f tf-job.yaml --param JOB_NAME=training | kubectl apply -f -\n"
                "trainyard process -f tf-job.yaml --parameters",
    .options = OPTIONS,
    .values_size = sizeof(struct process_values),
    .run = process_run,
};
