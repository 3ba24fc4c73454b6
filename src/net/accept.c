/* Parses the Accept header; see accept.h. */
#include "net/accept.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Returns a copy of the text without leading and trailing white space. */
static char *accept_trimmed(struct arena *arena, const char *text, size_t size)
{
    while (size > 0 && isspace((unsigned char)*text)) {
        text++;
        size--;
    }
    while (size > 0 && isspace((unsigned char)text[size - 1]))
        size--;
    return arena_strndup(arena, text, size);
}

static bool is_media_type(const char *text)
{
    const char *slash = strchr(text, '/');
    return slash && slash != text && slash[1] != '\0' && !strpbrk(text, " \t\"");
}

static void accept_lower(char *text)
{
    for (; *text; text++)
        *text = (char)tolower((unsigned char)*text);
}

/* Parses a parameter. Returns false if the quality is invalid or 0, which means "not acceptable".
 */
static bool read_parameter(const char *text, struct accept_clause *clause)
{
    const char *value = strchr(text, '=');
    if (!value)
        return true;
    value++;
    if (str_has_prefix(text, "q="))
        return str_to_double(value, &clause->quality, NULL) == 0 && clause->quality > 0 &&
               clause->quality <= 1;
    if (str_has_prefix(text, "as="))
        clause->as = value;
    else if (str_has_prefix(text, "g="))
        clause->group = value;
    else if (str_has_prefix(text, "v="))
        clause->version = value;
    return true;
}

static bool read_clause(struct arena *arena, const char *text, struct accept_clause *ret)
{
    size_t size = strcspn(text, ";");
    char *type = accept_trimmed(arena, text, size);
    *ret = (struct accept_clause){.as = "", .group = "", .version = "", .quality = 1};
    if (!is_media_type(type))
        return false;
    accept_lower(type);
    ret->type = type;
    for (text += size; *text == ';'; text += size) {
        text++;
        size = strcspn(text, ";");
        if (!read_parameter(accept_trimmed(arena, text, size), ret))
            return false;
    }
    return true;
}

/* Returns 2 for every type, 1 for every subtype of one type, and 0 for a type without wildcards. */
static int clause_wildcards(const struct accept_clause *clause)
{
    return str_eq(clause->type, "*/*") ? 2 : str_has_suffix(clause->type, "/*");
}

static bool accept_is_preferred(const struct accept_clause *a, const struct accept_clause *b)
{
    return a->quality > b->quality ||
           (a->quality == b->quality && clause_wildcards(a) < clause_wildcards(b));
}

static void accept_insert(struct accept *accept, const struct accept_clause *clause)
{
    size_t place = accept->count++;
    for (; place > 0 && accept_is_preferred(clause, &accept->clauses[place - 1]); place--)
        accept->clauses[place] = accept->clauses[place - 1];
    accept->clauses[place] = *clause;
}

void accept_parse(struct arena *arena, const char *header, struct accept *ret)
{
    ret->count = 0;
    if (str_is_empty(header))
        header = "*/*";
    while (*header && ret->count < ACCEPT_CLAUSES_MAX) {
        size_t size = strcspn(header, ",");
        struct accept_clause clause;
        if (read_clause(arena, accept_trimmed(arena, header, size), &clause))
            accept_insert(ret, &clause);
        header += size + (header[size] == ',');
    }
}

bool accept_clause_matches(const struct accept_clause *clause, const char *type)
{
    size_t size = strlen(clause->type);
    if (clause_wildcards(clause) == 1)
        return strncmp(type, clause->type, size - 1) == 0;
    return clause_wildcards(clause) == 2 || str_eq(clause->type, type);
}

bool accept_matches(const struct accept *accept, const char *type)
{
    for (size_t i = 0; i < accept->count; i++)
        if (accept->clauses[i].as[0] == '\0' && accept_clause_matches(&accept->clauses[i], type))
            return true;
    return false;
}
