#include "options.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char *usage =
    "http-load --target HOST:PORT [options]\n"
    "  Sends new tracking events over HTTP/1.1 in a closed loop, one request under way on each\n"
    "  connection, and prints one line of JSON.\n"
    "  --kind K          events: POST /v1/events; postbacks: GET /r/, one event each (events)\n"
    "  --batch N         events in a request, as lines of JSON; 1 is a JSON object (100)\n"
    "  --connections N   TCP connections (64)\n"
    "  --host NAME       what `Host` says (localhost)\n"
    "  --tls 1           by TLS; the certificate is not looked at\n"
    "  --anew 1          a connection, and with TLS a full handshake, for each request\n"
    "  --seconds T       how long to measure (5)\n"
    "  --warmup T        seconds that are not measured (1)\n"
    "  --pid P           a process of the server, once for each: CPU time and memory are read\n";

void fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::fputs("http-load: ", stderr);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
    va_end(arguments);
    std::exit(code);
}

static double number(const char *name, const char *value, double least, double most) {
    char *end = nullptr;
    double result = std::strtod(value, &end);
    if (end == value || *end != 0 || !(result >= least && result <= most)) {
        fail(64, "%s %s: give a number from %g to %g", name, value, least, most);
    }
    return result;
}

static void take(Options &o, const char *name, const char *value) {
    std::string option = name;
    if (option == "--kind") {
        o.kind = value;
    } else if (option == "--host") {
        o.name = value;
    } else if (option == "--batch") {
        o.batch = int(number(name, value, 1, 2'000));
    } else if (option == "--connections") {
        o.connections = int(number(name, value, 1, 10'000));
    } else if (option == "--seconds") {
        o.seconds = number(name, value, 0.1, 86'400);
    } else if (option == "--warmup") {
        o.warmup = number(name, value, 0, 86'400);
    } else if (option == "--tls") {
        o.isTLS = number(name, value, 0, 1) > 0;
    } else if (option == "--anew") {
        o.isAnew = number(name, value, 0, 1) > 0;
    } else if (option == "--pid") {
        o.pids.push_back(int(number(name, value, 1, 1 << 22)));
    } else if (option == "--target") {
        const char *colon = std::strrchr(value, ':');
        if (colon == nullptr) fail(64, "%s %s: give HOST:PORT", name, value);
        o.host.assign(value, colon);
        o.port = colon + 1;
    } else {
        std::fputs(usage, stderr);
        fail(64, "%s: not an option", name);
    }
}

Options parseOptions(int count, char **arguments) {
    Options o;
    for (int index = 1; index < count; index += 2) {
        if (index + 1 == count) {
            std::fputs(usage, stderr);
            fail(64, "%s: without its value", arguments[index]);
        }
        take(o, arguments[index], arguments[index + 1]);
    }
    if (o.port.empty()) fail(64, "--target HOST:PORT is needed");
    if (o.kind != "events" && o.kind != "postbacks") {
        fail(64, "--kind %s: events or postbacks", o.kind.c_str());
    }
    if (o.kind == "postbacks") o.batch = 1;
    return o;
}
