// The connections that are open now, so that a server which has to end can close them.
internal import NIOCore
internal import Synchronization

/// Closes connections hard. The transport waits until the client has closed each stream, even when
/// its own task is cancelled, and a suspended client never closes its streams.
package final class OpenConnections: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    /// None yet.
    package init() {}

    /// Keeps a connection until it is closed.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        self.channels.withLock { $0[id] = channel }
        channel.closeFuture.whenComplete { _ in
            self.channels.withLock { _ = $0.removeValue(forKey: id) }
        }
    }

    /// Connections that are open.
    package var count: Int { self.channels.withLock { $0.count } }

    /// Closes all, whatever their peers do.
    package func closeAll() {
        let channels = self.channels.withLock { Array($0.values) }
        for channel in channels { channel.close(promise: nil) }
    }
}
