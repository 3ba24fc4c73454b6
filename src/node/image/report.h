/* Computes status.images of a Node from this machine's image table, for node_object.c. Pure. */
#ifndef TRAINYARD_NODE_IMAGE_REPORT_H
#define TRAINYARD_NODE_IMAGE_REPORT_H

#include "base/arena.h"
#include "base/json/json.h"

/* The kubelet's limits on the number of images and of names per image, so that a Node's status
 * stays small. */
enum { IMAGE_REPORT_MAX = 50, IMAGE_REPORT_NAMES_MAX = 5 };

/* Returns [{"names": […], "sizeBytes": …}…] for the rows of images.json, the largest first. Rows
 * with the same digest become one image with several names. Only imported images have sizeBytes. */
struct json *image_report(struct arena *arena, const struct json *table);

#endif
