internal import NIOCore
internal import Synchronization

/// Tracks open connections, so that a server that has to end can close them. The transport waits
/// until the client closes each stream, even if its task is cancelled, and a suspended client never
/// closes its streams.
package final class OpenConnections: Sendable {
    private let state = Mutex(State())

    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Whether the connections were told that the server stops.
        var isStopping = false
        /// Called when there are none any more; nil before the server stops.
        var onEnd: (@Sendable () -> Void)?
    }

    /// Creates an empty set.
    package init() {}

    /// Tracks a connection until it is closed. One that was accepted just as the port closed is
    /// told that the server stops too, once it has its handlers.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isStopping = self.state.withLock { state in
            state.channels[id] = channel
            return state.isStopping
        }
        channel.closeFuture.whenComplete { _ in
            self.tellEnd { state in
                state.channels.removeValue(forKey: id)
                return state.channels.isEmpty
            }
        }
        if isStopping { channel.eventLoop.execute { Self.quiesce(channel) } }
    }

    /// The number of open connections.
    package var count: Int { self.state.withLock { $0.channels.count } }

    /// Tells all connections that the server stops: each ends with the answers that are under way.
    /// Called once, when the port closes.
    ///
    /// - Parameter onEnd: called when all have ended.
    package func quiesceAll(onEnd: @escaping @Sendable () -> Void) {
        let channels = self.state.withLock { state in
            state.isStopping = true
            state.onEnd = onEnd
            return Array(state.channels.values)
        }
        self.tellEnd { $0.channels.isEmpty }
        for channel in channels { Self.quiesce(channel) }
    }

    private static func quiesce(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    /// Tells the end, once, if that is what `body` finds.
    private func tellEnd(if body: (inout State) -> Bool) {
        let onEnd: (@Sendable () -> Void)? = self.state.withLock { state in
            guard body(&state) else { return nil }
            defer { state.onEnd = nil }
            return state.onEnd
        }
        onEnd?()
    }

    /// Closes all connections without waiting for their peers.
    package func closeAll() {
        let channels = self.state.withLock { Array($0.channels.values) }
        for channel in channels { channel.close(promise: nil) }
    }
}
