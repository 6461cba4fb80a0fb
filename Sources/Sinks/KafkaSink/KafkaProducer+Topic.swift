#if Kafka
// What brokers say of a topic. The library keeps messages for a topic that it may not see until
// they expire, and tells nobody why.
internal import CRdKafka

extension KafkaProducer {
    /// What is wrong with the topic of the last hit, by any broker's word; nil if nothing is, or if
    /// none answers in time. Blocks for as long.
    func problemOfLastTopic(milliseconds: Int32) -> KafkaFailure? {
        guard let topic = self.lastTopic else { return nil }
        var answer: UnsafePointer<rd_kafka_metadata>?
        let asked = rd_kafka_metadata(self.handle, 0, topic, &answer, milliseconds)
        guard asked == RD_KAFKA_RESP_ERR_NO_ERROR, let answer else { return nil }
        defer { rd_kafka_metadata_destroy(answer) }
        guard answer.pointee.topic_cnt > 0 else { return nil }
        let error = answer.pointee.topics[0].err
        guard error != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        let name = String(cString: rd_kafka_topic_name(topic))
        let advice = error.advice.map { ": " + $0 } ?? ""
        return KafkaFailure("\(name): \(error.text)\(advice)")
    }
}
#endif
