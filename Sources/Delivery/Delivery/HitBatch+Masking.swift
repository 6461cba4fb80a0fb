package import SinkKit
package import TrackingRules
internal import WireFormat

extension ForgottenSubjects {
    /// The hashes of a subject's ids.
    package func hashes(of subject: Subject) -> [KeyedHash.Value] {
        self.hashes(of: subject.ids, tenant: subject.tenant)
    }
}

extension HitBatch {
    /// Reasons that a sink gave for hits of the batch, with `*` in place of the ids in the batch
    /// that were forgotten: a reason may be older than that, and quote whom it was about.
    ///
    /// - Throws: `DamagedPayload`.
    func masked<Place: Hashable>(
        _ reasons: [Place: String], by forgotten: ForgottenSubjects
    ) throws -> [Place: String] {
        let subjects = try self.subjects(among: forgotten)
        return reasons.mapValues { reason in subjects.reduce(reason) { $1.masked($0) ?? $0 } }
    }

    /// The subjects in the batch that were forgotten, each by the id that stands there.
    private func subjects(among forgotten: ForgottenSubjects) throws -> [Subject] {
        if forgotten.isEmpty { return [] }
        var subjects: [Subject] = []
        try self.forEachEvent { event, request in
            guard forgotten.contains(event.subjectID, tenant: request.tenant) else { return }
            let subject = Subject(tenant: request.tenant.text, ids: [event.subjectID.text])
            if !subjects.contains(subject) { subjects.append(subject) }
        }
        return subjects
    }

    /// The batch without the subjects that were forgotten: the same hits at the same positions.
    ///
    /// - Throws: `DamagedPayload`, or `WireError`.
    func masked(by forgotten: ForgottenSubjects) throws -> HitBatch {
        if forgotten.isEmpty { return self }
        var isConcerned = false
        try self.forEachEvent { event, request in
            guard !isConcerned else { return }
            isConcerned = forgotten.contains(event.subjectID, tenant: request.tenant)
        }
        guard isConcerned else { return self }
        var payload: [UInt8] = []
        payload.reserveCapacity(self.payload.count)
        var groups: [Group] = []
        try self.forEachGroup { group, bytes in
            let start = payload.count
            _ = try HitEncoding.append(
                to: &payload, from: bytes,
                masked: { forgotten.contains($0.subjectID, tenant: $1.tenant) })
            groups.append(
                Group(
                    sequence: group.sequence, positions: group.positions,
                    bytes: start..<payload.count))
        }
        return HitBatch(
            journal: self.journal, sequence: self.sequence, payload: payload,
            eventCount: self.eventCount, groups: groups)
    }
}

extension Hit {
    /// Calls `body` with the hit, without its subject if that was forgotten.
    ///
    /// - Throws: `WireError` if a masked event's bytes are not fields.
    func withMask(_ forgotten: ForgottenSubjects, _ body: (Hit) -> Void) throws {
        guard forgotten.contains(self.subjectID, tenant: self.request.tenant) else {
            return body(self)
        }
        try self.entry.withoutSubject { event in
            body(Hit(entry: event, kind: self.kind, request: self.request))
        }
    }
}
