/// The protocol that sends spans.
package enum OTLPProtocol: String, Sendable, CaseIterable {
    /// HTTP if the endpoint has a path or the port 4318, else gRPC.
    case auto
    /// OTLP over gRPC.
    case grpc
    /// OTLP over HTTP/1.1, in binary protobuf.
    case http = "http/protobuf"

    /// Whether an endpoint can be used with this protocol: one with a path cannot be used over
    /// gRPC.
    package func takes(_ endpoint: OTLPEndpoint) -> Bool {
        self.resolved(for: endpoint) == .http || ["", "/"].contains(endpoint.path)
    }

    /// The protocol of an endpoint.
    package func resolved(for endpoint: OTLPEndpoint) -> OTLPProtocol {
        guard self == .auto else { return self }
        return endpoint.isHTTP ? .http : .grpc
    }
}
