// How a call ends that the edge ends, or that the gRPC library has ended by itself. The edge knows
// neither the service nor its errors: the service says what its clients read.
package import NIOHPACK

/// Why the edge ends a call by itself.
package enum CallRefusal: Error, Equatable, Sendable {
    /// The names and values of the call's metadata have more bytes than they may.
    case metadataTooLarge(bytes: Int, maxBytes: Int)
    /// The value of `grpc-timeout`, as an error may show it, is no time.
    case timeout(String)
    /// The time that the client gave the call is over.
    case deadlinePassed
    /// A message has more bytes than its method takes, also once it is decompressed, or it cannot
    /// be read at all.
    case messageTooLarge(maxBytes: Int)
    /// A message cannot be decompressed.
    case messageNotInflated
    /// A message has begun and did not come to its end in time.
    case messageUnfinished(after: Duration)
    /// As many bytes wait in front of the service as may.
    case overloaded
}

/// What the service makes of the ends of its calls: it words them, and counts them.
package struct CallEnding: Sendable {
    let trailers: @Sendable (CallRefusal) -> HPACKHeaders
    let complete: @Sendable (inout HPACKHeaders) -> Void

    /// Words for the ends of calls.
    ///
    /// - Parameters:
    ///   - trailers: the trailers of a call that the edge ends, without the head of an answer.
    ///   - complete: is given the trailers of every other call as they go out, and may add to them.
    package init(
        trailers: @escaping @Sendable (CallRefusal) -> HPACKHeaders,
        complete: @escaping @Sendable (inout HPACKHeaders) -> Void
    ) {
        self.trailers = trailers
        self.complete = complete
    }
}
