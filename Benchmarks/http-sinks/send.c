/* The receiver's own bound: sends recorded requests over connections that are kept, one under way on
 * each, and reads the answers' heads.
 *
 * Usage: send PORT FILE CONNECTIONS REQUESTS; prints the seconds that it took. FILE has requests, each
 * after its length (4 bytes, little-endian). */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct request {
    const char *bytes;
    uint32_t count;
};

struct connection {
    int socket;
    char answer[256];
    size_t answered;
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct request *read_requests(const char *path, long *count) {
    FILE *file = fopen(path, "rb");
    struct request *requests = NULL;
    uint32_t size;
    if (!file) fail(path);
    for (*count = 0; fread(&size, sizeof size, 1, file) == 1; ++*count) {
        char *bytes = malloc(size);
        requests = realloc(requests, (size_t)(*count + 1) * sizeof *requests);
        if (!bytes || !requests || fread(bytes, 1, size, file) != size) fail("reading");
        requests[*count] = (struct request){bytes, size};
    }
    fclose(file);
    return requests;
}

static void open_socket(struct connection *connection, int port, int poll) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    int one = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connection->socket < 0) fail("socket");
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (epoll_ctl(poll, EPOLL_CTL_ADD, connection->socket, &event)) fail("epoll_ctl");
}

/* A body of a few hundred KiB waits for the receiver here, as nothing else is to be done. */
static void send_whole(struct connection *connection, const struct request *request) {
    for (uint32_t sent = 0; sent < request->count;) {
        ssize_t part = send(connection->socket, request->bytes + sent, request->count - sent,
                            MSG_NOSIGNAL);
        if (part <= 0) fail("send");
        sent += (uint32_t)part;
    }
    connection->answered = 0;
}

/* Whether a whole answer has come: it has no body. */
static int read_answer(struct connection *connection) {
    ssize_t part = recv(connection->socket, connection->answer + connection->answered,
                        sizeof connection->answer - 1 - connection->answered, 0);
    if (part <= 0) fail("recv");
    connection->answered += (size_t)part;
    connection->answer[connection->answered] = 0;
    if (!strstr(connection->answer, "\r\n\r\n")) return 0;
    if (strncmp(connection->answer, "HTTP/1.1 200", 12)) {
        fprintf(stderr, "the receiver answers %.40s\n", connection->answer);
        exit(1);
    }
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    long count, connections = atol(argv[3]), total = atol(argv[4]), begun = 0, ended = 0;
    struct request *requests = read_requests(argv[2], &count);
    struct connection *all = calloc((size_t)connections, sizeof *all);
    struct epoll_event events[64];
    int poll = epoll_create1(0);
    if (!all || count == 0) fail("requests");
    for (long index = 0; index < connections; ++index) open_socket(&all[index], atoi(argv[1]), poll);
    double start = now();
    for (long index = 0; index < connections && begun < total; ++index, ++begun)
        send_whole(&all[index], &requests[begun % count]);
    while (ended < total) {
        int ready = epoll_wait(poll, events, 64, 30000);
        if (ready <= 0) fail("epoll_wait");
        for (int index = 0; index < ready; ++index) {
            struct connection *connection = events[index].data.ptr;
            if (!read_answer(connection)) continue;
            ++ended;
            if (begun < total) send_whole(connection, &requests[begun++ % count]);
        }
    }
    printf("%.6f\n", now() - start);
    return 0;
}
