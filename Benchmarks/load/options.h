// What the command line asks for.
#pragma once

#include <cstdint>
#include <string>

struct Options {
    std::string host = "127.0.0.1";
    std::string port;
    int connections = 4;
    int streams = 1;
    int callers = 0;
    bool isUnchecked = false;
    int batch = 100;
    int window = 16;
    double rate = 0;
    double seconds = 5;
    double warmup = 1;
    uint64_t events = 0;
    int pid = 0;
    std::string mix = "opened";
    int eventBytes = 270;
    int idleConnections = 0;
    int idleStreams = 0;
};

Options parseOptions(int count, char **arguments);

/// Ends the program with a message; 64 for usage, 1 for what the server did, 69 for no server.
[[noreturn]] void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
