/* Writes the shell completion from the option tables; see options.h. The script finds the command
 * that the typed words name. After an option with choices it offers these choices, else the
 * command's subcommands and options. If none of them matches, the shell offers file names. */
#include "base/options/internal.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Writes the name of the shell function: "_" and the program's name, with '_' for each character
 * that is no letter or digit. In POSIX shells, the name of a function has no hyphens. */
static void write_function_name(struct buf *buf, const char *program)
{
    buf_append_char(buf, '_');
    for (const char *c = program; *c; c++)
        buf_append_char(buf, isalnum((unsigned char)*c) ? *c : '_');
}

/* Writes the cases of a shell `case` statement. Each case adds the current word to the path if the
 * word names a subcommand. */
static void write_path_cases(struct buf *buf, const struct program *program,
                             const struct command *const *list)
{
    COMMANDS_EACH (place, list) {
        buf_append_str(buf, "        '");
        options_path(program, *place, buf);
        buf_append_str(buf, "') path+=\" ${COMP_WORDS[i]}\" ;;\n");
        write_path_cases(buf, program, (*place)->subcommands);
    }
}

static void write_choice_cases(struct buf *buf, const struct program *program,
                               const struct command *const *list)
{
    COMMANDS_EACH (place, list) {
        OPTIONS_EACH (option, *place) {
            if (option->type != OPTION_CHOICE)
                continue;
            buf_append_str(buf, "    '");
            options_path(program, *place, buf);
            buf_printf(buf, " --%s'", option->name);
            if (option->letter) {
                buf_append_str(buf, " | '");
                options_path(program, *place, buf);
                buf_printf(buf, " -%c'", option->letter);
            }
            buf_append_str(buf, ") words='");
            for (const char *c = option->choices; *c; c++)
                buf_append_char(buf, *c == '|' ? ' ' : *c);
            buf_append_str(buf, "' ;;\n");
        }
        write_choice_cases(buf, program, (*place)->subcommands);
    }
}

static void write_words_of(struct buf *buf, const struct command *const *list)
{
    COMMANDS_EACH (place, list)
        buf_printf(buf, "%s ", (*place)->name);
}

static void write_word_cases(struct buf *buf, const struct program *program,
                             const struct command *const *list)
{
    COMMANDS_EACH (place, list) {
        buf_append_str(buf, "        '");
        options_path(program, *place, buf);
        buf_append_str(buf, "') words='");
        write_words_of(buf, (*place)->subcommands);
        OPTIONS_EACH (option, *place)
            buf_printf(buf, "--%s ", option->name);
        buf_append_str(buf, "--help' ;;\n");
        write_word_cases(buf, program, (*place)->subcommands);
    }
}

void options_write_completion(const struct program *program, const char *shell, struct buf *buf)
{
    if (!str_eq(shell, "bash"))
        return;
    write_function_name(buf, program->name);
    buf_append_str(buf, "() {\n"
                        "    local word=${COMP_WORDS[COMP_CWORD]} path='' words='' i\n"
                        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                        "        case \"$path ${COMP_WORDS[i]}\" in\n");
    write_path_cases(buf, program, program->commands);
    buf_append_str(buf, "        esac\n"
                        "    done\n"
                        "    case \"$path ${COMP_WORDS[COMP_CWORD - 1]}\" in\n");
    write_choice_cases(buf, program, program->commands);
    buf_append_str(buf, "    *)\n"
                        "        case $path in\n"
                        "        '') words='");
    write_words_of(buf, program->commands);
    buf_append_str(buf, "help --help --version' ;;\n");
    write_word_cases(buf, program, program->commands);
    buf_append_str(buf, "        esac\n"
                        "        ;;\n"
                        "    esac\n"
                        "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                        "}\n"
                        "complete -o default -F ");
    write_function_name(buf, program->name);
    buf_printf(buf, " %s\n", program->name);
}
