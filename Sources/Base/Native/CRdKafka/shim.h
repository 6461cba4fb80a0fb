// The C client of Kafka. KafkaSink alone imports it.
#ifndef SIGHTLINE_CRDKAFKA_H
#define SIGHTLINE_CRDKAFKA_H

#include <librdkafka/rdkafka.h>

// Hands a message to a producer, which copies key and value. The headers belong to the producer
// afterwards, but only if it takes the message. Swift cannot call variadic functions. The headers are
// one list: 2.0.2 frees single ones twice if no partition can be chosen (#4628).
static inline rd_kafka_resp_err_t sightline_kafka_produce(
    rd_kafka_t *producer, rd_kafka_topic_t *topic, const void *key, size_t key_length,
    const void *value, size_t value_length, rd_kafka_headers_t *headers, void *tag) {
    return rd_kafka_producev(
        producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_KEY(key, key_length),
        RD_KAFKA_V_VALUE((void *)value, value_length), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(tag), RD_KAFKA_V_END);
}

#endif
