/* Parses command lines according to tables with one row per option. The help text, the man page and
 * the shell completion come from the same tables.
 *
 * A program is a table of commands. A command is a const struct with its options and texts. Its
 * `run` function gets the parsed values in a struct; each row has the offset of its field. Options
 * that several commands share are in a separate table, and the tables of these commands end with a
 * pointer to it (`more`).
 *
 * A value comes from the command line, else from the environment variables of the row, else from
 * the file that an option of type OPTION_CONFIG names, else from the default. An OPTION_LIST gets
 * at most one item from the environment or the default, and any number of items from the command
 * line or a file. */
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
    OPTION_STRING, /* const char * that points into argv, the environment, the config file or the
                      table */
    OPTION_INT,    /* int64_t, checked against min, max and multiple_of */
    OPTION_REAL,   /* double */
    OPTION_CHOICE, /* const char *, one of `choices` ("text|json") */
    OPTION_LIST,   /* struct option_list; the option may be given any number of times */
    OPTION_PATH,   /* const char *, a file path; a URL is refused */
    OPTION_CONFIG, /* struct option_config: a YAML or JSON file with values for the other rows; its
                      row has no default */
};

struct option_list {
    const char **items; /* allocated; options_release() frees it */
    size_t count;
};

struct option_config {
    const char *path; /* NULL: no file was given */
    struct arena *arena;
    struct source source; /* the text of the file */
    struct json *values;  /* an object whose member names are option names */
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
    const char *environment; /* environment variables for the value, separated by '|', or NULL; the
                                first that is not empty is used, except Kubernetes service links
                                (NAME_PORT=tcp://…) */
    const char *fallback;    /* the default as text, or NULL */
    const char *value;       /* the placeholder in the help, such as "DIR"; NULL: "VALUE" */
    const char *choices;
    int64_t min, max;          /* OPTION_INT; both 0: no limit */
    int64_t multiple_of;       /* OPTION_INT; 0: any number */
    struct option_range range; /* OPTION_REAL */
    /* An additional check of the value's text, or NULL if there is none. Returns 0, or -ERR_USAGE
     * with a message that does not name the option. */
    int (*check)(const char *text, struct err *err);
    const char *help; /* one sentence without a full stop, with the unit of the value */
    unsigned marks;   /* bits with which options_to_json() selects rows; the program defines their
                         meaning */
    /* Used only in the last row, which has no name: another table that continues this one, or NULL.
     * The offsets in that table refer to a struct that is the first member of the command's
     * struct. */
    const struct option *more;
};

struct command {
    const char *name;
    const char *synonyms;  /* names of this command in other tools, separated by '|' ("start|run"),
                              or NULL; used for suggestions */
    const char *arguments; /* the arguments in the usage line: "[FILE…]"; or NULL */
    const char *summary;   /* one line without a full stop */
    const char *description;                  /* paragraphs, separated by empty lines */
    const char *examples;                     /* command lines, one per line, or NULL */
    const struct option *options;             /* the last row has no name; NULL: no options */
    bool single_dash;                         /* -name means --name, as in Go programs */
    size_t values_size;                       /* size in bytes of the struct that `run` gets */
    size_t arguments_min, arguments_max;      /* number of arguments; SIZE_MAX: no limit */
    bool arguments_are_paths;                 /* the arguments are checked like OPTION_PATH */
    const struct command *const *subcommands; /* NULL-terminated, or NULL */
    /* The output of the command only reports progress, so the command does not fail if its output
     * cannot be written. If the command has an option --log with the value "json", a failure is
     * also printed as a JSON event. */
    bool output_is_progress;
    /* Runs the command with the parsed values and the remaining arguments. Returns the exit code,
     * or a negative error, which options_main() prints. */
    int (*run)(const void *values, size_t count, const char *const *arguments, struct err *err);
    /* Runs a subcommand that has no `run` function. Returns like `run`. Such a subcommand has
     * options but no arguments. Its struct command may be a member of a larger struct, which this
     * function can find with CONTAINER_OF(). */
    int (*run_subcommand)(const struct command *command, const void *values, struct err *err);
};

struct program {
    const char *name; /* "trainyard" */
    const char *summary;
    const char *description;
    const struct command *const *commands; /* NULL-terminated */
    /* The name of a related program, and its commands that users may type here by mistake,
     * separated by '|' ("get|logs"). Both may be NULL. */
    const char *companion, *companion_commands;
};

/* Parses argv (without the command's name) into `values` (values_size bytes). Options may be
 * anywhere before "--". '_' in a name is read as '-'. Returns 0, -ERR_USAGE for a wrong command
 * line or a wrong value in the environment or the config file, or the error with which the config
 * file cannot be read or parsed. For an unknown option, the message suggests a similar name. On
 * success *ret_arguments is an array of *ret_count arguments and a NULL; the caller frees it and
 * calls options_release(). */
int options_parse(const struct command *command, int argc, char *const *argv, void *values,
                  const char ***ret_arguments, size_t *ret_count, struct err *err);
/* Frees what options_parse() allocated for `values`. */
void options_release(const struct command *command, void *values);

/* Returns the parsed values as an object, to record how a command was run. Contains the options
 * whose `marks` have all bits of `with` and no bit of `without`. */
struct json *options_to_json(struct arena *arena, const struct command *command, const void *values,
                             unsigned with, unsigned without);

/* The whole main() of a program: finds the command, parses its options and runs it. Handles --help,
 * -h, help CMD and --version, and for packagers `help --man` and `help --completion bash`. Returns
 * the exit code. */
int options_main(const struct program *program, const char *version, int argc, char **argv);

/* Appends the help of the command, or of the program if `command` is NULL. */
void options_write_help(const struct program *program, const struct command *command,
                        struct buf *buf);
/* Appends one man page with all commands. */
void options_write_man(const struct program *program, const char *version, struct buf *buf);
/* Appends a completion script. Supports only the shell "bash"; appends nothing for other shells. */
void options_write_completion(const struct program *program, const char *shell, struct buf *buf);

#endif
