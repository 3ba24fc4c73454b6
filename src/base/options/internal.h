/* Declarations that only the files of base/options use. */
#ifndef TRAINYARD_BASE_OPTIONS_INTERNAL_H
#define TRAINYARD_BASE_OPTIONS_INTERNAL_H

#include "base/options/options.h"

/* Like options_parse(), but accepts --help and -h if `ret_help` is not NULL. *ret_help must be
 * false before the call. If one of the two options is given, sets *ret_help to true and returns 0;
 * then *ret_arguments is not set, and `values` must be neither used nor released. */
int options_parse_or_help(const struct command *command, int argc, char *const *argv, void *values,
                          const char ***ret_arguments, size_t *ret_count, bool *ret_help,
                          struct err *err);

/* Returns the row with this name or alias, or NULL. '_' in the name is read as '-'. */
const struct option *options_find(const struct command *command, const char *name, size_t size);

/* Returns -ERR_USAGE with a message that the option is unknown. The message suggests the option
 * with the most similar name, if any. `prefix` is put before each name in the message, for example
 * "--". */
int options_refuse_unknown(const struct command *command, const char *prefix, const char *name,
                           size_t size, struct err *err);

/* Reads the config file and checks that every name in it is an option of the command. The caller
 * frees ret->arena, also after an error. */
int options_config_read(const struct command *command, const char *path, struct option_config *ret,
                        struct err *err);
/* Gets the values of an option in the config file as strings, which are never NULL. Only an
 * OPTION_LIST has more than one value. Returns 0, or -ERR_USAGE if a value has a type that the
 * option does not take. Sets *ret_member to the member of the file, or NULL if the file does not
 * set the option. */
int options_config_get(const struct command *command, const struct option_config *config,
                       const struct option *option, const struct json **ret_member,
                       const char *const **ret_texts, size_t *ret_count, struct err *err);

/* Converts the text to the type of the option and stores it in the option's field of `values`. The
 * error message does not name the option. */
int options_store(const struct option *option, const char *text, void *values, struct err *err);

/* Returns 0 for a path, or -ERR_USAGE for a URL, for example of an object store. Manifests for
 * other programs contain such URLs, but this program reads only files. */
int options_check_path(const char *text, struct err *err);

/* Gets the names in "a|b", one per call. Before the first call, *at is the whole text. Returns
 * false after the last name. */
bool options_next_name(const char **at, const char **ret, size_t *ret_size);

/* Appends the names of the command's parents and of the command, each after a space: " image add".
 * Appends nothing if the program does not have the command. */
void options_path(const struct program *program, const struct command *command, struct buf *buf);

/* Appends the part of a usage line that follows the command's path: "[OPTION…] FILE…". */
void options_write_arguments(const struct command *command, struct buf *buf);

/* Appends the description of an option: its help, choices, default, aliases and environment
 * variables. */
void options_write_sentence(const struct option *option, struct buf *buf);

/* Returns `row`, unless it is the end of a table. In that case returns the first row of the table
 * that continues this table (`more`), or NULL if there is none. */
static inline const struct option *options_row(const struct option *row)
{
    while (row && !row->name)
        row = row->more;
    return row;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): a declared name cannot be in parentheses */
#define OPTIONS_EACH(row, command)                                                                 \
    for (const struct option *row = options_row((command)->options); row;                          \
         row = options_row(row + 1))

#define COMMANDS_EACH(place, list)                                                                 \
    for (const struct command *const *place = (list); place && *place; place++)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
