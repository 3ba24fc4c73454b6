/* The images of this machine as a Node's status.images has them. Pure. */
#ifndef TRAINYARD_NODE_IMAGE_REPORT_H
#define TRAINYARD_NODE_IMAGE_REPORT_H

#include "base/arena.h"
#include "base/json/json.h"

/* As many as the kubelet tells of, and as many names of each: a status has to stay small. */
enum { IMAGE_REPORT_MAX = 50, IMAGE_REPORT_NAMES_MAX = 5 };

/* [{"names": […], "sizeBytes": …}…] of the rows of images.json, the largest first. Names for the
 * same files are one image; one that is a command of the machine has no size. */
struct json *image_report(struct arena *arena, const struct json *table);

#endif
