/* Renews the credential of a plugin in a long-running process. Runs the plugin on the thread pool
 * before the credential expires, or after the server rejected it. The loop thread never waits for
 * the plugin, and the last good credential stays in use until a new one arrives. */
#ifndef TRAINYARD_KUBE_CLIENT_EXEC_RENEWAL_H
#define TRAINYARD_KUBE_CLIENT_EXEC_RENEWAL_H

#include "kube/client/exec_plugin.h"
#include "loop/loop.h"

struct exec_renewal;

/* Runs on the loop thread when the plugin has run. `credential` is valid until the callback
 * returns. On failure it is NULL and `err` says why, and the plugin is run again later. */
typedef void exec_renewed(void *context, const struct exec_credential *credential,
                          const struct err *err);

/* `expires_ms` is the Unix time at which the current credential expires. The plugin must outlive
 * the renewal. */
struct exec_renewal *exec_renewal_new(struct loop *loop, const struct exec_plugin *plugin,
                                      int64_t expires_ms, exec_renewed *renewed, void *context);
/* Kills a running plugin; `renewed` does not run afterwards. NULL-safe. */
struct exec_renewal *exec_renewal_free(struct exec_renewal *renewal);

/* Must be called when the server has rejected the credential. Runs the plugin at once, but not
 * earlier than 5 s after its last run; after failures, this time is longer. */
void exec_renewal_rejected(struct exec_renewal *renewal);

#endif
