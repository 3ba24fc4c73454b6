/* Writes one man page for a program and all its commands, in man(7) format; see options.h. The page
 * has no date, so that the same source always gives the same page. */
#include "base/options/internal.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Writes text for roff: escapes backslashes and hyphens, and protects a dot or an apostrophe at
 * the start of a line. */
static void man_write_text(struct buf *buf, const char *text, size_t size)
{
    bool line_start = true;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (line_start && (c == '.' || c == '\''))
            buf_append_str(buf, "\\&");
        if (c == '\\')
            buf_append_str(buf, "\\e");
        else if (c == '-')
            buf_append_str(buf, "\\-");
        else
            buf_append_char(buf, c);
        line_start = c == '\n';
    }
}

static void write_line(struct buf *buf, const char *text)
{
    man_write_text(buf, text, strlen(text));
    buf_append_char(buf, '\n');
}

static void write_paragraphs(struct buf *buf, const char *text)
{
    while (!str_is_empty(text)) {
        const char *end = strstr(text, "\n\n");
        size_t size = end ? (size_t)(end - text) : strlen(text);
        buf_append_str(buf, ".PP\n");
        man_write_text(buf, text, size);
        buf_append_char(buf, '\n');
        text += size + strspn(text + size, "\n");
    }
}

static void write_option(struct buf *buf, const struct option *option)
{
    buf_append_str(buf, ".TP\n");
    if (option->letter)
        buf_printf(buf, "\\fB\\-%c\\fR, ", option->letter);
    buf_append_str(buf, "\\fB\\-\\-");
    man_write_text(buf, option->name, strlen(option->name));
    buf_append_str(buf, "\\fR");
    if (option->type != OPTION_FLAG)
        buf_printf(buf, " \\fI%s\\fR", option->value ? option->value : "VALUE");
    buf_append_char(buf, '\n');
    _cleanup_buf_ struct buf sentence;
    buf_init(&sentence, 4096);
    options_write_sentence(option, &sentence);
    write_line(buf, sentence.data);
}

static void write_command(struct buf *buf, const struct program *program,
                          const struct command *command)
{
    _cleanup_buf_ struct buf usage;
    buf_init(&usage, 4096);
    buf_append_str(&usage, program->name);
    options_path(program, command, &usage);
    options_write_arguments(command, &usage);
    buf_append_str(buf, ".SS \"");
    man_write_text(buf, usage.data, usage.size);
    buf_append_str(buf, "\"\n");
    write_line(buf, command->summary);
    write_paragraphs(buf, command->description);
    OPTIONS_EACH (option, command)
        write_option(buf, option);
    if (command->examples) {
        buf_append_str(buf, ".PP\nExamples:\n.PP\n.nf\n.RS\n");
        write_line(buf, command->examples);
        buf_append_str(buf, ".RE\n.fi\n");
    }
    COMMANDS_EACH (place, command->subcommands)
        write_command(buf, program, *place);
}

static void write_environment(struct buf *buf, const struct program *program,
                              const struct command *const *list)
{
    COMMANDS_EACH (place, list) {
        OPTIONS_EACH (option, *place) {
            if (!option->environment)
                continue;
            buf_append_str(buf, ".TP\n\\fB");
            for (const char *c = option->environment; *c; c++)
                buf_append_str(buf, *c == '|' ? ", " : (char[]){*c, '\0'});
            buf_append_str(buf, "\\fR\n");
            _cleanup_buf_ struct buf sentence;
            buf_init(&sentence, 4096);
            buf_printf(&sentence, "stands for --%s of '%s", option->name, program->name);
            options_path(program, *place, &sentence);
            buf_append_char(&sentence, '\'');
            write_line(buf, sentence.data);
        }
        write_environment(buf, program, (*place)->subcommands);
    }
}

void options_write_man(const struct program *program, const char *version, struct buf *buf)
{
    buf_append_str(buf, ".TH ");
    for (const char *c = program->name; *c; c++)
        buf_append_char(buf, (char)toupper((unsigned char)*c));
    buf_printf(buf, " 1 \"\" \"%s %s\" \"User Commands\"\n.SH NAME\n", program->name, version);
    man_write_text(buf, program->name, strlen(program->name));
    buf_append_str(buf, " \\- ");
    write_line(buf, program->summary);
    buf_append_str(buf, ".SH SYNOPSIS\n\\fB");
    man_write_text(buf, program->name, strlen(program->name));
    buf_append_str(buf, "\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR…] [\\fIARGUMENT\\fR…]\n");
    if (program->description) {
        buf_append_str(buf, ".SH DESCRIPTION\n");
        write_paragraphs(buf, program->description);
    }
    buf_append_str(buf, ".SH COMMANDS\n");
    COMMANDS_EACH (place, program->commands)
        write_command(buf, program, *place);
    buf_append_str(buf, ".SH ENVIRONMENT\n");
    write_environment(buf, program, program->commands);
    buf_append_str(buf, ".SH EXIT STATUS\n0 on success, 1 on failure, 2 for a wrong command line; "
                        "128 plus the signal number if a signal ended the command.\n");
}
