#if Kafka
// What the C library says went wrong, and what an operator can do about it.
internal import CRdKafka

/// A failure of a batch, worth another try.
struct KafkaFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension rd_kafka_resp_err_t {
    /// The library's words for an error.
    var text: String { String(cString: rd_kafka_err2str(self)) }

    /// Whether a broker finds a batch too large: it tells so of all messages that were sent
    /// together, and the limit may be one of the batch.
    var isTooLarge: Bool {
        self == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE
            || self == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE
    }

    /// Whether brokers do not accept our credentials or we not theirs, which are read from files.
    var isOfCredentials: Bool {
        self == RD_KAFKA_RESP_ERR__AUTHENTICATION || self == RD_KAFKA_RESP_ERR__SSL
            || self == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED
    }

    /// Whether another producer is needed: brokers do not know its numbers, or it has ended.
    var isOfProducer: Bool {
        [
            RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
            RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID,
            RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, RD_KAFKA_RESP_ERR_PRODUCER_FENCED,
            RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING, RD_KAFKA_RESP_ERR__FENCED,
            RD_KAFKA_RESP_ERR__FATAL, RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE,
            RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__PURGE_INFLIGHT,
        ].contains(self)
    }

    /// What to do about an error that will not go by itself; nil for the others.
    var advice: String? {
        switch self {
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
            "allow the user of kafka.sasl.user to WRITE to it"
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
            "allow the user of kafka.sasl.user IDEMPOTENT_WRITE on the cluster"
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            "create it, or correct kafka.topic"
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION: "correct kafka.topic"
        case RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
            "look at min.insync.replicas and at which brokers are there"
        case RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
            "look at kafka.sasl.mechanism, kafka.sasl.user and kafka.sasl.password_file"
        case RD_KAFKA_RESP_ERR__SSL: "look at kafka.tls.*"
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
            "the topic's messages have a format of before Kafka 0.11: set message.format.version"
        default: nil
        }
    }
}
#endif
