#if Kafka
// Tells the consumers of a subject that was forgotten.
internal import CRdKafka
internal import Dispatch
package import SinkKit
internal import TrackingRules
internal import WireFormat

extension KafkaSink {
    /// Produces a tombstone to each of the tenant's topics: the subject's id is the key, and there
    /// is no value. Consumers tell it from hits by its `ce-type`.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        let told = await DeliveryDeadline.during(grace: Self.stopTime) { deadline in
            await withCheckedContinuation { continuation in
                self.queue.async { continuation.resume(returning: self.tell(subject, deadline)) }
            }
        }
        return .last(told)
    }

    /// On the queue.
    private func tell(_ subject: Subject, _ deadline: DeliveryDeadline) -> Erasure {
        do {
            let producer = try self.usableProducer()
            let topics = Set(
                HitKind.allCases.map {
                    self.template.name(tenant: subject.tenant, kind: "\($0.name)")
                })
            self.tryStart = .now
            // Below the tags of hits. A late report of an earlier subject has another one.
            self.tombstones &+= 1
            let tag = UInt(self.tombstones)
            var (unreported, failure) = (0, String?.none)
            for topic in topics {
                for id in subject.ids {
                    let error = try self.produceTombstone(
                        of: id, subject.tenant, topic, producer, tag)
                    if let error { return .failed(error) }
                    unreported += 1
                }
            }
            while unreported > 0, failure == nil, producer.fatality == nil {
                producer.flush()
                producer.poll(milliseconds: 50) { report in
                    guard report.tag == tag else { return self.take(report) }
                    unreported -= 1
                    // A topic that is not there has no hits either.
                    let isGood =
                        report.error == RD_KAFKA_RESP_ERR_NO_ERROR
                        || report.error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
                        || report.error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC
                    if !isGood { failure = "\(report.topic): \(report.error.text)" }
                }
                try self.checkTime(producer, deadline)
            }
            if let failure { return .failed(failure) }
            if let fatality = producer.fatality { return .failed(fatality.reason) }
            return .told
        } catch {
            return .failed("\(error)")
        }
    }

    /// - Returns: why it cannot be produced.
    private func produceTombstone(
        of id: String, _ tenant: String, _ topic: String, _ producer: KafkaProducer, _ tag: UInt
    ) throws -> String? {
        guard let headers = rd_kafka_headers_new(2) else {
            throw KafkaFailure("librdkafka has no room for headers")
        }
        for (name, value) in [
            ("ce-type", Subject.forgottenType), ("ce-source", "/sightline/" + tenant),
        ] {
            // It refuses only headers that are read-only.
            _ = rd_kafka_header_add(headers, name, -1, value, value.utf8.count)
        }
        let error = id.withBytes { key in
            producer.produce(
                to: producer.topic(named: topic), key, Bytes(start: nil, count: 0), headers,
                tag: tag)
        }
        guard let error else { return "there is no room for the topic \(topic)" }
        return error == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : "\(topic): \(error.text)"
    }
}
#endif
