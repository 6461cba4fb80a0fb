// Preloaded into a command: writes to EXIT_PROBE whether OpenSSL can be used still (1) when all that
// is registered for the exit was called, for other threads go on until the process is gone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void probe(void) {
    int (*init)(uint64_t, const void *) =
        (int (*)(uint64_t, const void *))dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    FILE *file = fopen(getenv("EXIT_PROBE"), "w");
    if (file == NULL) return;
    fprintf(file, "%d", init == NULL ? -1 : init(0, NULL));
    fclose(file);
}

// The first to be registered is the last to be called.
__attribute__((constructor)) static void watch(void) { atexit(probe); }
