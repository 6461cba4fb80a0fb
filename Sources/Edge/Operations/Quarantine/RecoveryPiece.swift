package import TrackingRules
internal import WireFormat

/// Kept events of one tenant that are judged together.
package struct RecoveryPiece: Sendable {
    /// The tenant.
    package let tenant: String
    private let rows: [QuarantineFile.Row]

    /// The maximum events of a piece.
    package static let maxEventCount = 1000

    /// Splits rows by tenant, each in the order of the file.
    package static func pieces(of rows: [QuarantineFile.Row]) -> [RecoveryPiece] {
        Dictionary(grouping: rows, by: \.event.tenant)
            .map { RecoveryPiece(tenant: $0, rows: $1) }
            .sorted { $0.tenant < $1.tenant }
    }

    /// Judges the events by the server's rules. The limits on a request do not apply, because the
    /// events came in other requests.
    ///
    /// - Parameters:
    ///   - app: replaces the events' own app; nil keeps it.
    ///   - receiveTime: microseconds since 1970.
    ///   - keeps: which of the events that are refused again to keep.
    ///   - forgotten: whose events are recorded without a subject.
    package func admitted(
        by rules: RuleSet, app: String?, receiveTime: Int64, keeps: KeptRefusals = .none,
        forgotten: ForgottenSubjects = ForgottenSubjects()
    ) -> AdmittedRequest {
        var limits = rules.limits
        (limits.requestBytes, limits.requestEvents) = (.max, .max)
        let admission = Admission(
            rules: RuleSet(policy: rules.policy, limits: limits), forgotten: forgotten)
        return self.request(app: app).withUnsafeBytes { bytes in
            admission.admit(
                admission.read(bytes, shape: .unary), bytes: bytes.count, tenant: self.tenant,
                receiveTime: receiveTime, source: nil, keeps: keeps)
        }
    }

    /// The outcomes of the events of a settled request.
    ///
    /// - Returns: the rows with a final verdict, those refused again with their new verdicts, and
    ///   the counts.
    package func outcome(
        of request: AdmittedRequest
    ) -> (settled: [QuarantineFile.Row], refused: [QuarantineFile.Row], counts: RecoveryCounts) {
        var (settled, refused) = ([QuarantineFile.Row](), [QuarantineFile.Row]())
        var counts = RecoveryCounts()
        if request.isToRetry {
            counts.interruption = "the journal takes nothing now"
            return ([], [], counts)
        }
        for refusal in request.refusals {
            let row = self.rows[Int(refusal.index)]
            if refusal.judgement.verdict.isRecoverable {
                counts.refused += 1
                refused.append(row.refused(refusal.judgement))
            } else {
                counts.suppressed += 1
                settled.append(row)
            }
        }
        for accepted in request.acceptedEvents {
            if request.verdict(of: accepted) == .accepted {
                counts.accepted += 1
            } else {
                counts.duplicate += 1
            }
            settled.append(self.rows[Int(accepted.index)])
        }
        return (settled, refused, counts)
    }

    /// The events as a RecordEventsRequest.
    private func request(app: String?) -> [UInt8] {
        var appID: [UInt8] = []
        if let app { appID.appendField(FieldTag.TrackingEvent.appID, Array(app.utf8)) }
        return self.rows.reduce(into: []) { request, row in
            // Of a field that occurs twice the last one counts.
            request.appendField(FieldTag.RecordEventsRequest.events, row.event.event + appID)
        }
    }
}

extension QuarantineFile.Row {
    fileprivate func refused(_ judgement: Judgement) -> QuarantineFile.Row {
        var event = self.event
        (event.verdict, event.violations) = (judgement.verdict, judgement.violations)
        return QuarantineFile.Row(id: self.id, event: event)
    }
}
