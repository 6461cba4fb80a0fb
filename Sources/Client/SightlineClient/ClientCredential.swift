internal import Foundation
package import GRPCCore

/// An API key or a token, as text or in a file. The file is read for every stream and call, so that
/// it can be replaced while the client runs. The secret is never logged.
public struct ClientCredential: Sendable, Equatable, CustomStringConvertible {
    /// The maximum bytes of a key or token.
    public static let maxBytes = 16 << 10

    private enum Source: Sendable, Equatable {
        case text(String)
        case file(path: String)
    }

    private let source: Source

    /// Uses a key or token.
    public init(_ text: String) { self.source = .text(text) }

    /// Refers to a file; reads nothing yet.
    public init(path: String) { self.source = .file(path: path) }

    /// The credential's source, without the secret.
    public var description: String {
        switch self.source {
        case .text: return "a key or token"
        case .file(let path): return path
        }
    }

    /// The metadata of calls.
    ///
    /// - Throws: `SightlineClientError.badCredential`.
    package var metadata: Metadata {
        get throws(SightlineClientError) {
            var text: [UInt8]
            switch self.source {
            case .text(let given): text = Array(given.utf8)
            case .file(let path): text = try Self.contents(of: path)
            }
            if text.last == UInt8(ascii: "\n") { text.removeLast() }
            if text.last == UInt8(ascii: "\r") { text.removeLast() }
            guard (1...Self.maxBytes).contains(text.count), text.allSatisfy({ 0x21...0x7e ~= $0 })
            else {
                throw .badCredential(
                    path: self.description,
                    reason: "has to hold one line with a key or a token, of at most "
                        + "\(Self.maxBytes) characters")
            }
            return ["authorization": "Bearer \(String(decoding: text, as: UTF8.self))"]
        }
    }

    private static func contents(of path: String) throws(SightlineClientError) -> [UInt8] {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw .badCredential(path: path, reason: "cannot be read")
        }
        // The file was only read, so a failed close loses nothing.
        defer { try? handle.close() }
        do {
            // One byte more for a newline, and one to detect a file that is too large.
            return Array(try handle.read(upToCount: Self.maxBytes + 2) ?? Data())
        } catch {
            throw .badCredential(path: path, reason: "cannot be read")
        }
    }
}
