// Puts the guards into the transport: where it listens, and on each connection that it accepts.
internal import GRPCNIOTransportHTTP2Posix
internal import Glibc
internal import NIOCore
internal import NIOSSL

/// What all connections of a server have in common.
struct ConnectionGuards: Sendable {
    let configuration: ConnectionConfiguration
    let table: ConnectionTable
    let ends: ConnectionEnds

    init(_ configuration: ConnectionConfiguration, ends: ConnectionEnds) {
        self.configuration = configuration
        self.table = ConnectionTable(
            maxCount: configuration.maxCount, maxPerAddress: configuration.maxPerAddress,
            newPerSecond: configuration.newPerSecond)
        self.ends = ends
    }

    /// Sets what the transport does about silent peers, and has it call us at each accept and each
    /// new stream, before whoever is called there already. (The transport's own idle time leaks a
    /// handler with every connection, as its timer is never let go.)
    func install(in config: inout HTTP2ServerTransport.Posix.Config) {
        config.connection.keepalive = .init(
            time: self.configuration.keepaliveInterval,
            timeout: self.configuration.keepaliveTimeout,
            // The guard has taken the clients' PINGs out: this policy sees none.
            clientBehavior: .init(
                minPingIntervalWithoutCalls: .seconds(1), allowWithoutCalls: true))
        config.channelDebuggingCallbacks.onBindTCPListener = { channel in
            channel.setOption(.backlog, value: CInt(clamping: self.configuration.backlog))
        }
        config.channelDebuggingCallbacks.onAcceptTCPConnection = { channel in
            self.accept(channel)
        }
        let earlier = config.channelDebuggingCallbacks.onAcceptHTTP2Stream
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { stream in
            // No guard where the connection has gone meanwhile: then nothing is to be counted.
            let pipeline = stream.parent?.pipeline.syncOperations
            try? pipeline?.handler(type: ConnectionGuard.self).streamOpened(stream)
            return earlier?(stream) ?? stream.eventLoop.makeSucceededVoidFuture()
        }
    }

    /// Takes a connection in, with the transport's handlers in it already, or closes it.
    private func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
        let address = self.countedAddress(of: channel)
        if let refusal = self.table.admit(address) {
            self.ends.count(refusal)
            return channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    RefusingHandler(), position: .first)
            }
        }
        channel.closeFuture.whenComplete { _ in self.table.release(address) }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            // No socket option where it is no TCP socket, or already gone: nothing is lost by that.
            try? channel.syncOptions?.setOption(
                ChannelOptions.Types.SocketOption(
                    level: .tcp, name: .init(rawValue: TCP_USER_TIMEOUT)),
                value: Int(TimeAmount(self.configuration.userTimeout).milliseconds))
            let handler = ConnectionGuard(
                self.configuration, maxAge: self.drawnAge(), onEnd: self.ends.count)
            // Without TLS there is no such handler, and the guard comes first.
            let tls = try? pipeline.handler(type: NIOSSLServerHandler.self)
            try pipeline.addHandler(handler, position: tls.map { .after($0) } ?? .first)
        }
    }

    /// What a connection is counted by; nil where it counts in all alone.
    private func countedAddress(of channel: any Channel) -> PeerAddress? {
        guard let address = channel.remoteAddress,
            !self.configuration.trustedProxies.contains(where: { $0.contains(address) })
        else { return nil }
        return PeerAddress(address)
    }

    /// The age at which a connection ends: drawn for each.
    private func drawnAge() -> TimeAmount {
        let age = TimeAmount(self.configuration.maxAge).nanoseconds
        let spread = age / 100 * Int64(self.configuration.ageJitterPercent)
        return .nanoseconds(age + Int64.random(in: -spread...spread))
    }
}

extension TimeAmount {
    fileprivate var milliseconds: Int64 { self.nanoseconds / 1_000_000 }
}
