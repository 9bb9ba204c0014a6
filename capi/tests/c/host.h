/* A host with threads of its own, for calls that take lanecast_threads. Included after lanecast.h. C99, and C++ as well. */
#ifndef LANECAST_TESTS_HOST_H
#define LANECAST_TESTS_HOST_H

/* The calls of `host`, each times what its context points to. */
static int loops = 0;

/* Runs the last task twice and leaves the first to the library. */
static void host(void *context, size_t tasks, lanecast_task task, void *task_context)
{
    size_t i;
    loops += *(int *)context;
    for (i = 1; i < tasks; i++) {
        task(task_context, i);
    }
    if (tasks > 0) {
        task(task_context, tasks - 1);
    }
}

#endif
