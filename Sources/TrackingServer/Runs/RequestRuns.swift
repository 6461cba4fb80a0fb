// Puts what joins bursts of small requests into the transport.
internal import GRPCNIOTransportHTTP2Posix
internal import NIOCore

/// The two handlers that make runs: one for a connection's frames, one for a stream's messages.
enum RequestRuns {
    /// Has the transport call us at each accept and each new stream. Call it after whoever wants
    /// frames and messages as the client sent them: those stand in front of these handlers.
    static func install(in config: inout HTTP2ServerTransport.Posix.Config) {
        let accept = config.channelDebuggingCallbacks.onAcceptTCPConnection
        config.channelDebuggingCallbacks.onAcceptTCPConnection = { channel in
            let accepted = accept?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
            // A connection that was refused has no guard, and nothing to join.
            return accepted.flatMapThrowing {
                let pipeline = channel.pipeline.syncOperations
                guard let guarded = try? pipeline.handler(type: ConnectionGuard.self) else {
                    return
                }
                try pipeline.addHandler(DataFrameJoiningHandler(), position: .after(guarded))
            }
        }
        let open = config.channelDebuggingCallbacks.onAcceptHTTP2Stream
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { stream in
            let added = stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(
                    RequestRunHandler(path: TrackingService.streamPath), position: .first)
            }
            guard let open else { return added }
            return added.flatMap { open(stream) }
        }
    }
}
