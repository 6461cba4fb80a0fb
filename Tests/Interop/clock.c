// Preloaded into a server: its wall clock is CLOCK_SHIFT_SECONDS ahead of the machine's, or with a
// negative number behind it. What it measures by another clock stays right.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift;
static int (*get)(clockid_t, struct timespec *);

__attribute__((constructor)) static void start(void) {
    const char *seconds = getenv("CLOCK_SHIFT_SECONDS");
    shift = seconds == NULL ? 0 : atol(seconds);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    // Others' constructors may ask before the one above was called; then nothing is shifted yet.
    if (get == NULL) get = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = get(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += shift;
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec time;
    int result = clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return result;
}

time_t time(time_t *seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds != NULL) *seconds = now.tv_sec;
    return now.tv_sec;
}
