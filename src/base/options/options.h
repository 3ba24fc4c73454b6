/* One table row an option: parsing, help text, man page and completion all come from it.
 *
 * A program is a table of commands, a command a const struct with its options and its words in it,
 * and `run` gets the parsed values as a struct of its own whose fields the rows point to by offset.
 * What several commands have in common is a table of its own, in which theirs go on.
 *
 * A value is taken from the command line, else from the environment variable of the row (where that
 * is set and not empty), else from the file that an option of type OPTION_CONFIG names, else from
 * the default. A list takes one item from each of these, and any number from a file.
 */
#ifndef TRAINYARD_BASE_OPTIONS_H
#define TRAINYARD_BASE_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_FLAG,   /* bool */
    OPTION_STRING, /* const char * (points into argv, the environment or the table) */
    OPTION_INT,    /* int64_t, checked against min and max */
    OPTION_REAL,   /* double */
    OPTION_CHOICE, /* const char *, one of `choices` ("text|json") */
    OPTION_LIST,   /* struct option_list, given any number of times */
    OPTION_PATH,   /* const char *, of a file system: a URL is refused */
    OPTION_CONFIG, /* struct option_config: a YAML or JSON file of values for the other rows */
};

struct option_list {
    const char **items; /* malloc'ed; freed by options_release */
    size_t count;
};

struct option_config {
    const char *path; /* NULL: none was given */
    struct arena *arena;
    struct source source; /* its text */
    struct json *values;  /* an object, by names of options */
};

struct option_range {
    double min, max; /* both 0: any */
    bool above_min;  /* min itself is not among them */
};

struct option {
    const char *name;    /* "state" for --state; NULL ends a table */
    const char *aliases; /* further names: "lr|rate"; or NULL */
    char letter;         /* 'o' for -o, or 0 */
    enum option_type type;
    size_t offset;           /* of the field in the command's struct */
    const char *environment; /* variables that give the value, the first first: "A|B"; or NULL */
    const char *fallback;    /* the default as text, or NULL */
    const char *value;       /* the word for the value in help: "DIR" */
    const char *choices;
    int64_t min, max;          /* OPTION_INT; both 0: any */
    int64_t multiple_of;       /* OPTION_INT; 0: any */
    struct option_range range; /* OPTION_REAL */
    /* More about the text, or NULL: ERR_USAGE with what is wrong, without the option's name. */
    int (*check)(const char *text, struct err *err);
    const char *help; /* one sentence, no full stop; the unit is named in it */
    unsigned marks;   /* the program's own, for options_to_json() */
    /* Of the row without a name that ends a table: another table that goes on from there, or NULL.
     * Its offsets are those of a struct with which the command's own begins. */
    const struct option *more;
};

struct command {
    const char *name;
    const char *synonyms;         /* words that users of other tools type: "start|run", or NULL */
    const char *arguments;        /* "[FILE…]" in the usage line, or NULL */
    const char *summary;          /* one line, no full stop */
    const char *description;      /* paragraphs, separated by empty lines */
    const char *examples;         /* lines as typed, or NULL */
    const struct option *options; /* ended by a row without name; may be NULL */
    bool single_dash;             /* -name is --name, as programs in Go read it */
    size_t values_size;           /* of the struct the offsets point into */
    size_t arguments_min, arguments_max;      /* how many may follow; SIZE_MAX: any */
    bool arguments_are_paths;                 /* of a file system, as OPTION_PATH */
    const struct command *const *subcommands; /* NULL-terminated, or NULL */
    /* What it prints only tells how its work goes: where that cannot be written the work has not
     * failed. With an option --log that is "json" a failure is told there, too, as an event. */
    bool narrates;
    /* `values` is the filled struct; arguments are what is left. Returns the exit code, or a
     * negative error, which is then said the same way for every command. */
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
    /* Another program, and its commands that users look for here: "get|logs"; or NULL. */
    const char *companion, *companion_commands;
};

/* Parse argv (without the command's own name) into `values` (values_size bytes). Options may stand
 * anywhere before "--"; '_' in a name is '-'. A wrong one is ERR_USAGE with a sentence and, where
 * one is near, "did you mean". ret_arguments is malloc'ed. */
int options_parse(const struct command *command, int argc, char *const *argv, void *values,
                  const char ***ret_arguments, size_t *ret_count, struct err *err);
void options_release(const struct command *command, void *values);

/* What was parsed, from wherever, as an object: for whoever wants to know later how a command was
 * run. Of the rows that have all of `with` and none of `without` among their marks. */
struct json *options_to_json(struct arena *arena, const struct command *command, const void *values,
                             unsigned with, unsigned without);

/* Find the command, parse, run: the whole of a main(). Knows --help, -h, help CMD, --version, and
 * `help --man` and `help --completion bash` for packages. */
int options_main(const struct program *program, const char *version, int argc, char **argv);

void options_write_help(const struct program *program, const struct command *command,
                        struct buf *buf);
void options_write_man(const struct program *program, const char *version, struct buf *buf);
/* For "bash"; for another shell nothing is written. */
void options_write_completion(const struct program *program, const char *shell, struct buf *buf);

#endif
