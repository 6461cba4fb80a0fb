// How a call's answers are compressed. The transport takes the first encoding that a client lists
// as acceptable, and most clients list "identity" first also when they compress what they send; so
// the list is put in order before the transport reads it.
internal import NIOHPACK
internal import Synchronization

/// The choice of an encoding for answers.
enum AnswerEncoding {
    private static let requestHeader = "grpc-encoding"
    private static let acceptHeader = "grpc-accept-encoding"
    private static let compressed = ["gzip", "deflate"]

    /// The encoding that the client asks for: that of its own requests where it takes it back, or
    /// else the first of its list that is known here. Nil: plain.
    static func wanted(_ headers: HPACKHeaders) -> String? {
        let accepted = headers[canonicalForm: Self.acceptHeader].map { String($0) }
        let own = headers.first(name: Self.requestHeader)
        if let own, Self.compressed.contains(own), accepted.contains(own) { return own }
        let first = accepted.first { $0 == "identity" || Self.compressed.contains($0) }
        return first == "identity" ? nil : first
    }

    /// Takes the encoding of requests out of a call's head, where it is one of ours: the library
    /// gets the messages plain, and says itself what it thinks of other encodings.
    static func takeRequestEncoding(from headers: inout HPACKHeaders) -> String? {
        let encodings = headers[canonicalForm: Self.requestHeader].map { String($0) }
        guard encodings.count == 1, Self.compressed.contains(encodings[0]) else { return nil }
        headers.remove(name: Self.requestHeader)
        return encodings[0]
    }

    /// Leaves one encoding in the list.
    static func set(_ encoding: String?, in headers: inout HPACKHeaders) {
        // The transport keeps them as long as the stream lives: no more room than they need.
        headers.reserveCapacity(headers.count + 1)
        headers.replaceOrAdd(
            name: Self.acceptHeader, value: encoding ?? "identity", indexing: .nonIndexable)
    }
}

/// Compressors that may exist at once. Each takes about 270 KB as long as its stream is open, so
/// without a bound a client that lists an encoding and sends nothing would take the memory of all.
final class CompressorBudget: Sendable {
    private let taken = Atomic(0)
    private let limit: Int

    /// A budget of which nothing is taken.
    init(limit: Int) { self.limit = limit }

    /// Takes one; false where all are taken: the answers go out plain.
    func take() -> Bool {
        if self.taken.wrappingAdd(1, ordering: .relaxed).newValue <= self.limit { return true }
        self.giveBack()
        return false
    }

    /// Gives one back.
    func giveBack() { self.taken.wrappingSubtract(1, ordering: .relaxed) }
}
