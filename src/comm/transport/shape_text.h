/* Compares shape texts. A shape text lists the options that must be equal in all tasks of a job, as
 * lines of "--name value". The `shape` of a task is a hash of its shape text. Two tasks whose
 * shapes differ send their texts to each other, so that each can report which option differs.
 * Called by handshake_reason. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHAPE_TEXT_H
#define TRAINYARD_COMM_TRANSPORT_SHAPE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the first three differences into `text`: "--shift 0.1 there and 0.2 here, …". "there" is
 * the peer, and "here" is this task. Returns false if there are no differences. Both texts may be
 * empty. The text of the peer is not trusted. */
bool shape_text_difference(const char *own, const char *peer, char *text, size_t size);

#endif
