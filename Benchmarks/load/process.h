// What a process has used, from /proc.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

struct ProcessUse {
    double cpuSeconds = 0;
    uint64_t peakKiB = 0;
    uint64_t residentKiB = 0;

    /// Zeros where there is no such process.
    static ProcessUse of(int pid) {
        ProcessUse use;
        std::string path = "/proc/" + std::to_string(pid);
        if (FILE *stat = std::fopen((path + "/stat").c_str(), "r")) {
            char line[1024] = {};
            size_t count = std::fread(line, 1, sizeof line - 1, stat);
            line[count] = 0;
            std::fclose(stat);
            // The name may hold anything; what follows its last parenthesis starts with field 3.
            const char *rest = std::strrchr(line, ')');
            unsigned long user = 0, system = 0;
            if (rest != nullptr &&
                std::sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                            &user, &system) == 2) {
                use.cpuSeconds = double(user + system) / double(sysconf(_SC_CLK_TCK));
            }
        }
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
