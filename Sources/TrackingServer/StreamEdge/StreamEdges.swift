// The edges of all streams: what they share, and how each gets its own.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import NIOCore

/// Puts a `StreamEdge` in front of each stream of a transport.
struct StreamEdges {
    /// The library's limit of one message, in bytes, and of what comes out of a compressed one. A
    /// request above the service's own limit and up to this one gets an answer of its own; one
    /// above this ends its call.
    static let maxMessageBytes = 1 << 20

    private let metadataLimit: MetadataLimit
    private let compressors: CompressorBudget?
    private let onRefusal: @Sendable (ServiceError.Reason) -> Void

    /// Edges with a budget of their own.
    ///
    /// - Parameters:
    ///   - metadataLimit: what calls may have of metadata.
    ///   - onRefusal: told the reason of each call that ends with an error.
    init(
        _ configuration: EdgeConfiguration, metadataLimit: MetadataLimit,
        onRefusal: @escaping @Sendable (ServiceError.Reason) -> Void
    ) {
        self.onRefusal = onRefusal
        self.metadataLimit = metadataLimit
        self.compressors =
            configuration.isCompressionEnabled
            ? CompressorBudget(limit: configuration.maxCompressedStreams) : nil
    }

    /// Makes the transport's streams have edges; keeps what others do as a stream is accepted.
    func install(in config: inout HTTP2ServerTransport.Posix.Config) {
        // Without `.none` the library would refuse clients that say "identity".
        config.compression.enabledAlgorithms =
            self.compressors == nil ? .none : [.none, .gzip, .deflate]
        let (metadataLimit, compressors) = (self.metadataLimit, self.compressors)
        let onRefusal = self.onRefusal
        let earlier = config.channelDebuggingCallbacks.onAcceptHTTP2Stream
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { channel in
            let added = channel.eventLoop.makeCompletedFuture {
                let edge = StreamEdge(
                    maxMessageBytes: Self.maxMessageBytes, metadataLimit: metadataLimit,
                    compressors: compressors, onRefusal: onRefusal)
                try channel.pipeline.syncOperations.addHandler(edge, position: .first)
            }
            guard let earlier else { return added }
            return added.flatMap { earlier(channel) }
        }
    }
}
