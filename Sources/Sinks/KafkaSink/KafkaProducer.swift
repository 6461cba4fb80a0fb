#if Kafka
// One producer of the C library. It numbers its messages, so that brokers drop those they have.
internal import CRdKafka
internal import ConfigurationKeys
internal import Dispatch
internal import SinkKit
internal import TrackingRules
internal import WireFormat

/// A producer with its queue of events and its topics. Used on the sink's queue alone.
final class KafkaProducer {
    /// What the library says of one message.
    struct Report {
        /// What was given with the message.
        let tag: UInt
        let error: rd_kafka_resp_err_t
        /// Whether the brokers have it, as far as the library can tell.
        let status: rd_kafka_msg_status_t
        let topic: String
    }

    let handle: OpaquePointer
    private let events: OpaquePointer
    private let topics: KafkaTopics
    /// Why the producer can do no more.
    private(set) var fatality: (error: rd_kafka_resp_err_t, reason: String)?
    /// What went wrong last, while nothing has gone right since.
    private(set) var trouble: (error: rd_kafka_resp_err_t, reason: String)?
    /// The newest statistics.
    private(set) var statistics: BrokerStatistics?

    /// Creates a producer, which connects by itself.
    ///
    /// - Throws: `ConfigurationError` where a file or a value cannot be used.
    init(
        _ configuration: KafkaConfiguration, _ template: KafkaTopicTemplate,
        _ batch: KafkaBatchSize
    ) throws(ConfigurationError) {
        let conf = try KafkaOptions(configuration, batch).make()
        var reason = [CChar](repeating: 0, count: 512)
        guard let handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, &reason, reason.count) else {
            rd_kafka_conf_destroy(conf)
            throw ConfigurationError(["kafka: \(Self.text(reason))"])
        }
        guard let events = rd_kafka_queue_get_main(handle) else {
            rd_kafka_destroy(handle)
            throw ConfigurationError(["kafka: the producer has no queue of events"])
        }
        self.handle = handle
        self.events = events
        self.topics = KafkaTopics(handle, template, maxCount: configuration.maxTopics)
    }

    deinit {
        rd_kafka_purge(self.handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
        self.topics.release()
        rd_kafka_queue_destroy(self.events)
        // Joins the library's threads, one of which may wait for a name server.
        nonisolated(unsafe) let handle = self.handle
        DispatchQueue.global().async { rd_kafka_destroy(handle) }
    }

    /// The topic of the last hit; nil before the first.
    var lastTopic: OpaquePointer? { self.topics.lastHandle }

    /// The number of messages without a report that was read.
    var unreportedCount: Int { Int(rd_kafka_outq_len(self.handle)) }

    /// Hands over a message with a tag that its report will have. The headers belong to this
    /// method.
    ///
    /// - Returns: nil if the message needs a topic for which this producer has no room.
    func produce(
        _ hit: Hit, key: Bytes, value: Bytes, headers: OpaquePointer, tag: UInt
    ) -> rd_kafka_resp_err_t? {
        self.produce(to: self.topics.topic(of: hit), key, value, headers, tag: tag)
    }

    /// The same, to a topic that was asked for. A value without an address is null: a tombstone.
    func produce(
        to found: KafkaTopics.Found, _ key: Bytes, _ value: Bytes, _ headers: OpaquePointer,
        tag: UInt
    ) -> rd_kafka_resp_err_t? {
        let topic: OpaquePointer
        switch found {
        case .handle(let handle): topic = handle
        case .refused:
            rd_kafka_headers_destroy(headers)
            return rd_kafka_last_error()
        case .full:
            rd_kafka_headers_destroy(headers)
            return nil
        }
        let error = sightline_kafka_produce(
            self.handle, topic, key.baseAddress, key.count, value.baseAddress, value.count,
            headers, UnsafeMutableRawPointer(bitPattern: tag))
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { rd_kafka_headers_destroy(headers) }
        if error == RD_KAFKA_RESP_ERR__FATAL { self.lookForFatality() }
        return error
    }

    /// The topic with a name.
    func topic(named name: String) -> KafkaTopics.Found { self.topics.topic(named: name) }

    /// Has what is waiting sent, and not wait for further messages.
    func flush() {
        // The library ignores the linger while this waits.
        rd_kafka_flush(self.handle, 1)
    }

    /// Reads the events that are there, and waits for the first one.
    func poll(milliseconds: Int32 = 0, _ take: (Report) -> Void) {
        var wait = milliseconds
        while let event = rd_kafka_queue_poll(self.events, wait) {
            self.read(event, take)
            rd_kafka_event_destroy(event)
            wait = 0
        }
    }

    /// Waits for reports until each message has one or time is up, then gives up the rest.
    func finish(within time: Duration, _ take: (Report) -> Void) {
        let end = ContinuousClock.now + time
        while self.unreportedCount > 0, .now < end { self.poll(milliseconds: 50, take) }
        rd_kafka_purge(self.handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
        let last = ContinuousClock.now + .seconds(1)
        while self.unreportedCount > 0, .now < last { self.poll(milliseconds: 50, take) }
    }

    /// Finds out whether the producer can do no more.
    func lookForFatality() {
        var reason = [CChar](repeating: 0, count: 512)
        let error = rd_kafka_fatal_error(self.handle, &reason, reason.count)
        if error != RD_KAFKA_RESP_ERR_NO_ERROR, self.fatality == nil {
            self.fatality = (error, Self.text(reason))
        }
    }

    /// Makes the library fail as it does after an error that no retry can mend; for tests.
    func fail(_ error: rd_kafka_resp_err_t, _ reason: String) {
        rd_kafka_test_fatal_error(self.handle, error, reason)
    }

    private func read(_ event: OpaquePointer, _ take: (Report) -> Void) {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_DR:
            while let message = rd_kafka_event_message_next(event) {
                let error = message.pointee.err
                if error == RD_KAFKA_RESP_ERR_NO_ERROR { self.trouble = nil }
                take(
                    Report(
                        tag: UInt(bitPattern: message.pointee._private), error: error,
                        status: rd_kafka_message_status(message),
                        topic: Self.topic(of: message)))
            }
        case RD_KAFKA_EVENT_STATS:
            let text = rd_kafka_event_stats(event).map { String(cString: $0) }
            self.statistics = text.flatMap { BrokerStatistics(json: $0) } ?? self.statistics
        case RD_KAFKA_EVENT_ERROR:
            let error = rd_kafka_event_error(event)
            if error == RD_KAFKA_RESP_ERR__FATAL { return self.lookForFatality() }
            let reason = rd_kafka_event_error_string(event).map { String(cString: $0) }
            // That all are down tells less than why.
            if error != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || self.trouble == nil {
                self.trouble = (error, reason ?? error.text)
            }
        default: break
        }
    }

    private static func topic(of message: UnsafePointer<rd_kafka_message_t>) -> String {
        // Only a failure is told with it.
        if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR { return "" }
        return rd_kafka_topic_name(message.pointee.rkt).map { String(cString: $0) } ?? ""
    }

    /// A text that C has written.
    static func text(_ characters: [CChar]) -> String {
        String(
            decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self
        )
    }
}
#endif
