// Which versions of TLS the server's own requests take.
internal import HTTPClients
internal import NIOSSL
internal import Testing

struct OutboundTLSTests {
    @Test(
        "a request needs TLS 1.2 or later, with roots of its own and without",
        arguments: ["", "/etc/roots.pem"])
    func versions(_ roots: String) {
        let configuration = TLSConfiguration.outbound(roots: roots)
        #expect(configuration.minimumTLSVersion == .tlsv12)
        #expect(configuration.maximumTLSVersion == nil)
    }
}
