internal import DeliveryDiagnosis
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingJournal
internal import TrackingRules

extension Sightline_V1_ExplainDeliveryResponse {
    /// The account as a tenant gets it.
    init(_ account: DeliveryAccount) {
        self = .with { proto in
            proto.findings = account.findings.map(Sightline_V1_DeliveryFinding.init)
            proto.rows = (account.rows + account.unnamed).map(Sightline_V1_LedgerRow.init)
            proto.truncated = account.isTruncated
        }
    }
}

extension Sightline_V1_DeliveryFinding {
    fileprivate init(_ finding: DeliveryFinding) {
        self = .with { proto in
            proto.code = finding.code.rawValue
            proto.sentence = finding.sentence
            proto.figures = finding.figures.map { figure in
                .with {
                    $0.name = figure.name
                    $0.value = figure.value
                }
            }
        }
    }
}

extension Sightline_V1_LedgerRow {
    fileprivate init(_ row: LedgerRow) {
        self = .with { proto in
            proto.appID = row.app
            proto.deliveryID = row.delivery
            proto.platform =
                row.platform.flatMap { .init(rawValue: Int($0.rawValue)) } ?? .unspecified
            switch row.product {
            case .standard: proto.product = .standard
            case .classic: proto.product = .classic
            case .firebase: proto.product = .unspecified
            }
            if !row.isOther { proto.hour = .init(seconds: Int64(row.hour) * 3600) }
            proto.other = row.isOther
            proto.events = row.count
            proto.setOutcome(of: row)
        }
    }

    private mutating func setOutcome(of row: LedgerRow) {
        switch row.outcome.meaning {
        case .accepted, .duplicate: (self.verdict, self.hits) = row.outcome.verdictAndHits
        case .warning(let number):
            self.verdict = .accepted
            self.warning = .init(rawValue: Int(number)) ?? .unspecified
        case .closedImpression:
            self.verdict = .accepted
            self.closedImpression = true
        case .sentAndFailed:
            self.verdict = .accepted
            self.sentAndFailed = true
        case .refused(let verdict):
            self.verdict = .init(verdict)
            if verdict == .suppressedFlagUnknown { self.flag = row.detail }
            if verdict == .rejected { self.setRule(row.detail) }
        case .version, .send:
            if let counted = row.counted {
                (self.countedVerdict, self.hits) = counted.verdictAndHits
            }
            self.appVersion = row.appVersion
            self.sendReason =
                row.mark.reason.flatMap { .init(rawValue: Int($0.rawValue)) } ?? .unspecified
            self.display =
                row.mark.display.flatMap { .init(rawValue: Int($0.rawValue)) } ?? .unspecified
        case nil: break
        }
    }

    /// A field and the name of a rule's kind.
    private mutating func setRule(_ detail: String) {
        let words = detail.split(separator: " ", maxSplits: 1).map(String.init)
        self.field = words.first ?? ""
        let code = Violation.Code.allCases.first { "\($0.name)" == words.last }
        self.code = code.flatMap { .init(rawValue: Int($0.rawValue)) } ?? .unspecified
    }
}

extension LedgerOutcome {
    /// The verdict and the hits of events with this outcome.
    fileprivate var verdictAndHits: (Sightline_V1_Verdict, [Sightline_V1_HitKind]) {
        switch self.meaning {
        case .accepted(let kinds): (.accepted, kinds.kinds.map(Sightline_V1_HitKind.init))
        case .duplicate(let kinds): (.duplicate, kinds.kinds.map(Sightline_V1_HitKind.init))
        case .refused(let verdict): (.init(verdict), [])
        case .warning, .closedImpression, .version, .send, .sentAndFailed, nil: (.unspecified, [])
        }
    }
}
