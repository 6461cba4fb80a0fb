// The measure of the kafka sink: a bare program that produces the same messages to the same cluster with
// the same library and settings. The messages come from a file, read whole before the clock starts, and
// from its beginning again until there were enough. Prints messages per second.
//
//   produce FILE BROKERS TOPIC MESSAGES
#include <librdkafka/rdkafka.h>
#include <time.h>

#include "../message_file.h"

static long reported, failed;

static void take_report(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque) {
    (void)producer, (void)opaque;
    if (message->err && failed++ == 0) fprintf(stderr, "produce: %s\n", rd_kafka_err2str(message->err));
    reported++;
}

static void fail(const char *what, const char *reason) {
    fprintf(stderr, "produce: %s: %s\n", what, reason);
    exit(1);
}

// Produces the message at `at`, and goes on to the next.
static void produce(rd_kafka_t *producer, rd_kafka_topic_t *topic, char **at) {
    uint32_t count = number(at), key_length, name_length, value_length;
    char *key = text(at, &key_length);
    rd_kafka_headers_t *headers = rd_kafka_headers_new(count);
    for (uint32_t index = 0; index < count; index++) {
        char *name = text(at, &name_length), *value = text(at, &value_length);
        rd_kafka_header_add(headers, name, name_length, value, value_length);
    }
    char *payload = text(at, &value_length);
    while (1) {
        rd_kafka_resp_err_t error = rd_kafka_producev(
            producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_KEY(key, key_length),
            RD_KAFKA_V_VALUE(payload, value_length), RD_KAFKA_V_HEADERS(headers),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (!error) return;
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) fail("producev", rd_kafka_err2str(error));
        rd_kafka_poll(producer, 20);
    }
}

static rd_kafka_t *producer_of(const char *brokers) {
    // What KafkaOptions.swift sets.
    const char *settings[][2] = {
        {"bootstrap.servers", brokers}, {"enable.idempotence", "true"}, {"acks", "all"},
        {"message.timeout.ms", "0"}, {"partitioner", "murmur2_random"}, {"linger.ms", "5"},
        {"batch.size", "1000000"}, {"batch.num.messages", "10000"},
        {"queue.buffering.max.messages", "50000"}, {"queue.buffering.max.kbytes", "65536"},
        {"statistics.interval.ms", "5000"},
    };
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char reason[256];
    for (size_t index = 0; index < sizeof settings / sizeof *settings; index++) {
        if (rd_kafka_conf_set(conf, settings[index][0], settings[index][1], reason, sizeof reason)) {
            fail(settings[index][0], reason);
        }
    }
    rd_kafka_conf_set_dr_msg_cb(conf, take_report);
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
    if (!producer) fail("rd_kafka_new", reason);
    return producer;
}

int main(int argc, char **argv) {
    if (argc != 5) { fprintf(stderr, "produce FILE BROKERS TOPIC MESSAGES\n"); return 64; }
    long length, messages = atol(argv[4]);
    char *start = read_file(argv[1], &length), *at = start;
    rd_kafka_t *producer = producer_of(argv[2]);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, argv[3], NULL);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long count = 0; count < messages; count++) {
        if (at >= start + length) at = start;
        produce(producer, topic, &at);
        if (count % 1024 == 0) rd_kafka_poll(producer, 0);
    }
    while (rd_kafka_outq_len(producer) > 0) rd_kafka_poll(producer, 50);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (reported != messages || failed != 0) {
        fprintf(stderr, "%ld produced, %ld reported, %ld failed\n", messages, reported, failed);
        return 1;
    }
    double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("%.0f\n", (double)messages / seconds);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(producer);
    return 0;
}
