/* The cells of EndpointSlices: the first ports and addresses, and the number of the others. */
#include "base/buf.h"
#include "base/str.h"
#include "kube/table/cells.h"

#include <inttypes.h>

enum { SHOWN = 3, CELL_MAX = 4 * 1024 };

struct words {
    struct buf text;
    size_t count;
};

static void words_add(struct words *words, const char *word)
{
    if (words->count++ < SHOWN)
        buf_printf(&words->text, "%s%s", words->text.size ? "," : "", word);
}

/* Returns the words as a cell; "<unset>" if there are none, as in Kubernetes. */
static struct json *words_cell(struct arena *arena, struct words *words)
{
    if (words->count > SHOWN)
        buf_printf(&words->text, " + %zu more...", words->count - SHOWN);
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
