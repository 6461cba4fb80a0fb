internal import Pacing
internal import Synchronization

/// Enforces the limits on connections: the total, the number per address, and the rate per address.
final class ConnectionTable: Sendable {
    private let maxCount: Int
    private let maxPerAddress: Int
    private let newPerSecond: Int
    private let now: @Sendable () -> UInt64
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var peers: [PeerAddress: Peer] = [:]
    }

    /// The connections of one address.
    private struct Peer {
        var count = 0
        /// A token is taken by each new connection.
        var newOnes: TokenBucket
    }

    /// - Parameters:
    ///   - maxCount: the maximum number of connections.
    ///   - maxPerAddress: the maximum per address, and the burst of new ones.
    ///   - newPerSecond: the rate of new connections per address.
    ///   - now: a monotonic clock in nanoseconds; tests substitute it.
    init(
        maxCount: Int, maxPerAddress: Int, newPerSecond: Int,
        now: @escaping @Sendable () -> UInt64 = MonotonicClock.nanoseconds
    ) {
        self.maxCount = maxCount
        self.maxPerAddress = maxPerAddress
        self.newPerSecond = newPerSecond
        self.now = now
    }

    /// The number of open connections.
    var count: Int { self.state.withLock { $0.count } }

    /// The number of addresses in the table.
    var addressCount: Int { self.state.withLock { $0.peers.count } }

    /// Admits a connection or returns why not. Without an address, only the total limit applies.
    func admit(_ address: PeerAddress?) -> ConnectionEnd? {
        let now = self.now()
        return self.state.withLock { state in
            guard state.count < self.maxCount else { return .tooMany }
            if let address {
                let bucket = TokenBucket(
                    rate: self.newPerSecond, capacity: self.maxPerAddress, now: now)
                var peer = state.peers[address] ?? Peer(newOnes: bucket)
                guard peer.count < self.maxPerAddress else { return .tooManyOfAddress }
                guard peer.newOnes.wait(for: 1, now: now) == 0 else { return .tooManyNew }
                peer.count += 1
                peer.newOnes.charge(1, now: now)
                state.peers[address] = peer
                self.forgetSome(&state)
            }
            state.count += 1
            return nil
        }
    }

    /// Releases an admitted connection that has closed.
    func release(_ address: PeerAddress?) {
        self.state.withLock { state in
            state.count -= 1
            if let address { state.peers[address]?.count -= 1 }
        }
    }

    /// Drops addresses without connections once there are many. At most `maxCount` addresses have
    /// connections, so each sweep removes at least half.
    private func forgetSome(_ state: inout State) {
        guard state.peers.count > 2 * self.maxCount else { return }
        state.peers = state.peers.filter { $0.value.count > 0 }
    }
}
