// How many connections there are, in all and of each address, and how fast new ones come.
internal import Synchronization

/// The caps on connections. Remembers the addresses that have a connection, or had one of late.
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

    /// What is known of one address.
    private struct Peer {
        var count = 0
        /// A token for each new connection.
        var newOnes: TokenBucket
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
        self.newPerSecond = newPerSecond
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
