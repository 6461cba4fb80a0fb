package import Logging
package import SinkKit
internal import Synchronization
internal import TrackingRules

/// Forgets subjects on this node: writes a tombstone, then visits every place that may have their
/// hits.
package final class SubjectEraser: SubjectForgetting {
    /// A place to visit.
    package struct Place: Sendable {
        let name: String
        let erase: @Sendable (Subject) async -> Erasure

        /// A sink, or another place that answers for itself.
        package init(_ name: String, _ erase: @escaping @Sendable (Subject) async -> Erasure) {
            (self.name, self.erase) = (name, erase)
        }

        /// A file whose rows are deleted.
        package init(
            file name: String, _ erase: @escaping @Sendable (Subject) async throws -> Int
        ) {
            self.name = name
            self.erase = { subject in
                do {
                    return .erased(try await erase(subject))
                } catch {
                    return .failed("\(error)")
                }
            }
        }
    }

    private let file: ForgottenFile
    private let keys: SubjectKeys
    private let places: @Sendable () -> [Place]
    private let logger: Logger
    private let isUnderWay = Atomic(false)

    /// Creates an eraser.
    ///
    /// - Parameters:
    ///   - keys: by which subjects are or were hashed.
    ///   - logger: records whose subject was forgotten, by tenant, and what each place did; never
    ///     the subject.
    ///   - places: where hits may be now.
    package init(
        _ file: ForgottenFile, keys: SubjectKeys, logger: Logger,
        places: @escaping @Sendable () -> [Place]
    ) {
        (self.file, self.keys, self.logger, self.places) = (file, keys, logger, places)
    }

    /// Erases what there is of a subject, one place after the other, and masks what comes of it.
    package func forget(_ id: String, of tenant: String) async throws -> ErasureReceipt {
        guard (1...Limits.nameBytes).contains(id.utf8.count) else {
            throw ErasureError.id(byteCount: id.utf8.count, limit: Limits.nameBytes)
        }
        guard !self.isUnderWay.exchange(true, ordering: .acquiring) else {
            throw ErasureError.busy
        }
        defer { self.isUnderWay.store(false, ordering: .releasing) }
        let subject = Subject(tenant: tenant, ids: self.keys.ids(of: id, tenant: tenant))
        // The tombstone first: what is delivered from now on, also after a crash, is masked.
        try await self.file.forget(subject)
        var places: [ErasureReceipt.Place] = []
        for place in self.places() {
            places.append(
                ErasureReceipt.Place(name: place.name, erasure: await place.erase(subject)))
        }
        let receipt = ErasureReceipt(places: places)
        self.tell(receipt, of: tenant)
        return receipt
    }

    private func tell(_ receipt: ErasureReceipt, of tenant: String) {
        let outcomes = receipt.places.map { place in
            (place.name, Logger.MetadataValue.string("\(place.erasure.outcome)"))
        }
        let erased = receipt.places.reduce(0) { $0 + $1.erasure.count }
        self.logger.log(
            level: receipt.hasFailed ? .warning : .info,
            receipt.hasFailed
                ? "a subject is forgotten, but not in each place: forget it again"
                : "a subject is forgotten",
            metadata: [
                "tenant": "\(tenant)", "erased": .stringConvertible(erased),
                "places": .dictionary(.init(outcomes) { $1 }),
            ])
    }
}

extension SubjectEraser.Place {
    /// The journal, whose records nothing can change.
    package static let journal = SubjectEraser.Place("journal") { _ in
        .impossible(
            "what is in it is delivered without the id; its records are overwritten as later "
                + "ones come in")
    }
}
