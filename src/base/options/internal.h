/* What the files of options share and nobody else sees. */
#ifndef TRAINYARD_BASE_OPTIONS_INTERNAL_H
#define TRAINYARD_BASE_OPTIONS_INTERNAL_H

#include "base/options/options.h"

/* As options_parse(), and knows --help and -h where ret_help is not NULL: it is then set, the
 * result is 0 and nothing else is given back. */
int options_parse_or_help(const struct command *command, int argc, char *const *argv, void *values,
                          const char ***ret_arguments, size_t *ret_count, bool *ret_help,
                          struct err *err);

/* The row of that name or alias, '_' being '-'; or NULL. */
const struct option *options_find(const struct command *command, const char *name, size_t size);

/* ERR_USAGE about a name that no row has, with the nearest. `prefix` is what stands before names:
 * "--". */
int options_refuse_unknown(const struct command *command, const char *prefix, const char *name,
                           size_t size, struct err *err);

/* Read the file and see that every name in it is one of the command's. */
int options_config_read(const struct command *command, const char *path, struct option_config *ret,
                        struct err *err);
/* What the file says about an option, and where (NULL: nowhere), as texts: none is NULL. More than
 * one only for lists. */
int options_config_get(const struct command *command, const struct option_config *config,
                       const struct option *option, const struct json **ret_member,
                       const char *const **ret_texts, size_t *ret_count, struct err *err);

/* Write the text into the option's field of `values`, as its row wants it; else an error without
 * the option's name. */
int options_store(const struct option *option, const char *text, void *values, struct err *err);

/* Object stores, which manifests of other programs name, are not read here. */
int options_check_path(const char *text, struct err *err);

/* Names of "a|b", one a call; `at` starts with the whole and ends with NULL. */
bool options_next_name(const char **at, const char **ret, size_t *ret_size);

/* The words that lead to a command, with a space before each: " image add". "" if it is not of this
 * program. */
void options_path(const struct program *program, const struct command *command, struct buf *buf);

/* "[OPTION…] FILE…" as it follows the command's path in a usage line. */
void options_write_arguments(const struct command *command, struct buf *buf);

/* The sentence for the values an option takes: its help, choices, default and variable. */
void options_write_sentence(const struct option *option, struct buf *buf);

/* This row, or where a table ends the first of the one that goes on with it; NULL at the end. */
static inline const struct option *options_row(const struct option *row)
{
    while (row && !row->name)
        row = row->more;
    return row;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): what a macro declares cannot stand in parentheses */
#define OPTIONS_EACH(row, command)                                                                 \
    for (const struct option *row = options_row((command)->options); row;                          \
         row = options_row(row + 1))

#define COMMANDS_EACH(place, list)                                                                 \
    for (const struct command *const *place = (list); place && *place; place++)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
