package import GRPCCore
internal import NIOHPACK
package import Pacing
internal import Synchronization

/// Counts the bytes of all calls that wait in front of the service: incomplete and inflated
/// messages, requests that are not read because of a quota or a full journal, and answers that
/// clients do not read. Tenants and connections have shares of them (`SharedBound`), and so do the
/// addresses of peers whose tenants are not known.
package final class BufferedBytes: Sendable {
    fileprivate let bound: SharedBound
    private let lastNumber = Atomic<UInt64>(0)
    /// The open calls, by number.
    private let calls = Mutex<[UInt64: BufferedCall]>([:])

    /// Creates a counter with a limit.
    package init(maxBytes: Int) { self.bound = SharedBound(maxBytes) }

    /// The maximum bytes of a lone connection.
    package var maxBytes: Int { self.bound.bound }

    /// The bytes that wait at present.
    package var count: Int { self.bound.used }

    fileprivate func close(_ call: BufferedCall) {
        _ = self.calls.withLock { $0.removeValue(forKey: call.number) }
    }

    /// Registers a new call. Its number is written into the headers, replacing one that a client
    /// may have sent.
    func open(_ headers: inout HPACKHeaders, on connection: ConnectionShares) -> BufferedCall {
        let call = self.open(on: connection)
        headers.replaceOrAdd(name: Self.field, value: String(call.number))
        return call
    }

    /// Registers a new call of the HTTP port: `metadata` names it to its reader.
    package func open(on connection: ConnectionShares) -> BufferedCall {
        let number = self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let likely =
            connection.waitingBytes.firstShare
            ?? self.bound.share(
                ofStranger: connection.strangerName, on: connection.strangerBytes)
        let call = BufferedCall(of: self, number: number, on: connection, likely: likely)
        self.calls.withLock { $0[number] = call }
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

    /// Whether metadata names a call, which may have ended.
    package static func isName(in metadata: Metadata) -> Bool {
        metadata[stringValues: Self.field].contains { _ in true }
    }

    /// The header that carries a call's number from the edge through the library to its reader. No
    /// other path leads from a stream to its reader (grpc-swift-2 2.4.3, grpc-swift-nio-transport
    /// 2.9.2): the handler's task is a child of the connection's, so it inherits no task-local
    /// value of a stream; `ServerContext` only has what the connection has; and the stream's
    /// channel is not accessible.
    fileprivate static let field = "sightline-call"

    /// Removes from metadata what would name a call: no client may.
    package static func removeName(from metadata: inout Metadata) {
        metadata.removeAllValues(forKey: Self.field)
    }
}

/// The buffered bytes of one call. The edge adds and the reader takes, on different threads.
/// Closing the call removes the rest. A call that is never read counts until its end.
///
/// The edge knows a call's tenant only once the service has checked its credentials. Until then the
/// call's bytes count as those of the connection's first tenant, or of a stranger.
package final class BufferedCall: Sendable {
    /// The bytes of each call and of each answer that are not counted: the call itself takes more.
    /// By default, messages to methods without credentials are no larger. An unauthenticated call
    /// to another method counts until its refusal is written, at most for `stream.ack_seconds`.
    package static let freeBytes = 16 << 10

    /// The shares of the connection that it came on.
    package let connection: ConnectionShares
    fileprivate let number: UInt64
    private let total: BufferedBytes
    /// Negative once the call is closed: whatever is added then counts for nothing.
    private let bytes = Atomic(0)
    /// The share of the tenant, once it is known.
    private let tenantShare = AtomicLazyReference<SharedBound.Share>()
    private let likelyShare: SharedBound.Share
    /// The bytes that count for the likely share.
    private let likelyBytes = Atomic(0)

    fileprivate init(
        of total: BufferedBytes, number: UInt64, on connection: ConnectionShares,
        likely share: SharedBound.Share
    ) {
        self.total = total
        self.number = number
        self.connection = connection
        self.likelyShare = share
    }

    /// The metadata by which the service finds this call.
    package var metadata: Metadata { [BufferedBytes.field: "\(self.number)"] }

    /// Whether the call has ended: nobody is there for its answer.
    package var isClosed: Bool { self.bytes.load(ordering: .relaxed) < 0 }

    /// The bytes of this call that wait at present.
    var count: Int { max(0, self.bytes.load(ordering: .relaxed)) }

    /// Counts the call's bytes as a tenant's, those that have come and those that will. Called
    /// once, before any are taken.
    package func assign(to tenant: String.UTF8View) {
        let share = self.total.bound.share(of: tenant, on: self.connection.waitingBytes)
        guard self.tenantShare.storeIfNil(share) === share else { return }
        // Bytes that are counted at this moment stay with the likely share until they are taken.
        let counted = self.likelyBytes.exchange(0, ordering: .relaxed)
        share.add(counted)
        self.likelyShare.remove(counted)
    }

    /// Adds received bytes.
    ///
    /// - Returns: whether the call's share has room for them; false once it is closed.
    package func add(_ bytes: Int) -> Bool {
        let (before, after) = self.bytes.wrappingAdd(bytes, ordering: .relaxed)
        guard before >= 0 else { return false }
        let counted = Self.counted(after) &- Self.counted(before)
        guard counted > 0 else { return true }
        let tenantShare = self.tenantShare.load()
        if tenantShare == nil { self.likelyBytes.wrappingAdd(counted, ordering: .relaxed) }
        let share = tenantShare ?? self.likelyShare
        share.add(counted)
        return share.hasRoom()
    }

    /// Counts an answer until it is written.
    ///
    /// - Returns: the share that it counts for, which has to remove it; nil if there is no room.
    package func hold(answer bytes: Int) -> SharedBound.Share? {
        let share = self.share
        return share.take(bytes) ? share : nil
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
                return self.remove(Self.counted(own) &- Self.counted(own &- taken))
            }
            own = seen
        }
    }

    /// Removes the remaining bytes. A request of the HTTP port may end while its call begins on
    /// another thread: what is added afterwards counts for nothing, as nobody would remove it.
    package func close() {
        let own = self.bytes.exchange(Int.min / 2, ordering: .relaxed)
        self.remove(Self.counted(own))
        // The reader may have taken bytes as they were being counted.
        let left = self.likelyBytes.exchange(0, ordering: .relaxed)
        self.likelyShare.remove(left)
        self.share.add(left)
        self.total.close(self)
    }

    private static func counted(_ bytes: Int) -> Int { max(0, bytes &- Self.freeBytes) }

    private var share: SharedBound.Share { self.tenantShare.load() ?? self.likelyShare }

    /// Uncounts bytes: first those that count for the likely share.
    private func remove(_ counted: Int) {
        guard counted > 0 else { return }
        var likely = self.likelyBytes.load(ordering: .relaxed)
        while likely > 0 {
            let removed = min(likely, counted)
            let (isDone, seen) = self.likelyBytes.weakCompareExchange(
                expected: likely, desired: likely &- removed, ordering: .relaxed)
            if isDone {
                self.likelyShare.remove(removed)
                return self.share.remove(counted &- removed)
            }
            likely = seen
        }
        self.share.remove(counted)
    }
}
