#if Kafka
// What brokers tell of a cluster.
internal import CRdKafka

/// The cluster's brokers, and one topic.
struct KafkaMetadata {
    /// Where clients are to connect: the brokers' `advertised.listeners`.
    let brokers: [(host: String, port: Int)]
    let topic: String
    /// What is wrong with the topic.
    let topicError: rd_kafka_resp_err_t
    let partitionCount: Int

    /// Copies the library's answer about one topic.
    init(_ answer: rd_kafka_metadata, topic: String) {
        self.topic = topic
        self.brokers = (0..<Int(answer.broker_cnt)).map { index in
            let broker = answer.brokers[index]
            return (broker.host.map { String(cString: $0) } ?? "", Int(broker.port))
        }
        let found = (0..<Int(answer.topic_cnt)).map { answer.topics[$0] }.first {
            $0.topic.map { String(cString: $0) } == topic
        }
        self.topicError = found?.err ?? RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
        self.partitionCount = Int(found?.partition_cnt ?? 0)
    }
}

extension KafkaProducer {
    /// Asks any broker for the cluster and a topic.
    ///
    /// - Throws: `KafkaFailure` if none answers in time.
    func metadata(ofTopic name: String, milliseconds: Int32) throws -> KafkaMetadata {
        guard case .handle(let topic) = self.topic(named: name) else {
            throw KafkaFailure(rd_kafka_last_error().text)
        }
        var answer: UnsafePointer<rd_kafka_metadata>?
        let error = self.ask(topic, &answer, milliseconds)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let answer else {
            throw KafkaFailure(error.text)
        }
        defer { rd_kafka_metadata_destroy(answer) }
        return KafkaMetadata(answer.pointee, topic: name)
    }
}
#endif
