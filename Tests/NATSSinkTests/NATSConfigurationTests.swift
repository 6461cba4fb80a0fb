// What of the nats sink's keys asks for TLS.
internal import Testing

@testable internal import NATSSink

struct NATSConfigurationTests {
    @Test(
        "each of TLS's keys asks for TLS alone, and nothing else does",
        arguments: [
            (["nats://a:4222"], "", "", false), (["a:4222", "b"], "", "", false),
            (["tls://a:4222"], "", "", true), (["TLS://a"], "", "", true),
            (["tls://a", " tls://b"], "", "", true), (["nats://tls:4222"], "", "", false),
            (["nats://a"], "roots.pem", "", true), (["nats://a"], "", "node.pem", true),
        ])
    func isTLS(_ servers: [String], _ roots: String, _ certificate: String, _ isTLS: Bool) {
        var configuration = NATSConfiguration()
        configuration.servers = servers
        configuration.tlsRoots = roots
        configuration.tlsCertificate = certificate
        #expect(configuration.isTLS == isTLS)
    }
}
