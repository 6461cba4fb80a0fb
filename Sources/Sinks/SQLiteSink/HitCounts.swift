internal import GRDB
internal import TrackingRules

/// Counts of hits by hour, delivery or in-app message, platform and kind, in the same transactions
/// as the hits themselves. Reports read these: thousands of rows instead of millions. `HitFolding`
/// adds up the hours of older days and months.
struct HitCounts {
    /// `first_hits` counts hits that were the first of their kind for their notification (its
    /// buttons count separately, D17). `notifications` counts hits that were its first of any kind
    /// that devices report; for in-app messages, the recipient's first of the message. Of the kinds
    /// sent and send_failed it counts the notification's first attempt, of send_skipped none: so
    /// the sum over these three is the notifications that somebody tried to send. `campaign` is the
    /// campaign name in the newest hit that has one, and `newest` is the id of that hit; without a
    /// name, that of the newest hit. `hour` is the first hour of the step, see `CountSteps`.
    /// `kind` is a hit's, or `nothingShown`.
    static let schema = """
        CREATE TABLE counts (
            hour INTEGER NOT NULL, tenant INTEGER NOT NULL, app INTEGER NOT NULL,
            delivery INTEGER NOT NULL, product INTEGER NOT NULL, platform INTEGER NOT NULL,
            kind INTEGER NOT NULL, hits INTEGER NOT NULL, first_hits INTEGER NOT NULL,
            notifications INTEGER NOT NULL, first_time INTEGER NOT NULL,
            last_time INTEGER NOT NULL, campaign INTEGER, newest INTEGER NOT NULL,
            PRIMARY KEY (hour, tenant, app, delivery, product, platform, kind)) WITHOUT ROWID;
        """

    /// The kind of rows that count impressions of payloads that show nothing (D63). So no sum of
    /// impressions has to leave them out, and a file of any build can have such rows.
    static let nothingShown: UInt8 = 0

    /// The kind by which a hit is counted.
    static func kind(_ kind: HitKind, _ warnings: Warnings) -> UInt8 {
        // A test of the bit: `contains` of another module is unspecialized generic code.
        kind == .impression && warnings.rawValue & Warnings.nothingShown.rawValue != 0
            ? Self.nothingShown : kind.rawValue
    }

    /// The columns by which hits are counted.
    struct Group: Hashable {
        /// The first hour of the step, since 1970, by the time of receipt.
        let hour: Int64
        let tenant: Int64
        /// 0 if the hit has no app.
        let app: Int64
        let delivery: Int64
        let product: Product
        /// 0 if the hit has none.
        let platform: Int64
        /// The number of the hits' kind, or `nothingShown`.
        let kind: UInt8
    }

    /// The hits of a group.
    struct Count {
        var hits: Int64 = 0
        var firstHits: Int64 = 0
        var notifications: Int64 = 0
        var firstTime = Int64.max
        var lastTime = Int64.min
        /// The number of the campaign's name; nil if there is none.
        var campaign: Int64?
        /// The id of the newest hit that has a campaign's name, or of the newest one if none has.
        var newest: Int64 = 0
    }

    /// The maximum number of groups in memory.
    static let maxGroups = 16_384

    private let addition: Statement
    private var counts: [Group: Count] = [:]
    private var written = 0
    /// The previous group of each kind, by the kind's number: consecutive events often share it,
    /// and a look-up costs a tenth of a hit.
    private var last = [(group: Group, count: Count)?](
        repeating: nil, count: HitKinds.RawValue.bitWidth)

    init(in database: Database) throws {
        self.addition = try database.makeStatement(
            sql: """
                INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                \(Self.merging)
                """)
    }

    /// Adds a row to one of the same group, in any order.
    static let merging = """
        ON CONFLICT DO UPDATE SET hits = hits + excluded.hits,
            first_hits = first_hits + excluded.first_hits,
            notifications = notifications + excluded.notifications,
            first_time = min(first_time, excluded.first_time),
            last_time = max(last_time, excluded.last_time),
            campaign = CASE WHEN \(isNewer) THEN excluded.campaign ELSE campaign END,
            newest = CASE WHEN \(isNewer) THEN excluded.newest ELSE newest END
        """

    /// A campaign's name stays, whatever comes without one.
    private static let isNewer = """
        (excluded.campaign IS NOT NULL, excluded.newest) > (campaign IS NOT NULL, newest)
        """

    /// The number of rows written since the last call.
    mutating func takeWritten() -> Int {
        defer { self.written = 0 }
        return self.written
    }

    /// Counts a hit.
    ///
    /// - Throws: SQLite's error.
    mutating func add(
        _ group: Group, isFirstOfKind: Bool, isFirst: Bool, time: Int64, campaign: Int64?,
        id: Int64
    ) throws {
        let kind = Int(group.kind)
        if self.last[kind]?.group != group {
            try self.keepLast(of: kind)
            self.last[kind] = (group, self.counts[group] ?? Count())
        }
        self.last[kind]?.count.add(
            isFirstOfKind: isFirstOfKind, isFirst: isFirst, time: time, campaign: campaign, id: id)
    }

    private mutating func keepLast(of kind: Int) throws {
        guard let last = self.last[kind] else { return }
        self.counts[last.group] = last.count
        self.last[kind] = nil
        if self.counts.count >= Self.maxGroups { try self.write() }
    }

    /// Adds the counts in memory to the table.
    ///
    /// - Throws: SQLite's error.
    mutating func finish() throws {
        for kind in self.last.indices { try self.keepLast(of: kind) }
        try self.write()
    }

    private mutating func write() throws {
        for (group, count) in self.counts {
            try self.addition.execute(arguments: [
                group.hour, group.tenant, group.app, group.delivery, Int64(group.product.rawValue),
                group.platform, Int64(group.kind), count.hits, count.firstHits,
                count.notifications, count.firstTime, count.lastTime, count.campaign, count.newest,
            ])
        }
        self.written += self.counts.count
        self.counts.removeAll(keepingCapacity: true)
    }
}

extension HitCounts.Count {
    fileprivate mutating func add(
        isFirstOfKind: Bool, isFirst: Bool, time: Int64, campaign: Int64?, id: Int64
    ) {
        self.hits += 1
        self.firstHits += isFirstOfKind ? 1 : 0
        self.notifications += isFirst ? 1 : 0
        self.firstTime = min(self.firstTime, time)
        self.lastTime = max(self.lastTime, time)
        // Ids rise. A hit without a name leaves that of an earlier one.
        if campaign == nil, self.campaign != nil { return }
        (self.campaign, self.newest) = (campaign, id)
    }
}
