// The hub between the streams that answer requests and the readers that watch verdicts.
internal import Glibc
internal import Pacing
internal import Synchronization
package import TrackingRules

/// Shows verdicts to readers as they are given. `read` adds a reader, and streams call `show` with
/// their settled requests.
///
/// Without readers a request costs one relaxed load. Nothing that records events ever waits for a
/// reader.
package final class VerdictTap: Sendable {
    private let configuration: TapConfiguration
    private let forgotten: ForgottenSubjects
    private let readerCount = Atomic(0)
    private let state = Mutex(State())

    private struct State {
        var lastID = 0
        var readers: [Int: Entry] = [:]
        var isClosed = false
    }

    /// A reader, held weakly: it ends when its last holder releases it.
    private struct Entry {
        weak var reader: TapReader?
        let origin: TapOrigin
    }

    /// Creates a tap without readers.
    ///
    /// - Parameter forgotten: whose events are shown as to readers without `unmask`.
    package init(
        _ configuration: TapConfiguration, forgotten: ForgottenSubjects = ForgottenSubjects()
    ) {
        (self.configuration, self.forgotten) = (configuration, forgotten)
    }

    /// Whether there are readers. While there are, admission keeps the parts of events that they
    /// may see.
    package var hasReaders: Bool { self.readerCount.load(ordering: .relaxed) > 0 }

    /// Adds a reader of the events that are received from now on.
    package func read(_ filter: TapFilter, from origin: TapOrigin) throws(TapRefusal) -> TapReader {
        let outcome: Result<TapReader, TapRefusal> = self.state.withLock { state in
            if let refusal = self.refusal(of: origin, in: state) { return .failure(refusal) }
            state.lastID += 1
            let id = state.lastID
            let reader = TapReader(filter, self.configuration, self.forgotten) { [weak self] in
                self?.end(id)
            }
            state.readers[id] = Entry(reader: reader, origin: origin)
            self.readerCount.store(state.readers.count, ordering: .relaxed)
            return .success(reader)
        }
        return try outcome.get()
    }

    /// Shows settled requests of a tenant to the readers.
    package func show(_ requests: [AdmittedRequest], of tenant: String) {
        guard self.hasReaders else { return }
        let tapped = requests.filter(\.isTapped)
        guard !tapped.isEmpty else { return }
        // A reader may be deallocated here if this was its last reference, and that takes the lock.
        let readers = self.state.withLock { $0.readers.values.compactMap(\.reader) }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        for reader in readers where reader.filter.tenant ?? tenant == tenant {
            for request in tapped {
                reader.offer(request, tenant: tenant, second: UInt64(clamping: time.tv_sec))
            }
        }
    }

    /// Ends all readers after they have taken their queued events, and admits no more.
    package func close() {
        let readers = self.state.withLock { state in
            state.isClosed = true
            return state.readers.values.compactMap(\.reader)
        }
        for reader in readers { reader.end() }
    }

    private func end(_ id: Int) {
        self.state.withLock { state in
            state.readers[id] = nil
            self.readerCount.store(state.readers.count, ordering: .relaxed)
        }
    }

    private func refusal(of origin: TapOrigin, in state: State) -> TapRefusal? {
        if state.isClosed { return .closed }
        let same = state.readers.values.count { $0.origin == origin }
        switch origin {
        case .operatorSocket:
            guard same >= self.configuration.maxReaders else { return nil }
        case .tenant:
            let limit = self.configuration.maxReadersPerTenant
            if same >= limit { return .exceeded(limit, key: "tap.max_readers_per_tenant") }
            let others = state.readers.values.map(\.origin).filter {
                $0 != .operatorSocket && $0 != origin
            }
            let hasRoom = TenantShares.hasRoom(
                for: 1, part: same, used: same + others.count, tenants: Set(others).count + 1,
                bound: self.configuration.maxReaders)
            guard !hasRoom else { return nil }
        }
        return .exceeded(self.configuration.maxReaders, key: "tap.max_readers")
    }
}

/// Why a reader is refused.
package enum TapRefusal: Error, Equatable, CustomStringConvertible {
    /// The server drains.
    case closed
    /// The limit that the key sets is reached.
    case exceeded(Int, key: String)

    /// What happened, and the fix.
    package var description: String {
        switch self {
        case .closed: "the server is closing: connect again"
        case .exceeded(let limit, let key):
            "\(key) allows \(limit) readers, and none is left for this one: come back later"
        }
    }
}
