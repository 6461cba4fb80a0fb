// A delivery's account as JSON: the admin socket's answer and the output of `why --json`.
package import TrackingJournal
internal import TrackingRules

/// A delivery's account for programs.
package struct DeliveryAccountLine: Codable, Sendable {
    /// The tenant; empty in a server's answer, which shows a tenant only its own deliveries.
    package let tenant: String
    /// The delivery's id.
    package let delivery: String
    /// What is wrong.
    package let findings: [Finding]
    /// The counts.
    package let rows: [Row]
    /// Whether there are more rows.
    package let isTruncated: Bool
    /// What was sent and what became of it, by the rows; nil for an in-app message.
    package let figures: DeliveryFigures?

    /// A finding.
    package struct Finding: Codable, Sendable {
        /// Its code.
        package let code: String
        /// Its sentence.
        package let sentence: String
        /// Its figures.
        package let figures: [String: UInt64]

        /// Creates a finding from its parts.
        package init(code: String, sentence: String, figures: [String: UInt64]) {
            self.code = code
            self.sentence = sentence
            self.figures = figures
        }
    }

    /// A row of the ledger.
    package struct Row: Codable, Sendable {
        /// The app.
        package let app: String
        /// The delivery; empty if its events named none.
        package let delivery: String
        /// The platform's name; empty if the events named none.
        package let platform: String
        /// The product's name.
        package let product: String
        /// Seconds since 1970; absent in an `other` row.
        package let hour: Int64?
        /// The verdict, or `warning`, `closed_impression`, `sent_and_failed`, `version` or `send`.
        package let verdict: String
        /// The hits, the flag's value, the field and rule, or the warning's name. With `version`
        /// and `send`, the verdict with which other rows count the events, and the hits.
        package let detail: String
        /// The app's version, with `version`; else nil.
        package let appVersion: String?
        /// Why it was not sent, with `send`; else nil.
        package let sendReason: String?
        /// Who shows what was sent, with `send`; else nil.
        package let display: String?
        /// Whether it is an `other` row.
        package let isOther: Bool
        /// The number of events.
        package let events: UInt64

        /// Creates a row from its parts.
        package init(
            app: String, delivery: String, platform: String, product: String, hour: Int64?,
            verdict: String, detail: String, appVersion: String? = nil, sendReason: String? = nil,
            display: String? = nil, isOther: Bool, events: UInt64
        ) {
            self.app = app
            self.delivery = delivery
            self.platform = platform
            self.product = product
            self.hour = hour
            self.verdict = verdict
            self.detail = detail
            self.appVersion = appVersion
            self.sendReason = sendReason
            self.display = display
            self.isOther = isOther
            self.events = events
        }
    }

    /// Whether the ledger has rows of the delivery itself.
    package var isSeen: Bool { self.rows.contains { !$0.delivery.isEmpty } }

    /// Creates an account from its parts.
    package init(
        tenant: String, delivery: String, findings: [Finding], rows: [Row], isTruncated: Bool
    ) {
        self.tenant = tenant
        self.delivery = delivery
        self.findings = findings
        self.rows = rows
        self.isTruncated = isTruncated
        self.figures = DeliveryFigures(rows)
    }

    /// The account's line.
    package init(_ account: DeliveryAccount) {
        self.init(
            tenant: account.tenant, delivery: account.delivery,
            findings: account.findings.map(Finding.init),
            rows: (account.rows + account.unnamed).map(Row.init), isTruncated: account.isTruncated)
    }
}

extension DeliveryAccountLine {
    /// Reads a line. The figures are made of its rows: a server of another build may have others.
    package init(from decoder: any Decoder) throws {
        let line = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            tenant: try line.decode(String.self, forKey: .tenant),
            delivery: try line.decode(String.self, forKey: .delivery),
            findings: try line.decode([Finding].self, forKey: .findings),
            rows: try line.decode([Row].self, forKey: .rows),
            isTruncated: try line.decode(Bool.self, forKey: .isTruncated))
    }
}

extension DeliveryAccountLine.Finding {
    init(_ finding: DeliveryFinding) {
        self.init(
            code: finding.code.rawValue, sentence: finding.sentence,
            figures: Dictionary(finding.figures.map { ($0.name, $0.value) }) { first, _ in first })
    }
}

extension DeliveryAccountLine.Row {
    /// A row's line.
    package init(_ row: LedgerRow) {
        let (verdict, detail) = row.outcome.told(row)
        self.init(
            app: row.app, delivery: row.delivery, platform: row.platform?.name ?? "",
            product: row.product.name, hour: row.isOther ? nil : Int64(row.hour) * 3600,
            verdict: verdict, detail: detail,
            appVersion: row.appVersion.isEmpty ? nil : row.appVersion,
            sendReason: row.mark.reason.map { "\($0.name)" },
            display: row.mark.display.map { "\($0.name)" }, isOther: row.isOther,
            events: row.count)
    }
}

extension LedgerOutcome {
    /// The outcome in words: the verdict and its details, which the row has.
    fileprivate func told(_ row: LedgerRow) -> (verdict: String, detail: String) {
        func names(_ kinds: HitKinds) -> String {
            kinds.kinds.map { "\($0.name)" }.joined(separator: ",")
        }
        switch self.meaning {
        case .accepted(let kinds): return ("accepted", names(kinds))
        case .duplicate(let kinds): return ("duplicate", names(kinds))
        case .warning(let number): return ("warning", Warnings.name(of: number) ?? "\(number)")
        case .closedImpression: return ("closed_impression", "")
        case .sentAndFailed: return ("sent_and_failed", "")
        case .refused(let verdict): return ("\(verdict.name)", row.detail)
        case .version: return ("version", row.toldAgain)
        case .send: return ("send", row.toldAgain)
        case nil: return ("\(self.rawValue)", row.detail)
        }
    }
}

extension LedgerRow {
    /// The outcome of the events that the row counts again, as "accepted click,open"; empty of
    /// `other`.
    fileprivate var toldAgain: String {
        guard let (verdict, hits) = self.counted?.told(self) else { return "" }
        return hits.isEmpty ? verdict : "\(verdict) \(hits)"
    }
}
