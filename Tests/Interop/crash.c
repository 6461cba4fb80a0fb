// Makes a process crash by a fault of its own, at SIGUSR2. A SIGSEGV from outside is no fault: once
// its backtrace is written, the process goes on.
#include <signal.h>

static int *volatile nowhere;

static void crash(int number) { *nowhere = number; }

__attribute__((constructor)) static void begin(void) { signal(SIGUSR2, crash); }
