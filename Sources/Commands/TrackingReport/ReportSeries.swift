package import GRDB
package import TrackingRules
internal import WireFormat

/// The hits of each delivery and in-app message by the hour or the day of a time zone.
package struct ReportSeries: Sendable, Equatable {
    /// The width of a step.
    package enum Step: String, Sendable, CaseIterable {
        /// An hour of UTC, so that hours begin at a half or a quarter in some zones.
        case hour
        /// A day of the zone; an hour counts for the day in which it begins.
        case day
    }

    /// The hits of one delivery within one step.
    package struct Row: Sendable, Equatable {
        /// The tenant.
        package var tenant: String
        /// The delivery's id, or the in-app message's.
        package var deliveryID: String
        /// The product.
        package var product: Product
        /// When the step begins, in microseconds since 1970.
        package var start: Int64
        /// Hits from platforms other than iOS; of an in-app message those of all.
        package var others = Counts()
        /// Hits from iOS; none of an in-app message.
        package var ios = Counts()
    }

    /// Hits by what happened.
    package struct Counts: Sendable, Equatable {
        /// Impressions.
        package var impressions = 0
        /// Clicks; of push notifications openings and dismissals together (D14).
        package var clicks = 0
        /// Opens of push notifications.
        package var opens = 0
        /// Dismissals of in-app messages.
        var inAppDismissals = 0
        /// Notifications that a push service took.
        package var sent = 0
        /// Hits of Campaign's in-app buttons, failed displays, triggers of in-app messages,
        /// impressions of payloads that show nothing (D63), and notifications that failed or were
        /// skipped.
        package var further = 0

        /// The sum of all hits.
        var total: Int {
            self.impressions + self.clicks + self.opens + self.inAppDismissals + self.sent
                + self.further
        }
    }

    /// The maximum number of rows; the hits of further ones are counted alone.
    package static let maxRows = 100_000

    /// The width of the steps.
    package let step: Step
    /// The zone whose days these are.
    package let zone: ReportZone
    /// The steps with a hit: by tenant, delivery and time.
    package let rows: [Row]
    /// The hits of rows beyond the limit.
    package let leftOutHits: Int

    private struct Key: Hashable {
        let tenant: Int64
        let delivery: Int64
        let product: UInt8
        let start: Int64
    }

    /// Counts the hits that a query selects, which is one of whole steps.
    ///
    /// - Throws: SQLite's error if hits.db cannot be read, `RowDecodingError` if it has values that
    ///   no build has written.
    package init(
        _ query: ReportQuery, by step: Step, in database: Database, maxRows: Int = Self.maxRows
    ) throws {
        var rows: [Key: Row] = [:]
        var starts: [Int64: Int64] = [:]
        var leftOutHits = 0
        let cursor = try GRDB.Row.fetchCursor(
            database, sql: Self.selection(query), arguments: query.arguments)
        while let found = try cursor.next() {
            let time = try found.decode(Int64.self, forColumn: "hour") &* ReportQuery.hour
            let start = starts[time] ?? (step == .day ? query.zone.midnight(of: time) : time)
            starts[time] = start
            let key = Key(
                tenant: try found.decode(Int64.self, forColumn: "tenant"),
                delivery: try found.decode(Int64.self, forColumn: "delivery"),
                product: try found.decode(UInt8.self, forColumn: "product"), start: start)
            let hits = try found.decode(Int.self, forColumn: "hits")
            guard rows[key] != nil || rows.count < maxRows else {
                leftOutHits += hits
                continue
            }
            let kind = HitKind(rawValue: try found.decode(UInt8.self, forColumn: "kind"))
            let isIOS = try found.decode(Bool.self, forColumn: "ios")
            let product = Product(rawValue: key.product) ?? .standard
            let new = Row(tenant: "", deliveryID: "", product: product, start: start)
            rows[key, default: new].add(hits, kind, isIOS: isIOS && product != .firebase)
        }
        let names = try Self.names(of: rows.keys, in: database)
        self.step = step
        self.zone = query.zone
        self.leftOutHits = leftOutHits
        self.rows = rows.map { key, row in
            var row = row
            row.tenant = names[key.tenant] ?? StoredName.missing(key.tenant)
            row.deliveryID = names[key.delivery] ?? StoredName.missing(key.delivery)
            return row
        }.sorted { $0.precedes($1) }
    }

    private static func selection(_ query: ReportQuery) -> String {
        """
        SELECT hour, tenant, delivery, product, kind, platform = \(Platform.ios.rawValue) AS ios,
            sum(hits) AS hits
        FROM \(query.counts) WHERE \(ReportQuery.condition) GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1
        """
    }

    private static func names(
        of keys: Dictionary<Key, Row>.Keys, in database: Database
    ) throws -> [Int64: String] {
        try StoredName.texts(of: Set(keys.flatMap { [$0.tenant, $0.delivery] }), in: database)
    }
}

extension ReportSeries.Row {
    /// Clicks that opened nothing, or an in-app message's dismissals; nil for Classic, which
    /// reports none.
    package var dismissals: Int? { self.dismissals(of: self.others) }
    /// The same on iOS.
    package var iosDismissals: Int? { self.dismissals(of: self.ios) }

    private func dismissals(of counts: ReportSeries.Counts) -> Int? {
        switch self.product {
        case .standard: max(0, counts.clicks - counts.opens)
        case .classic: nil
        case .firebase: counts.inAppDismissals
        }
    }

    fileprivate mutating func add(_ hits: Int, _ kind: HitKind?, isIOS: Bool) {
        var counts = isIOS ? self.ios : self.others
        switch kind {
        case .impression, .inAppImpression: counts.impressions += hits
        case .click, .inAppClick: counts.clicks += hits
        case .open: counts.opens += hits
        case .inAppDismissal: counts.inAppDismissals += hits
        case .sent: counts.sent += hits
        case .button1, .button2, .close, .inAppDisplayError, .inAppTriggered, .inAppSuppressed,
            .sendFailed, .sendSkipped, nil:
            counts.further += hits
        }
        if isIOS { self.ios = counts } else { self.others = counts }
    }

    fileprivate func precedes(_ other: Self) -> Bool {
        if !self.tenant.equals(other.tenant) {
            return ExactText(self.tenant) < ExactText(other.tenant)
        }
        if !self.deliveryID.equals(other.deliveryID) {
            return ExactText(self.deliveryID) < ExactText(other.deliveryID)
        }
        return (self.product.rawValue, self.start) < (other.product.rawValue, other.start)
    }

    /// The counts in the order of `ReportSeries.columns`; nil for what the product does not have.
    fileprivate var figures: [Int?] {
        let hasOpens = self.product == .standard
        return [
            self.others.impressions, self.others.clicks, self.dismissals,
            hasOpens ? self.others.opens : nil, self.ios.impressions, self.ios.clicks,
            self.iosDismissals, hasOpens ? self.ios.opens : nil,
            self.others.further + self.ios.further, self.others.sent, self.ios.sent,
        ]
    }
}

extension ReportSeries: Encodable {
    private struct Line: Encodable {
        let row: Row
        let zone: ReportZone

        func encode(to encoder: any Encoder) throws {
            var line = encoder.container(keyedBy: Name.self)
            try line.encode(self.row.tenant, forKey: Name("tenant"))
            try line.encode(self.row.deliveryID, forKey: Name("delivery_id"))
            try line.encode(self.row.product.name, forKey: Name("product"))
            try line.encode(
                ReportTime.text(self.row.start, in: self.zone), forKey: Name("start"))
            for (name, count) in zip(ReportSeries.columns, self.row.figures) {
                try line.encode(count, forKey: Name(name))
            }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(_ name: String) { self.stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    private enum CodingKeys: CodingKey {
        case step, timeZone, rows, leftOutHits
    }

    /// Encodes the steps with a hit; counts that the product does not have are null.
    package func encode(to encoder: any Encoder) throws {
        var series = encoder.container(keyedBy: CodingKeys.self)
        try series.encode(self.step.rawValue, forKey: .step)
        try series.encode(self.zone.name, forKey: .timeZone)
        try series.encode(self.rows.map { Line(row: $0, zone: self.zone) }, forKey: .rows)
        try series.encode(self.leftOutHits, forKey: .leftOutHits)
    }
}

extension ReportSeries {
    fileprivate static let columns = [
        "impressions", "clicks", "dismissals", "opens", "ios_impressions", "ios_clicks",
        "ios_dismissals", "ios_opens", "further_hits", "sent", "ios_sent",
    ]

    /// The lines of a table, without colours; empty without hits.
    package func lines() -> [String] {
        guard !self.rows.isEmpty else { return [] }
        let titles = [
            "impressions", "clicks", "dismissals", "opens", "iOS impressions", "clicks",
            "dismissals", "opens", "further hits", "sent", "iOS sent",
        ]
        var columns: [(title: String, alignment: TextTable.Alignment)] = [
            ("tenant", .left), ("delivery", .left), ("product", .left), ("from", .left),
        ]
        for title in titles { columns.append((title, .right)) }
        var table = TextTable(columns)
        for row in self.rows {
            table.add(
                [
                    row.tenant, row.deliveryID, row.product.name,
                    ReportTime.plain(row.start, in: self.zone),
                ] + row.figures.map { count in count.map { "\($0)" } ?? "-" })
        }
        let end = self.leftOutHits > 0 ? ["… and \(self.leftOutHits) hits in further rows"] : []
        return ["", "By \(self.step.rawValue), \(self.zone.name)", ""] + table.lines() + end
    }

    /// The lines of a sheet (CSV), heading first; the caller ends each with CRLF.
    package func sheet() -> [String] {
        let heading = ["tenant", "product", "id", "start"] + Self.columns
        return [heading.joined(separator: ",")]
            + self.rows.map { row in
                let texts = [
                    ReportSheet.text(row.tenant), row.product.name,
                    ReportSheet.text(row.deliveryID), ReportTime.text(row.start, in: self.zone),
                ]
                return (texts + row.figures.map { count in count.map { "\($0)" } ?? "" })
                    .joined(separator: ",")
            }
    }
}
