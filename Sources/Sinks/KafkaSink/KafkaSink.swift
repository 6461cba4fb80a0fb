#if Kafka
// The sink for Apache Kafka, and for whatever speaks its protocol.
internal import CRdKafka
internal import ConfigurationKeys
internal import Dispatch
package import SinkKit
internal import Synchronization
package import TrackingRules

/// Produces each hit as a message, and has delivered a batch when the library has reported each of
/// them. The producer is idempotent and never gives a message up: while it lives, nothing comes
/// twice, and a key's messages keep their order.
///
/// A batch that takes too long stays in the library's queue: the next try waits for the same
/// messages. `@unchecked Sendable`: all but the statistics is used on the sink's queue alone.
package final class KafkaSink: ErasableSink, ProbeableSink, @unchecked Sendable {
    /// "kafka".
    package let name = "kafka"
    let configuration: KafkaConfiguration
    let template: KafkaTopicTemplate
    /// The library's calls may block: they have a thread of their own.
    let queue = DispatchQueue(label: "sightline.sink.kafka")
    private let timer: any DispatchSourceTimer
    private let figures = Mutex<BrokerStatistics?>(nil)

    private var messages: KafkaMessages
    var batchSize: KafkaBatchSize
    private var producer: KafkaProducer?
    var delivery: KafkaDelivery?
    private var deliveries: UInt32 = 0
    /// How often consumers were told of subjects that were forgotten.
    var tombstones: UInt32 = 0
    private var producers = 1
    /// When a hit was last reported, or the batch or the producer was new.
    var lastReport = ContinuousClock.now
    var tryStart = ContinuousClock.now

    /// How long a delivery may still take when the server stops.
    static let stopTime = Duration.seconds(5)
    /// Reports are read after so many hits were sent.
    private static let pollInterval = 1024

    /// A sink that connects at once.
    ///
    /// - Throws: `ConfigurationError`, if a value or a file cannot be used.
    package init(_ configuration: KafkaConfiguration) throws {
        guard let template = KafkaTopicTemplate(configuration.topic) else {
            throw ConfigurationError([
                "kafka.topic is \"\(configuration.topic)\", but \(KafkaTopicTemplate.rule)"
            ])
        }
        self.configuration = configuration
        self.template = template
        self.messages = KafkaMessages(key: configuration.key)
        self.batchSize = KafkaBatchSize(bytes: configuration.maxBatchBytes)
        self.producer = try KafkaProducer(configuration, template, self.batchSize)
        // Between batches too, statistics and errors are read, or they would pile up.
        self.timer = DispatchSource.makeTimerSource(queue: self.queue)
        self.timer.schedule(deadline: .now() + 1, repeating: 1)
        self.timer.setEventHandler { [weak self] in self?.poll() }
        self.timer.resume()
    }

    deinit { self.timer.cancel() }

    /// As much as the library's queue holds; less of bytes, for a message is larger than its event.
    package var maxBatch: BatchLimit {
        BatchLimit(
            hits: self.configuration.maxQueuedHits,
            bytes: min(8 << 20, self.configuration.maxQueuedBytes / 4))
    }

    /// The library's newest statistics.
    package var brokers: BrokerStatistics? { self.figures.withLock { $0 } }

    /// Produces a batch and waits for its reports. When the server stops, it waits for up to 5 s.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        await DeliveryDeadline.during(grace: Self.stopTime) { deadline in
            await withCheckedContinuation { continuation in
                self.queue.async {
                    continuation.resume(returning: self.deliver(hits, until: deadline))
                }
            }
        }
    }

    /// Makes the library fail as it does after an error that no retry can mend; for tests.
    func fail(_ error: rd_kafka_resp_err_t, _ reason: String) {
        self.queue.sync { self.producer?.fail(error, reason) }
    }

    /// How many producers there were; for tests.
    var producerCount: Int { self.queue.sync { self.producers } }

    // MARK: On the queue

    private func deliver(_ hits: HitBatch, until deadline: DeliveryDeadline) -> SinkAnswer {
        do {
            // Parse it all first: nothing is sent of a batch that becomes dead letters.
            try hits.forEachEvent { _, _ in }
            try self.take(hits)
            self.tryStart = .now
            defer { self.messages.endBatch() }
            var fatalities = 0
            while let rest = self.delivery, !rest.isSettled {
                let producer = try self.usableProducer()
                rest.begin()
                try self.send(over: producer, until: deadline)
                producer.flush()
                try self.awaitReports(from: producer, until: deadline)
                try self.judge(producer, &fatalities)
            }
            let refused = self.delivery?.refused ?? [:]
            if self.delivery?.hasLargeHit == true { self.restoreBatchSize() }
            self.delivery = nil
            return SinkAnswer(rejected: refused)
        } catch {
            return SinkAnswer(failure: error)
        }
    }

    /// Goes on with a batch that comes again, or begins another one.
    private func take(_ hits: HitBatch) throws {
        if let delivery, try delivery.resume(hits) { return }
        self.deliveries &+= 1
        self.delivery = KafkaDelivery(hits, number: max(1, self.deliveries))
        self.lastReport = .now
    }

    /// A hit was too large, and not the batches: whoever's it was, the others go on together.
    private func restoreBatchSize() {
        self.batchSize = KafkaBatchSize(bytes: self.configuration.maxBatchBytes)
        if let producer { self.renew(producer, after: .zero) }
    }

    func usableProducer() throws -> KafkaProducer {
        if let producer { return producer }
        let producer = try KafkaProducer(self.configuration, self.template, self.batchSize)
        self.producer = producer
        self.producers += 1
        self.lastReport = .now
        return producer
    }

    /// Ends the producer. What it has not reported is sent again by the next one.
    func renew(_ producer: KafkaProducer, after time: Duration) {
        producer.finish(within: time) { self.take($0) }
        self.delivery?.giveBack()
        self.producer = nil
    }

    func poll(milliseconds: Int32 = 0) {
        guard let producer = self.producer else { return }
        producer.poll(milliseconds: milliseconds) { self.take($0) }
        if let statistics = producer.statistics { self.figures.withLock { $0 = statistics } }
    }

    func take(_ report: KafkaProducer.Report) {
        self.lastReport = .now
        self.delivery?.take(report, isSingle: self.batchSize.isSingle)
    }

    /// Hands what is waiting to the library, up to the first failure.
    private func send(over producer: KafkaProducer, until deadline: DeliveryDeadline) throws {
        guard let delivery else { return }
        var sent = 0
        try delivery.hits.forEach { position, hit in
            guard delivery.isWaiting(position), !delivery.hasFailed, producer.fatality == nil
            else { return }
            sent += 1
            if sent % Self.pollInterval == 0 { self.poll() }
            while try self.send(hit, position, over: producer) == .queueFull {
                self.poll(milliseconds: 20)
                try self.checkTime(producer, deadline)
            }
        }
    }

    private enum Sent {
        case done
        case queueFull
    }

    private func send(
        _ hit: Hit, _ position: Int, over producer: KafkaProducer
    ) throws -> Sent {
        let tag = self.delivery?.tag(of: position) ?? 0
        let error = try self.messages.withMessage(of: hit) { key, value, headers in
            producer.produce(hit, key: key, value: value, headers: headers, tag: tag)
        }
        guard let error else {
            self.delivery?.waitForTopic()
            return .done
        }
        switch error {
        case RD_KAFKA_RESP_ERR_NO_ERROR: self.delivery?.send(position)
        case RD_KAFKA_RESP_ERR__QUEUE_FULL: return .queueFull
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
            let limit = self.configuration.maxMessageBytes
            self.delivery?.refuse(
                position, "it exceeds kafka.max_message_bytes, which is \(limit)")
        case RD_KAFKA_RESP_ERR__FATAL: break
        default:
            self.delivery?.fail(error.text + (error.advice.map { ": " + $0 } ?? ""))
        }
        return .done
    }

    private func awaitReports(
        from producer: KafkaProducer, until deadline: DeliveryDeadline
    ) throws {
        while let delivery, delivery.inFlightCount > 0, producer.fatality == nil {
            self.poll(milliseconds: 50)
            try self.checkTime(producer, deadline)
        }
    }
}
#endif
