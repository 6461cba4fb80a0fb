// librdkafka's mock cluster as a process of its own, told by lines what to do wrong. Prints the
// brokers' addresses, and an answer to each line: "ok", or what is wrong with it.
//
//   kafka_mock BROKERS
//
//   topic NAME PARTITIONS    makes a topic; one that is first asked for has 4 partitions
//   topic_error NAME CODE    says this of a topic that is asked for
//   errors API COUNT CODE    answers the next COUNT requests of an API (0: produce) with an error;
//                            -195 closes the connection instead
//   clear API                takes back what is left of that
//   down BROKER, up BROKER   (from 1)
//   delay BROKER MS          delays each answer
//
// Messages are in memory, the newest 5 MiB of each partition. Ends with its standard input.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rd_kafka_resp_err_t push_errors(rd_kafka_mock_cluster_t *cluster, int api, int count, int code) {
    if (count < 1 || count > 100000) return RD_KAFKA_RESP_ERR__INVALID_ARG;
    rd_kafka_resp_err_t *errors = calloc((size_t)count, sizeof *errors);
    if (!errors) return RD_KAFKA_RESP_ERR__FAIL;
    for (int index = 0; index < count; index++) errors[index] = (rd_kafka_resp_err_t)code;
    rd_kafka_mock_push_request_errors_array(cluster, (int16_t)api, (size_t)count, errors);
    free(errors);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t run(rd_kafka_mock_cluster_t *cluster, const char *line) {
    char topic[250];
    int first, second, third;
    if (sscanf(line, "topic %249s %d", topic, &first) == 2) {
        return rd_kafka_mock_topic_create(cluster, topic, first, 1);
    }
    if (sscanf(line, "topic_error %249s %d", topic, &first) == 2) {
        rd_kafka_mock_topic_set_error(cluster, topic, (rd_kafka_resp_err_t)first);
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    if (sscanf(line, "errors %d %d %d", &first, &second, &third) == 3) {
        return push_errors(cluster, first, second, third);
    }
    if (sscanf(line, "clear %d", &first) == 1) {
        rd_kafka_mock_clear_request_errors(cluster, (int16_t)first);
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    if (sscanf(line, "down %d", &first) == 1) return rd_kafka_mock_broker_set_down(cluster, first);
    if (sscanf(line, "up %d", &first) == 1) return rd_kafka_mock_broker_set_up(cluster, first);
    if (sscanf(line, "delay %d %d", &first, &second) == 2) {
        return rd_kafka_mock_broker_set_rtt(cluster, first, second);
    }
    return RD_KAFKA_RESP_ERR__INVALID_ARG;
}

int main(int argc, char **argv) {
    int brokers = argc == 2 ? atoi(argv[1]) : 0;
    if (brokers < 1 || brokers > 16) {
        fprintf(stderr, "kafka_mock BROKERS (1 to 16)\n");
        return 64;
    }
    char reason[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    // It is a client without brokers, of which it would warn.
    rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
    rd_kafka_t *handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
    if (!handle) {
        fprintf(stderr, "kafka_mock: %s\n", reason);
        return 1;
    }
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(handle, brokers);
    if (!cluster) {
        fprintf(stderr, "kafka_mock: no cluster\n");
        return 1;
    }
    printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        rd_kafka_resp_err_t error = run(cluster, line);
        printf("%s\n", error ? rd_kafka_err2str(error) : "ok");
        fflush(stdout);
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(handle);
    return 0;
}
