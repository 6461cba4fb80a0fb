// The library's handles of topics: one for each tenant and kind, if the template asks for them.
internal import CRdKafka
internal import SinkConfiguration
internal import TrackingCore
internal import TrackingSinks

/// A producer's topics. There are as many as the operator's tenants and the kinds of hits make.
final class KafkaTopics {
    private let producer: OpaquePointer
    private let template: KafkaTopicTemplate
    private var handles: [String: OpaquePointer] = [:]
    /// The topic of the last hit: the next one mostly has the same.
    private var last: (tenant: [UInt8], kind: HitKind, handle: OpaquePointer)?

    init(_ producer: OpaquePointer, _ template: KafkaTopicTemplate) {
        self.producer = producer
        self.template = template
    }

    /// The topic of a hit; nil if the library does not take its name.
    func topic(of hit: Hit) -> OpaquePointer? {
        if let last {
            if self.template.isFixed { return last.handle }
            if last.kind == hit.kind, last.tenant.elementsEqual(hit.origin.tenant) {
                return last.handle
            }
        }
        let name = self.template.name(tenant: hit.origin.tenant.text, kind: "\(hit.kind.name)")
        guard let handle = self.handle(named: name) else { return nil }
        self.last = ([UInt8](hit.origin.tenant), hit.kind, handle)
        return handle
    }

    /// The topic with a name; nil if the library does not take it.
    func handle(named name: String) -> OpaquePointer? {
        if let handle = self.handles[name] { return handle }
        let handle = rd_kafka_topic_new(self.producer, name, nil)
        self.handles[name] = handle
        return handle
    }

    /// Gives the handles back, before the producer ends.
    func release() {
        for handle in self.handles.values { rd_kafka_topic_destroy(handle) }
        self.handles = [:]
        self.last = nil
    }
}
