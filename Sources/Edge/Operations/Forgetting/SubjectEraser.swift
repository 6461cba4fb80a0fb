package import Logging
internal import Pacing
internal import ServiceLifecycle
package import SinkKit
internal import Synchronization
internal import TrackingRules

/// Forgets subjects on this node. `forget` writes a tombstone, then erases the subject in every
/// place that may have its hits, one after the other, and returns a receipt. Later hits of the
/// subject are masked before delivery. One piece of an erasure at a time, by tenants in turn, each
/// of which has one call at a time: so none keeps the others waiting, and a stop waits for a piece.
///
/// It never changes the journal's records, never reaches another node, and never logs a subject.
package final class SubjectEraser: SubjectForgetting {
    /// A place to visit.
    package struct Place: Sendable {
        let name: String
        let erase: @Sendable (Subject) async -> ErasurePiece

        /// A sink or a file, by the first piece of an erasure there.
        package init(
            _ name: String, _ erase: @escaping @Sendable (Subject) async -> ErasurePiece
        ) {
            (self.name, self.erase) = (name, erase)
        }
    }

    private let file: ForgottenFile
    private let keys: SubjectKeys
    private let places: @Sendable () -> [Place]
    private let logger: Logger
    /// Held for a piece of an erasure.
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
        let line = TurnLine(tenant: owner, stream: ObjectIdentifier(self))
        let subject = Subject(tenant: tenant, ids: self.keys.ids(of: id, tenant: tenant))
        // First the tombstone, so that every later delivery is masked, even after a crash.
        let isForgotten: Bool? = try await self.inTurn(of: line, endsIfCancelled: true) {
            try await self.file.forget(subject)
            return true
        }
        guard isForgotten != nil else { throw ErasureError.stopping }
        var places: [ErasureReceipt.Place] = []
        for place in self.places() {
            let erasure = await self.erase(subject, in: place, line)
            places.append(ErasureReceipt.Place(name: place.name, erasure: erasure))
        }
        let receipt = ErasureReceipt(places: places)
        self.tell(receipt, of: tenant)
        return receipt
    }

    /// Erases a subject in a place, piece by piece. A caller that has gone does not end what it has
    /// begun: one that never waits long enough would never get to the end.
    private func erase(_ subject: Subject, in place: Place, _ line: TurnLine) async -> Erasure {
        var next: @Sendable () async -> ErasurePiece = { await place.erase(subject) }
        while let piece = await self.inTurn(of: line, next) {
            switch piece {
            case .last(let erasure): return erasure
            case .followed(let following): next = following
            }
        }
        return .failed("\(ErasureError.stopping)")
    }

    /// Does a piece in its tenant's turn, while no other is done.
    ///
    /// - Returns: nil if the server stops before.
    private func inTurn<Value: Sendable>(
        of line: TurnLine, endsIfCancelled: Bool = false, _ body: () async throws -> Value
    ) async rethrows -> Value? {
        let place = self.lock.enqueue(in: line)
        defer { place.leave() }
        let hasTurn = await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await place.acquire()
            } onGracefulShutdown: {
                place.cancel()
            }
        } onCancel: {
            if endsIfCancelled { place.cancel() }
        }
        guard hasTurn, !place.isCancelled else { return nil }
        return try await body()
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
        .last(
            .impossible(
                "what is in it is delivered without the id; its records are overwritten as later "
                    + "ones come in"))
    }
}
