/* A substitute for Volcano's queues: groups wait (Pending) until there is room, are admitted one
 * after the other (Inqueue) and become Running with their pods. It does not schedule. */
#ifndef TRAINYARD_TESTS_SIM_SIM_VOLCANO_H
#define TRAINYARD_TESTS_SIM_SIM_VOLCANO_H

#include "kube/client/client.h"

struct sim_volcano;

/* `room`: how many groups may be admitted at a time. */
struct sim_volcano *sim_volcano_new(struct loop *loop, struct http_transport *transport,
                                    size_t room);
struct sim_volcano *sim_volcano_free(struct sim_volcano *volcano);

void sim_volcano_set_room(struct sim_volcano *volcano, size_t room);

#endif
