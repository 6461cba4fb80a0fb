// What a command says where TLS is why it got no answer.
internal import GRPCCore
internal import SightlineClient
internal import Testing
internal import WireFormat
internal import sightline

struct TLSFaultTests {
    private struct Failure: Error, CustomStringConvertible { let description: String }

    /// A stack of errors as the TLS library describes it.
    private static func stack(_ codes: String...) -> String {
        let errors = codes.map {
            "Error: 1 error:1:SSL routines:OPENSSL_internal:\($0) at "
                + "/home/a/.build/checkouts/swift-nio-ssl/ssl/b.cc:1"
        }
        return "handshakeFailed(BoringSSLError.sslError([\(errors.joined(separator: ", "))]))"
    }

    @Test(
        "each failure of TLS is told in words that name no file of a library",
        arguments: [
            (Self.stack("WRONG_VERSION_NUMBER"), "does not speak TLS", "Leave out --tls"),
            (
                Self.stack("BAD_SIGNATURE", "public key routines", "CERTIFICATE_VERIFY_FAILED"),
                "is not signed by these roots", "--tls-roots FILE"
            ),
            (
                "NIOSSLExtraError.failedToValidateHostname: Couldn't find a.test in certificate",
                "for another name: Couldn't find a.test", "--target HOST:PORT"
            ),
            (
                Self.stack("TLSV1_ALERT_CERTIFICATE_REQUIRED"), "asks for a client certificate",
                "--client-certificate FILE"
            ),
            (
                Self.stack("SSLV3_ALERT_CERTIFICATE_UNKNOWN"), "refuses the client certificate",
                "tls.client_roots"
            ),
            (Self.stack("NO_SHARED_CIPHER"), "TLS failed (NO_SHARED_CIPHER)", "the server runs"),
            ("sslError([Error:  EOF during handshake])", "during the TLS handshake", "server runs"),
            ("MissingPreface(file: \"A.swift\", line: 1)", "MissingPreface", "the server runs"),
        ])
    func told(cause: String, words: String, fix: String) {
        let error = RPCError(
            code: .unavailable, message: "It closed.", cause: Failure(description: cause))
        let failure = StreamFailure(error, security: .tls())
        let text = "\(TrackingClientError(failure, target: "a:1"))"
        #expect(text.contains(words), "\(text)")
        #expect(text.contains(fix), "\(text)")
        for word in ["OPENSSL", "/home", ".cc", ".swift", ".."] {
            #expect(!text.contains(word), "\(text)")
        }
    }

    @Test("a plaintext connection that ends before HTTP/2 is told to try TLS, one by TLS is not")
    func closedInPlaintext() {
        let error = RPCError(
            code: .unavailable, message: "It closed before the HTTP/2 connection preface.")
        let plaintext = StreamFailure(error, security: ClientSecurity())
        #expect(plaintext.isClosedInPlaintext)
        let text = "\(TrackingClientError(plaintext, target: "a:1"))"
        #expect(text.contains("speaks TLS: --tls-roots FILE"), "\(text)")
        #expect(!StreamFailure(error, security: .tls()).isClosedInPlaintext)
    }

    @Test(
        "files that cannot be used are named by what they lack",
        arguments: [
            ("transportError: \"a\" (cause: \"failedToLoadCertificate\")", "holds none in PEM"),
            ("failedToLoadPrivateKey", "no private key in PEM"),
            ("noSuchFilesystemObject", "holds none in PEM"),
        ])
    func files(text: String, words: String) {
        #expect(String(reasonOf: Failure(description: text)).contains(words))
    }
}
