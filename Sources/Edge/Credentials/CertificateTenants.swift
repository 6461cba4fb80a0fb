internal import Foundation
internal import WireFormat
internal import X509
internal import Yams

/// Maps the DNS names and URIs of client certificates to tenants, as read from a YAML file.
struct CertificateTenants: Sendable {
    /// The maximum bytes of the file.
    static let maxBytes = 1 << 20

    private let tenants: [ExactText: Tenant]

    /// Reads the file, a line `NAME: TENANT` for each name.
    ///
    /// - Throws: `UnusableFileError` with the position in the file.
    init(path: String) throws {
        let data = try ReadableFile.read(path, maxBytes: Self.maxBytes)
        guard let text = String(validating: data, as: UTF8.self),
            // The parser's message is long and may quote lines of the file.
            let root = try? Yams.compose(yaml: text), let mapping = root.mapping
        else {
            throw UnusableFileError(
                description: "\(path) is no YAML map: write lines such as "
                    + "\"push.example.com: tenant-a\"")
        }
        var tenants: [ExactText: Tenant] = [:]
        for (key, value) in mapping {
            let place = "\(path):\(key.mark?.line ?? 1)"
            guard let name = key.scalar?.string, !name.isEmpty,
                let tenant = value.scalar.flatMap({ Tenant($0.string) })
            else {
                throw UnusableFileError(
                    description: "\(place) has to be a DNS name or a URI, and its tenant: "
                        + Tenant.rule)
            }
            tenants[ExactText(name)] = tenant
        }
        self.tenants = tenants
    }

    /// The principal of a certificate, whose chain and dates the transport has verified. A stream
    /// ends when its certificate expires.
    func principal(of certificate: Certificate, now: Int64) throws(CredentialRefusal) -> Principal {
        let names = Self.names(of: certificate)
        guard let tenant = names.lazy.compactMap({ self.tenants[ExactText($0)] }).first else {
            throw .certificate
        }
        let end = certificate.notValidAfter.timeIntervalSince1970 * 1_000_000
        let expiry = Int64(exactly: end.rounded()) ?? .max
        guard now < expiry else { throw .expired }
        return Principal(tenant: tenant, proof: .certificate, expiry: expiry)
    }

    /// The certificate's DNS names and URIs, in its order. Its common name is ignored, since CAs do
    /// not restrict what it contains.
    private static func names(of certificate: Certificate) -> [String] {
        // An unreadable extension contributes no names.
        guard let names = try? certificate.extensions.subjectAlternativeNames else { return [] }
        return names.compactMap { name in
            switch name {
            case .dnsName(let name), .uniformResourceIdentifier(let name): name
            default: nil
            }
        }
    }
}
