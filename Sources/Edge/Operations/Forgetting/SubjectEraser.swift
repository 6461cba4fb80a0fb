package import Logging
internal import Pacing
internal import ServiceLifecycle
package import SinkKit
internal import Synchronization
internal import TrackingRules

/// Forgets subjects on this node. `forget` writes a tombstone, then erases the subject in every
/// place that may have its hits, one after the other, and returns a receipt. Later hits of the
/// subject are masked before delivery. One subject at a time, in the order of the calls, of which a
/// tenant has one at a time: so it cannot keep the others from their turns.
///
/// It never changes the journal's records, never reaches another node, and never logs a subject.
package final class SubjectEraser: SubjectForgetting {
    /// A place to visit.
    package struct Place: Sendable {
        let name: String
        let erase: @Sendable (Subject) async -> Erasure

        /// A sink, or another place that reports its own result.
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
    private let lock = AsyncLock()
    /// The tenants of which a subject is being forgotten, or waits for its turn.
    private let underWay = Mutex<Set<[UInt8]>>([])

    /// Creates an eraser.
    ///
    /// - Parameters:
    ///   - keys: the keys that hash subjects, or hashed them earlier.
    ///   - logger: records each forgetting by tenant, and the result of each place; never the
    ///     subject.
    ///   - places: where hits may be now.
    package init(
        _ file: ForgottenFile, keys: SubjectKeys, logger: Logger,
        places: @escaping @Sendable () -> [Place]
    ) {
        (self.file, self.keys, self.logger, self.places) = (file, keys, logger, places)
    }

    /// Erases a subject's hits, one place after the other, and masks its later ones.
    package func forget(_ id: String, of tenant: String) async throws -> ErasureReceipt {
        guard (1...Limits.nameBytes).contains(id.utf8.count) else {
            throw ErasureError.id(byteCount: id.utf8.count, limit: Limits.nameBytes)
        }
        let owner = Array(tenant.utf8)
        guard self.underWay.withLock({ $0.insert(owner).inserted }) else {
            throw ErasureError.busy
        }
        defer { _ = self.underWay.withLock { $0.remove(owner) } }
        let place = self.lock.enqueue()
        defer { place.leave() }
        guard await Self.waitForTurn(place) else { throw ErasureError.stopping }
        let subject = Subject(tenant: tenant, ids: self.keys.ids(of: id, tenant: tenant))
        // First the tombstone, so that every later delivery is masked, even after a crash.
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

    /// Waits until no other subject is being forgotten; false if the server stops before.
    private static func waitForTurn(_ place: AsyncLock.Place) async -> Bool {
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await place.acquire()
            } onGracefulShutdown: {
                place.cancel()
            }
        } onCancel: {
            place.cancel()
        }
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
    /// The journal: its records cannot be changed.
    package static let journal = SubjectEraser.Place("journal") { _ in
        .impossible(
            "what is in it is delivered without the id; its records are overwritten as later "
                + "ones come in")
    }
}
