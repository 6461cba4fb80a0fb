#if Kafka
// How the sink goes on after something went wrong, and what it tells of that.
internal import CRdKafka
internal import SinkKit

extension KafkaSink {
    /// How often a batch is sent again at once after the producer has failed.
    private static let maxFatalities = 3

    /// Decides how to go on after a try that has left something. Whatever failed for good has ended
    /// the producer.
    func judge(_ producer: KafkaProducer, _ fatalities: inout Int) throws {
        guard let delivery, !delivery.isSettled else { return }
        producer.lookForFatality()
        // Reports on what is in flight may still come: they spare duplicates.
        self.renew(producer, after: self.configuration.requestTimeout)
        if delivery.tooLargeCount > 0 { return self.batchSize.halve(delivery.tooLargeCount) }
        if let failure = delivery.failure {
            throw KafkaFailure("\(failure); \(delivery.progress)")
        }
        // Nothing has failed: all that was sent is confirmed, and the rest needs other topics.
        if delivery.lacksTopic, producer.fatality == nil { return }
        fatalities += 1
        guard fatalities >= Self.maxFatalities else { return }
        let fatality = producer.fatality
        let advice = fatality?.error.advice.map { ": " + $0 } ?? ""
        let reason = fatality?.reason ?? "brokers do not know its numbers"
        throw KafkaFailure("the producer has failed: \(reason)\(advice); \(delivery.progress)")
    }

    /// Ends a try that has waited for too long.
    func checkTime(_ producer: KafkaProducer, _ deadline: DeliveryDeadline) throws {
        if deadline.hasPassed { throw KafkaFailure("the server stops") }
        let silence = self.lastReport.duration(to: .now)
        let wait = max(self.lastReport, self.tryStart).duration(to: .now)
        guard wait > self.configuration.deliveryTimeout else { return }
        let progress = self.delivery?.progress ?? ""
        let isConnected = producer.statistics?.connectedBrokers ?? 0 > 0
        let isStuck = isConnected && silence > self.configuration.renewInterval
        // After a refusal the files of credentials are read again.
        if isStuck || producer.trouble?.error.isOfCredentials == true {
            self.renew(producer, after: .zero)
        }
        if let trouble = producer.trouble {
            let advice = trouble.error.advice.map { ": " + $0 } ?? ""
            throw KafkaFailure("\(trouble.reason)\(advice); \(progress)")
        }
        if let problem = producer.problemOfLastTopic(milliseconds: 500) {
            throw KafkaFailure("\(problem); \(progress)")
        }
        throw KafkaFailure(
            "no broker has confirmed a hit for \(silence.components.seconds) s; \(progress)")
    }
}
#endif
