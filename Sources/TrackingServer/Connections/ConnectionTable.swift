// How many connections there are, in all and of each address.
internal import Synchronization

/// The caps on connections. Holds a count per address that has a connection, and nothing of others.
final class ConnectionTable: Sendable {
    private let maxCount: Int
    private let maxPerAddress: Int
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var perAddress: [PeerAddress: Int] = [:]
    }

    init(maxCount: Int, maxPerAddress: Int) {
        self.maxCount = maxCount
        self.maxPerAddress = maxPerAddress
    }

    /// Connections now.
    var count: Int { self.state.withLock { $0.count } }

    /// Takes a connection in, or says why not. One without an address counts in all alone.
    func admit(_ address: PeerAddress?) -> ConnectionEnd? {
        self.state.withLock { state in
            guard state.count < self.maxCount else { return .tooMany }
            if let address {
                guard state.perAddress[address, default: 0] < self.maxPerAddress else {
                    return .tooManyOfAddress
                }
                state.perAddress[address, default: 0] += 1
            }
            state.count += 1
            return nil
        }
    }

    /// A connection that was admitted has ended.
    func release(_ address: PeerAddress?) {
        self.state.withLock { state in
            state.count -= 1
            guard let address, let count = state.perAddress[address] else { return }
            state.perAddress[address] = count > 1 ? count - 1 : nil
        }
    }
}
