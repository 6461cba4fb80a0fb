// The public keys that tokens are checked with, from a JWKS file (RFC 7517).
//
// jwt-kit parses the keys and verifies signatures. Its choice of a key is not used: for an unknown
// kid it falls back to another key, and a key without `alg` keeps the algorithm of the first token.
// Here the pairs of key and algorithm are fixed when the file is read.
internal import Foundation
internal import JWTKit
internal import WireFormat

/// The keys of a JWKS file, by id and algorithm.
struct JWTKeySet: Sendable {
    /// The maximum number of keys in a file.
    static let maxKeys = 100
    /// The maximum bytes of a file.
    static let maxBytes = 1 << 20

    private let keys: [Key]

    private struct Key: Sendable {
        let id: String?
        let algorithms: [String: any JWTAlgorithm]
    }

    /// The verification algorithm, with its key, for a token's header.
    ///
    /// - Throws: `CredentialRefusal.unknownSigner` if the key is unknown, or if none is named and
    ///   there are several; `.algorithm` if the key does not allow the algorithm.
    func algorithm(for header: JWTHeader) throws(CredentialRefusal) -> any JWTAlgorithm {
        let named =
            header.keyID == nil && self.keys.count == 1
            ? self.keys.first : self.keys.first { Self.isID($0.id, header.keyID) }
        guard let key = named else { throw .unknownSigner }
        guard let algorithm = key.algorithms[header.algorithm] else { throw .algorithm }
        return algorithm
    }

    private static func isID(_ id: String?, _ named: String?) -> Bool {
        guard let id, let named else { return false }
        return id.equals(named)
    }

    // MARK: Reading the file

    /// Reads the keys that can be used with one of `algorithms`. Encryption keys are skipped.
    ///
    /// - Throws: `UnusableFileError` with the key and the problem.
    init(path: String, algorithms: [String]) async throws {
        let data = try ReadableFile.read(path, maxBytes: Self.maxBytes)
        guard let file = try? JSONDecoder().decode(File.self, from: data) else {
            throw UnusableFileError(
                description: "\(path) is no JWKS: an object with \"keys\" is needed (RFC 7517), "
                    + "and each of them with its \"kty\"")
        }
        guard file.keys.count <= Self.maxKeys else {
            throw UnusableFileError(
                description: "\(path) has \(file.keys.count) keys, the limit is \(Self.maxKeys)")
        }
        var keys: [Key] = []
        for (index, entry) in file.keys.enumerated() where entry.use != "enc" {
            let place = "\(path), key \(index + 1)"
            if let problem = entry.problem { throw UnusableFileError(description: place + problem) }
            let key = try await Self.key(entry, algorithms, place: place)
            if !key.algorithms.isEmpty { keys.append(key) }
        }
        let ids = keys.compactMap(\.id).map { ExactText($0) }
        guard !keys.isEmpty, keys.count == 1 || Set(ids).count == keys.count else {
            throw UnusableFileError(
                description: keys.isEmpty
                    ? "\(path) has no key for \(algorithms.joined(separator: ", "))"
                    : "\(path) has more than one key: each needs a \"kid\" of its own")
        }
        self.keys = keys
    }

    private static func key(
        _ entry: Entry, _ algorithms: [String], place: String
    ) async throws -> Key {
        var usable: [String: any JWTAlgorithm] = [:]
        for name in entry.possibleAlgorithms where algorithms.contains(name) {
            do {
                var jwk = entry.jwk
                jwk.algorithm = JWK.Algorithm(rawValue: name)
                jwk.keyIdentifier = JWKIdentifier(string: name)
                let collection = try await JWTKeyCollection().add(jwk: jwk)
                usable[name] = try await collection.getKey(for: JWKIdentifier(string: name))
            } catch {
                throw UnusableFileError(
                    description: "\(place) cannot be used with \(name): see that it is whole, and "
                        + "an RSA key of at least 2048 bits")
            }
        }
        return Key(id: entry.kid, algorithms: usable)
    }

    private struct File: Decodable {
        let keys: [Entry]
    }

    /// The members of a key that determine how it may be used.
    private struct Entry: Decodable {
        let kty: String
        let use: String?
        let kid: String?
        let alg: String?
        let crv: String?
        let isPrivate: Bool
        let jwk: JWK

        private enum Name: String, CodingKey {
            case kty, use, kid, alg, crv, d, k
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Name.self)
            self.kty = try members.decode(String.self, forKey: .kty)
            self.use = try members.decodeIfPresent(String.self, forKey: .use)
            self.kid = try members.decodeIfPresent(String.self, forKey: .kid)
            self.alg = try members.decodeIfPresent(String.self, forKey: .alg)
            self.crv = try members.decodeIfPresent(String.self, forKey: .crv)
            self.isPrivate = members.contains(.d) || members.contains(.k)
            // `problem` reports keys that jwt-kit does not support, with their position.
            let jwk = try? JWK(from: decoder)
            self.jwk = jwk ?? .rsa(nil, identifier: nil, modulus: nil, exponent: nil)
        }

        /// Why the key is unusable; nil if no reason is known yet.
        var problem: String? {
            if self.kty == "oct" {
                return " is symmetric (kty oct): whoever can check its tokens can forge them; use "
                    + "an RSA, EC or OKP key"
            }
            if self.isPrivate { return " is private (it has \"d\"): give the public key alone" }
            return nil
        }

        /// The algorithms that the key allows: its `alg`, or those of its type and curve.
        var possibleAlgorithms: [String] {
            let fitting: [String] =
                switch (self.kty, self.crv) {
                case ("RSA", _): ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
                case ("EC", "P-256"): ["ES256"]
                case ("EC", "P-384"): ["ES384"]
                case ("EC", "P-521"): ["ES512"]
                case ("OKP", "Ed25519"): ["EdDSA"]
                default: []
                }
            guard let alg = self.alg else { return fitting }
            return fitting.filter { $0 == alg }
        }
    }
}
