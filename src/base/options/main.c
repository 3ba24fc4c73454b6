/* The whole main() of a program: finds the command, parses its options and runs it; see options.h.
 * Requested help goes to stdout. A usage error goes to stderr with exit code 2. If stdout cannot be
 * written, a command fails, unless the reader has closed the pipe or the command has
 * `output_is_progress`. */
#include "base/arena.h"
#include "base/mem.h"
#include "base/options/internal.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

static const struct command *command_find(const struct command *const *list, const char *name)
{
    COMMANDS_EACH (place, list)
        if (str_eq((*place)->name, name))
            return *place;
    return NULL;
}

static void write_help(const struct program *program, const struct command *command, FILE *stream)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    options_write_help(program, command, &text);
    fwrite(text.data, 1, text.size, stream);
}

/* Flushes stdout and returns the exit code. Write errors of stdout, such as a full disk, are
 * detected here at the latest. If `output_required`, such an error makes a successful command fail.
 * A closed pipe (`| head`) is not an error. */
static int main_finish(const struct program *program, int code, bool output_required)
{
    bool failed = ferror(stdout);
    errno = 0;
    if (fflush(stdout) != 0)
        failed = true;
    if (!failed || errno == EPIPE)
        return code;
    fprintf(stderr, "%s: cannot write standard output%s%s: the output is incomplete\n",
            program->name, errno ? ": " : "", errno ? strerror(errno) : "");
    return code == 0 && output_required ? err_info(ERR_IO)->exit_code : code;
}

static int print_help(const struct program *program, const struct command *command)
{
    write_help(program, command, stdout);
    return main_finish(program, 0, true);
}

/* Prints the failure to stdout as a JSON event if the command runs with `--log json`. */
static void log_failure(const struct command *command, const void *values, const struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *log = json_get_string(options_to_json(arena, command, values, 0, 0), "log", NULL);
    if (!str_eq(log, "json"))
        return;
    struct json *line = json_object(arena);
    json_set_string(arena, line, "event", "error");
    json_set_string(arena, line, "message", err->message);
    printf("%s\n", json_to_string(arena, line));
}

/* Prints a usage error and returns its exit code. `command` is NULL if no command was found. */
static int main_fail_usage(const struct program *program, const struct command *command,
                           const struct err *err)
{
    _cleanup_buf_ struct buf path;
    buf_init(&path, TEXT_MAX);
    if (command)
        options_path(program, command, &path);
    fprintf(stderr, "%s%s: %s\ntry '%s%s --help'\n", program->name, path.data, err->message,
            program->name, path.data);
    return err_info(ERR_USAGE)->exit_code;
}

/* Returns whether `word` is one of `words`. `words` is a list such as "start|run", or NULL. */
static bool word_is_among(const char *words, const char *word)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    size_t count = 0;
    char **list = words ? str_split(arena, words, '|', &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i], word))
            return true;
    return false;
}

/* Returns the name of the command that has `word` among its synonyms, or NULL. */
static const char *find_synonym(const struct command *const *list, const char *word)
{
    COMMANDS_EACH (place, list)
        if (word_is_among((*place)->synonyms, word))
            return (*place)->name;
    return NULL;
}

static int fail_unknown_command(const struct program *program, const struct command *parent,
                                const struct command *const *list, const char *word)
{
    struct err err = ERR_INIT;
    VEC(const char *) names = {0};
    COMMANDS_EACH (place, list)
        vec_push(&names, (*place)->name);
    const char *synonym = find_synonym(list, word);
    const char *nearest = synonym ? synonym : str_nearest(word, names.items, names.count);
    vec_release(&names);
    if (!parent && word_is_among(program->companion_commands, word))
        err_set(&err, ERR_USAGE, "unknown command '%s': did you mean '%s %s'?", word,
                program->companion, word);
    else if (nearest)
        err_set(&err, ERR_USAGE, "unknown command '%s': did you mean '%s'?", word, nearest);
    else
        err_set(&err, ERR_USAGE, "unknown command '%s'", word);
    return main_fail_usage(program, parent, &err);
}

/* Runs `command`. `parent` is its parent if `command` is a subcommand, else NULL. */
static int command_run(const struct program *program, const struct command *parent,
                       const struct command *command, int argc, char *const *argv)
{
    struct err err = ERR_INIT;
    _cleanup_free_ void *values = mem_zalloc(command->values_size);
    const char **arguments = NULL;
    size_t count = 0;
    bool help = false;
    if (options_parse_or_help(command, argc, argv, values, &arguments, &count, &help, &err) < 0)
        return main_fail_usage(program, command, &err);
    if (help)
        return print_help(program, command);
    int code = command->run ? command->run(values, count, arguments, &err)
                            : parent->run_subcommand(command, values, &err);
    if (code < 0) {
        fprintf(stderr, "%s: %s\n", program->name, err.message);
        code = err_info((enum err_code) - code)->exit_code;
        if (command->output_is_progress)
            log_failure(command, values, &err);
    }
    free(arguments);
    options_release(command, values);
    return main_finish(program, code, !command->output_is_progress);
}

static bool is_help(const char *word)
{
    return str_eq(word, "--help") || str_eq(word, "-h") || str_eq(word, "help");
}

/* Handles `help --man` and `help --completion SHELL`, which print files that a package installs
 * with the program. */
static int print_for_package(const struct program *program, const char *version, int argc,
                             char **argv)
{
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    if (str_eq(argv[0], "--man"))
        options_write_man(program, version, &text);
    else if (argc > 1 && str_eq(argv[1], "bash"))
        options_write_completion(program, argv[1], &text);
    else
        err_set(&err, ERR_USAGE, "--completion needs the name of a shell: bash");
    if (err.code)
        return main_fail_usage(program, NULL, &err);
    fwrite(text.data, 1, text.size, stdout);
    return main_finish(program, 0, true);
}

/* Handles `help`, `help CMD` and `help CMD SUB`, which print the help of the program, the command
 * or the subcommand. */
static int main_help(const struct program *program, const char *version, int argc, char **argv)
{
    if (argc > 0 && (str_eq(argv[0], "--man") || str_eq(argv[0], "--completion")))
        return print_for_package(program, version, argc, argv);
    const struct command *command = NULL;
    const struct command *const *list = program->commands;
    for (int i = 0; i < argc; i++) {
        const struct command *found = command_find(list, argv[i]);
        if (!found)
            return fail_unknown_command(program, command, list, argv[i]);
        command = found;
        list = found->subcommands;
    }
    return print_help(program, command);
}

/* Opens /dev/null as descriptor 0, 1 and 2 if they are closed. Otherwise the next opened file would
 * get such a number, and the program would print into that file. /dev/null is opened read-only, so
 * that printing still fails. */
static void fill_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int options_main(const struct program *program, const char *version, int argc, char **argv)
{
    fill_standard_descriptors();
    if (argc < 2) {
        write_help(program, NULL, stderr);
        return err_info(ERR_USAGE)->exit_code;
    }
    if (str_eq(argv[1], "--version")) {
        printf("%s %s\n", program->name, version);
        return main_finish(program, 0, true);
    }
    if (is_help(argv[1]) && !command_find(program->commands, argv[1]))
        return main_help(program, version, argc - 2, argv + 2);

    const struct command *command = NULL, *parent = NULL;
    const struct command *const *list = program->commands;
    int at = 1;
    while (list && at < argc) {
        const struct command *found = command_find(list, argv[at]);
        if (!found && command && command->run)
            break; /* the command works with and without subcommands */
        if (!found && command && is_help(argv[at]))
            return print_help(program, command);
        if (!found)
            return fail_unknown_command(program, command, list, argv[at]);
        parent = command;
        command = found;
        list = found->subcommands;
        at++;
    }
    if (!command || !(command->run || (parent && parent->run_subcommand))) {
        write_help(program, command, stderr);
        return err_info(ERR_USAGE)->exit_code;
    }
    return command_run(program, parent, command, argc - at, argv + at);
}
