// What the edges of all streams have in common: how large a message may be, how long it may take,
// and what is kept of it in memory until it is whole.
internal import NIOCore
internal import TrackingCore

/// The rules of calls in front of the gRPC library.
struct MessageRules: Sendable {
    /// The library's limit of one message, in bytes, and of what comes out of a compressed one. A
    /// request above the service's own limit and up to this one gets an answer of its own; one
    /// above this ends its call.
    static let maxBytes = 1 << 20
    /// Bytes of a message to InspectPayload: the payload that it takes, and the fields around it.
    private static let payloadBytes = JSONValue.maximumByteCount + 1024
    /// Bytes of an unfinished message that are not counted: most messages are smaller, and a stream
    /// that has begun one takes more than these anyway.
    private static let freeBytes = 16 << 10

    /// Bytes of a message to a method that takes neither events nor a payload.
    let smallBytes: Int
    /// How long a message may take from its first byte to its last.
    let timeout: Duration
    /// Where the bytes of unfinished messages are counted.
    let budget: MemoryBudget

    /// Bytes of a message to the method at `path`.
    func maxBytes(at path: String?) -> Int {
        switch path {
        case TrackingService.streamPath, TrackingService.recordPath, TrackingService.explainPath:
            Self.maxBytes
        case TrackingService.inspectPath: Self.payloadBytes
        default: self.smallBytes
        }
    }

    /// Counts what a stream keeps of messages that are not whole, instead of what it kept before.
    ///
    /// - Returns: whether there is room: over the budget's soft limit a stream may keep no more.
    func keep(_ bytes: Int, insteadOf kept: inout Int) -> Bool {
        let counted = bytes > Self.freeBytes ? bytes : 0
        let grows = counted > kept
        if grows {
            self.budget.add(counted &- kept)
        } else if counted < kept {
            self.budget.remove(kept &- counted)
        }
        kept = counted
        return !grows || !self.budget.isNearlyFull
    }
}
