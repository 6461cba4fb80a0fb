// The measure of the nats sink: a bare program that publishes the same messages to the same server
// with the same client library, asynchronously, with the same number under way. The messages come
// from a file, read whole before the clock starts. Prints messages per second.
//
//   publish FILE URL MESSAGES_UNDER_WAY
#include <nats/nats.h>
#include <stdatomic.h>
#include <time.h>

#include "../message_file.h"

static atomic_long acked, failed;

static void take_ack(jsCtx *js, natsMsg *msg, jsPubAck *ack, jsPubAckErr *error, void *closure) {
    (void)js, (void)closure;
    if (ack == NULL && atomic_fetch_add(&failed, 1) == 0) {
        fprintf(stderr, "publish: %s\n", error->ErrText ? error->ErrText : "not acked");
    }
    atomic_fetch_add(&acked, 1);
    natsMsg_Destroy(msg);
}

static void check(natsStatus status, const char *what) {
    if (status == NATS_OK) return;
    fprintf(stderr, "%s: %s\n", what, natsStatus_GetText(status));
    exit(1);
}

// Publishes the message at `at`, and goes on to the next.
static void publish(jsCtx *js, char **at) {
    uint32_t headers = number(at), length;
    char *subject = text(at, &length), *names[32], *values[32];
    if (headers > 32) { fprintf(stderr, "more than 32 headers\n"); exit(1); }
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MaxWait = 5000;
    for (uint32_t index = 0; index < headers; index++) {
        names[index] = text(at, &length);
        values[index] = text(at, &length);
    }
    char *payload = text(at, &length);
    natsMsg *msg = NULL;
    check(natsMsg_Create(&msg, subject, NULL, payload, (int)length), "natsMsg_Create");
    for (uint32_t index = 0; index < headers; index++) {
        if (strcmp(names[index], "Nats-Msg-Id") == 0) {
            options.MsgId = values[index];
        } else {
            check(natsMsgHeader_Set(msg, names[index], values[index]), "natsMsgHeader_Set");
        }
    }
    check(js_PublishMsgAsync(js, &msg, &options), "js_PublishMsgAsync");
}

int main(int argc, char **argv) {
    if (argc != 4) { fprintf(stderr, "publish FILE URL MESSAGES_UNDER_WAY\n"); return 64; }
    long length;
    char *at = read_file(argv[1], &length), *end = at + length;
    natsConnection *connection;
    check(natsConnection_ConnectTo(&connection, argv[2]), argv[2]);
    jsOptions options;
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = atol(argv[3]);
    options.PublishAsync.StallWait = 30000;
    options.PublishAsync.AckHandler = take_ack;
    jsCtx *js;
    check(natsConnection_JetStream(&js, connection, &options), "natsConnection_JetStream");
    struct timespec start, stop;
    clock_gettime(CLOCK_MONOTONIC, &start);
    long count = 0;
    for (; at < end; count++) publish(js, &at);
    check(js_PublishAsyncComplete(js, NULL), "js_PublishAsyncComplete");
    clock_gettime(CLOCK_MONOTONIC, &stop);
    if (acked != count || failed != 0) {
        fprintf(stderr, "%ld published, %ld answered, %ld failed\n", count, acked, failed);
        return 1;
    }
    double seconds = (double)(stop.tv_sec - start.tv_sec) + (double)(stop.tv_nsec - start.tv_nsec) / 1e9;
    printf("%.0f\n", (double)count / seconds);
    jsCtx_Destroy(js);
    natsConnection_Destroy(connection);
    return 0;
}
