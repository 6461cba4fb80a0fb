// What the command line asks for.
#pragma once

#include <string>
#include <vector>

struct Options {
    std::string host = "127.0.0.1";
    std::string port;
    /// events: POST /v1/events; postbacks: GET /r/.
    std::string kind = "events";
    /// The name in the requests' `Host`.
    std::string name = "localhost";
    int batch = 100;
    int connections = 64;
    double seconds = 5;
    double warmup = 1;
    bool isTLS = false;
    /// A connection for each request, as Android's SDK makes them.
    bool isAnew = false;
    /// The server's processes.
    std::vector<int> pids;
};

Options parseOptions(int count, char **arguments);

/// Ends the program with a message; 64 for usage, 1 for what the server did, 69 for no server.
[[noreturn]] void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
