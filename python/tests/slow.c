/* Makes a folder slow, for processes that preload this library: below a folder `slow`, writes, flushes and renames take 20 ms more; below a
   folder `late`, a rename takes effect 200 ms after it has returned, as for the other clients of a network file system. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_below(const char *folder, const char *path) { return path && strstr(path, folder) != NULL; }

static void delay(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    if (is_below("/slow/", path)) usleep(20000);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    static __typeof__(&write) real;
    if (!real) real = REAL(write);
    if (size > 1024) delay(fd);
    return real(fd, data, size);
}

int fsync(int fd) {
    delay(fd);
    return REAL(fsync)(fd);
}

struct names {
    char *from, *to;
};

static void *rename_late(void *argument) {
    struct names *names = argument;
    usleep(200000);
    REAL(rename)(names->from, names->to);
    return NULL;
}

int rename(const char *from, const char *to) {
    if (is_below("/slow/", to)) usleep(20000);
    if (!is_below("/late/", to) || !is_below("/done/", to)) return REAL(rename)(from, to);
    struct names *names = malloc(sizeof *names);
    names->from = strdup(from);
    names->to = strdup(to);
    pthread_t thread;
    pthread_create(&thread, NULL, rename_late, names);
    return pthread_detach(thread);
}
