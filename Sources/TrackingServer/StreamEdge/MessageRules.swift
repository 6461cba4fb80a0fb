// What the edges of all streams have in common: how large a message may be, how long it may take,
// and what may wait in memory until it is taken.
internal import TrackingCore

/// The rules of calls in front of the gRPC library.
struct MessageRules: Sendable {
    /// The library's limit of one message, in bytes, and of what comes out of a compressed one. A
    /// request above the service's own limit and up to this one gets an answer of its own; one
    /// above this ends its call.
    static let maxBytes = 1 << 20
    /// Bytes of a message to InspectPayload: the payload that it takes, and the fields around it.
    private static let payloadBytes = JSONValue.maximumByteCount + 1024

    /// Bytes of a message to a method that takes neither events nor a payload.
    let smallBytes: Int
    /// How long a message may take from its first byte to its last, and a client with all that it
    /// sends in a call that is no stream of events.
    let timeout: Duration
    /// Where bytes are counted until a call's reader takes them.
    let waiting: WaitingBytes

    /// Bytes of a message to the method at `path`.
    func maxBytes(at path: String?) -> Int {
        switch path {
        case TrackingService.streamPath, TrackingService.recordPath, TrackingService.explainPath:
            Self.maxBytes
        case TrackingService.inspectPath: Self.payloadBytes
        default: self.smallBytes
        }
    }
}
