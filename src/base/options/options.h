/* Command lines from tables: one row per option, from which parsing, help text, man page and shell
 * completion are made.
 *
 * A program is a table of commands. A command is a const struct with its options and texts. Its
 * `run` gets the parsed values as a struct, into which each row points by offset. Options that
 * several commands share stand in a table of their own, which the tables of these commands continue
 * with (`more`).
 *
 * A value comes from the command line, else from the environment variable of the row (if set and
 * not empty), else from the file that an option of type OPTION_CONFIG names, else from the default.
 * A list takes one item from the environment or the default, and any number from the command line
 * or a file. */
#ifndef TRAINYARD_BASE_OPTIONS_OPTIONS_H
#define TRAINYARD_BASE_OPTIONS_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_FLAG,   /* bool */
    OPTION_STRING, /* const char * that points into argv, the environment or the table */
    OPTION_INT,    /* int64_t, checked against min, max and multiple_of */
    OPTION_REAL,   /* double */
    OPTION_CHOICE, /* const char *, one of `choices` ("text|json") */
    OPTION_LIST,   /* struct option_list; the option may be given any number of times */
    OPTION_PATH,   /* const char *, a path of the file system; a URL is refused */
    OPTION_CONFIG, /* struct option_config: a YAML or JSON file with values for the other rows */
};

struct option_list {
    const char **items; /* malloc'ed; options_release() frees it */
    size_t count;
};

struct option_config {
    const char *path; /* NULL: no file was given */
    struct arena *arena;
    struct source source; /* the text of the file */
    struct json *values;  /* an object whose members are named like options */
};

struct option_range {
    double min, max; /* both 0: no limit */
    bool above_min;  /* the value must be above min, not equal to it */
};

struct option {
    const char *name;    /* "state" for --state; NULL ends a table */
    const char *aliases; /* further names, separated by '|' ("lr|rate"), or NULL */
    char letter;         /* 'o' for -o, or 0 for none */
    enum option_type type;
    size_t offset;           /* offset of the field in the command's struct */
    const char *environment; /* environment variables that set the value, separated by '|'; the
                                first that is set counts; or NULL */
    const char *fallback;    /* the default as text, or NULL */
    const char *value;       /* the placeholder for the value in the help: "DIR" */
    const char *choices;
    int64_t min, max;          /* OPTION_INT; both 0: no limit */
    int64_t multiple_of;       /* OPTION_INT; 0: any number */
    struct option_range range; /* OPTION_REAL */
    /* An additional check of the text, or NULL. Returns 0, or -ERR_USAGE with a message that does
     * not name the option. */
    int (*check)(const char *text, struct err *err);
    const char *help; /* one sentence without a full stop; names the unit */
    unsigned marks;   /* bits that the program defines, for options_to_json() */
    /* In the row without a name that ends a table: another table that continues this one, or NULL.
     * Its offsets are those of a struct that is the first member of the command's struct. */
    const struct option *more;
};

struct command {
    const char *name;
    const char *synonyms;  /* names that users of other tools type, separated by '|' ("start|run"),
                              or NULL */
    const char *arguments; /* the arguments in the usage line: "[FILE…]"; or NULL */
    const char *summary;   /* one line without a full stop */
    const char *description;             /* paragraphs, separated by empty lines */
    const char *examples;                /* command lines, one per line, or NULL */
    const struct option *options;        /* ended by a row without a name; may be NULL */
    bool single_dash;                    /* -name means --name, as in Go programs */
    size_t values_size;                  /* size of the struct that the offsets point into */
    size_t arguments_min, arguments_max; /* number of arguments; SIZE_MAX: no limit */
    bool arguments_are_paths; /* arguments are paths; a URL is refused, as with OPTION_PATH */
    const struct command *const *subcommands; /* NULL-terminated, or NULL */
    /* The output of the command only reports progress: if it cannot be written, the command has not
     * failed. If the command has an option --log and its value is "json", a failure is also printed
     * as a JSON event. */
    bool narrates;
    /* Runs the command with the filled struct and the remaining arguments. Returns the exit code,
     * or a negative error, which options_main() prints. */
    int (*run)(const void *values, size_t count, const char *const *arguments, struct err *err);
    /* Runs every subcommand that has no `run` of its own, with the same contract; such a subcommand
     * takes options only. Its struct may lie in a larger one, from which this reads the rest. */
    int (*run_subcommand)(const struct command *command, const void *values, struct err *err);
};

struct program {
    const char *name; /* "trainyard" */
    const char *summary;
    const char *description;
    const struct command *const *commands; /* NULL-terminated */
    /* Another program and those of its commands that users look for here, separated by '|'
     * ("get|logs"); or NULL. */
    const char *companion, *companion_commands;
};

/* Parses argv (without the command's name) into `values` (values_size bytes). Options may stand
 * anywhere before "--"; '_' in a name counts as '-'. An error is -ERR_USAGE, with a suggestion if a
 * known name is near. The caller frees *ret_arguments and calls options_release(). */
int options_parse(const struct command *command, int argc, char *const *argv, void *values,
                  const char ***ret_arguments, size_t *ret_count, struct err *err);
void options_release(const struct command *command, void *values);

/* The parsed values as an object, for a record of how a command was run. Contains the rows whose
 * marks have all bits of `with` and none of `without`. */
struct json *options_to_json(struct arena *arena, const struct command *command, const void *values,
                             unsigned with, unsigned without);

/* The whole main() of a program: finds the command, parses and runs it. Handles --help, -h, help
 * CMD and --version, and for packagers `help --man` and `help --completion bash`. Returns the exit
 * code. */
int options_main(const struct program *program, const char *version, int argc, char **argv);

void options_write_help(const struct program *program, const struct command *command,
                        struct buf *buf);
void options_write_man(const struct program *program, const char *version, struct buf *buf);
/* Supports the shell "bash"; writes nothing for another. */
void options_write_completion(const struct program *program, const char *shell, struct buf *buf);

#endif
