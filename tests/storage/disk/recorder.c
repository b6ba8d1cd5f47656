/* Records what a process does to the files of one directory: writes with their data, syncs, names made and removed, all
 * in one order. Loaded by LD_PRELOAD; MFOPT_DISK is the directory and MFOPT_TRACE the file of the record.
 *
 * An entry is a head (operation, file descriptor, offset or size, lengths) followed by one or two paths and data. It is
 * written after the operation is done, under a lock, so that the order of entries is the order of operations.
 *
 * What children do between fork and exec is not recorded: they close what they inherited, the record among it, and after
 * vfork lock and table are their parent's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST 4096

struct head {
    int32_t operation, file;
    int64_t place;
    int32_t first, second; /* lengths of what follows */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char tracked[MOST];
static int trace = -1;
static const char *disk;
static pid_t recorded;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("MFOPT_TRACE");
    disk = getenv("MFOPT_DISK");
    recorded = getpid();
    if (path && disk)
        trace = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int recording(void) {
    return trace >= 0 && getpid() == recorded;
}

static int ours(const char *path) {
    return recording() && path && strncmp(path, disk, strlen(disk)) == 0;
}

static int followed(int file) {
    return recording() && file >= 0 && file < MOST && tracked[file];
}

static void note(char operation, int file, int64_t place, const void *first, size_t n, const void *second, size_t m) {
    struct head head = {operation, file, place, (int32_t)n, (int32_t)m};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)first, n}, {(void *)second, m}};
    if (syscall(SYS_writev, trace, parts, 3) < 0)
        abort();
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define BEGIN                                                                                                          \
    int locked = recording() && pthread_mutex_lock(&lock) == 0
#define END                                                                                                            \
    if (locked)                                                                                                        \
    pthread_mutex_unlock(&lock)

static int opened(int file, const char *path, int flags) {
    if (recording() && file >= 0 && file < MOST) {
        tracked[file] = (char)ours(path);
        if (tracked[file])
            note('O', file, flags & (O_CREAT | O_TRUNC), path, strlen(path), 0, 0);
    }
    return file;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = (mode_t)va_arg(rest, int);                                                                       \
        va_end(rest);                                                                                                  \
        BEGIN;                                                                                                         \
        int file = opened(NEXT(name)(path, flags, mode), path, flags);                                                 \
        END;                                                                                                           \
        return file;                                                                                                   \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                   \
    int name(int directory, const char *path, int flags, ...) {                                                        \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = (mode_t)va_arg(rest, int);                                                                       \
        va_end(rest);                                                                                                  \
        BEGIN;                                                                                                         \
        int file = opened(NEXT(name)(directory, path, flags, mode), path, flags);                                      \
        END;                                                                                                           \
        return file;                                                                                                   \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int file) {
    BEGIN;
    if (followed(file)) {
        tracked[file] = 0;
        note('C', file, 0, 0, 0, 0, 0);
    }
    int done = NEXT(close)(file);
    END;
    return done;
}

#define PWRITE(name, offset_type)                                                                                      \
    ssize_t name(int file, const void *data, size_t size, offset_type offset) {                                        \
        if (!followed(file))                                                                                           \
            return NEXT(name)(file, data, size, offset);                                                               \
        BEGIN;                                                                                                         \
        ssize_t written = NEXT(name)(file, data, size, offset);                                                        \
        if (written > 0)                                                                                               \
            note('W', file, offset, data, (size_t)written, 0, 0);                                                      \
        END;                                                                                                           \
        return written;                                                                                                \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int file, const void *data, size_t size) {
    if (!followed(file))
        return NEXT(write)(file, data, size);
    BEGIN;
    off_t end = (fcntl(file, F_GETFL) & O_APPEND) ? lseek(file, 0, SEEK_END) : lseek(file, 0, SEEK_CUR);
    ssize_t written = NEXT(write)(file, data, size);
    if (written > 0)
        note('W', file, end, data, (size_t)written, 0, 0);
    END;
    return written;
}

#define SYNC(name)                                                                                                     \
    int name(int file) {                                                                                               \
        int done = NEXT(name)(file);                                                                                   \
        BEGIN;                                                                                                         \
        if (done == 0 && followed(file))                                                                               \
            note('S', file, 0, 0, 0, 0, 0);                                                                            \
        END;                                                                                                           \
        return done;                                                                                                   \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, offset_type)                                                                                    \
    int name(int file, offset_type size) {                                                                             \
        BEGIN;                                                                                                         \
        int done = NEXT(name)(file, size);                                                                             \
        if (done == 0 && followed(file))                                                                               \
            note('T', file, size, 0, 0, 0, 0);                                                                         \
        END;                                                                                                           \
        return done;                                                                                                   \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int unlink(const char *path) {
    BEGIN;
    int done = NEXT(unlink)(path);
    if (done == 0 && ours(path))
        note('U', -1, 0, path, strlen(path), 0, 0);
    END;
    return done;
}

#define TWO(name, letter)                                                                                              \
    int name(const char *from, const char *to) {                                                                       \
        BEGIN;                                                                                                         \
        int done = NEXT(name)(from, to);                                                                               \
        if (done == 0 && ours(from))                                                                                   \
            note(letter, -1, 0, from, strlen(from), to, strlen(to));                                                   \
        END;                                                                                                           \
        return done;                                                                                                   \
    }
TWO(link, 'L')
TWO(rename, 'R')
