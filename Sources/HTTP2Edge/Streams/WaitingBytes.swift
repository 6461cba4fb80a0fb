// The bytes of calls that nobody has taken yet. Of what comes: messages that are cut, inflated
// ones, and what a stream's reader leaves where it is, because of a quota or a full journal. Of
// what goes: answers that their client does not read.
package import GRPCCore
internal import NIOHPACK
internal import Synchronization

/// Counts what waits in front of the service, over all calls.
package final class WaitingBytes: Sendable {
    /// Bytes over which no call may keep more.
    package let maxBytes: Int

    private let bytes = Atomic(0)
    private let lastNumber = Atomic<UInt64>(0)
    /// The calls whose readers take what they read, by their numbers.
    private let calls = Mutex<[UInt64: WaitingCall]>([:])

    /// A count of nothing.
    package init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// Bytes that wait now.
    package var count: Int { self.bytes.load(ordering: .relaxed) }

    /// Counts bytes that wait from now on; a negative number counts them off.
    ///
    /// - Returns: those that wait then.
    @discardableResult
    func add(_ bytes: Int) -> Int {
        self.bytes.wrappingAdd(bytes, ordering: .relaxed).newValue
    }

    fileprivate func close(_ call: WaitingCall) {
        _ = self.calls.withLock { $0.removeValue(forKey: call.number) }
    }

    /// A call that has just come. Where its reader takes messages one by one, the call's number is
    /// noted in its head, in the place of what a client may have put there.
    func open(_ headers: inout HPACKHeaders, isStream: Bool) -> WaitingCall {
        guard isStream else { return WaitingCall(of: self, number: 0) }
        let number = self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let call = WaitingCall(of: self, number: number)
        self.calls.withLock { $0[number] = call }
        headers.replaceOrAdd(name: Self.field, value: String(number))
        return call
    }

    /// The call with this metadata; nil where it has gone, or has come by another way.
    package func call(_ metadata: Metadata) -> WaitingCall? {
        for value in metadata[stringValues: Self.field] {
            guard let number = UInt64(value) else { return nil }
            return self.calls.withLock { $0[number] }
        }
        return nil
    }

    /// How a call's number travels from the edge to its reader: through the library, which gives
    /// both nothing else in common.
    private static let field = "sightline-call"
}

/// What waits of one call. The edge adds as bytes come, the reader takes, each on a thread of its
/// own; what is left goes as the edge closes it. A call that is never read counts until its end.
package final class WaitingCall: Sendable {
    /// Bytes of each call, and of each of its answers, that do not count: it has taken more by
    /// being there. A message to a method that asks for no credentials is as small by default, so
    /// that strangers cannot use up what others wait for.
    static let freeBytes = 16 << 10

    fileprivate let number: UInt64
    private let total: WaitingBytes
    private let bytes = Atomic(0)

    fileprivate init(of total: WaitingBytes, number: UInt64) {
        self.total = total
        self.number = number
    }

    /// Bytes of it that wait now.
    var count: Int { self.bytes.load(ordering: .relaxed) }

    /// Counts bytes that have come.
    ///
    /// - Returns: whether there is room for them.
    func add(_ bytes: Int) -> Bool {
        let (before, after) = self.bytes.wrappingAdd(bytes, ordering: .relaxed)
        guard after > Self.freeBytes else { return true }
        return self.count(from: before, to: after) <= self.total.maxBytes
    }

    /// Counts off what was taken: never more than there is, as a run of requests has a prefix that
    /// no client sent.
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

    /// Counts what is beyond the free bytes.
    @discardableResult
    private func count(from before: Int, to after: Int) -> Int {
        self.total.add(max(0, after &- Self.freeBytes) &- max(0, before &- Self.freeBytes))
    }

    /// Counts off what is left: nothing is added after it.
    func close() {
        self.take(.max)
        if self.number > 0 { self.total.close(self) }
    }
}
