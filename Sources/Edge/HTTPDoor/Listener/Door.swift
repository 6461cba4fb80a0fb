/// The doors behind the HTTP port, as metrics name them.
package enum Door: String, CaseIterable, Sendable {
    /// `/v1/`: events for people.
    case events
    /// The methods of the services, in Connect's protocol.
    case connect
    /// The same, in that of gRPC-Web.
    case grpcWeb = "grpc_web"
    /// `/r/`: what the vendors' SDKs send.
    case postback
    /// None: the port itself answers.
    case other
}
