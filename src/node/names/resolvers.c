/* Parses resolv.conf; see names/resolvers.h. */
#include "node/names/resolvers.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char BLANKS[] = " \t\r";

/* Returns the value after the keyword `word`, without surrounding blanks and comments. Returns NULL
 * if the line does not begin with the keyword. */
static const char *resolvers_value_of(const char *line, size_t size, const char *word,
                                      size_t *ret_size)
{
    size_t word_size = strlen(word);
    if (size <= word_size || memcmp(line, word, word_size) != 0 || !strchr(BLANKS, line[word_size]))
        return NULL;
    const char *end = line + size, *at = line + word_size;
    for (const char *c = at; c < end; c++)
        if (*c == '#' || *c == ';')
            end = c;
    while (at < end && strchr(BLANKS, *at))
        at++;
    while (end > at && strchr(BLANKS, end[-1]))
        end--;
    *ret_size = (size_t)(end - at);
    return at;
}

/* Parses an address. In "fe80::1%eth0", eth0 is the link on which the address is valid. */
static bool resolvers_parse_address(const char *value, size_t size, struct resolver *ret)
{
    char text[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE];
    size_t used = 0;
    while (used < size && !strchr(BLANKS, value[used]))
        used++;
    if (used == 0 || used >= sizeof(text))
        return false;
    memcpy(text, value, used);
    text[used] = '\0';
    *ret = (struct resolver){.ipv4.sin_family = AF_INET, .size = sizeof(ret->ipv4)};
    ret->ipv4.sin_port = htons(RESOLVERS_PORT);
    if (inet_pton(AF_INET, text, &ret->ipv4.sin_addr) == 1)
        return true;
    char *link = strchr(text, '%');
    if (link)
        *link++ = '\0';
    *ret = (struct resolver){.ipv6.sin6_family = AF_INET6, .size = sizeof(ret->ipv6)};
    ret->ipv6.sin6_port = htons(RESOLVERS_PORT);
    ret->ipv6.sin6_scope_id = link ? if_nametoindex(link) : 0;
    return inet_pton(AF_INET6, text, &ret->ipv6.sin6_addr) == 1;
}

size_t resolvers_parse(const char *text, struct resolver ret[RESOLVERS_MAX])
{
    size_t count = 0;
    for (const char *line = text; *line && count < RESOLVERS_MAX;) {
        size_t size = strcspn(line, "\n"), value_size;
        const char *value = resolvers_value_of(line, size, "nameserver", &value_size);
        if (value && resolvers_parse_address(value, value_size, &ret[count]))
            count++;
        line += size + (line[size] == '\n');
    }
    return count;
}

const char *resolvers_search(const char *text, size_t *ret_size)
{
    const char *found = "";
    *ret_size = 0;
    for (const char *line = text; *line;) {
        size_t size = strcspn(line, "\n"), value_size;
        const char *value = resolvers_value_of(line, size, "search", &value_size);
        if (!value)
            value = resolvers_value_of(line, size, "domain", &value_size);
        if (value) {
            found = value;
            *ret_size = value_size;
        }
        line += size + (line[size] == '\n');
    }
    return found;
}

/* Returns N of the last word `name:N`, at most `max`, or `found` if there is no such word. */
static int option_of(const char *words, size_t size, const char *name, int found, int max)
{
    size_t name_size = strlen(name);
    for (const char *at = words, *end = words + size; at < end;) {
        size_t word = 0;
        while (at + word < end && !strchr(BLANKS, at[word]))
            word++;
        if (word > name_size + 1 && memcmp(at, name, name_size) == 0 && at[name_size] == ':') {
            int number = 0;
            size_t digit = name_size + 1;
            for (; digit < word && at[digit] >= '0' && at[digit] <= '9'; digit++)
                number = number > max ? number : number * 10 + (at[digit] - '0');
            if (digit == word)
                found = number < max ? number : max;
        }
        at += word + 1;
    }
    return found;
}

int resolvers_option(const char *text, const char *name, int missing, int max)
{
    int found = missing;
    for (const char *line = text; *line;) {
        size_t size = strcspn(line, "\n"), value_size;
        const char *value = resolvers_value_of(line, size, "options", &value_size);
        if (value)
            found = option_of(value, value_size, name, found, max);
        line += size + (line[size] == '\n');
    }
    return found;
}
