internal import W3CTrace
package import WireFormat

/// Turns the bytes of a request into verdicts and hits: the one place where clients' events are
/// parsed and judged. A stream calls `read` to split a request and `admit` to judge it, on any
/// thread; the result goes to the journal, which finds duplicates and makes it durable.
///
/// It copies an accepted event once, with an index of its parts, so that nothing behind it parses
/// the event again. It does no I/O, takes no lock, never throws, and knows nothing of earlier
/// requests.
package struct Admission: Sendable {
    /// The rules, with their limits.
    package let rules: RuleSet
    /// What is recorded of the subjects of events.
    private let subjects: SubjectRecording

    /// Creates an admission that applies `rules`.
    ///
    /// - Parameters:
    ///   - subjects: hashes the subjects of events; nil leaves them as sent.
    ///   - forgotten: whose events are recorded without a subject.
    package init(
        rules: RuleSet = RuleSet(), subjects: KeyedHash? = nil,
        forgotten: ForgottenSubjects = ForgottenSubjects()
    ) {
        self.rules = rules
        self.subjects = SubjectRecording(hash: subjects, forgotten: forgotten)
    }

    /// Whose events are recorded without a subject.
    package var forgotten: ForgottenSubjects { self.subjects.forgotten }

    /// Admits a request. Never throws: a request refused as a whole carries a violation and no
    /// events, so that one bad request does not affect others.
    ///
    /// - Parameters:
    ///   - request: the message, already split into its events.
    ///   - bytes: the message's size.
    ///   - tenant: who sent it.
    ///   - receiveTime: the server's clock, in microseconds since 1970.
    ///   - source: how it came; nil if the server kept its events before, which then say it.
    ///   - keeps: which of the refused events to keep.
    ///   - likely: the subject that its first event probably has, to save an allocation.
    package func admit(
        _ request: RequestReader, bytes: Int, tenant: String, receiveTime: Int64,
        source: EventSource? = .api, keeps: KeptRefusals = .none, likely: LedgerSubject? = nil
    ) -> AdmittedRequest {
        if let violation = self.violation(of: request, bytes: bytes) {
            return AdmittedRequest(
                sequence: request.sequence, receiveTime: receiveTime,
                eventCount: request.error == nil ? request.eventCount : 0, violation: violation,
                ledger: RequestLedger(tenant: tenant, receiveTime: receiveTime))
        }
        return tenant.withBytes { bytesOfTenant in
            var draft = Draft(
                request, bytes: bytes, tenant: bytesOfTenant, source: source, keeps: keeps,
                ledger: RequestLedger(tenant: tenant, receiveTime: receiveTime, likely: likely),
                subjects: self.subjects)
            for event in request.events {
                draft.add(event, rules: self.rules, receiveTime: receiveTime)
            }
            return draft.take(receiveTime: receiveTime)
        }
    }

    /// The steps that lead to an event's verdict, for ExplainEvents: the same judgement as in
    /// `admit`, with the subject hashed.
    ///
    /// - Parameters:
    ///   - event: the bytes as they were sent.
    ///   - tenant: who sent it.
    ///   - receiveTime: the server's clock, in microseconds since 1970.
    package func steps(of event: Bytes, tenant: String, receiveTime: Int64) -> [String] {
        tenant.withBytes { self.steps(of: event, tenant: $0, receiveTime: receiveTime) }
    }

    private func steps(of event: Bytes, tenant: Bytes, receiveTime: Int64) -> [String] {
        var steps = RecordedSteps()
        do throws(WireError) {
            let view = try EventView(event, remainingDepth: WireReader.maxDepth - 1)
            if let changed = try self.subjects.change(view, tenant: tenant) {
                // Everything below sees the hashed subject, as if the client had sent it.
                changed.withView(of: view) {
                    _ = self.rules.judge($0, receiveTime: receiveTime, steps: &steps)
                }
            } else {
                _ = self.rules.judge(view, receiveTime: receiveTime, steps: &steps)
            }
        } catch {
            steps.note("form: the bytes are no TrackingEvent (\(error))")
        }
        return steps.steps
    }

    /// Splits a request into its events without copying them.
    package func read(_ request: Bytes, shape: RequestShape) -> RequestReader {
        RequestReader(request, shape: shape, maxEvents: self.rules.limits.requestEvents)
    }

    /// Why a request is refused as a whole; nil if it is not.
    private func violation(of request: RequestReader, bytes: Int) -> Violation? {
        let limits = self.rules.limits
        if bytes > limits.requestBytes {
            return Violation(
                "request", .tooLarge,
                "\(bytes) bytes, the limit is \(limits.requestBytes): send smaller batches")
        }
        if let error = request.error {
            return Violation(
                "request", .malformed,
                "not a protobuf message (\(error)): nothing in it was taken; encode it anew")
        }
        if request.eventCount > limits.requestEvents {
            return Violation(
                "events", .tooLarge,
                "\(request.eventCount) events, the limit is \(limits.requestEvents): send smaller "
                    + "batches")
        }
        return nil
    }
}

/// Accumulates an admitted request.
private struct Draft {
    private let sequence: UInt64
    private let tenant: Bytes
    private let source: EventSource?
    private let keeps: KeptRefusals
    private let subjects: SubjectRecording
    private var index: UInt32 = 0
    private var refusals: [AdmittedRequest.Refusal] = []
    private var acceptedEvents: [AcceptedEvent] = []
    private var entries: [UInt8] = []
    private var eventTrace: TraceContext?
    private var keptEvents: [UInt8] = []
    private var ledger: RequestLedger

    init(
        _ request: RequestReader, bytes: Int, tenant: Bytes, source: EventSource?,
        keeps: KeptRefusals, ledger: RequestLedger, subjects: SubjectRecording
    ) {
        self.source = source
        self.ledger = ledger
        self.subjects = subjects
        self.sequence = request.sequence
        self.tenant = tenant
        self.keeps = keeps
        // Reserves room for all events at once, so that appending never allocates.
        self.acceptedEvents.reserveCapacity(request.events.count)
        self.entries.reserveCapacity(bytes &+ request.events.count &* HitEncoding.entryBytes)
    }

    /// The finished request. The draft's arrays are moved out: a copy costs as much as judging an
    /// event, and the optimizer does not see that the draft ends here.
    mutating func take(receiveTime: Int64) -> AdmittedRequest {
        AdmittedRequest(
            sequence: self.sequence, receiveTime: receiveTime, eventCount: Int(self.index),
            refusals: exchange(&self.refusals, with: []),
            acceptedEvents: exchange(&self.acceptedEvents, with: []),
            entries: exchange(&self.entries, with: []),
            eventTrace: exchange(&self.eventTrace, with: nil),
            keptEvents: exchange(&self.keptEvents, with: []),
            ledger: exchange(&self.ledger, with: RequestLedger(tenant: "", receiveTime: 0)))
    }

    mutating func add(_ bytes: Bytes, rules: RuleSet, receiveTime: Int64) {
        self.take(bytes, rules, receiveTime: receiveTime)
        self.index &+= 1
    }

    private mutating func take(_ bytes: Bytes, _ rules: RuleSet, receiveTime: Int64) {
        do throws(WireError) {
            let event = try EventView(bytes, remainingDepth: WireReader.maxDepth - 1)
            // Asked here, or each event would cost a call although nobody was forgotten.
            let changed =
                self.subjects.changesNothing && !event.hasFormerSubject
                ? nil : try self.subjects.change(event, tenant: self.tenant)
            guard let changed else {
                self.take(event, of: SentEvent(bytes: bytes), rules, receiveTime: receiveTime)
                return
            }
            // Everything below sees the hashed subject, as if the client had sent it.
            changed.withView(of: event) {
                self.take(
                    $0, of: SentEvent(bytes: bytes, changed: changed), rules,
                    receiveTime: receiveTime)
            }
        } catch {
            let judgement = Judgement.malformedEvent(error)
            self.ledger.refuse(judgement)
            self.refuse(judgement, eventID: .none, kept: nil)
        }
    }

    /// An event as the client sent it: the memory that its view's slices point into, and the change
    /// that was made before the rules saw it.
    private struct SentEvent {
        let bytes: Bytes
        var changed: ChangedEvent?
    }

    @inline(__always)
    private mutating func take(
        _ event: EventView, of sent: SentEvent, _ rules: RuleSet, receiveTime: Int64
    ) {
        guard event.hasRawPayload else {
            self.judge(event, nil, of: sent, rules, receiveTime: receiveTime)
            return
        }
        event.withRawPayload(rules.limits) { event, raw in
            self.judge(event, raw, of: sent, rules, receiveTime: receiveTime)
        }
    }

    @inline(__always)
    private mutating func judge(
        _ event: EventView, _ raw: RawPayload?, of sent: SentEvent, _ rules: RuleSet,
        receiveTime: Int64
    ) {
        var steps = NoSteps()
        let judgement = rules.judge(event, raw, receiveTime: receiveTime, steps: &steps)
        guard judgement.verdict == .accepted else {
            self.refuse(event, judgement, of: sent, rules)
            return
        }
        if !self.accept(event, judgement, of: sent) {
            self.refuse(event, .tooLargeForJournal, of: sent, rules)
        }
    }

    private mutating func refuse(
        _ event: EventView, _ judgement: Judgement, of sent: SentEvent, _ rules: RuleSet
    ) {
        self.ledger.refuse(event, judgement, isNamed: rules.policy.names(event))
        let isKept =
            self.keeps.includes(judgement.verdict) && rules.hasConsent(event)
            && sent.changed?.isForgotten != true && !event.namesDevice
        self.refuse(judgement, eventID: event.eventID, kept: isKept ? self.keep(event) : nil)
    }

    private mutating func keep(_ event: EventView) -> KeptEvent {
        let start = self.keptEvents.count
        self.keptEvents.append(contentsOf: event.bytes)
        // What judges it again asks it for its source.
        self.source?.append(to: &self.keptEvents, behind: event)
        return KeptEvent(
            bytes: start..<self.keptEvents.count, names: EventNames(event),
            subjectID: event.subjectID.text)
    }

    private mutating func refuse(_ judgement: Judgement, eventID: Bytes, kept: KeptEvent?) {
        self.refusals.append(
            AdmittedRequest.Refusal(
                index: self.index, eventID: eventID.cut(to: Limits.idBytes).text,
                judgement: judgement, kept: kept))
    }

    /// Accepts an event. False if its index cannot hold the offsets of its parts; no configurable
    /// limit lets such an event through.
    @inline(__always)
    private mutating func accept(
        _ event: EventView, _ judgement: Judgement, of sent: SentEvent
    ) -> Bool {
        let facts = EventFacts(event)
        let raw = event.hasRawPayload ? RawIDs(event) : nil
        var slicer = EventSlicer(sent.bytes)
        var index = EventIndex(
            event, ids: raw == nil ? (facts.deliveryID, facts.broadlogID) : (.none, .none),
            // A changed subject is not among the bytes that were sent.
            subject: sent.changed == nil ? event.subjectID : .none, &slicer)
        var answer = AnswerSlices(event, slicer)
        if let change = sent.changed?.change {
            index = index.moved(by: change)
            answer = answer.moved(by: change)
        }
        guard slicer.fits, raw?.setPlaces(in: &index, behind: event.bytes.count) != false else {
            return false
        }
        let keys = event.keys(tenant: self.tenant, facts)
        let source = self.source ?? EventSource(number: event.source)
        var more = raw?.field ?? []
        source.append(to: &more, behind: event)
        self.acceptedEvents.append(
            AcceptedEvent(
                key: keys.fact, notification: keys.notification, judgement: judgement,
                index: self.index, entryOffset: self.entries.count,
                subject: self.ledger.subject(facts, of: event), answer: answer,
                isClosedImpression: facts.isClosedImpression))
        self.entries.appendEntry(
            key: keys.fact, facts: HitEncoding.facts(facts.product, facts.platform, source),
            kinds: judgement.hits, warnings: judgement.warnings, index: index,
            event: event.bytes, more: more)
        if self.eventTrace == nil, !event.traceparent.isEmpty {
            self.eventTrace = TraceContext(
                traceparent: event.traceparent, tracestate: event.tracestate)
        }
        return true
    }
}

extension Judgement {
    fileprivate static func malformedEvent(_ error: WireError) -> Judgement {
        .rejected([
            Violation(
                "event", .malformed, "not a TrackingEvent (\(error)): encode it anew")
        ])
    }

    /// The verdict on an event whose index cannot hold its parts. The configurable limits are
    /// lower, so it is never given unless they are wrong.
    fileprivate static let tooLargeForJournal = Judgement.rejected([
        Violation(
            "event", .tooLarge,
            "1 MiB or more, or a name of 4 KiB or more: the journal holds less; shorten it")
    ])
}
