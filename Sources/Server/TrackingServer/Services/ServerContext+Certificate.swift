internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import HTTPDoor
internal import X509

extension ServerContext {
    /// The certificate that the peer of this call's connection has shown, on either port; nil
    /// without mutual TLS.
    var peerCertificate: Certificate? {
        switch self.transportSpecific {
        case let grpc as HTTP2ServerTransport.Posix.Context: grpc.peerCertificate
        case let door as DoorContext: door.peerCertificate
        default: nil
        }
    }
}
