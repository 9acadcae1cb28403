/*
 * Puts a process at the mercy of one file operation.
 *
 * Loaded with LD_PRELOAD, this counts every operation that changes a file below one directory, in the order
 * the process does them, and at the N-th one it kills the process (before it, or with half of the bytes
 * written), or lets it fail, or it records them all, with their bytes. Nothing happens until
 * crash_arm() is called; the child of a fork that armed itself is counted from 1.
 *
 * An armed process does not wait for the disk: fsync is counted, recorded, and returns. A killed process
 * loses nothing of the page cache, and a lost page cache is what the recording is for.
 *
 * One thread at a time: the counter is plain.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { UNARMED, COUNT, KILL_BEFORE, KILL_HALFWAY, FAIL_ONE, FAIL_FROM, RECORD };

static enum mode mode = UNARMED;
static long chosen, counted;
static int failure;
static char below[PATH_MAX];
static size_t below_length;
static int record = -1;

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static ssize_t real_pwrite(int fd, const void *bytes, size_t size, off_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t);
    return real(fd, bytes, size, at);
}

static ssize_t real_write(int fd, const void *bytes, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return real(fd, bytes, size);
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* The name relative to the watched directory, "" for the directory itself, NULL for what is elsewhere. */
static const char *watched(const char *path) {
    if (mode == UNARMED || strncmp(path, below, below_length) != 0) return NULL;
    if (path[below_length] == '\0') return path + below_length;
    return path[below_length] == '/' ? path + below_length + 1 : NULL;
}

static const char *watched_fd(int fd, char *path) {
    char link[64];
    if (mode == UNARMED) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return NULL;
    path[length] = '\0';
    return watched(path);
}

static void put(char kind, const char *name, uint64_t at, const void *bytes, uint64_t size) {
    uint32_t name_length = (uint32_t)strlen(name);
    uint64_t head[2] = {at, size};
    if (real_write(record, &kind, 1) != 1 || real_write(record, &name_length, 4) != 4 ||
        real_write(record, head, 16) != 16 || real_write(record, name, name_length) != (ssize_t)name_length ||
        real_write(record, bytes, size) != (ssize_t)size)
        abort();
}

enum verdict { GO_ON, HALFWAY, FAIL /* with errno set */ };

static enum verdict next(char kind, const char *name, uint64_t at, const void *bytes, uint64_t size) {
    counted++;
    if (mode == RECORD) put(kind, name, at, bytes, size);
    if (mode == KILL_BEFORE && counted == chosen) die();
    if (mode == KILL_HALFWAY && counted == chosen) return HALFWAY;
    if (kind == 'U' && failure == ENOSPC) return GO_ON; /* a full disk still forgets files */
    if ((mode == FAIL_ONE && counted == chosen) || (mode == FAIL_FROM && counted >= chosen)) {
        errno = failure;
        return FAIL;
    }
    return GO_ON;
}

void crash_arm(const char *directory, int how, long at, int error, const char *record_to) {
    snprintf(below, sizeof below, "%s", directory);
    below_length = strlen(below);
    chosen = at;
    counted = 0;
    failure = error;
    if (record_to && *record_to) record = open(record_to, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    mode = (enum mode)how;
}

long crash_disarm(void) {
    mode = UNARMED;
    return counted;
}

/* Puts a moment of the process's own into the record: "this was acknowledged". */
void crash_mark(const char *text) {
    if (mode == RECORD) put('M', text, 0, "", 0);
}

static ssize_t positioned(int fd, const void *bytes, size_t size, off_t at) {
    char path[PATH_MAX];
    const char *name = watched_fd(fd, path);
    if (!name) return real_pwrite(fd, bytes, size, at);
    switch (next('W', name, (uint64_t)at, bytes, size)) {
    case FAIL:
        return -1;
    case HALFWAY:
        real_pwrite(fd, bytes, size / 2, at);
        die();
    case GO_ON:
        break;
    }
    return real_pwrite(fd, bytes, size, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { return positioned(fd, bytes, size, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at) { return positioned(fd, bytes, size, at); }

ssize_t write(int fd, const void *bytes, size_t size) {
    char path[PATH_MAX];
    if (!watched_fd(fd, path)) return real_write(fd, bytes, size);
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t written = positioned(fd, bytes, size, at);
    if (written > 0) lseek(fd, at + written, SEEK_SET);
    return written;
}

/* What nothing here is known to use: a process that does is not counted right, and shall not look as if it were. */
#define REFUSED(type, name, arguments, fd, forwarded, ...) \
    type name arguments { \
        char path[PATH_MAX]; \
        if (watched_fd(fd, path)) abort(); \
        REAL(type, #name, __VA_ARGS__); \
        return real forwarded; \
    }

REFUSED(ssize_t, writev, (int fd, const struct iovec *v, int n), fd, (fd, v, n), int, const struct iovec *, int)
REFUSED(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), fd, (fd, v, n, at), int,
        const struct iovec *, int, off_t)
REFUSED(ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off_t at), fd, (fd, v, n, at), int,
        const struct iovec *, int, off_t)
REFUSED(int, fallocate, (int fd, int how, off_t at, off_t size), fd, (fd, how, at, size), int, int, off_t, off_t)
REFUSED(int, posix_fallocate, (int fd, off_t at, off_t size), fd, (fd, at, size), int, off_t, off_t)
REFUSED(int, posix_fallocate64, (int fd, off_t at, off_t size), fd, (fd, at, size), int, off_t, off_t)

static int resized(int fd, off_t size) {
    char path[PATH_MAX];
    REAL(int, "ftruncate64", int, off_t);
    const char *name = watched_fd(fd, path);
    enum verdict verdict = name ? next('T', name, (uint64_t)size, "", 0) : GO_ON;
    if (verdict == FAIL) return -1;
    int result = real(fd, size);
    if (verdict == HALFWAY) die();
    return result;
}

int ftruncate(int fd, off_t size) { return resized(fd, size); }
int ftruncate64(int fd, off_t size) { return resized(fd, size); }

static int synced(int fd, const char *call) {
    char path[PATH_MAX];
    const char *name = watched_fd(fd, path);
    if (!name) {
        int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
        return real(fd);
    }
    switch (next('S', name, 0, "", 0)) {
    case FAIL:
        return -1;
    case HALFWAY:
        die();
    case GO_ON:
        break;
    }
    return 0;
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

static int opened(int at, const char *path, int flags, mode_t permissions) {
    REAL(int, "openat64", int, const char *, int, ...);
    const char *name = watched(path);
    if (!name || !(flags & O_CREAT) || access(path, F_OK) == 0) return real(at, path, flags, permissions);
    enum verdict verdict = next('C', name, 0, "", 0);
    if (verdict == FAIL) return -1;
    int fd = real(at, path, flags, permissions);
    if (verdict == HALFWAY) die();
    return fd;
}

#define PERMISSIONS(flags) \
    mode_t permissions = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        permissions = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) {
    PERMISSIONS(flags)
    return opened(AT_FDCWD, path, flags, permissions);
}
int open64(const char *path, int flags, ...) {
    PERMISSIONS(flags)
    return opened(AT_FDCWD, path, flags, permissions);
}
int openat(int at, const char *path, int flags, ...) {
    PERMISSIONS(flags)
    return opened(at, path, flags, permissions);
}
int openat64(int at, const char *path, int flags, ...) {
    PERMISSIONS(flags)
    return opened(at, path, flags, permissions);
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    const char *name = watched(path);
    if (!name || access(path, F_OK) != 0) return real(path);
    enum verdict verdict = next('U', name, 0, "", 0);
    if (verdict == FAIL) return -1;
    int result = real(path);
    if (verdict == HALFWAY) die();
    return result;
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    const char *name = watched(from), *target = watched(to);
    if (!name || !target) return real(from, to);
    enum verdict verdict = next('R', name, 0, target, strlen(target));
    if (verdict == FAIL) return -1;
    int result = real(from, to);
    if (verdict == HALFWAY) die();
    return result;
}
