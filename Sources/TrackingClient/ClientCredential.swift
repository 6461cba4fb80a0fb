// Who the client is, to a server that asks: an API key or a token, from a file.
internal import Foundation
internal import GRPCCore

/// A file that holds an API key or a token. It is read for every stream and call, so that a new one
/// can be put in its place while the client runs; what it holds is never shown.
package struct ClientCredential: Sendable, Equatable {
    /// Characters that a key or token may have.
    package static let maxBytes = 16 << 10

    /// Where it is.
    package let path: String

    /// The credential in a file.
    package init(path: String) { self.path = path }

    /// What calls carry. Throws `TrackingClientError.badCredential`.
    var metadata: Metadata {
        get throws(TrackingClientError) {
            guard let handle = FileHandle(forReadingAtPath: self.path) else {
                throw .badCredential(path: self.path, reason: "cannot be read")
            }
            // Closed twice at worst, and there is nothing to do about it.
            defer { try? handle.close() }
            let data: Data?
            do {
                // One more for the newline, and one to see that there is too much.
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
