// How many connections there are, in all and of each address, and how fast new ones come.
internal import Synchronization

/// The caps on connections. Remembers the addresses that have a connection, or had one of late.
final class ConnectionTable: Sendable {
    private let maxCount: Int
    private let maxPerAddress: Int
    /// Nanoseconds that each new connection of an address uses up.
    private let newInterval: UInt64
    /// Nanoseconds that an address may have used up in advance.
    private let maxAdvance: UInt64
    private let now: @Sendable () -> UInt64
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var peers: [PeerAddress: Peer] = [:]
    }

    /// What is known of one address.
    private struct Peer {
        var count = 0
        /// The time that its new connections have used up, which may be still to come.
        var usedUntil: UInt64 = 0
    }

    /// - Parameters:
    ///   - maxCount: connections in all.
    ///   - maxPerAddress: connections of one address; as many may also be new at once.
    ///   - newPerSecond: new connections of one address in each second after those.
    ///   - now: nanoseconds of a monotonic clock; tests bring their own.
    init(
        maxCount: Int, maxPerAddress: Int, newPerSecond: Int,
        now: @escaping @Sendable () -> UInt64 = MonotonicClock.nanoseconds
    ) {
        self.maxCount = maxCount
        self.maxPerAddress = maxPerAddress
        self.newInterval = 1_000_000_000 / UInt64(clamping: max(1, newPerSecond))
        self.maxAdvance = UInt64(clamping: max(0, maxPerAddress - 1)) * self.newInterval
        self.now = now
    }

    /// Connections now.
    var count: Int { self.state.withLock { $0.count } }

    /// Addresses that are remembered now.
    var addressCount: Int { self.state.withLock { $0.peers.count } }

    /// Takes a connection in, or says why not. One without an address counts in all alone.
    func admit(_ address: PeerAddress?) -> ConnectionEnd? {
        let now = self.now()
        return self.state.withLock { state in
            guard state.count < self.maxCount else { return .tooMany }
            if let address {
                var peer = state.peers[address, default: Peer()]
                guard peer.count < self.maxPerAddress else { return .tooManyOfAddress }
                let start = max(peer.usedUntil, now)
                guard start - now <= self.maxAdvance else { return .tooManyNew }
                peer.count += 1
                peer.usedUntil = start + self.newInterval
                state.peers[address] = peer
                self.forgetSome(&state)
            }
            state.count += 1
            return nil
        }
    }

    /// A connection that was admitted has ended.
    func release(_ address: PeerAddress?) {
        self.state.withLock { state in
            state.count -= 1
            if let address { state.peers[address]?.count -= 1 }
        }
    }

    /// Forgets the addresses without a connection, once they are many. At most `maxCount` have one,
    /// so each time at least half of them go.
    private func forgetSome(_ state: inout State) {
        guard state.peers.count > 2 * self.maxCount else { return }
        state.peers = state.peers.filter { $0.value.count > 0 }
    }
}
