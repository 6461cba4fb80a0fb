internal import WireFormat

/// What is recorded of the recipients' ids: the ids as they were sent, or keyed hashes of them; of
/// those who were forgotten, and of ids that an event has besides the one that counts, nothing.
///
/// Forgotten are ids as they are sent, whatever hashes them: the key of `privacy.key_file` may be
/// another one by then, or there may have been none.
struct SubjectRecording: Sendable {
    /// Hashes the ids; nil leaves them as sent.
    let hash: KeyedHash?
    /// Those whose ids are left out.
    let forgotten: ForgottenSubjects

    /// Whether every event with one subject is recorded as it was sent.
    var changesNothing: Bool { self.hash == nil && self.forgotten.isEmpty }

    /// How a tenant's event is changed before the rules see it; nil: not at all.
    ///
    /// - Parameter event: the event as it was sent.
    /// - Throws: `WireError` if the event's bytes are not fields.
    func change(_ event: EventView, tenant: Bytes) throws(WireError) -> ChangedEvent? {
        let subject = event.subjectID
        if subject.isEmpty, !event.hasFormerSubject { return nil }
        let isForgotten = self.forgotten.contains(subject, tenant: tenant)
        let hash = subject.isEmpty ? nil : self.hash?(tenant: tenant, subject: subject).text
        guard hash != nil || isForgotten || event.hasFormerSubject else { return nil }
        return ChangedEvent(
            change: try SubjectChange(
                of: event.bytes, to: isForgotten ? [] : hash ?? Array(subject)),
            hash: hash, isForgotten: isForgotten)
    }
}

/// An event that is recorded with another subject than it was sent with, or without one.
struct ChangedEvent {
    /// The bytes that are recorded.
    let change: SubjectChange
    /// The hash in place of the id; nil: the rules see the id as it was sent.
    let hash: [UInt8]?
    /// Whether its recipient was forgotten. The keys of its hits are the same as before, so that
    /// what is sent again counts no second time.
    let isForgotten: Bool

    /// Calls `body` with the view of the changed event. Only the event's bytes and the subject are
    /// new: the view's other slices still point into the event as it was sent.
    @inline(__always)
    func withView(of sent: EventView, _ body: (EventView) -> Void) {
        self.change.bytes.withUnsafeBytes { bytes in
            var event = sent
            event.bytes = bytes
            guard let hash = self.hash else { return body(event) }
            hash.withUnsafeBytes { subject in
                event.subjectID = subject
                body(event)
            }
        }
    }
}
