internal import NIOCore
internal import Synchronization

/// Tracks open connections, so that a server that has to end can close them. The transport waits
/// until the client closes each stream, even if its task is cancelled, and a suspended client never
/// closes its streams.
package final class OpenConnections: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    /// Creates an empty set.
    package init() {}

    /// Tracks a connection until it is closed.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        self.channels.withLock { $0[id] = channel }
        channel.closeFuture.whenComplete { _ in
            self.channels.withLock { _ = $0.removeValue(forKey: id) }
        }
    }

    /// The number of open connections.
    package var count: Int { self.channels.withLock { $0.count } }

    /// Closes all connections without waiting for their peers.
    package func closeAll() {
        let channels = self.channels.withLock { Array($0.values) }
        for channel in channels { channel.close(promise: nil) }
    }
}
