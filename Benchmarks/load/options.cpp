#include "options.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>

static const char *usage =
    "load --target HOST:PORT [options]\n"
    "  Sends new tracking events over StreamEvents or RecordEvents, and prints one line of JSON.\n"
    "  --connections N   TCP connections (4)\n"
    "  --streams N       streams on each (1)\n"
    "  --callers N       RecordEvents in place of streams: so many callers in all, as many on each\n"
    "                    connection, each with one call at a time\n"
    "  --unchecked 1     any answer that is OK counts as all accepted: of a server of fixed bytes\n"
    "  --batch N         events in a request (100)\n"
    "  --window N        requests under way on a stream (16)\n"
    "  --rate R          open loop: events/s, latency counts from when a request was due; 0 is a\n"
    "                    closed loop, as fast as answers come (0)\n"
    "  --seconds T       how long to measure (5)\n"
    "  --warmup T        seconds that are not measured (1)\n"
    "  --events N        measure until N events are answered, instead of --seconds\n"
    "  --pid P           the server's process: CPU time and memory are read from /proc\n"
    "  --mix M           opened: an opened iOS notification, two hits an event; real: 60 %%\n"
    "                    Android impressions, 25 %% opened, 10 %% dismissed, 5 %% track actions;\n"
    "                    untraced: opened, without a traceparent\n"
    "  --event-bytes N   bytes of an event (270)\n"
    "  --idle-connections N --idle-streams N   further connections with N streams each that stay\n"
    "                    open and silent after one event\n";

void fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::fputs("load: ", stderr);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
    va_end(arguments);
    std::exit(code);
}

static double number(const char *name, const char *value) {
    char *end = nullptr;
    double result = std::strtod(value, &end);
    if (end == value || *end != 0 || !(result >= 0)) {
        fail(64, "%s %s: give a number of at least 0", name, value);
    }
    return result;
}

static void atLeastOne(const char *name, double value, double limit) {
    if (value < 1 || value > limit) fail(64, "%s %g: give 1 to %g", name, value, limit);
}

Options parseOptions(int count, char **arguments) {
    Options o;
    std::map<std::string, std::function<void(const char *, const char *)>> known;
    auto take = [&](const char *name, auto &place) {
        known[name] = [&place](const char *n, const char *v) {
            place = std::remove_reference_t<decltype(place)>(number(n, v));
        };
    };
    take("--connections", o.connections);
    take("--streams", o.streams);
    take("--callers", o.callers);
    take("--unchecked", o.isUnchecked);
    take("--batch", o.batch);
    take("--window", o.window);
    take("--rate", o.rate);
    take("--seconds", o.seconds);
    take("--warmup", o.warmup);
    take("--events", o.events);
    take("--pid", o.pid);
    take("--event-bytes", o.eventBytes);
    take("--idle-connections", o.idleConnections);
    take("--idle-streams", o.idleStreams);
    known["--mix"] = [&o](const char *, const char *v) { o.mix = v; };
    known["--target"] = [&o](const char *name, const char *v) {
        const char *colon = std::strrchr(v, ':');
        if (colon == nullptr) fail(64, "%s %s: give HOST:PORT", name, v);
        o.host.assign(v, colon);
        o.port = colon + 1;
    };
    for (int index = 1; index < count; index += 2) {
        auto option = known.find(arguments[index]);
        if (option == known.end() || index + 1 == count) {
            std::fprintf(stderr, usage, 0);
            fail(64, "%s: not an option, or without its value", arguments[index]);
        }
        option->second(arguments[index], arguments[index + 1]);
    }
    if (o.port.empty()) fail(64, "--target HOST:PORT is needed");
    if (o.mix != "opened" && o.mix != "untraced" && o.mix != "real") {
        fail(64, "--mix %s: opened, untraced or real", o.mix.c_str());
    }
    atLeastOne("--connections", o.connections, 10'000);
    atLeastOne("--streams", o.streams, 10'000);
    atLeastOne("--batch", o.batch, 2'000);
    atLeastOne("--window", o.window, 4'096);
    if (o.callers > 0) {
        if (o.callers % o.connections != 0 || o.idleConnections > 0) {
            fail(64, "--callers %d: give a multiple of %d connections, and no silent streams",
                 o.callers, o.connections);
        }
        o.streams = o.callers / o.connections;
        o.window = 1;
    }
    return o;
}
