/* Texts kept once; see words.h. */
#include "base/words.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>

struct words {
    int references;
    struct map texts;
};

struct words *words_new(void)
{
    struct words *words = mem_zalloc(sizeof(*words));
    words->references = 1;
    return words;
}

struct words *words_ref(struct words *words)
{
    words->references++;
    return words;
}

void words_unref(struct words *words)
{
    if (!words || --words->references > 0)
        return;
    const char *key;
    void *text;
    for (size_t i = 0; map_next(&words->texts, &i, &key, &text);)
        free(text);
    map_release(&words->texts);
    free(words);
}

const char *words_get(struct words *words, const char *text)
{
    char *word = map_get(&words->texts, text);
    if (word || words->texts.count >= WORDS_MAX)
        return word;
    word = mem_strdup(text);
    map_put(&words->texts, text, word);
    return word;
}
