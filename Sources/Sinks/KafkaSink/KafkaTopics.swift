#if Kafka
// The library's handles of topics: one for each tenant and kind, if the template asks for them.
internal import CRdKafka
internal import TrackingRules
internal import WireFormat

/// A producer's topics. None is given back while it lives: one that is asked for again would begin
/// with numbers of messages that brokers know, and they would drop what it is sent.
final class KafkaTopics {
    /// What came of asking for a topic.
    enum Found {
        case handle(OpaquePointer)
        /// The library does not take the name.
        case refused
        /// There is no room for one more.
        case full
    }

    private let producer: OpaquePointer
    private let template: KafkaTopicTemplate
    private let maxCount: Int
    private var handles: [String: OpaquePointer] = [:]
    /// The topic of the last hit: the next one mostly has the same.
    private var last: (tenant: [UInt8], kind: HitKind, handle: OpaquePointer)?

    init(_ producer: OpaquePointer, _ template: KafkaTopicTemplate, maxCount: Int) {
        self.producer = producer
        self.template = template
        self.maxCount = maxCount
    }

    /// The topic of the last hit; nil before the first.
    var lastHandle: OpaquePointer? { self.last?.handle }

    /// The topic of a hit.
    func topic(of hit: Hit) -> Found {
        if let last {
            if self.template.isFixed { return .handle(last.handle) }
            if last.kind == hit.kind, last.tenant.elementsEqual(hit.request.tenant) {
                return .handle(last.handle)
            }
        }
        let name = self.template.name(tenant: hit.request.tenant.text, kind: "\(hit.kind.name)")
        let found = self.topic(named: name)
        if case .handle(let handle) = found {
            self.last = ([UInt8](hit.request.tenant), hit.kind, handle)
        }
        return found
    }

    /// The topic with a name.
    func topic(named name: String) -> Found {
        if let handle = self.handles[name] { return .handle(handle) }
        if self.handles.count >= self.maxCount { return .full }
        guard let handle = rd_kafka_topic_new(self.producer, name, nil) else { return .refused }
        self.handles[name] = handle
        return .handle(handle)
    }

    /// Gives the handles back, before the producer ends.
    func release() {
        for handle in self.handles.values { rd_kafka_topic_destroy(handle) }
        self.handles = [:]
        self.last = nil
    }
}
#endif
