// Requests as the service hands them to the journal.
internal import TestSupport
internal import TrackingJournal
internal import TrackingRules
internal import W3CTrace

extension AdmittedRequest {
    /// A request of these events, and of `broken`, which is none; admitted and with its header, as
    /// the service does it.
    static func of(
        _ events: [TestEvent], broken: [UInt8]? = nil, sequence: Int = 1,
        tenant: String = "default"
    ) -> AdmittedRequest {
        let bytes = WireWriter.message { request in
            request.field(1, varint: UInt64(sequence))
            for event in events { request.field(2, (try? event.bytes()) ?? []) }
            if let broken { request.field(2, broken) }
        }
        let admission = Admission()
        let request = bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: tenant,
                receiveTime: TestEvent.now)
        }
        var generator = Dice(seed: 1)
        let trace = TraceContext.random(using: &generator)
        request.trace = trace
        return request
    }

    /// A request of impressions.
    static func impressions(
        _ ids: some Sequence<Int>, sequence: Int = 1, tenant: String = "default"
    ) -> AdmittedRequest {
        Self.of(ids.map { TestEvents.impression($0) }, sequence: sequence, tenant: tenant)
    }

    /// The request's block, as the journal has it.
    var block: [UInt8] {
        var block: [UInt8] = []
        self.appendSealed(to: &block)
        return block
    }

    /// The bytes of a record's ledger part, if the request is alone in its group.
    var ledgerBytes: Int {
        var delta = LedgerDelta()
        delta.add(self)
        return delta.encoded().count
    }

    /// Each accepted event's outcome, in order.
    var verdicts: [Verdict] { self.acceptedEvents.map { self.verdict(of: $0) } }

    /// Each accepted event's warnings, in order.
    var warnings: [Warnings] { self.acceptedEvents.map(\.warnings) }
}
