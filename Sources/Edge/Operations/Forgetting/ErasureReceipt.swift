package import SinkKit

/// What forgetting a subject has done in each place.
package struct ErasureReceipt: Codable, Sendable, Equatable {
    /// A place where its hits may be.
    package struct Place: Codable, Sendable, Equatable {
        /// A sink's name, or a file's.
        package let name: String
        /// The result there.
        package let erasure: Erasure

        /// Creates a line of the receipt.
        package init(name: String, erasure: Erasure) { (self.name, self.erasure) = (name, erasure) }
    }

    /// The places, in the order in which they were visited.
    package let places: [Place]

    /// Creates a receipt.
    package init(places: [Place]) { self.places = places }

    /// Whether the subject has to be forgotten again, because a place failed.
    package var hasFailed: Bool { self.places.contains { $0.erasure.outcome == .failed } }
}

/// Forgets subjects.
package protocol SubjectForgetting: Sendable {
    /// Erases a subject's hits, and masks its later ones.
    ///
    /// - Throws: `ErasureError`, or SQLite's error; then nothing was done.
    func forget(_ id: String, of tenant: String) async throws -> ErasureReceipt
}

/// Why a subject cannot be forgotten.
package enum ErasureError: Error, CustomStringConvertible {
    /// The id is empty, or longer than one can be.
    case id(byteCount: Int, limit: Int)
    /// The tenant has its share of the tombstones, and there are none left.
    case full(limit: Int)
    /// Another subject of the tenant is being forgotten.
    case busy
    /// The server stops before it is the tenant's turn.
    case stopping

    /// Whether the request itself is wrong, so that repeating it is useless.
    package var isOfRequest: Bool {
        if case .id = self { true } else { false }
    }

    /// What happened, and the fix.
    package var description: String {
        switch self {
        case .id(let byteCount, let limit):
            "the subject's id has \(byteCount) bytes: give one of 1 to \(limit)"
        case .full(let limit):
            "privacy.max_forgotten is \(limit), and of that the tenant has its share: raise it"
        case .busy: "another subject of the tenant is being forgotten: wait for its end"
        case .stopping: "the server is stopping: ask again"
        }
    }
}
