package import DeliveryDiagnosis
package import SightlineProtos
internal import SwiftProtobuf

extension DeliveryAccountLine {
    /// Creates an account from a server's answer.
    package init(_ response: Sightline_V1_ExplainDeliveryResponse, of delivery: String) {
        self.init(
            tenant: "", delivery: delivery,
            findings: response.findings.map { finding in
                Finding(
                    code: finding.code, sentence: finding.sentence,
                    figures: Dictionary(finding.figures.map { ($0.name, $0.value) }) { $1 })
            },
            rows: response.rows.map(Row.init), isTruncated: response.truncated)
    }
}

extension DeliveryAccountLine.Row {
    fileprivate init(_ row: Sightline_V1_LedgerRow) {
        let platform =
            switch row.platform {
            case .android: "android"
            case .ios: "ios"
            case .unspecified, .UNRECOGNIZED: ""
            }
        let product =
            switch row.product {
            case .standard: "standard"
            case .classic: "classic"
            case .unspecified, .UNRECOGNIZED: "firebase"
            }
        self.init(
            app: row.appID, delivery: row.deliveryID, platform: platform, product: product,
            hour: row.hasHour ? row.hour.seconds : nil, verdict: Self.verdict(of: row),
            detail: Self.detail(of: row), appVersion: row.appVersion.isEmpty ? nil : row.appVersion,
            sendReason: row.sendReason == .unspecified ? nil : row.sendReason.name.lowercased(),
            display: row.display == .unspecified ? nil : row.display.name.lowercased(),
            isOther: row.other, events: row.events)
    }

    private static func verdict(of row: Sightline_V1_LedgerRow) -> String {
        if row.warning != .unspecified { return "warning" }
        if row.closedImpression { return "closed_impression" }
        if row.sentAndFailed { return "sent_and_failed" }
        if row.countedVerdict != .unspecified {
            return row.appVersion.isEmpty ? "send" : "version"
        }
        return row.verdict.name.lowercased()
    }

    private static func detail(of row: Sightline_V1_LedgerRow) -> String {
        if row.warning != .unspecified { return row.warning.name.lowercased() }
        let hits = row.hits.map { $0.name.lowercased() }.joined(separator: ",")
        if row.countedVerdict != .unspecified {
            let verdict = row.countedVerdict.name.lowercased()
            return hits.isEmpty ? verdict : "\(verdict) \(hits)"
        }
        if !hits.isEmpty { return hits }
        if !row.field.isEmpty { return "\(row.field) \(row.code.name.lowercased())" }
        return row.flag
    }
}
