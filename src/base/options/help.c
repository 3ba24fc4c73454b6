/* Writes the help texts of a program and its commands from their tables; see options.h. */
#include "base/options/internal.h"
#include "base/str.h"

#include <string.h>

enum {
    LINE_WIDTH = 80,
    HELP_COLUMN = 30, /* column where the descriptions of options start */
    NAME_MAX_BYTES = 256,
};

/* Returns the number of characters of a UTF-8 text. Each of them takes one column, because help
 * texts have no wide characters. */
static size_t columns_of(const char *text, size_t size)
{
    size_t columns = 0;
    for (size_t i = 0; i < size; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

static void write_spaces(struct buf *buf, size_t count)
{
    while (count--)
        buf_append_char(buf, ' ');
}

/* The state of a wrapped text: words fill each line up to the width. */
struct wrap {
    struct buf *buf;
    size_t indent;
    size_t at;      /* current column */
    bool begun;     /* the indentation of the line is written */
    bool has_words; /* the line has at least one word */
};

static void wrap_end_line(struct wrap *wrap)
{
    buf_append_char(wrap->buf, '\n');
    wrap->begun = wrap->has_words = false;
}

static void wrap_begin_line(struct wrap *wrap)
{
    if (!wrap->begun)
        write_spaces(wrap->buf, wrap->indent);
    wrap->begun = true;
    wrap->at = wrap->indent;
}

static void wrap_words(struct wrap *wrap, const char *text, size_t size)
{
    const char *end = text + size;
    while ((text += strspn(text, " ")) < end) {
        size_t word = strcspn(text, " \n"), columns = columns_of(text, word);
        if (wrap->has_words && wrap->at + 1 + columns > LINE_WIDTH)
            wrap_end_line(wrap);
        if (wrap->has_words) {
            buf_append_char(wrap->buf, ' ');
            wrap->at++;
        } else {
            wrap_begin_line(wrap);
        }
        buf_append(wrap->buf, text, word);
        wrap->at += columns;
        wrap->has_words = true;
        text += word;
    }
}

/* Writes the text, wrapped, and ends the last line. The current column must be `indent`, and later
 * lines start there too. An empty line separates paragraphs. A line that starts with a space is not
 * wrapped. */
static void write_wrapped(struct buf *buf, const char *text, size_t indent)
{
    struct wrap wrap = {.buf = buf, .indent = indent, .at = indent, .begun = true};
    for (size_t size; *text; text += size + (text[size] == '\n')) {
        size = strcspn(text, "\n");
        bool verbatim = text[0] == ' ';
        if ((size == 0 || verbatim) && wrap.has_words)
            wrap_end_line(&wrap);
        if (size == 0) {
            wrap_end_line(&wrap);
        } else if (verbatim) {
            wrap_begin_line(&wrap);
            buf_append(buf, text, size);
            wrap_end_line(&wrap);
        } else {
            wrap_words(&wrap, text, size);
        }
    }
    if (wrap.begun)
        wrap_end_line(&wrap);
}

/* If the list or its subcommands contain `wanted`, appends its path and returns true. */
static bool path_in(const struct command *const *list, const struct command *wanted,
                    struct buf *buf)
{
    COMMANDS_EACH (place, list) {
        size_t size = buf->size;
        buf_printf(buf, " %s", (*place)->name);
        if (*place == wanted || path_in((*place)->subcommands, wanted, buf))
            return true;
        buf->size = size;
        buf->data[size] = '\0';
    }
    return false;
}

void options_path(const struct program *program, const struct command *command, struct buf *buf)
{
    path_in(program->commands, command, buf);
}

void options_write_arguments(const struct command *command, struct buf *buf)
{
    if (options_row(command->options))
        buf_append_str(buf, " [OPTION…]");
    if (command->arguments)
        buf_printf(buf, " %s", command->arguments);
}

/* Writes the names "a|b" as "; also --a, --b". `separator` and `word` are the texts before the next
 * name. They change, so that a second call continues the list. */
static void write_names(struct buf *buf, const char *names, const char *prefix,
                        const char **separator, const char **word)
{
    while (!str_is_empty(names)) {
        size_t size = strcspn(names, "|");
        buf_printf(buf, "%s%s %s%.*s", *separator, *word, prefix, (int)size, names);
        names += size + (names[size] == '|');
        *separator = ",";
        *word = "";
    }
}

void options_write_sentence(const struct option *option, struct buf *buf)
{
    buf_append_str(buf, option->help);
    const char *separator = " (";
    if (option->type == OPTION_CHOICE) {
        buf_printf(buf, "%s%s", separator, option->choices);
        separator = "; ";
    }
    if (option->type == OPTION_LIST) {
        buf_printf(buf, "%smay be given more than once", separator);
        separator = "; ";
    }
    if (option->fallback && option->type != OPTION_FLAG) {
        buf_printf(buf, "%sdefault %s", separator, option->fallback);
        separator = "; ";
    }
    const char *word = "also";
    write_names(buf, option->aliases, "--", &separator, &word);
    write_names(buf, option->environment, "", &separator, &word);
    if (separator[0] != ' ')
        buf_append_char(buf, ')');
}

static void write_row(struct buf *buf, const char *name, const char *sentence)
{
    size_t at = columns_of(name, strlen(name));
    buf_append_str(buf, name);
    if (at + 2 > HELP_COLUMN) {
        buf_append_char(buf, '\n');
        at = 0;
    }
    write_spaces(buf, HELP_COLUMN - at);
    write_wrapped(buf, sentence, HELP_COLUMN);
}

static void write_options(struct buf *buf, const struct command *command)
{
    _cleanup_buf_ struct buf name, sentence;
    buf_init(&name, NAME_MAX_BYTES);
    buf_init(&sentence, 4096);
    if (options_row(command->options))
        buf_append_str(buf, "\nOptions:\n");
    OPTIONS_EACH (option, command) {
        buf_clear(&name);
        buf_clear(&sentence);
        if (option->letter)
            buf_printf(&name, "  -%c, --%s", option->letter, option->name);
        else
            buf_printf(&name, "      --%s", option->name);
        if (option->type != OPTION_FLAG)
            buf_printf(&name, " %s", option->value ? option->value : "VALUE");
        options_write_sentence(option, &sentence);
        write_row(buf, name.data, sentence.data);
    }
}

static void write_commands(struct buf *buf, const struct command *const *list)
{
    if (!list)
        return;
    buf_append_str(buf, "\nCommands:\n");
    _cleanup_buf_ struct buf name;
    buf_init(&name, NAME_MAX_BYTES);
    COMMANDS_EACH (place, list) {
        buf_clear(&name);
        buf_printf(&name, "  %s", (*place)->name);
        write_row(buf, name.data, (*place)->summary);
    }
}

static void write_examples(struct buf *buf, const char *examples)
{
    if (!examples)
        return;
    buf_append_str(buf, "\nExamples:\n");
    for (const char *line = examples; *line;) {
        size_t size = strcspn(line, "\n");
        buf_printf(buf, "  %.*s\n", (int)size, line);
        line += size + (line[size] == '\n');
    }
}

static void write_about(struct buf *buf, const char *summary, const char *description)
{
    if (summary) {
        buf_append_char(buf, '\n');
        write_wrapped(buf, summary, 0);
    }
    if (!str_is_empty(description)) {
        buf_append_char(buf, '\n');
        write_wrapped(buf, description, 0);
    }
}

void options_write_help(const struct program *program, const struct command *command,
                        struct buf *buf)
{
    if (!command) {
        buf_printf(buf, "Usage: %s COMMAND\n", program->name);
        write_about(buf, program->summary, program->description);
        write_commands(buf, program->commands);
        buf_printf(buf, "\nRun '%s help COMMAND' for more about a command.\n", program->name);
        return;
    }
    buf_printf(buf, "Usage: %s", program->name);
    options_path(program, command, buf);
    if (command->subcommands && !command->run)
        buf_append_str(buf, " COMMAND");
    options_write_arguments(command, buf);
    buf_append_char(buf, '\n');
    write_about(buf, command->summary, command->description);
    write_commands(buf, command->subcommands);
    write_options(buf, command);
    write_examples(buf, command->examples);
}
