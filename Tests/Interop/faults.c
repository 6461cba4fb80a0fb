// Preloaded into a server: counts the calls that it makes on the files of one directory, and makes
// some of them fail. strace could inject as well, but it counts each thread by itself, and which
// thread makes a call is not the same in two runs; here one counter serves all threads, and every
// process of a history.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// What the test has written (faults.py knows the same layout), and the counter.
struct state {
    _Atomic long calls;
    // Number of the first call that fails, from 1; how many fail; and how.
    long first, count, fault;
    // Only calls of this name count; empty for all.
    char call[32];
};

// Faults besides errno's numbers.
enum { KILL = -1, LIE = -2, SHORT = -3 };

static struct state *state;
static const char *directory;
static int log_descriptor = -1;

__attribute__((constructor)) static void start(void) {
    directory = getenv("FAULTS_DIRECTORY");
    const char *path = getenv("FAULTS_STATE");
    if (!directory || !path) return;
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    void *memory = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED,
                        descriptor, 0);
    syscall(SYS_close, descriptor);
    if (memory == MAP_FAILED) abort();
    const char *log = getenv("FAULTS_LOG");
    if (log) {
        log_descriptor = (int)syscall(SYS_openat, AT_FDCWD, log,
                                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    state = memory;
}

// What becomes of a call on a path: 0 to make it, or one of the faults.
static long fault_of(const char *call, const char *path) {
    if (!state || !path || strncmp(path, directory, strlen(directory)) != 0) return 0;
    if (state->call[0] && strcmp(state->call, call) != 0) return 0;
    int saved = errno;
    long number = atomic_fetch_add(&state->calls, 1) + 1;
    if (log_descriptor >= 0) {
        char line[4400];
        int length = snprintf(line, sizeof line, "%ld %s %s\n", number, call,
                              path + strlen(directory));
        syscall(SYS_write, log_descriptor, line, length);
    }
    errno = saved;
    if (number < state->first || number - state->first >= state->count) return 0;
    if (state->fault == KILL) syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    return state->fault;
}

static long fault_of_descriptor(const char *call, int descriptor) {
    if (!state) return 0;
    int saved = errno;
    char link[64], path[4200];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    errno = saved;
    if (length < 0) return 0;
    path[length] = 0;
    return fault_of(call, path);
}

#define NEXT(name) static __typeof__(name) *next; if (!next) next = dlsym(RTLD_NEXT, #name)
// Ends the call where its fault says so. A lie is a success that does nothing.
#define ON_PATH(call, path) do { long fault = fault_of(call, path); \
    if (fault > 0) { errno = (int)fault; return -1; } if (fault == LIE) return 0; } while (0)
#define ON_FILE(call, file) do { long fault = fault_of_descriptor(call, file); \
    if (fault > 0) { errno = (int)fault; return -1; } if (fault == LIE) return 0; } while (0)
// The same for calls that move bytes: a short one moves half of them.
#define ON_BYTES(call, file, bytes) do { long fault = fault_of_descriptor(call, file); \
    if (fault > 0) { errno = (int)fault; return -1; } if (fault == LIE) return (ssize_t)(bytes); \
    if (fault == SHORT && (bytes) > 1) (bytes) /= 2; } while (0)

#define OPEN(name) int name(const char *path, int flags, ...) { \
    NEXT(name); va_list list; va_start(list, flags); mode_t mode = va_arg(list, mode_t); \
    va_end(list); long fault = fault_of("open", path); \
    if (fault > 0) { errno = (int)fault; return -1; } \
    return next(path, flags, mode); }
OPEN(open)
OPEN(open64)

#define OPENAT(name) int name(int at, const char *path, int flags, ...) { \
    NEXT(name); va_list list; va_start(list, flags); mode_t mode = va_arg(list, mode_t); \
    va_end(list); long fault = fault_of("open", path); \
    if (fault > 0) { errno = (int)fault; return -1; } \
    return next(at, path, flags, mode); }
OPENAT(openat)
OPENAT(openat64)

DIR *opendir(const char *path) {
    NEXT(opendir);
    long fault = fault_of("opendir", path);
    if (fault > 0) { errno = (int)fault; return NULL; }
    return next(path);
}

#define MOVE(name, call, type) ssize_t name(int file, type data, size_t size) { \
    NEXT(name); ON_BYTES(call, file, size); return next(file, data, size); }
MOVE(read, "read", void *)
MOVE(write, "write", const void *)

#define MOVE_AT(name, call, type, place) \
    ssize_t name(int file, type data, size_t size, place offset) { \
    NEXT(name); ON_BYTES(call, file, size); return next(file, data, size, offset); }
MOVE_AT(pread, "pread", void *, off_t)
MOVE_AT(pread64, "pread", void *, off64_t)
MOVE_AT(pwrite, "pwrite", const void *, off_t)
MOVE_AT(pwrite64, "pwrite", const void *, off64_t)

// A short vectored write moves half of its first part.
#define VECTOR(name, place) \
    ssize_t name(int file, const struct iovec *parts, int count, place offset) { \
    NEXT(name); long fault = fault_of_descriptor("pwrite", file); \
    if (fault > 0) { errno = (int)fault; return -1; } \
    if (fault == SHORT || fault == LIE) { \
        ssize_t total = 0; for (int i = 0; i < count; i++) total += (ssize_t)parts[i].iov_len; \
        if (fault == LIE) return total; \
        struct iovec half = { parts[0].iov_base, (parts[0].iov_len + 1) / 2 }; \
        return next(file, &half, 1, offset); } \
    return next(file, parts, count, offset); }
VECTOR(pwritev, off_t)
VECTOR(pwritev64, off64_t)

int fsync(int file) { NEXT(fsync); ON_FILE("fsync", file); return next(file); }
int fdatasync(int file) { NEXT(fdatasync); ON_FILE("fdatasync", file); return next(file); }

int ftruncate(int file, off_t size) {
    NEXT(ftruncate); ON_FILE("ftruncate", file); return next(file, size);
}
int ftruncate64(int file, off64_t size) {
    NEXT(ftruncate64); ON_FILE("ftruncate", file); return next(file, size);
}

#define ALLOCATE(name, place) int name(int file, place offset, place size) { \
    NEXT(name); long fault = fault_of_descriptor("fallocate", file); \
    if (fault > 0) return (int)fault; \
    if (fault == LIE) return 0; \
    return next(file, offset, size); }
ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)

int fallocate(int file, int mode, off_t offset, off_t size) {
    NEXT(fallocate); ON_FILE("fallocate", file); return next(file, mode, offset, size);
}

int rename(const char *from, const char *to) {
    NEXT(rename); ON_PATH("rename", from); return next(from, to);
}
int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    NEXT(renameat2); ON_PATH("rename", from); return next(from_at, from, to_at, to, flags);
}
int unlink(const char *path) { NEXT(unlink); ON_PATH("unlink", path); return next(path); }
int unlinkat(int at, const char *path, int flags) {
    NEXT(unlinkat); ON_PATH("unlink", path); return next(at, path, flags);
}
int mkdir(const char *path, mode_t mode) {
    NEXT(mkdir); ON_PATH("mkdir", path); return next(path, mode);
}
