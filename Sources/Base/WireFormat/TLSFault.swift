/// What is wrong with a TLS connection or its files, in our own words.
///
/// The TLS library describes an error by its number, its code and a place in the library's sources,
/// on the machine that built it. Of that only the code is of use: it can be searched for.
package enum TLSFault: Sendable, Equatable, CustomStringConvertible {
    /// The peer answers in plaintext.
    case plaintextPeer
    /// No trusted authority has signed the peer's certificate, or it is not valid now.
    case untrustedCertificate
    /// The peer's certificate has other names. The text is the library's: it has the name.
    case wrongName(String)
    /// The peer asks for a certificate, and got none.
    case certificateRequired
    /// The peer refuses the certificate that it got.
    case certificateRefused(code: String)
    /// The peer closed the connection during the handshake.
    case closedInHandshake
    /// A file of certificates or roots holds none.
    case unusableCertificate
    /// A key's file holds none, or the key of another certificate.
    case unusableKey
    /// Anything else.
    case other(code: String)

    /// The fault that an error tells of; nil for an error of something else.
    ///
    /// The TLS library's types are not public in all their parts, and wrap each other: their texts
    /// are.
    package init?(_ error: any Error) { self.init(text: "\(error)") }

    /// The fault that an error's text tells of.
    package init?(text: String) {
        if let code = Self.code(in: text) {
            self.init(code: code)
        } else if let name = Self.rest(of: text, after: "failedToValidateHostname") {
            self = .wrongName(String(name.drop { $0 == ":" || $0 == " " }))
        } else if text.contains("EOF during handshake") {
            self = .closedInHandshake
        } else if text.contains("failedToLoadCertificate")
            || text.contains("noSuchFilesystemObject")
        {
            self = .unusableCertificate
        } else if text.contains("failedToLoadPrivateKey")
            || text.contains("unknownPrivateKeyFileType")
        {
            self = .unusableKey
        } else {
            return nil
        }
    }

    private init(code: String) {
        switch code {
        case "WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST": self = .plaintextPeer
        case "CERTIFICATE_VERIFY_FAILED": self = .untrustedCertificate
        case "TLSV1_ALERT_CERTIFICATE_REQUIRED": self = .certificateRequired
        case "SSLV3_ALERT_BAD_CERTIFICATE", "SSLV3_ALERT_CERTIFICATE_EXPIRED",
            "SSLV3_ALERT_CERTIFICATE_REVOKED", "SSLV3_ALERT_CERTIFICATE_UNKNOWN",
            "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE", "TLSV1_ALERT_ACCESS_DENIED",
            "TLSV1_ALERT_UNKNOWN_CA":
            self = .certificateRefused(code: code)
        case "KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH": self = .unusableKey
        default: self = .other(code: code)
        }
    }

    /// What is wrong, with the library's code if it says more.
    package var description: String {
        switch self {
        case .plaintextPeer: "this port does not speak TLS (WRONG_VERSION_NUMBER)"
        case .untrustedCertificate:
            "the server's certificate is not signed by these roots, or is not valid now "
                + "(CERTIFICATE_VERIFY_FAILED)"
        case .wrongName(let text):
            "the server's certificate is for another name" + (text.isEmpty ? "" : ": \(text)")
        case .certificateRequired: "the server asks for a client certificate, and got none"
        case .certificateRefused(let code): "the server refuses the client certificate (\(code))"
        case .closedInHandshake: "the server closed the connection during the TLS handshake"
        case .unusableCertificate: "a file of certificates holds none in PEM"
        case .unusableKey:
            "the key's file holds no private key in PEM, or the key of another certificate"
        case .other(let code): "TLS failed (\(code))"
        }
    }

    /// The last code of the library's stack of errors: the ones before it led to that.
    private static func code(in text: String) -> String? {
        let mark = "OPENSSL_internal:"
        var rest = text[...]
        var found: Substring?
        while let place = rest.firstRange(of: mark) {
            rest = rest[place.upperBound...]
            let end = rest.firstRange(of: " at ")?.lowerBound ?? rest.endIndex
            found = rest[..<end]
            rest = rest[end...]
        }
        return found.map(String.init)
    }

    private static func rest(of text: String, after mark: String) -> Substring? {
        guard let place = text.firstRange(of: mark) else { return nil }
        let rest = text[place.upperBound...]
        return rest.prefix { $0 != "\"" && $0 != ")" }
    }
}

extension String {
    /// What an error says, for people: without the places in a library's sources. Those of HTTP/2
    /// stand behind the error's name: `MissingPreface(file: "…", line: 1)`.
    package init(reasonOf error: any Error) {
        let text = "\(error)"
        if let fault = TLSFault(text: text) {
            self = fault.description
        } else if let place = text.firstRange(of: "(file: \"") {
            self = String(text[..<place.lowerBound])
        } else {
            self = text
        }
    }
}
