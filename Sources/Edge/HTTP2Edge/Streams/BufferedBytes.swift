package import GRPCCore
internal import NIOHPACK
internal import Synchronization

/// Counts the bytes of all calls that wait in front of the service: incomplete and inflated
/// messages, requests that are not read because of a quota or a full journal, and answers that
/// clients do not read.
package final class BufferedBytes: Sendable {
    /// The maximum bytes; beyond it no call may add any.
    package let maxBytes: Int

    private let bytes = Atomic(0)
    private let lastNumber = Atomic<UInt64>(0)
    /// The calls whose readers take bytes, by number.
    private let calls = Mutex<[UInt64: BufferedCall]>([:])

    /// Creates a counter with a limit.
    package init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// The bytes that wait at present.
    package var count: Int { self.bytes.load(ordering: .relaxed) }

    /// Adds buffered bytes; a negative number removes them.
    ///
    /// - Returns: the new total.
    @discardableResult
    func add(_ bytes: Int) -> Int {
        self.bytes.wrappingAdd(bytes, ordering: .relaxed).newValue
    }

    fileprivate func close(_ call: BufferedCall) {
        _ = self.calls.withLock { $0.removeValue(forKey: call.number) }
    }

    /// Registers a new call. If its reader takes messages one by one, its number is written into
    /// the headers, replacing one that a client may have sent.
    func open(_ headers: inout HPACKHeaders, isStream: Bool) -> BufferedCall {
        guard isStream else { return BufferedCall(of: self, number: 0) }
        let number = self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let call = BufferedCall(of: self, number: number)
        self.calls.withLock { $0[number] = call }
        headers.replaceOrAdd(name: Self.field, value: String(number))
        return call
    }

    /// The call with this metadata; nil if it has ended, or did not pass the edge.
    package func call(_ metadata: Metadata) -> BufferedCall? {
        for value in metadata[stringValues: Self.field] {
            guard let number = UInt64(value) else { return nil }
            return self.calls.withLock { $0[number] }
        }
        return nil
    }

    /// The header that carries a call's number from the edge through the library to its reader. No
    /// other path leads from a stream to its reader (grpc-swift-2 2.4.3, grpc-swift-nio-transport
    /// 2.9.2): the handler's task is a child of the connection's, so it inherits no task-local
    /// value of a stream; `ServerContext` only has what the connection has; and the stream's
    /// channel is not accessible.
    private static let field = "sightline-call"
}

/// The buffered bytes of one call. The edge adds and the reader takes, on different threads.
/// Closing the call removes the rest. A call that is never read counts until its end.
package final class BufferedCall: Sendable {
    /// The bytes of each call and of each answer that are not counted: the call itself takes more.
    /// By default, messages to methods without credentials are no larger. An unauthenticated call
    /// to another method counts until its refusal is written, at most for `stream.ack_seconds`.
    static let freeBytes = 16 << 10

    fileprivate let number: UInt64
    private let total: BufferedBytes
    private let bytes = Atomic(0)

    fileprivate init(of total: BufferedBytes, number: UInt64) {
        self.total = total
        self.number = number
    }

    /// The bytes of this call that wait at present.
    var count: Int { self.bytes.load(ordering: .relaxed) }

    /// Adds received bytes.
    ///
    /// - Returns: whether the total stays within the limit.
    func add(_ bytes: Int) -> Bool {
        let (before, after) = self.bytes.wrappingAdd(bytes, ordering: .relaxed)
        guard after > Self.freeBytes else { return true }
        return self.count(from: before, to: after) <= self.total.maxBytes
    }

    /// Removes bytes that were taken, at most those present: coalesced requests have prefixes that
    /// the client never sent.
    package func take(_ bytes: Int) {
        var own = self.bytes.load(ordering: .relaxed)
        while own > 0 {
            let taken = min(own, bytes)
            let (isDone, seen) = self.bytes.weakCompareExchange(
                expected: own, desired: own &- taken, ordering: .relaxed)
            if isDone {
                if own > Self.freeBytes { self.count(from: own, to: own &- taken) }
                return
            }
            own = seen
        }
    }

    /// Updates the total by the change beyond the free bytes.
    @discardableResult
    private func count(from before: Int, to after: Int) -> Int {
        self.total.add(max(0, after &- Self.freeBytes) &- max(0, before &- Self.freeBytes))
    }

    /// Removes the remaining bytes. Nothing may be added afterwards.
    func close() {
        self.take(.max)
        if self.number > 0 { self.total.close(self) }
    }
}
