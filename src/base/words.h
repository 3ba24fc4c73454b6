/* Texts that occur again and again, each kept once: the member names of thousands of objects of one
 * kind. Whoever keeps a text from here holds a reference to the words. One thread only. */
#ifndef TRAINYARD_BASE_WORDS_H
#define TRAINYARD_BASE_WORDS_H

struct words;

/* At most so many texts: what a stranger makes up must not stay for ever. */
enum { WORDS_MAX = 1024 };

struct words *words_new(void);
struct words *words_ref(struct words *words);
void words_unref(struct words *words); /* NULL-safe */

/* The one copy of a text; NULL when there are too many already. */
const char *words_get(struct words *words, const char *text);

#endif
