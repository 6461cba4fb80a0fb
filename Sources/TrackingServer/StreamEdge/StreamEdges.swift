// The edges of all streams: what they share, and how each gets its own.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import NIOCore

/// Puts a `StreamEdge` in front of each stream of a transport.
struct StreamEdges {
    private let metadataLimit: MetadataLimit
    private let rules: MessageRules
    private let compressors: CompressorBudget?
    private let onRefusal: @Sendable (ServiceError.Reason) -> Void

    /// Edges with a budget of their own.
    ///
    /// - Parameters:
    ///   - metadataLimit: what calls may have of metadata.
    ///   - rules: what their messages may be.
    ///   - onRefusal: told the reason of each call that ends with an error.
    init(
        _ configuration: EdgeConfiguration, metadataLimit: MetadataLimit, rules: MessageRules,
        onRefusal: @escaping @Sendable (ServiceError.Reason) -> Void
    ) {
        self.onRefusal = onRefusal
        self.metadataLimit = metadataLimit
        self.rules = rules
        self.compressors =
            configuration.isCompressionEnabled
            ? CompressorBudget(limit: configuration.maxCompressedStreams) : nil
    }

    /// Makes the transport's streams have edges; keeps what others do as a stream is accepted.
    func install(in config: inout HTTP2ServerTransport.Posix.Config) {
        // Without `.none` the library would refuse clients that say "identity".
        config.compression.enabledAlgorithms =
            self.compressors == nil ? .none : [.none, .gzip, .deflate]
        let (metadataLimit, rules, compressors) = (
            self.metadataLimit, self.rules, self.compressors
        )
        let onRefusal = self.onRefusal
        let earlier = config.channelDebuggingCallbacks.onAcceptHTTP2Stream
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { channel in
            let added = channel.eventLoop.makeCompletedFuture {
                let edge = StreamEdge(
                    rules: rules, metadataLimit: metadataLimit, compressors: compressors,
                    onRefusal: onRefusal)
                try channel.pipeline.syncOperations.addHandler(edge, position: .first)
            }
            guard let earlier else { return added }
            return added.flatMap { earlier(channel) }
        }
    }
}
