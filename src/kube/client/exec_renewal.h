/* A credential of a plugin in a process that lives longer than it: the plugin is run again on the
 * pool, before the credential expires, or once the server did not take it. The loop never waits for
 * it, and what was good last is used until there is something better. */
#ifndef TRAINYARD_KUBE_EXEC_RENEWAL_H
#define TRAINYARD_KUBE_EXEC_RENEWAL_H

#include "kube/client/exec_plugin.h"
#include "loop/loop.h"

struct exec_renewal;

/* The plugin was run: its credential until this returns, or why there is none (then it is run again
 * after a while). */
typedef void exec_renewed(void *context, const struct exec_credential *credential,
                          const struct err *err);

/* `expires_ms`: of the credential that there is. The plugin must outlive it. */
struct exec_renewal *exec_renewal_new(struct loop *loop, const struct exec_plugin *plugin,
                                      int64_t expires_ms, exec_renewed *renewed, void *context);
/* Kills a plugin that runs; nothing is reported any more. NULL-safe. */
struct exec_renewal *exec_renewal_free(struct exec_renewal *renewal);

/* The server did not take the credential: run the plugin, but not in a circle. */
void exec_renewal_rejected(struct exec_renewal *renewal);

#endif
