// The limit on a call's metadata. The transport's own is 16 KiB and ends the connection; below it a
// client learns what is wrong.
internal import GRPCCore

/// Refuses calls whose metadata is too large, before anything looks into it.
struct MetadataLimit: ServerInterceptor {
    /// Bytes of all names and values.
    let maxBytes: Int

    func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingServerRequest<Input>, context: ServerContext,
        next:
            @Sendable (StreamingServerRequest<Input>, ServerContext) async throws
            -> StreamingServerResponse<Output>
    ) async throws -> StreamingServerResponse<Output> {
        let bytes = Self.bytes(of: request.metadata)
        guard bytes <= self.maxBytes else {
            throw ServiceError.metadata(bytes: bytes, maxBytes: self.maxBytes).status
        }
        return try await next(request, context)
    }

    /// Bytes of the names and values, binary ones as they are decoded.
    static func bytes(of metadata: Metadata) -> Int {
        metadata.reduce(into: 0) { total, entry in
            total &+= entry.key.utf8.count
            switch entry.value {
            case .string(let text): total &+= text.utf8.count
            case .binary(let bytes): total &+= bytes.count
            }
        }
    }
}
