// Fuzzes admission. The first byte of an input selects the message type and the settings; the rest
// is the request. SwiftProtobuf is the reference for parsing, and the journal's encoding must be
// readable.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
@testable internal import TrackingRules
@testable internal import W3CTrace
@testable internal import WireFormat

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzAdmission(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Bytes(start: data, count: count)
    guard let choices = input.first else { return 0 }
    AdmissionFuzzer(choices: choices).run(Bytes(rebasing: input.dropFirst()))
    return 0
}

/// One message and one choice of settings.
private struct AdmissionFuzzer {
    private static let receiveTime: Int64 = 1_800_000_000_000_000
    /// Limits that inputs of a few KiB can reach.
    private static let smallLimits: Limits = {
        var limits = Limits()
        (limits.requestBytes, limits.requestEvents, limits.eventBytes) = (3072, 24, 1024)
        return limits
    }()

    private let admission: Admission
    private let isStream: Bool

    init(choices: UInt8) {
        self.isStream = choices & 1 == 0
        var policy = Policy()
        policy.trackUnspecifiedConsent = choices & 2 == 0
        policy.recordTestMessages = choices & 4 != 0
        let limits = choices & 8 == 0 ? Limits() : Self.smallLimits
        self.admission = Admission(rules: RuleSet(policy: policy, limits: limits))
    }

    func run(_ request: Bytes) {
        let reader = self.admission.read(request, shape: self.isStream ? .stream : .unary)
        let views = reader.events.map { event in
            Result { () throws(WireError) in
                try EventView(event, remainingDepth: WireReader.maxDepth - 1)
            }
        }
        // The reader stops at the limit; the reference does not.
        if reader.eventCount <= self.admission.rules.limits.requestEvents {
            self.compare(request, reader, views)
        }
        let admitted = self.admission.admit(
            reader, bytes: request.count, tenant: "tenant", receiveTime: Self.receiveTime)
        self.checkWhole(admitted, reader, bytes: request.count)
        guard admitted.violation == nil else { return }
        self.checkEvents(admitted, reader, views)
        self.checkJournal(admitted, reader)
    }

    // MARK: The reference

    private func reference(_ request: Bytes) -> Sightline_V1_StreamEventsRequest? {
        let bytes = [UInt8](request)
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = WireReader.maxDepth + 1
        if self.isStream {
            // nil: refused
            return try? Sightline_V1_StreamEventsRequest(serializedBytes: bytes, options: options)
        }
        let unary = try? Sightline_V1_RecordEventsRequest(serializedBytes: bytes, options: options)
        guard let unary else { return nil }
        return .with { $0.events = unary.events }
    }

    private func compare(
        _ request: Bytes, _ reader: RequestReader, _ views: [Result<EventView, WireError>]
    ) {
        let reference = self.reference(request)
        let sound = views.compactMap { try? $0.get() }  // Those that fail are counted below.
        let isTaken = reader.error == nil && sound.count == views.count
        if !isTaken, StrangeEncodings.mayBe(in: request) { return }
        require(isTaken == (reference != nil), "taken: \(isTaken), and SwiftProtobuf differs")
        guard let reference else { return }
        require(
            reader.sequence == reference.sequence && sound.count == reference.events.count
                && reader.reportsAccepted == reference.options.reportAccepted,
            "sequence, options or the number of events differ")
        for (view, event) in zip(sound, reference.events) {
            let differences = EventComparison(view, event).differences
            require(differences.isEmpty, differences.joined(separator: "; "))
        }
    }

    // MARK: What admission promises

    private func checkWhole(_ admitted: AdmittedRequest, _ reader: RequestReader, bytes: Int) {
        let limits = self.admission.rules.limits
        let isSound =
            bytes <= limits.requestBytes && reader.error == nil
            && reader.eventCount <= limits.requestEvents
        require((admitted.violation == nil) == isSound, "sound: \(isSound), and admission differs")
        require(admitted.sequence == reader.sequence, "another sequence")
        let eventCount = reader.error == nil ? reader.eventCount : 0
        require(admitted.eventCount == eventCount, "another event count")
        require(
            isSound || (admitted.acceptedEvents.isEmpty && admitted.entries.isEmpty),
            "a request that is refused as a whole has acceptedEvents")
    }

    /// Every event has one verdict at its index, and its explanation agrees.
    private func checkEvents(
        _ admitted: AdmittedRequest, _ reader: RequestReader,
        _ views: [Result<EventView, WireError>]
    ) {
        var refusals = admitted.refusals[...]
        var acceptedEvents = admitted.acceptedEvents[...]
        for (index, view) in views.enumerated() {
            let refusal = refusals.first.flatMap { $0.index == index ? $0 : nil }
            let accepted = acceptedEvents.first.flatMap { $0.index == index ? $0 : nil }
            require((refusal == nil) != (accepted == nil), "event \(index) has no verdict, or two")
            if refusal != nil { refusals.removeFirst() } else { acceptedEvents.removeFirst() }
            guard case .success(let event) = view else {
                require(refusal?.judgement.violations.first?.code == .malformed, "it is malformed")
                continue
            }
            var steps = RecordedSteps()
            let judgement = self.admission.rules.judge(
                event, receiveTime: Self.receiveTime, steps: &steps)
            require(!steps.steps.isEmpty, "event \(index) has no explanation")
            require(
                (judgement.verdict == .accepted) == (accepted != nil), "the explanation differs")
            if let refusal {
                require(
                    refusal.eventID.utf8.count <= Limits.idBytes
                        && event.eventID.starts(with: refusal.eventID.utf8),
                    "\(refusal.eventID) is no part of the event's id, or over the limit")
                require(refusal.judgement == judgement, "the explanation differs")
                require(
                    (judgement.verdict == .rejected) != judgement.violations.isEmpty,
                    "event \(index) is rejected without a reason, or has one and is not")
            }
        }
        require(refusals.isEmpty && acceptedEvents.isEmpty, "verdicts of events that do not exist")
    }

    /// What is recorded of a sent event: its bytes, but of several subjects only the last. The
    /// reference has to read both alike.
    private static func recorded(_ sent: EventView) -> [UInt8]? {
        let bytes = [UInt8](sent.bytes)
        guard sent.hasFormerSubject else { return bytes }
        typealias Event = Sightline_V1_TrackingEvent
        guard let change = try? SubjectChange(of: sent.bytes, to: [UInt8](sent.subjectID)),
            (try? Event(serializedBytes: bytes)) == (try? Event(serializedBytes: change.bytes))
        else { return nil }
        return change.bytes
    }

    /// Whether a stored event is the one that was sent; behind a raw payload's are its ids, and
    /// behind one that says where it is from what is so. Its index leads to what parsing it anew
    /// finds.
    private static func isStored(_ stored: JournalEvent, of sent: Bytes) -> Bool {
        guard let view = try? EventView(sent), let recorded = Self.recorded(view),
            stored.bytes.starts(with: recorded),
            (try? EventView(stored.bytes))?.hasFormerSubject == false,
            let again = try? JournalEvent(
                parsing: stored.bytes, key: stored.key, kinds: stored.kinds,
                warnings: stored.warnings)
        else { return false }
        return again.index == stored.index && again.product == stored.product
            && again.platform == stored.platform
            && (view.hasRawPayload || view.source != 0) == (stored.bytes.count > recorded.count)
            && again.source == .api && stored.source == .api
    }

    /// The accepted events are encoded for the journal byte for byte, with all their hits.
    private func checkJournal(_ admitted: AdmittedRequest, _ reader: RequestReader) {
        var payload = HitEncoding.header(
            entryCount: admitted.acceptedEvents.count, entriesBytes: admitted.entries.count,
            receiveTime: Self.receiveTime, tenant: "tenant",
            trace: admitted.trace
                ?? TraceContext(traceID: .init(high: 1, low: 2), spanID: 3, isSampled: true))
        payload += admitted.entries
        var expected = admitted.acceptedEvents.flatMap { accepted in
            require(!accepted.kinds.isEmpty, "event \(accepted.index) is accepted and gives no hit")
            return (0..<16).filter { accepted.kinds.rawValue >> $0 & 1 == 1 }
                .map { (kind: $0, accepted: accepted) }
        }[...]
        payload.withUnsafeBytes { payload in
            do {
                try HitEncoding.forEachHit(in: payload) { hit in
                    guard let (kind, accepted) = expected.popFirst() else {
                        fatalError("the journal has a hit too many")
                    }
                    require(
                        hit.kind.rawValue == kind && hit.key == accepted.key
                            && hit.warnings == accepted.warnings
                            && Self.isStored(hit.entry, of: reader.events[Int(accepted.index)]),
                        "the journal has another hit")
                }
            } catch {
                fatalError("the journal cannot read it: \(error)")
            }
        }
        require(expected.isEmpty, "the journal lacks a hit")
    }
}
