#include "crew.h"

#if defined(__unix__) || defined(__APPLE__)

#include <pthread.h>
#include <signal.h>

enum { MOST_HELPERS = 255 };

typedef struct {
    ptrdiff_t next, count; /* next: the first task that nobody has taken */
    mf_task task;
    void *context;
} Job;

typedef struct {
    Job *job;
    int worker;
} Seat;

static void work(Job *job, int worker) {
    ptrdiff_t k;
    while ((k = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->count) job->task(job->context, k, worker);
}

static void *help(void *seat) {
    work(((Seat *)seat)->job, ((Seat *)seat)->worker);
    return NULL;
}

void mf_run(int threads, ptrdiff_t count, mf_task task, void *context) {
    Job job = {0, count, task, context};
    pthread_t helpers[MOST_HELPERS];
    Seat seats[MOST_HELPERS];
    sigset_t all, before;
    int k, started = 0, wanted = threads - 1 < MOST_HELPERS ? threads - 1 : MOST_HELPERS;
    if (wanted > count - 1) wanted = (int)(count - 1);
    if (wanted > 0) { /* signals are for the threads that the user knows of: helpers inherit that they are blocked */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        for (; started < wanted; started++) {
            seats[started].job = &job;
            seats[started].worker = started + 1;
            if (pthread_create(&helpers[started], NULL, help, &seats[started])) break;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    work(&job, 0);
    for (k = 0; k < started; k++) pthread_join(helpers[k], NULL);
}

#else

void mf_run(int threads, ptrdiff_t count, mf_task task, void *context) {
    ptrdiff_t k;
    (void)threads;
    for (k = 0; k < count; k++) task(context, k, 0);
}

#endif
