internal import Foundation
package import GRPCCore

/// A file with an API key or a token. It is read for every stream and call, so that it may be
/// replaced while the client runs. Its contents are never logged.
package struct ClientCredential: Sendable, Equatable {
    /// The maximum bytes of a key or token.
    package static let maxBytes = 16 << 10

    /// The path of the file.
    package let path: String

    /// Creates a reference to the file; reads nothing yet.
    package init(path: String) { self.path = path }

    /// The metadata of calls.
    ///
    /// - Throws: `TrackingClientError.badCredential`.
    package var metadata: Metadata {
        get throws(TrackingClientError) {
            guard let handle = FileHandle(forReadingAtPath: self.path) else {
                throw .badCredential(path: self.path, reason: "cannot be read")
            }
            // A failed close of a file that was only read loses nothing.
            defer { try? handle.close() }
            let data: Data?
            do {
                // One byte more for a newline, and one to detect a file that is too large.
                data = try handle.read(upToCount: Self.maxBytes + 2)
            } catch {
                throw .badCredential(path: self.path, reason: "cannot be read")
            }
            var text = Array(data ?? Data())
            if text.last == UInt8(ascii: "\n") { text.removeLast() }
            if text.last == UInt8(ascii: "\r") { text.removeLast() }
            guard (1...Self.maxBytes).contains(text.count), text.allSatisfy({ 0x21...0x7e ~= $0 })
            else {
                throw .badCredential(
                    path: self.path,
                    reason: "has to hold one line with a key or a token, of at most "
                        + "\(Self.maxBytes) characters")
            }
            return ["authorization": "Bearer \(String(decoding: text, as: UTF8.self))"]
        }
    }
}
