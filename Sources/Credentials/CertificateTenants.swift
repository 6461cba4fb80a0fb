// The tenants of client certificates: a YAML map from a name in the certificate to a tenant.
internal import Foundation
internal import X509
internal import Yams

/// Tenants by the DNS names and URIs of certificates.
struct CertificateTenants: Sendable {
    /// Bytes that the map's file may have.
    static let maxBytes = 1 << 20

    private let tenants: [String: Tenant]

    /// Reads the map, a line `NAME: TENANT` for each.
    ///
    /// - Throws: `UnusableFileError` with the file's place.
    init(path: String) throws {
        let data = try ReadableFile.read(path, maxBytes: Self.maxBytes)
        guard let text = String(validating: data, as: UTF8.self),
            // What the parser says is long, and could hold the lines beside the place.
            let root = try? Yams.compose(yaml: text), let mapping = root.mapping
        else {
            throw UnusableFileError(
                description: "\(path) is no YAML map: write lines such as "
                    + "\"push.example.com: tenant-a\"")
        }
        var tenants: [String: Tenant] = [:]
        for (key, value) in mapping {
            let place = "\(path):\(key.mark?.line ?? 1)"
            guard let name = key.scalar?.string, !name.isEmpty,
                let tenant = value.scalar.flatMap({ Tenant($0.string) })
            else {
                throw UnusableFileError(
                    description: "\(place) has to be a DNS name or a URI, and its tenant: "
                        + Tenant.rule)
            }
            tenants[name] = tenant
        }
        self.tenants = tenants
    }

    /// Who a certificate stands for. The transport has checked its chain and its dates. A stream
    /// ends when its certificate expires.
    func principal(of certificate: Certificate, now: Int64) throws(CredentialRefusal) -> Principal {
        guard let tenant = Self.names(of: certificate).lazy.compactMap({ self.tenants[$0] }).first
        else { throw .certificate }
        let end = certificate.notValidAfter.timeIntervalSince1970 * 1_000_000
        let expiry = Int64(exactly: end.rounded()) ?? .max
        guard now < expiry else { throw .expired }
        return Principal(tenant: tenant, proof: .certificate, expiry: expiry)
    }

    /// DNS names and URIs, in the certificate's order. Its common name is not looked at: anything
    /// may stand there.
    private static func names(of certificate: Certificate) -> [String] {
        // An extension that cannot be read names nobody.
        guard let names = try? certificate.extensions.subjectAlternativeNames else { return [] }
        return names.compactMap { name in
            switch name {
            case .dnsName(let name), .uniformResourceIdentifier(let name): name
            default: nil
            }
        }
    }
}
