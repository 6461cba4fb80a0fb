// What a process has used: CPU time in nanoseconds from its clock, memory from /proc.
#pragma once

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <string>

struct ProcessUse {
    double cpuSeconds = 0;
    uint64_t peakKiB = 0;
    uint64_t residentKiB = 0;

    /// Zeros where there is no such process.
    static ProcessUse of(int pid) {
        ProcessUse use;
        clockid_t clock;
        timespec time;
        if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &time) == 0) {
            use.cpuSeconds = double(time.tv_sec) + double(time.tv_nsec) / 1e9;
        }
        std::string path = "/proc/" + std::to_string(pid);
        if (FILE *status = std::fopen((path + "/status").c_str(), "r")) {
            char line[256];
            while (std::fgets(line, sizeof line, status) != nullptr) {
                unsigned long value = 0;
                if (std::sscanf(line, "VmHWM: %lu", &value) == 1) use.peakKiB = value;
                if (std::sscanf(line, "VmRSS: %lu", &value) == 1) use.residentKiB = value;
            }
            std::fclose(status);
        }
        return use;
    }
};
