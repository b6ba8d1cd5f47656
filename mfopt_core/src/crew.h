/* Several threads for one computation: tasks that do not depend on each other are shared out among them.
 *
 * What the tasks are must not depend on the number of threads, then neither do their results: who computes a task, and
 * when, changes nothing.
 */
#ifndef MFOPT_CREW_H
#define MFOPT_CREW_H

#include <stddef.h>

/* Task k, from 0; `worker` is from 0 to threads - 1, and no two tasks of one worker run at the same time. */
typedef void (*mf_task)(void *context, ptrdiff_t k, int worker);

/* Do tasks 0 .. count - 1 with up to `threads` threads, the caller's among them, and return when all are done.
 *
 * Threads are started for this call and end with it: none is there when the process forks, and none waits for work.
 * Where none can be started the caller does it all, as it does on systems without POSIX threads. */
void mf_run(int threads, ptrdiff_t count, mf_task task, void *context);

#endif
