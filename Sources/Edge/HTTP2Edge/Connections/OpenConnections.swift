internal import NIOCore
internal import Synchronization

/// Tracks open connections, so that a server that has to end can close them. The transport waits
/// until the client closes each stream, even if its task is cancelled, and a suspended client never
/// closes its streams.
package final class OpenConnections: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])
    /// Called when there are none any more; nil before the server stops.
    private let onEnd = Mutex<(@Sendable () -> Void)?>(nil)

    /// Creates an empty set.
    package init() {}

    /// Tracks a connection until it is closed.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        self.channels.withLock { $0[id] = channel }
        channel.closeFuture.whenComplete { _ in
            let isLast = self.channels.withLock { channels in
                channels.removeValue(forKey: id)
                return channels.isEmpty
            }
            if isLast { self.tellEnd() }
        }
    }

    /// The number of open connections.
    package var count: Int { self.channels.withLock { $0.count } }

    /// Tells all connections that the server stops: each ends with the answers that are under way.
    /// Called once, when no further ones are accepted.
    ///
    /// - Parameter onEnd: called when all have ended.
    package func quiesceAll(onEnd: @escaping @Sendable () -> Void) {
        let channels = self.channels.withLock { channels in
            self.onEnd.withLock { $0 = onEnd }
            return Array(channels.values)
        }
        if channels.isEmpty { return self.tellEnd() }
        for channel in channels {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    private func tellEnd() {
        let onEnd = self.onEnd.withLock { onEnd in
            defer { onEnd = nil }
            return onEnd
        }
        onEnd?()
    }

    /// Closes all connections without waiting for their peers.
    package func closeAll() {
        let channels = self.channels.withLock { Array($0.values) }
        for channel in channels { channel.close(promise: nil) }
    }
}
