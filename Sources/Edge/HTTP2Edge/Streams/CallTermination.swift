package import NIOHPACK

/// Why the edge ends a call.
package enum CallRefusal: Error, Equatable, Sendable {
    /// The metadata's names and values exceed the limit.
    case metadataTooLarge(bytes: Int, maxBytes: Int)
    /// The value of this name, as `:path`, has more bytes beyond ASCII than `HeaderText` allows.
    case metadataText(String)
    /// The value of `grpc-timeout`, shortened for an error, is malformed.
    case timeout(String)
    /// The call's deadline has passed.
    case deadlinePassed
    /// A message exceeds its method's limit, compressed or inflated.
    case messageTooLarge(maxBytes: Int)
    /// A message's flag is neither 0 nor, in a call whose messages are inflated, 1.
    case messageFlag(UInt8)
    /// A message cannot be decompressed.
    case messageNotInflated
    /// A message was not completed in time.
    case messageUnfinished(after: Duration)
    /// The bytes buffered in front of the service have reached their limit.
    case overloaded
    /// The server stops, and has cancelled the call's task.
    case closing
    /// The gRPC library cannot read data in which the edge found nothing wrong.
    case internalFailure
}

/// Lets the service word and count the ends of its calls, so that the edge need not know the
/// service or its errors.
package struct CallTermination: Sendable {
    let trailers: @Sendable (CallRefusal) -> HPACKHeaders
    let complete: @Sendable (inout HPACKHeaders) -> Void

    /// Creates the callbacks.
    ///
    /// - Parameters:
    ///   - trailers: the trailers of a call that the edge ends, without response headers.
    ///   - complete: called with the trailers of every other call; may add to them.
    package init(
        trailers: @escaping @Sendable (CallRefusal) -> HPACKHeaders,
        complete: @escaping @Sendable (inout HPACKHeaders) -> Void
    ) {
        self.trailers = trailers
        self.complete = complete
    }
}

extension HPACKHeaders {
    /// The same trailers, with only the status in the connection's HPACK table. The peer chooses
    /// the table's size, up to 4 GiB: messages of refused calls would fill it, and each header that
    /// is written is searched for in the whole table.
    var unindexed: HPACKHeaders {
        var headers = HPACKHeaders()
        for (name, value, indexing) in self {
            let isStatus = name == "grpc-status" || name.first == ":"
            headers.add(name: name, value: value, indexing: isStatus ? indexing : .nonIndexable)
        }
        return headers
    }
}
