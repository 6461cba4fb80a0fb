internal import NIOHPACK
internal import Synchronization

/// Chooses the encoding of a call's answers. The transport uses the first encoding that a client
/// accepts, and most clients list "identity" first even if they compress. So the list is replaced
/// before the transport reads it.
enum AnswerEncoding {
    private static let requestHeader = "grpc-encoding"
    private static let acceptHeader = "grpc-accept-encoding"
    private static let compressed = ["gzip", "deflate"]

    /// The encoding that the client wants: its own requests' encoding if it accepts that, else the
    /// first supported one in its list. Nil for no compression.
    static func wanted(_ headers: HPACKHeaders) -> String? {
        let accepted = headers[canonicalForm: Self.acceptHeader].map { String($0) }
        let own = headers.first(name: Self.requestHeader)
        if let own, Self.compressed.contains(own), accepted.contains(own) { return own }
        let first = accepted.first { $0 == "identity" || Self.compressed.contains($0) }
        return first == "identity" ? nil : first
    }

    /// Removes a supported request encoding from a call's headers, because the edge inflates the
    /// messages. Unsupported ones stay, and the library refuses them.
    static func takeRequestEncoding(from headers: inout HPACKHeaders) -> String? {
        let encodings = headers[canonicalForm: Self.requestHeader].map { String($0) }
        guard encodings.count == 1, Self.compressed.contains(encodings[0]) else { return nil }
        headers.remove(name: Self.requestHeader)
        return encodings[0]
    }

    /// Replaces the list of accepted encodings by a single one.
    static func set(_ encoding: String?, in headers: inout HPACKHeaders) {
        // The transport keeps the headers as long as the stream lives: avoid spare capacity.
        headers.reserveCapacity(headers.count + 1)
        headers.replaceOrAdd(
            name: Self.acceptHeader, value: encoding ?? "identity", indexing: .nonIndexable)
    }
}

/// Limits the number of compressors. Each takes about 270 KB while its stream is open, so clients
/// that merely list an encoding could exhaust the memory.
final class CompressorBudget: Sendable {
    private let taken = Atomic(0)
    private let limit: Int

    /// Creates a budget of `limit` compressors.
    init(limit: Int) { self.limit = limit }

    /// Takes a compressor; false if the limit is reached, and answers are then not compressed.
    func take() -> Bool {
        if self.taken.wrappingAdd(1, ordering: .relaxed).newValue <= self.limit { return true }
        self.giveBack()
        return false
    }

    /// Returns a compressor.
    func giveBack() { self.taken.wrappingSubtract(1, ordering: .relaxed) }
}
