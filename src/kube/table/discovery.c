/* The cells of EndpointSlices: the first ports and addresses, and the number of further ones; see
 * cells.h. */
#include "base/buf.h"
#include "base/str.h"
#include "kube/table/cells.h"

#include <inttypes.h>

enum { WORDS_SHOWN = 3, CELL_MAX = 4 * 1024 };

/* The words of a cell: ports or addresses. */
struct words {
    struct buf text; /* the first WORDS_SHOWN words, joined by commas */
    size_t count;    /* the number of all words */
};

static void words_add(struct words *words, const char *word)
{
    if (words->count++ < WORDS_SHOWN)
        buf_printf(&words->text, "%s%s", words->text.size ? "," : "", word);
}

/* Returns the words as a cell, or "<unset>" if there are none, as in Kubernetes. Frees `words`. */
static struct json *words_cell(struct arena *arena, struct words *words)
{
    if (words->count > WORDS_SHOWN)
        buf_printf(&words->text, " + %zu more...", words->count - WORDS_SHOWN);
    struct json *cell = json_string(arena, words->count ? words->text.data : "<unset>");
    buf_release(&words->text);
    return cell;
}

struct json *table_slice_type(struct arena *arena, const struct json *slice, int64_t now_ms)
{
    return json_string(arena, json_get_string(slice, "addressType", ""));
}

struct json *table_slice_ports(struct arena *arena, const struct json *slice, int64_t now_ms)
{
    struct words words = {0};
    buf_init(&words.text, CELL_MAX);
    JSON_EACH (port, json_get(slice, "ports")) {
        const struct json *number = json_get(port, "port");
        words_add(&words, number ? arena_printf(arena, "%" PRId64, number->integer)
                                 : json_get_string(port, "name", "*"));
    }
    return words_cell(arena, &words);
}

struct json *table_slice_endpoints(struct arena *arena, const struct json *slice, int64_t now_ms)
{
    struct words words = {0};
    buf_init(&words.text, CELL_MAX);
    JSON_EACH (endpoint, json_get(slice, "endpoints")) {
        JSON_EACH (address, json_get(endpoint, "addresses"))
            words_add(&words, json_text(address));
    }
    return words_cell(arena, &words);
}
